//! Where a checkpoint's files come from, when one folder is not the answer.

use std::any::Any;
use std::ffi::c_void;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use remora_sys as sys;

use crate::callback;
use crate::error::{check, Error, ErrorCode, Result};
use crate::ffi::{c_text, create, path_text, Owned};
use crate::reader::{Reader, SharedReader};

/// Keeps a reader alive. The source shares it with every model made from it.
pub(crate) type ReaderSlot = Arc<OnceLock<Box<dyn Any + Send + Sync>>>;

/// A list of files under the names that a checkpoint gives them. Names already in it keep their
/// first meaning.
pub struct Source {
    raw: Owned<sys::remora_source>,
    /// After `raw`: dropped later.
    reader: ReaderSlot,
}

impl Source {
    /// An empty source.
    ///
    /// # Errors
    /// `Abi` when the library is not the one this binding belongs to.
    pub fn new() -> Result<Self> {
        // SAFETY: a place for the source.
        let raw = create(|out| unsafe { sys::remora_source_create(out) })?;
        Ok(Self { raw, reader: ReaderSlot::default() })
    }

    pub(crate) fn as_ptr(&mut self) -> *mut sys::remora_source {
        self.raw.as_ptr()
    }

    pub(crate) fn reader(&self) -> ReaderSlot {
        Arc::clone(&self.reader)
    }

    /// All files of a folder, under their own names.
    ///
    /// # Errors
    /// `Io` when it is no folder.
    pub fn add_dir(&mut self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = path_text(folder.as_ref())?;
        // SAFETY: a live source and a NUL-terminated text.
        check(unsafe { sys::remora_source_add_dir(self.as_ptr(), folder.as_ptr()) }).map(drop)
    }

    /// The codec of another folder, in place of a codec in a folder added before.
    ///
    /// # Errors
    /// `Io` when there is no codec.
    pub fn add_codec_dir(&mut self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = path_text(folder.as_ref())?;
        // SAFETY: a live source and a NUL-terminated text.
        check(unsafe { sys::remora_source_add_codec_dir(self.as_ptr(), folder.as_ptr()) }).map(drop)
    }

    /// One file under the name a checkpoint gives it ("config.json", "model.safetensors", ...).
    ///
    /// # Errors
    /// `Io` when it cannot be opened.
    pub fn add_path(&mut self, name: &str, path: impl AsRef<Path>) -> Result<()> {
        let (name, path) = (c_text(name, "the name")?, path_text(path.as_ref())?);
        let (name, path) = (name.as_ptr(), path.as_ptr());
        // SAFETY: a live source and two NUL-terminated texts.
        check(unsafe { sys::remora_source_add_path(self.as_ptr(), name, path) }).map(drop)
    }

    /// A file in memory, used in place without a copy, and dropped when source and models no longer
    /// need it.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that cannot be; `data` is dropped then, too.
    pub fn add_memory<T>(&mut self, name: &str, data: T) -> Result<()>
    where
        T: AsRef<[u8]> + Send + Sync + 'static,
    {
        let name = c_text(name, "the name")?;
        let data = Box::into_raw(Box::new(data));
        // SAFETY: just made; nothing takes it back before the library does. The bytes are asked for
        // in the place where they will stay.
        let bytes = unsafe { &*data }.as_ref();
        let (start, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: a live source, a NUL-terminated text, bytes that live until `release` is called,
        // which the library promises to do once, whether it succeeds or not.
        check(unsafe {
            let source = self.as_ptr();
            sys::remora_source_add_memory(
                source,
                name.as_ptr(),
                start,
                len,
                Some(release::<T>),
                data.cast(),
            )
        })
        .map(drop)
    }

    /// `len` bytes at `offset` of an open file. The descriptor is duplicated.
    ///
    /// # Errors
    /// `Io` when the range is not readable.
    #[cfg(unix)]
    pub fn add_fd(
        &mut self,
        name: &str,
        file: impl std::os::fd::AsFd,
        offset: u64,
        len: u64,
    ) -> Result<()> {
        use std::os::fd::AsRawFd;
        let name = c_text(name, "the name")?;
        let fd = file.as_fd().as_raw_fd();
        // SAFETY: a live source, a NUL-terminated text, a descriptor that is open during the call.
        check(unsafe { sys::remora_source_add_fd(self.as_ptr(), name.as_ptr(), fd, offset, len) })
            .map(drop)
    }

    /// Names that were not added are asked of `reader`. It is kept until this source, every model
    /// made from it and their sessions are gone. One reader for a source.
    ///
    /// # Errors
    /// `InvalidState` when there is a reader already.
    pub fn set_reader<R: Reader>(&mut self, reader: R) -> Result<()> {
        let reader = Box::new(SharedReader(reader));
        let raw = reader.raw();
        self.reader.set(reader).map_err(|_| {
            Error::new(ErrorCode::InvalidState, "source: has a reader already; make another source")
        })?;
        // SAFETY: a live source; source and models keep the slot, so the reader outlives them all.
        check(unsafe { sys::remora_source_set_reader(self.as_ptr(), &raw) }).map(drop)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Source").finish_non_exhaustive()
    }
}

unsafe extern "C" fn release<T>(user: *mut c_void, _data: *const c_void, _len: usize) {
    callback::guard(|| {
        // SAFETY: the box that `add_memory` gave away, taken back once.
        drop(unsafe { Box::from_raw(user.cast::<T>()) });
    });
}
