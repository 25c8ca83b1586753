//! Speech from text inside your program: Fish Speech S2-Pro and OpenAudio S1-mini checkpoints,
//! without Python.
//!
//! ```no_run
//! fn main() -> remora::Result<()> {
//!     let model = remora::Model::open("model")?;
//!     let mut session = remora::Session::new(&model)?;
//!     for piece in session.speak("Hello from Rust.")? {
//!         println!("{} samples", piece?.len());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! [`Model`] and [`Voice`] are immutable and shared among threads; a clone is the same object. A
//! [`Session`] is used by one thread at a time; a [`CancelHandle`] stops it from any. All free what
//! they hold when they are dropped, in any order.
//!
//! Failures are [`Error`]s: an [`ErrorCode`] and a text that says what, where, and what to do.
//! Panics in callbacks never cross C: the work stops, and the panic goes on from the call that the
//! callback belongs to.
//!
//! Defaults live in the library: `new()` of an options struct asks for them. One process holds one
//! LibTorch, and LibTorch does not survive `fork()`.

mod callback;
mod codec_stream;
mod error;
mod ffi;
mod kinds;
mod library;
mod model;
mod model_info;
mod options;
mod prompt;
mod reader;
mod session;
mod session_state;
mod source;
mod stats;
mod stream;
mod together;
mod voice;

pub mod audio;

pub use codec_stream::CodecStream;
pub use error::{Error, ErrorCode, Result};
pub use kinds::{AudioFormat, DeviceKind, Dtype, Finish, KvMode, LogLevel, SdpaPolicy, Weights};
pub use library::{
    abi_version, build_info, clear_log, device, device_count, set_log, set_threads, trim_memory,
    version, DeviceInfo, Version,
};
pub use model::{Model, Progress};
pub use model_info::{Memory, ModelInfo, WeightError};
pub use options::{ModelOptions, SessionOptions};
pub use prompt::{Prompt, Sampling};
pub use reader::Reader;
pub use session::{CancelHandle, Session, Step};
pub use source::Source;
pub use stats::Stats;
pub use stream::{Frame, Frames, Pcm};
pub use together::MAX_TOGETHER;
pub use voice::Voice;
