//! The C interface of libremora, name by name; `remora.h` is its manual.
//!
//! Written by hand and held to the header and to the C compiler's struct layout by the tests, so
//! that neither bindgen nor libclang is needed. Enumerations are `i32`, because a Rust `enum` that
//! meets a value it does not know is undefined behaviour.
//!
//! Most programs want the safe crate `remora` instead.

#![no_std]
#![allow(non_camel_case_types)] // the names are C's
#![allow(missing_docs)] // remora.h explains every item

mod constants;
mod functions;
mod structs;

pub use constants::*;
pub use functions::*;
pub use structs::*;
