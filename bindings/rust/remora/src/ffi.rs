//! Small conversions between Rust and C that every module needs.

use std::ffi::{c_char, CStr, CString};
use std::mem::{size_of, MaybeUninit};
use std::path::Path;
use std::ptr::{null_mut, NonNull};

use remora_sys as sys;

use crate::callback;
use crate::error::{check, Error, ErrorCode, Result};

/// A struct of the C interface.
///
/// # Safety
/// It starts with `struct_size`, and zero is valid for every member.
pub(crate) unsafe trait CStruct: Copy {
    /// Its size, as it goes into `struct_size`.
    #[allow(clippy::cast_possible_truncation)] // the largest has 144 bytes
    const SIZE: u32 = size_of::<Self>() as u32;

    /// All zero but for `struct_size`: for the library to fill in.
    fn sized() -> Self {
        let mut value = MaybeUninit::<Self>::zeroed();
        // SAFETY: what the trait promises.
        unsafe {
            value.as_mut_ptr().cast::<u32>().write(Self::SIZE);
            value.assume_init()
        }
    }
}

macro_rules! c_structs {
    ($($kind:ident)*) => {$(
        // SAFETY: see the struct; the members are numbers, pointers and optional functions.
        unsafe impl CStruct for sys::$kind {}
    )*};
}

c_structs! {
    remora_reader remora_model_params remora_model_info remora_device_info remora_memory
    remora_weight_error remora_session_params remora_sampling remora_prompt remora_frame remora_stats
    remora_audio_info
}

/// An opaque object of the C interface.
pub(crate) trait Object {
    /// # Safety
    /// `object` is one, and is used no more.
    unsafe fn destroy(object: *mut Self);
}

macro_rules! objects {
    ($($kind:ident: $destroy:ident,)*) => {$(
        impl Object for sys::$kind {
            unsafe fn destroy(object: *mut Self) {
                // SAFETY: what the caller promises.
                unsafe { sys::$destroy(object) }
            }
        }
    )*};
}

objects! {
    remora_source: remora_source_destroy,
    remora_model: remora_model_destroy,
    remora_voice: remora_voice_destroy,
    remora_session: remora_session_destroy,
    remora_codec_stream: remora_codec_stream_destroy,
}

/// Owns an object and destroys it.
pub(crate) struct Owned<T: Object>(NonNull<T>);

impl<T: Object> Owned<T> {
    pub(crate) fn as_ptr(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Object> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: owned, and gone after this.
        unsafe { T::destroy(self.0.as_ptr()) };
        callback::forget_panic();
    }
}

// SAFETY: every object may be used from any thread, one at a time ("any thread", "session thread" and
// "one thread at a time" in remora.h); destroying is for any thread.
unsafe impl<T: Object> Send for Owned<T> {}

// SAFETY: models and voices are immutable: every function on them is for any thread.
unsafe impl Sync for Owned<sys::remora_model> {}
// SAFETY: as above.
unsafe impl Sync for Owned<sys::remora_voice> {}

/// Refuses a library with another ABI than the declarations. Every way into the library comes by
/// here before it passes a struct.
pub(crate) fn check_abi() -> Result<()> {
    // SAFETY: takes nothing and cannot fail.
    let found = unsafe { sys::remora_abi_version() };
    if found == sys::REMORA_ABI_VERSION {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::Abi,
        format!(
            "libremora: its ABI version is {found}, this program was built for {}; install the \
             library that belongs to it, or build the program anew",
            sys::REMORA_ABI_VERSION
        ),
    ))
}

/// Calls a create function and gives the object that it made.
pub(crate) fn create<T: Object>(
    call: impl FnOnce(*mut *mut T) -> sys::remora_status,
) -> Result<Owned<T>> {
    check_abi()?;
    let mut object = null_mut();
    let status = call(&mut object);
    // Owned before `check`, which may go on with a panic of the log function.
    let object = NonNull::new(object).map(Owned);
    check(status)?;
    object.ok_or_else(|| Error::new(ErrorCode::Internal, "create: gave no object"))
}

/// Calls an init function and gives the struct that it filled in.
pub(crate) fn defaults<T: CStruct>(
    call: unsafe extern "C" fn(*mut T, u32) -> sys::remora_status,
) -> Result<T> {
    check_abi()?;
    // SAFETY: every init function takes a struct and its size.
    describe(|value| unsafe { call(value, T::SIZE) })
}

/// Calls a describe function and gives the struct that it filled in.
pub(crate) fn describe<T: CStruct>(call: impl FnOnce(*mut T) -> sys::remora_status) -> Result<T> {
    let mut value = T::sized();
    check(call(&mut value))?;
    Ok(value)
}

/// Asks for the size, then for the elements: `call` gets a buffer, its capacity and `needed`.
pub(crate) fn collect<T: Copy + Default>(
    call: impl Fn(*mut T, usize, *mut usize) -> sys::remora_status,
) -> Result<Vec<T>> {
    let mut needed = 0;
    check(call(null_mut(), 0, &mut needed))?;
    let mut values = vec![T::default(); needed];
    // For no elements, too: the pointer is not NULL, so the library works and tells what is wrong.
    check(call(values.as_mut_ptr(), values.len(), &mut needed))?;
    values.truncate(needed);
    Ok(values)
}

/// A path as the library wants it: UTF-8 with a NUL at the end.
pub(crate) fn path_text(path: &Path) -> Result<CString> {
    let text = path.to_str().ok_or_else(|| {
        let text = format!("{}: the path is not UTF-8; rename the file", path.display());
        Error::new(ErrorCode::InvalidArgument, text)
    })?;
    c_text(text, "the path")
}

pub(crate) fn c_text(text: &str, what: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let at = error.nul_position();
        let text = format!("{text:?}: {what} holds a NUL at byte {at}; remove it");
        Error::new(ErrorCode::InvalidArgument, text)
    })
}

/// The text of an array that C ends with a NUL.
pub(crate) fn array_text(array: &[c_char]) -> String {
    // SAFETY: i8 and u8 have the same size and no invalid value.
    let bytes = unsafe { std::slice::from_raw_parts(array.as_ptr().cast::<u8>(), array.len()) };
    CStr::from_bytes_until_nul(bytes)
        .map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

/// A number that C takes as a signed one; its own range check refuses what does not fit.
pub(crate) fn c_int(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// How often `rows` goes into `len`; an error when it does not go evenly.
pub(crate) fn columns(len: usize, rows: usize, what: &str) -> Result<usize> {
    if rows > 0 && len % rows == 0 {
        return Ok(len / rows);
    }
    let text = format!("{what}: {len} numbers are no whole number of columns of {rows}");
    Err(Error::new(ErrorCode::InvalidArgument, text))
}

/// What C lends as a pointer and a count; the pointer may be NULL when there is nothing.
///
/// # Safety
/// Where `len` is not 0, `data` points to `len` elements that live as long as `'a`.
pub(crate) unsafe fn lent<'a, T>(data: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    // SAFETY: what the caller promises.
    unsafe { std::slice::from_raw_parts(data, len) }
}
