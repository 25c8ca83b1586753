//! A session's state: where it stands, back to an earlier point, copies, and statistics.

use remora_sys as sys;

use crate::error::{check, Error, Result};
use crate::ffi::{c_int, collect, create, describe};
use crate::session::Session;
use crate::stats::Stats;

impl Session {
    /// Back to the state after creation; sampling stays. Clears an error and a cancel.
    ///
    /// # Errors
    /// `Forked` in a forked child.
    pub fn reset(&mut self) -> Result<()> {
        // SAFETY: a live session, used by this thread alone.
        check(unsafe { sys::remora_session_reset(self.as_ptr()) }).map(drop)
    }

    /// Columns in the context.
    ///
    /// # Errors
    /// `Forked` in a forked child.
    pub fn position(&self) -> Result<u64> {
        // SAFETY: a live session, used by this thread alone.
        let position = unsafe { sys::remora_session_position(self.as_ptr()) };
        match u64::try_from(position) {
            Ok(position) => Ok(position),
            Err(_) => Err(Error::last(i32::try_from(position).unwrap_or(i32::MIN))),
        }
    }

    /// The logits that frames are drawn from, before penalty, temperature and filters. Codebook 0: for
    /// the next frame, an entry for each semantic token and one for the end token, by ascending id
    /// (see [`ModelInfo`](crate::ModelInfo)). Codebook 1 and up: for that code of the last frame;
    /// entry i is code i.
    ///
    /// # Errors
    /// `InvalidArgument`: no such codebook. `InvalidState`: nothing was kept yet, or
    /// [`SessionOptions::keep_logits`](crate::SessionOptions::keep_logits) was not set.
    pub fn logits(&self, codebook: u32) -> Result<Vec<f32>> {
        // SAFETY: a live session, used by this thread alone; a buffer with its capacity.
        collect(|out, capacity, needed| unsafe {
            let codebook = c_int(codebook);
            sys::remora_session_logits(self.as_ptr(), codebook, out, capacity, needed)
        })
    }

    /// Forgets the columns from `position` on, and ends a generation that was going.
    ///
    /// # Errors
    /// `InvalidArgument` past [`position`](Self::position).
    pub fn rewind(&mut self, position: u64) -> Result<()> {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        // SAFETY: a live session, used by this thread alone.
        check(unsafe { sys::remora_session_rewind(self.as_ptr(), position) }).map(drop)
    }

    /// An independent session in the same state, mid-generation too: both go on alike.
    ///
    /// # Errors
    /// `OutOfMemory`, `InvalidState` after a failure.
    pub fn try_clone(&self) -> Result<Self> {
        // SAFETY: a live session, used by this thread alone; a place for the new one.
        let raw = create(|out| unsafe { sys::remora_session_clone(self.as_ptr(), out) })?;
        Ok(Self::from_raw(raw, self.model()))
    }

    /// The whole state as bytes.
    ///
    /// # Errors
    /// `InvalidState` after a failure.
    pub fn save(&self) -> Result<Vec<u8>> {
        // SAFETY: a live session, used by this thread alone; a buffer with its capacity.
        collect(|dst: *mut u8, capacity, needed| unsafe {
            sys::remora_session_save(self.as_ptr(), dst.cast(), capacity, needed)
        })
    }

    /// Takes up a saved state.
    ///
    /// # Errors
    /// `Format`: damaged, or of another version. `InvalidArgument`: saved with another model or
    /// precision, or too long for this capacity; the session is then unchanged.
    pub fn load(&mut self, state: &[u8]) -> Result<()> {
        let (src, len) = (state.as_ptr().cast(), state.len());
        // SAFETY: a live session, used by this thread alone; bytes with their count.
        check(unsafe { sys::remora_session_load(self.as_ptr(), src, len) }).map(drop)
    }

    /// What the last request took.
    ///
    /// # Errors
    /// `Forked` in a forked child.
    pub fn stats(&self) -> Result<Stats> {
        // SAFETY: a live session, used by this thread alone; a struct with its size filled in.
        let raw = describe(|out| unsafe { sys::remora_session_stats(self.as_ptr(), out) })?;
        Ok(Stats::from_raw(&raw))
    }
}
