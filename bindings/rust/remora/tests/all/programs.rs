//! Programs as a reader would make them: the README's, with and without the library in place.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use remora_sys as sys;

use crate::support::{library_dir, scratch, tiny_dir};

fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--offline"]);
    command
}

pub fn rustc(arguments: &[&str], source: &Path, out: &Path) {
    let program = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(program)
        .args(["--edition", "2021", "-o"])
        .args([out, source])
        .args(arguments)
        .status()
        .expect("rustc");
    assert!(status.success(), "{} does not compile", source.display());
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The README's program in a package of its own, built once, without a run path.
fn readme_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let package = scratch("readme");
        let readme = include_str!("../../../README.md");
        let block = readme.split("```rust\n").nth(1).expect("a program in the README");
        let program = block.split("```").next().expect("its end");
        assert!(program.trim().lines().count() <= 15, "fifteen lines are enough");
        let manifest = format!(
            "[package]\nname = \"hello\"\nedition = \"2021\"\n[dependencies]\nremora = {{ path = {:?} \
             }}\n[workspace]\n",
            env!("CARGO_MANIFEST_DIR")
        );
        std::fs::write(package.join("Cargo.toml"), manifest).expect("a manifest");
        std::fs::create_dir_all(package.join("src")).expect("a folder");
        std::fs::write(package.join("src/main.rs"), program).expect("a source");
        let target = package.join("target");
        let status = cargo().current_dir(&package).env("CARGO_TARGET_DIR", &target).status();
        assert!(status.expect("cargo").success(), "the README's program does not compile");
        target.join("debug/hello")
    })
}

fn run_readme_program(model: &Path, out: &Path, environment: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(readme_program());
    command.args([model, out]).env_remove("LD_LIBRARY_PATH");
    command.envs(environment.iter().copied()).output().expect("the README's program")
}

/// For `LD_LIBRARY_PATH`: the library, then where this process found LibTorch.
fn library_path() -> PathBuf {
    let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::iter::once(library_dir()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).expect("folders without colons").into()
}

/// What the C interface makes of the same request.
fn speak_in_c(folder: &str, out: &str) {
    unsafe extern "C" fn keep(
        user: *mut std::ffi::c_void,
        pcm: *const f32,
        n: usize,
        _last: i32,
    ) -> i32 {
        if n > 0 {
            // SAFETY: the vector of `speak_in_c`, and n samples.
            unsafe {
                (*user.cast::<Vec<f32>>()).extend_from_slice(std::slice::from_raw_parts(pcm, n));
            }
        }
        0
    }
    let [folder, out] = [folder, out].map(|text| std::ffi::CString::new(text).expect("no NUL"));
    let (mut model, mut session, mut sound) = (null_mut(), null_mut(), Vec::<f32>::new());
    // SAFETY: as in the header's own example; null is allowed for parameters.
    unsafe {
        let mut prompt = std::mem::zeroed::<sys::remora_prompt>();
        let size = |bytes: usize| u32::try_from(bytes).expect("a small struct");
        assert_eq!(sys::remora_model_open(folder.as_ptr(), null(), &mut model), sys::REMORA_OK);
        assert_eq!(sys::remora_session_create(model, null(), &mut session), sys::REMORA_OK);
        sys::remora_prompt_init(&mut prompt, size(size_of::<sys::remora_prompt>()));
        prompt.text = c"Hello from remora.".as_ptr();
        prompt.text_len = u64::MAX; // REMORA_NUL_TERMINATED
        let user = std::ptr::from_mut(&mut sound).cast();
        let status = sys::remora_session_generate(session, &prompt, Some(keep), user);
        assert_eq!(status, sys::REMORA_OK);
        let (pcm, format) = (sound.as_ptr(), sys::REMORA_AUDIO_WAV_PCM16);
        let written = sys::remora_audio_write(out.as_ptr(), pcm, sound.len(), 1, 44100, format);
        assert_eq!(written, sys::REMORA_OK);
        sys::remora_session_destroy(session);
        sys::remora_model_destroy(model);
    }
}

#[test]
fn the_readmes_program_writes_what_c_writes() {
    let (model, folder) = (tiny_dir().join("s2-pro"), scratch("readme"));
    let (ours, expected) = (folder.join("rust.wav"), folder.join("c.wav"));
    let threads = Path::new("1"); // as many as this process uses: the last bits depend on it
    let library = library_path();
    let run = run_readme_program(
        &model,
        &ours,
        &[("LD_LIBRARY_PATH", &library), ("OMP_NUM_THREADS", threads)],
    );
    assert!(run.status.success(), "{}", text(&run.stderr));
    remora::set_threads(1).expect("one thread");
    speak_in_c(model.to_str().expect("UTF-8"), expected.to_str().expect("UTF-8"));
    let [ours, expected] = [ours, expected].map(|path| std::fs::read(path).expect("a WAV"));
    assert!(expected.len() > 10_000, "{} bytes", expected.len());
    assert!(ours == expected, "the files differ");
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_without_the_library_says_which_one_is_missing() {
    let run = run_readme_program(Path::new("model"), Path::new("never.wav"), &[]);
    assert!(!run.status.success());
    let reason = text(&run.stderr);
    assert!(reason.contains("libremora.so.0"), "{reason}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_of_another_abi_is_refused_with_both_numbers() {
    let folder = scratch("abi");
    let (source, library) = (folder.join("other.rs"), folder.join("libother.so"));
    std::fs::write(&source, "#[no_mangle] pub extern \"C\" fn remora_abi_version() -> u32 { 7 }")
        .expect("a source");
    rustc(&["--crate-type", "cdylib"], &source, &library);
    let run = run_readme_program(
        &tiny_dir().join("s2-pro"),
        &folder.join("never.wav"),
        &[("LD_LIBRARY_PATH", &library_path()), ("LD_PRELOAD", &library)],
    );
    assert!(!run.status.success());
    let reason = text(&run.stderr);
    assert!(reason.contains("ABI version is 7, this program was built for 0"), "{reason}");
    assert!(!folder.join("never.wav").exists());
}

/// The example, which `cargo test` has built.
fn say(arguments: [&str; 3]) -> Output {
    let tests = std::env::current_exe().expect("this program");
    let profile = tests.ancestors().nth(2).expect("the profile's folder");
    let mut command = Command::new(profile.join("examples/say"));
    // Threads of many processes at once wait for each other.
    command.args(arguments).env("OMP_NUM_THREADS", "1").stdin(Stdio::null());
    command.output().expect("the example")
}

#[test]
fn the_example_speaks_and_names_a_missing_model() {
    let out = scratch("say").join("say.wav");
    let out = out.to_str().expect("UTF-8");
    let model = tiny_dir().join("s2-pro");
    let run = say([model.to_str().expect("UTF-8"), "Привет!", out]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let frames = remora::audio::info(out).expect("a sound file").frames;
    assert!(text(&run.stderr).contains(&format!("{frames} samples at 44100 Hz")));
    let run = say(["no such model", "Hello.", out]);
    assert!(text(&run.stderr).starts_with("say: no such model"), "{}", text(&run.stderr));
}
