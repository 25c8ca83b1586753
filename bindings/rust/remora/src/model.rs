//! Models: weights, tokenizer and codec.

use std::ffi::c_void;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use remora_sys as sys;

use crate::callback;
use crate::error::{check, Result};
use crate::ffi::{c_int, collect, columns, create, describe, path_text, CStruct, Owned};
use crate::model_info::{Memory, ModelInfo, WeightError};
use crate::options::ModelOptions;
use crate::prompt::Prompt;
use crate::source::{ReaderSlot, Source};

/// A loaded checkpoint: immutable, shared by any number of sessions and threads. A clone is the
/// same model; its memory is freed with the last of the clones, sessions and codec streams.
#[derive(Clone)]
pub struct Model {
    inner: Arc<Inner>,
}

struct Inner {
    raw: Owned<sys::remora_model>,
    /// Codes in a frame: slices are checked by it before C gets them.
    n_codebooks: usize,
    /// What the model's files may come from. After `raw`: dropped later.
    _reader: ReaderSlot,
}

/// Called with 0 to 1 while a model loads; `Break` stops the load with `Cancelled`.
pub type Progress<'a> = dyn FnMut(f32) -> ControlFlow<()> + 'a;

impl Model {
    /// Loads a checkpoint folder with the defaults.
    ///
    /// # Errors
    /// `Io`: folder or file missing. `Format`: damaged or mismatched file; the text names file,
    /// tensor and reason. `Unsupported`: unknown model type, device or precision.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(folder, &ModelOptions::new()?, None)
    }

    /// Loads a checkpoint folder. A panic in `progress` stops the load and goes on from here.
    ///
    /// # Errors
    /// As [`Model::open`]; `Cancelled` when `progress` broke off.
    pub fn open_with(
        folder: impl AsRef<Path>,
        options: &ModelOptions,
        progress: Option<&mut Progress<'_>>,
    ) -> Result<Self> {
        let folder = path_text(folder.as_ref())?;
        Self::load(options, progress, ReaderSlot::default(), |params, out| {
            // SAFETY: a NUL-terminated text, valid parameters and a place for the model.
            unsafe { sys::remora_model_open(folder.as_ptr(), params, out) }
        })
    }

    /// Loads a checkpoint from a [`Source`].
    ///
    /// # Errors
    /// As [`Model::open_with`]; `Callback` when the source's [`Reader`](crate::Reader) failed.
    pub fn from_source(
        source: &mut Source,
        options: &ModelOptions,
        progress: Option<&mut Progress<'_>>,
    ) -> Result<Self> {
        Self::load(options, progress, source.reader(), |params, out| {
            // SAFETY: a live source, valid parameters and a place for the model.
            unsafe { sys::remora_model_create(source.as_ptr(), params, out) }
        })
    }

    /// What [`memory`](Self::memory) of a model loaded so would be, before it is loaded: no weights
    /// are read.
    ///
    /// # Errors
    /// As [`Model::from_source`].
    pub fn estimate(source: &mut Source, options: &ModelOptions) -> Result<Memory> {
        let params = options.raw()?;
        // SAFETY: a live source, valid parameters, and a struct with its size filled in.
        let raw =
            describe(|out| unsafe { sys::remora_model_estimate(source.as_ptr(), &params, out) })?;
        Ok(Memory::from_raw(&raw))
    }

    fn load(
        options: &ModelOptions,
        mut progress: Option<&mut Progress<'_>>,
        reader: ReaderSlot,
        call: impl FnOnce(&sys::remora_model_params, *mut *mut sys::remora_model) -> i32,
    ) -> Result<Self> {
        let mut params = options.raw()?;
        (params.progress, params.progress_user) = callback_of(&mut progress);
        let raw = create(|out| call(&params, out))?;
        let mut inner = Inner { raw, n_codebooks: 0, _reader: reader };
        inner.n_codebooks = inner.describe()?.n_codebooks.try_into().unwrap_or(0);
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn as_ptr(&self) -> *const sys::remora_model {
        self.inner.raw.as_ptr()
    }

    /// Codes in a frame.
    #[must_use]
    pub fn n_codebooks(&self) -> usize {
        self.inner.n_codebooks
    }

    /// What the model is.
    ///
    /// # Errors
    /// None that is known.
    pub fn info(&self) -> Result<ModelInfo> {
        Ok(ModelInfo::from_raw(&self.inner.describe()?))
    }

    /// What the model takes.
    ///
    /// # Errors
    /// None that is known.
    pub fn memory(&self) -> Result<Memory> {
        // SAFETY: a live model, and a struct with its size filled in.
        let raw = describe(|out| unsafe { sys::remora_model_memory(self.as_ptr(), out) })?;
        Ok(Memory::from_raw(&raw))
    }

    /// Writes the language model's 8 or 4 bit weights as the `model.safetensors` of a quantised
    /// checkpoint: beside the other files of its checkpoint it loads without converting. The file
    /// appears under its name when it is whole.
    ///
    /// # Errors
    /// `Unsupported`: the weights are not quantised. `Io`: cannot be written. `Cancelled` when
    /// `progress` broke off.
    pub fn save_weights(
        &self,
        path: impl AsRef<Path>,
        mut progress: Option<&mut Progress<'_>>,
    ) -> Result<()> {
        let path = path_text(path.as_ref())?;
        let (callback, user) = callback_of(&mut progress);
        // SAFETY: a live model, a NUL-terminated text, a callback with what it gets.
        let status =
            unsafe { sys::remora_model_save_weights(self.as_ptr(), path.as_ptr(), callback, user) };
        check(status).map(drop)
    }

    /// What quantising the weights lost, for each kind of matrix.
    ///
    /// # Errors
    /// `InvalidState`: the model was loaded without [`ModelOptions::weight_errors`], or nothing was
    /// quantised then.
    pub fn weight_errors(&self) -> Result<Vec<WeightError>> {
        let mut errors = Vec::new();
        loop {
            let mut raw = sys::remora_weight_error::sized();
            // SAFETY: a live model, and a struct with its size filled in.
            let status =
                unsafe { sys::remora_model_weight_error(self.as_ptr(), errors.len(), &mut raw) };
            if check(status)? == sys::REMORA_END {
                return Ok(errors);
            }
            errors.push(WeightError::from_raw(&raw));
        }
    }

    /// Text to token ids, as inside a prompt. `allow_control` lets typed control tokens act.
    ///
    /// # Errors
    /// `Unsupported` for a codec-only model.
    pub fn tokenize(&self, text: &str, allow_control: bool) -> Result<Vec<i32>> {
        let flags = if allow_control { sys::REMORA_PROMPT_ALLOW_CONTROL } else { 0 };
        // SAFETY: a live model, a text with its length, a buffer with its capacity.
        collect(|ids, capacity, needed| unsafe {
            let (utf8, len) = (text.as_ptr().cast(), text.len());
            sys::remora_model_tokenize(self.as_ptr(), utf8, len, flags, ids, capacity, needed)
        })
    }

    /// The prompt matrix that a session would feed for the first piece of `prompt`: `[1 +
    /// n_codebooks, columns]` row by row.
    ///
    /// # Errors
    /// As [`Session::prefill`](crate::Session::prefill).
    pub fn prompt_tokens<'a>(&self, prompt: impl Into<Prompt<'a>>) -> Result<Vec<i32>> {
        prompt.into().with_raw(self.n_codebooks(), |raw| {
            // SAFETY: a live model, a prompt whose parts live, a buffer with its capacity.
            collect(|tokens, capacity, needed| unsafe {
                sys::remora_model_prompt(self.as_ptr(), raw, tokens, capacity, needed)
            })
        })
    }

    /// Codes `[n_codebooks, frames]` row by row to `frames * samples_per_frame` samples.
    ///
    /// # Errors
    /// `InvalidArgument`: a negative code, or no whole number of frames. `Unsupported`: no codec.
    pub fn decode(&self, codes: &[i32]) -> Result<Vec<f32>> {
        let frames = columns(codes.len(), self.n_codebooks(), "codec decode")?;
        // SAFETY: a live model, frames * n_codebooks codes, a buffer with its capacity.
        collect(|pcm, capacity, needed| unsafe {
            sys::remora_codec_decode(self.as_ptr(), codes.as_ptr(), frames, pcm, capacity, needed)
        })
    }

    /// Interleaved samples of `channels` (mixed to mono) at `rate` Hz to codes `[n_codebooks,
    /// frames]` row by row.
    ///
    /// # Errors
    /// `Unsupported`: no encoder. `InvalidArgument`: channels or rate out of range.
    pub fn encode(&self, interleaved: &[f32], channels: u32, rate: u32) -> Result<Vec<i32>> {
        let frames = columns(interleaved.len(), channels as usize, "codec encode")?;
        let (channels, rate) = (c_int(channels), c_int(rate));
        // SAFETY: a live model, frames * channels samples, a buffer with its capacity.
        collect(|codes, capacity, needed| unsafe {
            let (model, sound) = (self.as_ptr(), interleaved.as_ptr());
            sys::remora_codec_encode(model, sound, frames, channels, rate, codes, capacity, needed)
        })
    }
}

impl Inner {
    fn describe(&self) -> Result<sys::remora_model_info> {
        // SAFETY: a live model, and a struct with its size filled in.
        describe(|out| unsafe { sys::remora_model_describe(self.raw.as_ptr(), out) })
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Model").field("n_codebooks", &self.n_codebooks()).finish_non_exhaustive()
    }
}

/// What C gets for it; `progress` must live as long as C may call.
fn callback_of(progress: &mut Option<&mut Progress<'_>>) -> (sys::remora_progress_fn, *mut c_void) {
    match progress.as_mut() {
        Some(progress) => {
            (Some(on_progress), std::ptr::from_mut::<&mut Progress<'_>>(progress).cast())
        }
        None => (None, std::ptr::null_mut()),
    }
}

unsafe extern "C" fn on_progress(user: *mut c_void, fraction: f32) -> i32 {
    callback::guard(|| {
        // SAFETY: `callback_of` gave this pointer, for the time of the call.
        let progress = unsafe { &mut *user.cast::<&mut Progress<'_>>() };
        i32::from(progress(fraction).is_break())
    })
    .unwrap_or(1)
}
