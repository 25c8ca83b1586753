//! Voices: encoded references with the words spoken in them.

use std::path::Path;
use std::sync::Arc;

use remora_sys as sys;

use crate::error::Result;
use crate::ffi::{c_int, collect, columns, create, path_text, Owned};
use crate::model::Model;

/// Whom a session sounds like: immutable, shared by any number of sessions and threads, usable with
/// the model that it was made for. A clone is the same voice.
#[derive(Clone)]
pub struct Voice {
    raw: Arc<Owned<sys::remora_voice>>,
}

impl Voice {
    fn create(
        call: impl FnOnce(*mut *mut sys::remora_voice) -> sys::remora_status,
    ) -> Result<Self> {
        Ok(Self { raw: Arc::new(create(call)?) })
    }

    pub(crate) fn as_ptr(&self) -> *const sys::remora_voice {
        self.raw.as_ptr()
    }

    /// From codes `[n_codebooks, frames]` row by row, and the words spoken in them.
    ///
    /// # Errors
    /// `InvalidArgument`: a code out of range, no whole number of frames, an empty transcript.
    pub fn from_codes(model: &Model, codes: &[i32], transcript: &str) -> Result<Self> {
        let frames = columns(codes.len(), model.n_codebooks(), "voice")?;
        let (text, len) = (transcript.as_ptr().cast(), transcript.len());
        // SAFETY: a live model, frames * n_codebooks codes, a text with its length.
        Self::create(|out| unsafe {
            sys::remora_voice_from_codes(model.as_ptr(), codes.as_ptr(), frames, text, len, out)
        })
    }

    /// From interleaved samples of `channels` (mixed to mono) at `rate` Hz (4000 to 192000), at
    /// least 0.2 s of them, and the words spoken in them.
    ///
    /// # Errors
    /// `InvalidArgument`: too short, silent, or an empty transcript. `Unsupported`: the model has no
    /// encoder.
    pub fn from_sound(
        model: &Model,
        interleaved: &[f32],
        channels: u32,
        rate: u32,
        transcript: &str,
    ) -> Result<Self> {
        let frames = columns(interleaved.len(), channels as usize, "voice")?;
        let (text, len) = (transcript.as_ptr().cast(), transcript.len());
        // SAFETY: a live model, frames * channels samples, a text with its length.
        Self::create(|out| unsafe {
            let (model, sound) = (model.as_ptr(), interleaved.as_ptr());
            let (channels, rate) = (c_int(channels), c_int(rate));
            sys::remora_voice_create(model, sound, frames, channels, rate, text, len, out)
        })
    }

    /// From a sound file of any kind that libsndfile reads, and the words spoken in it.
    ///
    /// # Errors
    /// `Io`: missing. `Format`: not a readable sound file. Else as [`Voice::from_sound`].
    pub fn open(model: &Model, path: impl AsRef<Path>, transcript: &str) -> Result<Self> {
        let path = path_text(path.as_ref())?;
        let (text, len) = (transcript.as_ptr().cast(), transcript.len());
        // SAFETY: a live model, a NUL-terminated path, a text with its length.
        Self::create(|out| unsafe {
            sys::remora_voice_open(model.as_ptr(), path.as_ptr(), text, len, out)
        })
    }

    /// The voice as bytes, to keep and to load again.
    ///
    /// # Errors
    /// None that is known.
    pub fn save(&self) -> Result<Vec<u8>> {
        // SAFETY: a live voice, a buffer with its capacity.
        collect(|dst: *mut u8, capacity, needed| unsafe {
            sys::remora_voice_save(self.as_ptr(), dst.cast(), capacity, needed)
        })
    }

    /// A voice that was saved.
    ///
    /// # Errors
    /// `Format`: damaged, cut or no voice. `InvalidArgument`: made for a model of another shape.
    pub fn load(model: &Model, bytes: &[u8]) -> Result<Self> {
        let (src, len) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: a live model, bytes with their count.
        Self::create(|out| unsafe { sys::remora_voice_load(model.as_ptr(), src, len, out) })
    }
}

impl std::fmt::Debug for Voice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Voice").finish_non_exhaustive()
    }
}
