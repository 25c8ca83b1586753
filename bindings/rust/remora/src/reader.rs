//! Files by callback: an asset pack, an encrypted archive, the network.

use std::ffi::{c_char, c_void, CStr};
use std::io;
use std::ptr::null_mut;

use remora_sys as sys;

use crate::callback;
use crate::ffi::CStruct;

/// Gives a checkpoint's files by name, for [`Source::set_reader`](crate::Source::set_reader).
///
/// Calls may come from the threads that load or use a model made from it, one at a time per file.
/// A panic becomes an error of the call that needed the file and goes on from there.
pub trait Reader: Send + Sync + 'static {
    /// An open file; dropping it closes it.
    type File: Send;

    /// Opens a file and gives its size in bytes.
    ///
    /// # Errors
    /// `NotFound` when there is no such file: some are optional. Any other kind fails the load.
    fn open(&self, name: &str) -> io::Result<(Self::File, u64)>;

    /// Fills `buffer` with the bytes at `offset`.
    ///
    /// # Errors
    /// Any fails the call that needed the bytes.
    fn read_at(&self, file: &mut Self::File, offset: u64, buffer: &mut [u8]) -> io::Result<()>;
}

/// A reader at an address that stays.
pub(crate) struct SharedReader<R>(pub R);

impl<R: Reader> SharedReader<R> {
    /// Valid as long as `self` is.
    pub(crate) fn raw(&self) -> sys::remora_reader {
        let mut raw = sys::remora_reader::sized();
        raw.user = std::ptr::from_ref(self).cast_mut().cast();
        raw.open = Some(open::<R>);
        raw.read_at = Some(read_at::<R>);
        raw.close = Some(close::<R>);
        raw
    }
}

unsafe extern "C" fn open<R: Reader>(
    user: *mut c_void,
    name: *const c_char,
    file: *mut *mut c_void,
    size: *mut u64,
) -> sys::remora_status {
    callback::guard(|| {
        // SAFETY: `raw` gave this pointer; the name is NUL-terminated.
        let (reader, name) =
            unsafe { (&(*user.cast::<SharedReader<R>>()).0, CStr::from_ptr(name)) };
        match reader.open(&name.to_string_lossy()) {
            Ok((opened, bytes)) => {
                // SAFETY: places for the results.
                unsafe {
                    *size = bytes;
                    *file = Box::into_raw(Box::new(opened)).cast();
                }
                sys::REMORA_OK
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => sys::REMORA_E_IO,
            Err(_) => sys::REMORA_E_CALLBACK,
        }
    })
    .unwrap_or_else(|| {
        // SAFETY: a place for the result.
        unsafe { *file = null_mut() };
        sys::REMORA_E_CALLBACK
    })
}

unsafe extern "C" fn read_at<R: Reader>(
    user: *mut c_void,
    file: *mut c_void,
    offset: u64,
    dst: *mut c_void,
    n: u64,
) -> i64 {
    let failed = i64::from(sys::REMORA_E_CALLBACK);
    let (Ok(len), Ok(done)) = (usize::try_from(n), i64::try_from(n)) else { return failed };
    if len == 0 {
        return 0;
    }
    callback::guard(|| {
        // SAFETY: `raw` gave `user`, `open` gave `file`, and the calls for one file come one at a
        // time; `dst` has room for n bytes. They are zeroed first: Rust code may look at them.
        let (reader, file, buffer) = unsafe {
            dst.cast::<u8>().write_bytes(0, len);
            let buffer = std::slice::from_raw_parts_mut(dst.cast::<u8>(), len);
            (&(*user.cast::<SharedReader<R>>()).0, &mut *file.cast::<R::File>(), buffer)
        };
        reader.read_at(file, offset, buffer).map_or(failed, |()| done)
    })
    .unwrap_or(failed)
}

unsafe extern "C" fn close<R: Reader>(_user: *mut c_void, file: *mut c_void) {
    callback::guard(|| {
        // SAFETY: the box that `open` gave away, taken back once.
        drop(unsafe { Box::from_raw(file.cast::<R::File>()) });
    });
}
