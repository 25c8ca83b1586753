//! The declarations are those of `remora.h` and of the golden layout table.
//!
//! `REMORA_INCLUDE_DIR` may name another folder with `remora/remora.h` than the repository's.

mod header;
mod layout;
mod signatures;

use std::path::{Path, PathBuf};

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn header_text() -> String {
    let folder = std::env::var_os("REMORA_INCLUDE_DIR");
    let folder = folder.map_or_else(|| root().join("include"), PathBuf::from);
    read(&folder.join("remora/remora.h"))
}
