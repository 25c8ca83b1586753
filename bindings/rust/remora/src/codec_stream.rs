//! Exact piecewise decoding.

use remora_sys as sys;

use crate::error::{check, Result};
use crate::ffi::{collect, columns, create, Owned};
use crate::model::Model;

/// Decodes a clip in pieces: joined they equal the whole clip within 2e-5.
pub struct CodecStream {
    raw: Owned<sys::remora_codec_stream>,
    /// After `raw`: dropped later.
    model: Model,
}

impl CodecStream {
    /// At the start of a clip.
    ///
    /// # Errors
    /// `Unsupported`: the model has no codec.
    pub fn new(model: &Model) -> Result<Self> {
        // SAFETY: a live model and a place for the stream.
        let raw = create(|out| unsafe { sys::remora_codec_stream_create(model.as_ptr(), out) })?;
        Ok(Self { raw, model: model.clone() })
    }

    /// The next frames, codes `[n_codebooks, frames]` row by row, to their samples.
    ///
    /// # Errors
    /// `InvalidArgument`: a negative code, or no whole number of frames.
    pub fn push(&mut self, codes: &[i32]) -> Result<Vec<f32>> {
        let frames = columns(codes.len(), self.model.n_codebooks(), "codec stream")?;
        // SAFETY: a live stream, frames * n_codebooks codes, a buffer with its capacity. Asking for
        // the size consumes nothing.
        collect(|pcm, capacity, needed| unsafe {
            let (stream, codes) = (self.raw.as_ptr(), codes.as_ptr());
            sys::remora_codec_stream_push(stream, codes, frames, pcm, capacity, needed)
        })
    }

    /// Back to the start of a clip.
    ///
    /// # Errors
    /// `Forked` in a forked child.
    pub fn reset(&mut self) -> Result<()> {
        // SAFETY: a live stream.
        check(unsafe { sys::remora_codec_stream_reset(self.raw.as_ptr()) }).map(drop)
    }
}

impl std::fmt::Debug for CodecStream {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("CodecStream").field("model", &self.model).finish_non_exhaustive()
    }
}
