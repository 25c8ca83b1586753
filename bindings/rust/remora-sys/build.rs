//! Finds libremora: `REMORA_LIB_DIR`, else the pkg-config program. Nothing is downloaded or built.
//!
//! Packages that depend on this one read the folder found as `DEP_REMORA_LIB_DIR` in their own
//! build script: a run path is a matter of the program that is linked, and cargo does not pass one
//! on from here.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    for name in ["REMORA_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("DOCS_RS").is_some() {
        return; // documentation needs no library
    }
    match find_library() {
        Ok(folder) => {
            println!("cargo:rustc-link-search=native={}", folder.display());
            println!("cargo:rustc-link-lib=dylib=remora");
            println!("cargo:lib_dir={}", folder.display());
            println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{}", folder.display());
        }
        Err(text) => {
            eprintln!("error: {text}");
            std::process::exit(1);
        }
    }
}

fn find_library() -> Result<PathBuf, String> {
    if let Some(folder) = env::var_os("REMORA_LIB_DIR") {
        let folder = PathBuf::from(folder);
        return if holds_library(&folder) {
            // cargo runs this script in the package's folder; a run path must not depend on that.
            folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))
        } else {
            Err(format!("REMORA_LIB_DIR is {}, but there is no libremora in it", folder.display()))
        };
    }
    ask_pkg_config().map_err(|reason| {
        format!(
            "libremora was not found.\n  REMORA_LIB_DIR is not set: set it to the folder that holds \
             libremora.\n  pkg-config does not know remora ({reason}): put the folder of remora.pc \
             into PKG_CONFIG_PATH.\n  One of the two is enough."
        )
    })
}

fn holds_library(folder: &Path) -> bool {
    ["libremora.so", "libremora.dylib", "remora.lib", "libremora.dll.a"]
        .iter()
        .any(|name| folder.join(name).exists())
}

fn ask_pkg_config() -> Result<PathBuf, String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let output = Command::new(&program)
        .args(["--print-errors", "--variable=libdir", "remora"])
        .output()
        .map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(text.lines().next().unwrap_or("no reason given").to_owned());
    }
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if holds_library(&folder) {
        Ok(folder)
    } else {
        Err(format!("its libdir {} holds no libremora", folder.display()))
    }
}
