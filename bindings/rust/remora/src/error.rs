//! Failures of the library as values.

use std::ffi::CStr;
use std::fmt;

use remora_sys as sys;

use crate::callback;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $raw:ident,)*) => {
        /// The kind of a failure. Match on it with a `_` arm: later libraries may know more kinds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
            /// A status that this version of the binding has no name for.
            Unknown(i32),
        }

        impl ErrorCode {
            /// From a status of the C interface.
            #[must_use]
            pub fn from_raw(status: i32) -> Self {
                match status {
                    $(sys::$raw => Self::$name,)*
                    other => Self::Unknown(other),
                }
            }

            /// The status of the C interface.
            #[must_use]
            pub fn raw(self) -> i32 {
                match self {
                    $(Self::$name => sys::$raw,)*
                    Self::Unknown(status) => status,
                }
            }
        }
    };
}

error_codes! {
    /// An argument is out of its range; the text names it.
    InvalidArgument = REMORA_E_INVALID_ARGUMENT,
    /// Not valid now: no prompt yet, or the session failed before.
    InvalidState = REMORA_E_INVALID_STATE,
    /// Another call runs on this object.
    Busy = REMORA_E_BUSY,
    /// Stopped by a [`CancelHandle`](crate::CancelHandle) or by a callback.
    Cancelled = REMORA_E_CANCELLED,
    /// Memory ran out.
    OutOfMemory = REMORA_E_OUT_OF_MEMORY,
    /// A file is missing or cannot be read or written.
    Io = REMORA_E_IO,
    /// A file's content is damaged or not what it should be.
    Format = REMORA_E_FORMAT,
    /// Asked for something this build, device or model lacks.
    Unsupported = REMORA_E_UNSUPPORTED,
    /// The buffer given is too small; nothing was written.
    BufferTooSmall = REMORA_E_BUFFER_TOO_SMALL,
    /// Prompt and wanted frames do not fit the capacity.
    ContextFull = REMORA_E_CONTEXT_FULL,
    /// The device failed.
    Device = REMORA_E_DEVICE,
    /// Library and binding, or library and LibTorch, do not fit together.
    Abi = REMORA_E_ABI,
    /// A [`Reader`](crate::Reader) failed.
    Callback = REMORA_E_CALLBACK,
    /// LibTorch does not survive `fork()`.
    Forked = REMORA_E_FORKED,
    /// NaN or infinite logits, or nothing left to sample from.
    Numeric = REMORA_E_NUMERIC,
    /// A fault in the library: please report the text.
    Internal = REMORA_E_INTERNAL,
}

impl ErrorCode {
    /// The name in the C interface, such as `REMORA_E_IO`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // SAFETY: takes any number and returns a NUL-terminated text that lives with the process.
        unsafe { static_text(sys::remora_status_name(self.raw())) }
    }
}

/// A failure: its kind, and a text of the form `what, where, what to do`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: ErrorCode,
    message: String,
}

impl Error {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The calling thread's last error. Must follow the failing call at once.
    pub(crate) fn last(status: i32) -> Self {
        // SAFETY: never NULL; copied before anything else can replace it.
        let text = unsafe { CStr::from_ptr(sys::remora_last_error()) };
        Self::new(ErrorCode::from_raw(status), text.to_string_lossy())
    }

    /// The kind of the failure.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The library's text, without the code.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Success (0 or a positive status, which is returned) or the thread's last error.
///
/// First a panic that a callback of the call kept goes on from here.
pub(crate) fn check(status: sys::remora_status) -> Result<sys::remora_status> {
    let error = (status < 0).then(|| Error::last(status));
    callback::resume_panic();
    error.map_or(Ok(status), Err)
}

/// # Safety
/// `text` is NUL-terminated and lives as long as the process.
pub(crate) unsafe fn static_text(text: *const std::ffi::c_char) -> &'static str {
    // SAFETY: what the caller promises.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}
