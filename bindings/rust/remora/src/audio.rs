//! Sound files.

use std::path::Path;

use remora_sys as sys;

use crate::error::{check, Result};
use crate::ffi::{c_int, check_abi, collect, columns, describe, path_text};
use crate::kinds::AudioFormat;

/// What a sound file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AudioInfo {
    /// Hz.
    pub sample_rate: u32,
    /// Samples that belong to one moment.
    pub channels: u32,
    /// Samples per channel that are really there.
    pub frames: u64,
}

/// Rate, channels and length of a sound file; the length is counted, not taken from the header.
///
/// # Errors
/// `Io`: missing. `Format`: not readable.
pub fn info(path: impl AsRef<Path>) -> Result<AudioInfo> {
    check_abi()?;
    let path = path_text(path.as_ref())?;
    // SAFETY: a NUL-terminated path, a struct with its size filled in.
    let raw = describe(|out| unsafe { sys::remora_audio_describe(path.as_ptr(), out) })?;
    Ok(AudioInfo {
        sample_rate: raw.sample_rate.try_into().unwrap_or(0),
        channels: raw.channels.try_into().unwrap_or(0),
        frames: raw.frames,
    })
}

/// A whole sound file as interleaved samples.
///
/// # Errors
/// `Io`: missing. `Format`: not readable.
pub fn read(path: impl AsRef<Path>) -> Result<Vec<f32>> {
    let path = path_text(path.as_ref())?;
    // SAFETY: a NUL-terminated path, a buffer with its capacity.
    collect(|samples, capacity, needed| unsafe {
        sys::remora_audio_read(path.as_ptr(), samples, capacity, needed)
    })
}

/// Writes interleaved samples (-1 to 1; louder ones saturate). The file appears under its name only
/// when it is complete.
///
/// # Errors
/// `Io`: cannot be written. `InvalidArgument`: channels, rate or format out of range, or no whole
/// number of frames.
pub fn write(
    path: impl AsRef<Path>,
    interleaved: &[f32],
    channels: u32,
    rate: u32,
    format: AudioFormat,
) -> Result<()> {
    let path = path_text(path.as_ref())?;
    let frames = columns(interleaved.len(), channels as usize, "audio")?;
    let (channels, rate) = (c_int(channels), c_int(rate));
    // SAFETY: a NUL-terminated path, frames * channels samples.
    check(unsafe {
        let sound = interleaved.as_ptr();
        sys::remora_audio_write(path.as_ptr(), sound, frames, channels, rate, format.raw())
    })
    .map(drop)
}

/// Samples to 16 bits: saturated; NaN becomes 0.
///
/// # Errors
/// `Forked` in a forked child.
pub fn to_s16(samples: &[f32]) -> Result<Vec<i16>> {
    let mut out = vec![0; samples.len()];
    // SAFETY: as many places as samples.
    check(unsafe { sys::remora_audio_to_s16(samples.as_ptr(), samples.len(), out.as_mut_ptr()) })?;
    Ok(out)
}

/// The WAV header to send before samples of unknown number into a pipe.
///
/// # Errors
/// `InvalidArgument`: not a WAV format, or channels or rate out of range.
pub fn stream_header(format: AudioFormat, channels: u32, rate: u32) -> Result<Vec<u8>> {
    let (format, channels, rate) = (format.raw(), c_int(channels), c_int(rate));
    // SAFETY: a buffer with its capacity.
    collect(|dst: *mut u8, capacity, needed| unsafe {
        let dst = dst.cast();
        sys::remora_audio_stream_header(format, channels, rate, dst, capacity, needed)
    })
}
