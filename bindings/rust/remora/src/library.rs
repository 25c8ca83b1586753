//! The library itself: versions, threads, devices, the log.

use std::ffi::{c_char, c_void};
use std::sync::{Mutex, PoisonError};

use remora_sys as sys;

use crate::callback;
use crate::error::{check, static_text, Result};
use crate::ffi::{array_text, c_int, check_abi, describe, lent};
use crate::kinds::{DeviceKind, LogLevel};

/// The version of the loaded library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Changes with the ABI, from 1.0 on.
    pub major: u8,
    /// Changes with additions.
    pub minor: u8,
    /// Changes with corrections.
    pub patch: u8,
}

/// The version of the loaded library.
#[must_use]
pub fn version() -> Version {
    // SAFETY: takes nothing and cannot fail.
    let [_, major, minor, patch] = unsafe { sys::remora_version() }.to_be_bytes();
    Version { major, minor, patch }
}

/// The ABI version of the loaded library. Every way into the library compares it with the one that
/// this binding was written for.
#[must_use]
pub fn abi_version() -> u32 {
    // SAFETY: takes nothing and cannot fail.
    unsafe { sys::remora_abi_version() }
}

/// One line: remora's version, compiler, and LibTorch built against and loaded.
#[must_use]
pub fn build_info() -> &'static str {
    // SAFETY: never NULL, NUL-terminated, lives as long as the process.
    unsafe { static_text(sys::remora_build_info()) }
}

/// Sets LibTorch's intra-op thread count (1 to 1024) for the whole process: every user of LibTorch
/// in it is affected. Results can differ in the last bits between thread counts.
///
/// # Errors
/// `InvalidArgument` outside the range.
pub fn set_threads(intra_op: u32) -> Result<()> {
    // SAFETY: takes any number.
    check(unsafe { sys::remora_set_threads(c_int(intra_op)) }).map(drop)
}

/// How many devices of a kind this process can use.
#[must_use]
pub fn device_count(kind: DeviceKind) -> usize {
    // SAFETY: takes any number.
    let count = unsafe { sys::remora_device_count(kind.raw()) };
    usize::try_from(count).unwrap_or(0)
}

/// Name and memory of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// As its driver calls it.
    pub name: String,
    /// Bytes; 0 where it is not known.
    pub memory_total: u64,
    /// Bytes; 0 where it is not known.
    pub memory_free: u64,
}

/// Describes device `index` of a kind.
///
/// # Errors
/// `Unsupported` when there is no such device.
pub fn device(kind: DeviceKind, index: i32) -> Result<DeviceInfo> {
    check_abi()?;
    // SAFETY: `out` points to a struct with its size filled in.
    let raw = describe(|out| unsafe { sys::remora_device_describe(kind.raw(), index, out) })?;
    Ok(DeviceInfo {
        name: array_text(&raw.name),
        memory_total: raw.memory_total,
        memory_free: raw.memory_free,
    })
}

/// Gives memory that freed models and sessions left with the allocator back to the system, where
/// that can be done.
///
/// # Errors
/// `Forked` in a forked child.
pub fn trim_memory() -> Result<()> {
    // SAFETY: takes nothing.
    check(unsafe { sys::remora_trim_memory() }).map(drop)
}

type LogFn = dyn Fn(LogLevel, &str) + Send + Sync;

/// The log function in force, in a box of its own because a pointer to it goes through C.
static LOG: Mutex<Option<Box<Box<LogFn>>>> = Mutex::new(None);

/// Sends log lines up to `max_level` to `log`, for the whole process, in place of an earlier one.
///
/// Lines come from any thread that calls into the library and carry no newline. `log` must not call
/// into the library. A panic in it goes on from the call that logged.
///
/// # Errors
/// `InvalidArgument` for an unknown level.
pub fn set_log(
    max_level: LogLevel,
    log: impl Fn(LogLevel, &str) + Send + Sync + 'static,
) -> Result<()> {
    replace_log(Some(Box::new(Box::new(log))), max_level)
}

/// Silences the log, which is the state at start.
///
/// # Errors
/// None that is known.
pub fn clear_log() -> Result<()> {
    replace_log(None, LogLevel::Error)
}

fn replace_log(log: Option<Box<Box<LogFn>>>, max_level: LogLevel) -> Result<()> {
    let mut current = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let user = log.as_deref().map_or(std::ptr::null(), std::ptr::from_ref::<Box<LogFn>>);
    let function: sys::remora_log_fn = log.is_some().then_some(on_log);
    // SAFETY: `user` is what `on_log` takes it for, and lives until another call has replaced it.
    let status = unsafe { sys::remora_set_log(function, user.cast_mut().cast(), max_level.raw()) };
    // Before `check`, which may go on with a panic: the library has `log` already, and calls the
    // earlier function no more.
    if status == sys::REMORA_OK {
        *current = log;
    }
    check(status).map(drop)
}

unsafe extern "C" fn on_log(
    user: *mut c_void,
    level: sys::remora_log_level,
    utf8: *const c_char,
    len: usize,
) {
    callback::guard(|| {
        // SAFETY: `replace_log` gave this pointer, and `utf8` holds `len` bytes during the call.
        let (log, bytes) = unsafe { (&*user.cast::<Box<LogFn>>(), lent(utf8.cast::<u8>(), len)) };
        log(LogLevel::from_raw(level), &String::from_utf8_lossy(bytes));
    });
}
