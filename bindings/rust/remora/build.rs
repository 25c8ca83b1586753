//! Gives this package's own tests and examples a run path to the library that remora-sys found.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DEP_REMORA_LIB_DIR");
    if let Ok(folder) = env::var("DEP_REMORA_LIB_DIR") {
        println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{folder}");
        println!("cargo:rustc-link-arg-examples=-Wl,-rpath,{folder}");
    }
}
