//! What models and sessions are made with.

use remora_sys as sys;

use crate::error::Result;
use crate::ffi::{c_int, defaults};
use crate::kinds::{DeviceKind, Dtype, KvMode, SdpaPolicy, Weights};

/// What a model is loaded with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelOptions {
    /// What computes.
    pub device: DeviceKind,
    /// Which of the devices of that kind.
    pub device_index: i32,
    /// What the language model computes in.
    pub dtype: Dtype,
    /// How the language model's weights are kept.
    pub weights: Weights,
    /// What the codec computes in.
    pub codec_dtype: Dtype,
    /// Leave the codec's encoder out: voices from codes only.
    pub no_encoder: bool,
    /// Codes only, no sound.
    pub no_codec: bool,
    /// Codec only: the folder may hold nothing else.
    pub no_lm: bool,
    /// Configuration and tokenizer only: no weights are read.
    pub text_only: bool,
    /// Columns that share a scale in 4-bit weights: 32 or 64; 0 is the library's choice.
    pub int4_group: u32,
    /// Measure what quantising loses, for [`Model::weight_errors`](crate::Model::weight_errors).
    pub weight_errors: bool,
}

impl ModelOptions {
    /// The library's defaults.
    ///
    /// # Errors
    /// `Abi` when the library is not the one this binding belongs to.
    pub fn new() -> Result<Self> {
        let raw = defaults(sys::remora_model_params_init)?;
        let has = |flag| raw.flags & flag != 0;
        Ok(Self {
            device: DeviceKind::from_raw(raw.device),
            device_index: raw.device_index,
            dtype: Dtype::from_raw(raw.dtype),
            weights: Weights::from_raw(raw.weights),
            codec_dtype: Dtype::from_raw(raw.codec_dtype),
            no_encoder: has(sys::REMORA_MODEL_NO_ENCODER),
            no_codec: has(sys::REMORA_MODEL_NO_CODEC),
            no_lm: has(sys::REMORA_MODEL_NO_LM),
            text_only: has(sys::REMORA_MODEL_TEXT_ONLY),
            int4_group: u32::try_from(raw.int4_group).unwrap_or(0),
            weight_errors: has(sys::REMORA_MODEL_WEIGHT_ERRORS),
        })
    }

    pub(crate) fn raw(&self) -> Result<sys::remora_model_params> {
        let flag = |set, flag| if set { flag } else { 0 };
        let mut raw = defaults(sys::remora_model_params_init)?;
        raw.flags = flag(self.no_encoder, sys::REMORA_MODEL_NO_ENCODER)
            | flag(self.no_codec, sys::REMORA_MODEL_NO_CODEC)
            | flag(self.no_lm, sys::REMORA_MODEL_NO_LM)
            | flag(self.text_only, sys::REMORA_MODEL_TEXT_ONLY)
            | flag(self.weight_errors, sys::REMORA_MODEL_WEIGHT_ERRORS);
        raw.device = self.device.raw();
        raw.device_index = self.device_index;
        raw.dtype = self.dtype.raw();
        raw.weights = self.weights.raw();
        raw.codec_dtype = self.codec_dtype.raw();
        raw.int4_group = c_int(self.int4_group);
        Ok(raw)
    }
}

/// What a session is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOptions {
    /// KV positions; 0 follows the request and grows.
    pub capacity: u32,
    /// How a step looks at the KV cache.
    pub kv_mode: KvMode,
    /// The attention backend.
    pub sdpa: SdpaPolicy,
    /// Frames of the first decoded piece, at least 1.
    pub codec_chunk_first: u32,
    /// Pieces grow to this many frames.
    pub codec_chunk_next: u32,
    /// Keep what frames are drawn from, for [`Session::logits`](crate::Session::logits).
    pub keep_logits: bool,
}

impl SessionOptions {
    /// The library's defaults.
    ///
    /// # Errors
    /// `Abi` when the library is not the one this binding belongs to.
    pub fn new() -> Result<Self> {
        let raw = defaults(sys::remora_session_params_init)?;
        let count = |value: i32| u32::try_from(value).unwrap_or(0);
        Ok(Self {
            capacity: count(raw.capacity),
            kv_mode: KvMode::from_raw(raw.kv_mode),
            sdpa: SdpaPolicy::from_raw(raw.sdpa),
            codec_chunk_first: count(raw.codec_chunk_first),
            codec_chunk_next: count(raw.codec_chunk_next),
            keep_logits: raw.flags & sys::REMORA_SESSION_KEEP_LOGITS != 0,
        })
    }

    pub(crate) fn raw(&self) -> Result<sys::remora_session_params> {
        let mut raw = defaults(sys::remora_session_params_init)?;
        raw.flags = if self.keep_logits { sys::REMORA_SESSION_KEEP_LOGITS } else { 0 };
        raw.capacity = c_int(self.capacity);
        raw.kv_mode = self.kv_mode.raw();
        raw.sdpa = self.sdpa.raw();
        raw.codec_chunk_first = c_int(self.codec_chunk_first);
        raw.codec_chunk_next = c_int(self.codec_chunk_next);
        Ok(raw)
    }
}
