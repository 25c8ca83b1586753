//! Models shared by all tests, and small helpers.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use remora::{Model, ModelOptions, Sampling, Session, Source};

use crate::json::{parse, Json};

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

pub fn data(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

pub fn tiny_dir() -> PathBuf {
    let folder = std::env::var_os("REMORA_TINY_DIR").map(PathBuf::from);
    folder.unwrap_or_else(|| library_dir().join("../../tests/tiny"))
}

pub fn library_dir() -> PathBuf {
    PathBuf::from(std::env::var_os("REMORA_LIB_DIR").expect("REMORA_LIB_DIR is set"))
}

/// A folder of its own for a test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

pub fn cases() -> Json {
    let path = root().join("tests/bindings/cases.json");
    parse(&std::fs::read_to_string(path).expect("the shared cases"))
}

fn one_thread() {
    // Tests run side by side already, and sums depend on the number of threads.
    remora::set_threads(1).expect("one thread");
}

/// The checkpoint of the golden cases, with the golden codec.
pub fn golden() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        one_thread();
        open_golden()
    })
}

/// The same, loaded anew. The library warns that the codec has more codebooks than are used.
pub fn open_golden() -> Model {
    let mut source = Source::new().expect("a source");
    source.add_dir(data("lm/s2pro_tiny")).expect("the model's folder");
    source.add_codec_dir(data("codec")).expect("the codec's folder");
    let options = ModelOptions::new().expect("the defaults");
    Model::from_source(&mut source, &options, None).expect("the golden model")
}

/// The build's tiny S2-Pro checkpoint.
pub fn tiny() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        one_thread();
        Model::open(tiny_dir().join("s2-pro")).expect("the tiny model")
    })
}

pub fn greedy(max_frames: u32) -> Sampling {
    let mut sampling = Sampling::new().expect("the defaults");
    sampling.temperature = 0.0;
    sampling.repetition_penalty = 1.0;
    sampling.max_frames = max_frames;
    sampling.max_frames_per_byte = 0.0;
    sampling
}

pub fn greedy_session(model: &Model, max_frames: u32) -> Session {
    let mut session = Session::new(model).expect("a session");
    session.set_sampling(&greedy(max_frames)).expect("sampling");
    session
}

/// All that is still to be heard.
pub fn all_pcm(session: &mut Session) -> Vec<f32> {
    session.pcm().map(|piece| piece.expect("sound")).collect::<Vec<_>>().concat()
}
