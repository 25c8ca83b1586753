//! The safe crate against the library, on the tiny models.
//!
//! `REMORA_TINY_DIR` is the build's folder of tiny checkpoints; by default that of the library in
//! `REMORA_LIB_DIR`'s build.

mod build_script;
mod callbacks;
mod cases;
mod json;
mod objects;
mod programs;
mod sessions;
mod sources;
mod support;
mod text_and_paths;
