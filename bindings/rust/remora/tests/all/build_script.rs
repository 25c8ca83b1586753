//! How remora-sys finds the library when it is built: its build script, run by itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::programs::{rustc, text};
use crate::support::{library_dir, root, scratch};

/// Success, standard output and error of the script.
fn run(script: &Path, environment: &[(&str, &Path)]) -> (bool, String, String) {
    let mut command = Command::new(script);
    for name in ["REMORA_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH", "DOCS_RS"] {
        command.env_remove(name);
    }
    let output = command.envs(environment.iter().copied()).output().expect("the script");
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn script(folder: &Path) -> PathBuf {
    let script = folder.join("script");
    rustc(&[], &root().join("bindings/rust/remora-sys/build.rs"), &script);
    script
}

fn library() -> PathBuf {
    library_dir().canonicalize().expect("the library's folder")
}

fn found() -> String {
    format!("cargo:lib_dir={}", library().display())
}

#[test]
fn the_folder_named_is_taken_or_refused() {
    let folder = scratch("named");
    let script = script(&folder);
    let (ok, out, _) = run(&script, &[("REMORA_LIB_DIR", &library())]);
    assert!(ok && out.contains(&found()), "{out}");
    let (ok, _, reason) = run(&script, &[("REMORA_LIB_DIR", &folder)]);
    assert!(!ok && reason.contains("there is no libremora in it"), "{reason}");
}

#[test]
fn without_folder_and_pkg_config_the_error_explains_both() {
    let script = script(&scratch("nothing"));
    let none = Path::new("no-such-pkg-config");
    let (ok, _, reason) = run(&script, &[("PKG_CONFIG", none)]);
    assert!(!ok && reason.contains("REMORA_LIB_DIR is not set"), "{reason}");
    assert!(
        reason.contains("PKG_CONFIG_PATH") && reason.contains("no-such-pkg-config"),
        "{reason}"
    );
    let (ok, out, _) = run(&script, &[("PKG_CONFIG", none), ("DOCS_RS", none)]);
    assert!(ok && !out.contains("rustc-link-lib"), "documentation needs no library: {out}");
}

/// A stand-in for pkg-config, so that the test needs none: it answers or fails as the real one does.
#[test]
#[cfg(unix)]
fn pkg_config_is_asked_for_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch("asked");
    let script = script(&folder);
    let asked = |body: &str| {
        let program = folder.join("pkg-config");
        std::fs::write(&program, format!("#!/bin/sh\n{body}\n")).expect("a program");
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("its mode");
        run(&script, &[("PKG_CONFIG", &program)])
    };
    let answer = format!(
        "[ \"$*\" = '--print-errors --variable=libdir remora' ] && echo '{}'",
        library().display()
    );
    let (ok, out, reason) = asked(&answer);
    assert!(ok && out.contains(&found()), "{out}{reason}");
    let (ok, _, reason) = asked("echo 'No package remora found' >&2; exit 1");
    assert!(!ok && reason.contains("No package remora found"), "{reason}");
    let (ok, _, reason) = asked("echo /nowhere");
    assert!(!ok && reason.contains("/nowhere holds no libremora"), "{reason}");
}
