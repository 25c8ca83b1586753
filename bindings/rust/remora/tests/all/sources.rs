//! Checkpoints from memory, from descriptors and through a reader; what is lent is given back.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use remora::{ErrorCode, Model, ModelOptions, Reader, Session, Source, Weights};

use crate::support::{golden, greedy, tiny, tiny_dir};

const FILES: [&str; 5] =
    ["config.json", "tokenizer.json", "model.safetensors", "codec.json", "codec.safetensors"];

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(tiny_dir().join("s2-pro").join(name)).expect(name)
}

fn load(source: &mut Source) -> remora::Result<Model> {
    Model::from_source(source, &ModelOptions::new()?, None)
}

#[test]
fn an_estimate_is_what_the_loaded_model_takes() {
    let mut source = Source::new().expect("a source");
    source.add_dir(tiny_dir().join("s2-pro")).expect("a folder");
    let mut options = ModelOptions::new().expect("the defaults");
    for weights in [Weights::AsDtype, Weights::Int8, Weights::Int4] {
        options.weights = weights;
        let estimate = Model::estimate(&mut source, &options).expect("an estimate");
        let model = Model::from_source(&mut source, &options, None).expect("a model");
        assert_eq!(estimate, model.memory().expect("sizes"));
        assert!(estimate.weights > 0 && estimate.codec > 0);
    }
    let error = Model::estimate(&mut Source::new().expect("a source"), &options);
    assert_eq!(error.expect_err("no files").code(), ErrorCode::Io);
}

#[test]
fn quantised_weights_are_saved_and_load_as_they_are() {
    let folder = std::env::temp_dir().join(format!("remora-rust-saved-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for file in FILES {
        std::fs::write(folder.join(file), bytes_of(file)).expect(file);
    }
    let mut options = ModelOptions::new().expect("the defaults");
    (options.weights, options.int4_group, options.weight_errors) = (Weights::Int4, 32, true);
    let converted = Model::open_with(&folder, &options, None).expect("a model");
    let errors = converted.weight_errors().expect("what was measured");
    assert!(errors.iter().any(|e| e.layer == "layers.*.attention.wo" && e.int4_group == 32));
    assert!(errors.iter().all(|e| e.numbers > 0 && e.relative_error > 0.0));

    let file = folder.join("model.safetensors");
    let stopped = converted.save_weights(&file, Some(&mut |_| ControlFlow::Break(())));
    assert_eq!(stopped.expect_err("stopped").code(), ErrorCode::Cancelled);
    let mut last = 0.0;
    let mut progress = |fraction| {
        last = fraction;
        ControlFlow::Continue(())
    };
    converted.save_weights(&file, Some(&mut progress)).expect("a file");
    assert!((last - 1.0).abs() < f32::EPSILON);

    let saved = Model::open(&folder).expect("the saved model");
    let info = saved.info().expect("what it is");
    assert_eq!((info.weights, info.int4_group, info.saved_weights), (Weights::Int4, 32, true));
    assert_eq!(saved.weight_errors().expect_err("not measured").code(), ErrorCode::InvalidState);
    let codes = |model| speak(&mut Session::new(model).expect("a session"));
    assert_eq!(codes(&saved), codes(&converted));
    assert!(!converted.info().expect("what it is").saved_weights);
    std::fs::remove_dir_all(&folder).expect("it goes");
}

/// The codes of a short greedy speech.
fn speak(session: &mut Session) -> Vec<Vec<i32>> {
    session.set_sampling(&greedy(4)).expect("sampling");
    session.prefill("Hello.").expect("a prompt");
    session.frames().map(|frame| frame.expect("a frame").codes).collect()
}

fn expected() -> Vec<Vec<i32>> {
    speak(&mut Session::new(tiny()).expect("a session"))
}

/// Bytes that tell when they are dropped.
struct Lent(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn memory_is_used_in_place_and_given_back_once() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut source = Source::new().expect("a source");
    for name in FILES {
        source.add_memory(name, Lent(bytes_of(name), Arc::clone(&dropped))).expect(name);
    }
    let model = load(&mut source).expect("a model");
    drop(source);
    let mut session = Session::new(&model).expect("a session");
    drop(model);
    assert!(dropped.load(Ordering::SeqCst) < FILES.len(), "weights are in use");
    assert_eq!(speak(&mut session), expected());
    drop(session);
    assert_eq!(dropped.load(Ordering::SeqCst), FILES.len());

    let refused =
        Source::new().expect("a source").add_memory("../x", Lent(vec![], dropped.clone()));
    assert_eq!(refused.is_ok(), dropped.load(Ordering::SeqCst) == FILES.len() && refused.is_ok());
    assert_eq!(dropped.load(Ordering::SeqCst), FILES.len() + 1, "given back in any case");
}

/// Counts its open files, and whether it is still there itself.
struct Pack {
    files: BTreeMap<String, Vec<u8>>,
    open: Arc<AtomicUsize>,
    asked: Arc<Mutex<Vec<String>>>,
}

struct Entry(Vec<u8>, Arc<AtomicUsize>);

impl Drop for Entry {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Reader for Pack {
    type File = Entry;

    fn open(&self, name: &str) -> io::Result<(Entry, u64)> {
        self.asked.lock().unwrap().push(name.to_owned());
        let bytes = self.files.get(name).ok_or(io::ErrorKind::NotFound)?.clone();
        self.open.fetch_add(1, Ordering::SeqCst);
        let size = bytes.len() as u64;
        Ok((Entry(bytes, Arc::clone(&self.open)), size))
    }

    fn read_at(&self, file: &mut Entry, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let bytes = file.0.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

#[test]
fn a_reader_lives_as_long_as_the_last_session_and_closes_its_files() {
    let (open, asked) = (Arc::new(AtomicUsize::new(0)), Arc::default());
    let files = FILES.iter().map(|name| ((*name).to_owned(), bytes_of(name))).collect();
    let pack = Pack { files, open: Arc::clone(&open), asked: Arc::clone(&asked) };
    let mut source = Source::new().expect("a source");
    source.set_reader(pack).expect("a reader");
    let model = load(&mut source).expect("a model");
    drop(source);
    let mut session = Session::new(&model).expect("a session");
    drop(model);
    assert_eq!(speak(&mut session), expected());
    assert!(asked.lock().unwrap().iter().any(|name| name == "tokenizer.json"));
    assert!(Arc::strong_count(&open) > 1, "the reader is kept");
    drop(session);
    assert_eq!(open.load(Ordering::SeqCst), 0, "every file was closed");
    assert_eq!(Arc::strong_count(&open), 1, "and the reader was dropped");
}

#[test]
fn a_reader_that_fails_fails_the_load() {
    let files = BTreeMap::from([("config.json".to_owned(), bytes_of("config.json"))]);
    let pack = Pack { files, open: Arc::default(), asked: Arc::default() };
    let mut source = Source::new().expect("a source");
    source.set_reader(pack).expect("a reader");
    let error = load(&mut source).expect_err("no tokenizer");
    assert_eq!(error.code(), ErrorCode::Io);
    assert!(error.message().contains("tokenizer"), "{error}");
}

#[test]
#[cfg(unix)]
fn descriptors_and_single_paths_make_a_model() {
    let folder = tiny_dir().join("s2-pro");
    let mut source = Source::new().expect("a source");
    for name in FILES {
        if name == "model.safetensors" {
            source.add_path(name, folder.join(name)).expect(name);
        } else {
            let file = File::open(folder.join(name)).expect(name);
            let len = file.metadata().expect(name).len();
            source.add_fd(name, &file, 0, len).expect(name); // may be closed now
        }
    }
    let model = load(&mut source).expect("a model");
    assert_eq!(speak(&mut Session::new(&model).expect("a session")), expected());
    let missing = source.add_path("other.json", folder.join("not there"));
    assert_eq!(missing.expect_err("missing").code(), ErrorCode::Io);
}

#[test]
fn options_leave_parts_out() {
    let mut options = ModelOptions::new().expect("the defaults");
    options.text_only = true;
    let folder = tiny_dir().join("s2-pro");
    let model = Model::open_with(&folder, &options, None).expect("text only");
    assert!(!model.tokenize("Hello.", false).expect("ids").is_empty());
    let error = Session::new(&model).expect_err("no weights");
    assert_eq!(error.code(), ErrorCode::Unsupported);
    options.text_only = false;
    options.no_encoder = true;
    let info = Model::open_with(&folder, &options, None).expect("no encoder").info();
    let info = info.expect("a description");
    assert!(info.has_codec && info.has_lm && !info.has_encoder);
    assert!(golden().memory().expect("sizes").weights > 0);
}
