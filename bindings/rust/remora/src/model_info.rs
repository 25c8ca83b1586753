//! What a model is and takes.

use remora_sys as sys;

use crate::ffi::array_text;
use crate::kinds::{DeviceKind, Dtype, Weights};

/// What a loaded model is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the names say it; remora.h has the details
pub struct ModelInfo {
    /// "s2-pro", "s1-mini" or "codec".
    pub family: String,
    /// Hz; 0 without a codec.
    pub sample_rate: u32,
    /// 0 without a codec.
    pub samples_per_frame: usize,
    /// Codes per frame of the language model, else of the codec.
    pub n_codebooks: usize,
    /// Entries of the language model's code tables.
    pub codebook_size: usize,
    /// Columns the model was made for.
    pub max_seq_len: usize,
    pub vocab_size: usize,
    /// Token id of semantic code 0.
    pub semantic_begin: i32,
    /// Token id of the last semantic code.
    pub semantic_end: i32,
    /// Token id of `<|im_end|>`.
    pub end_token: i32,
    pub device: DeviceKind,
    pub device_index: i32,
    pub dtype: Dtype,
    pub weights: Weights,
    pub codec_dtype: Dtype,
    pub has_lm: bool,
    pub has_codec: bool,
    pub has_encoder: bool,
    /// Columns that share a scale in 4-bit weights; 0 where there are none.
    pub int4_group: u32,
    /// The checkpoint is quantised: its weights are mapped, not converted.
    pub saved_weights: bool,
}

impl ModelInfo {
    pub(crate) fn from_raw(raw: &sys::remora_model_info) -> Self {
        let count = |value: i32| usize::try_from(value).unwrap_or(0);
        Self {
            family: array_text(&raw.family),
            sample_rate: raw.sample_rate.try_into().unwrap_or(0),
            samples_per_frame: count(raw.samples_per_frame),
            n_codebooks: count(raw.n_codebooks),
            codebook_size: count(raw.codebook_size),
            max_seq_len: count(raw.max_seq_len),
            vocab_size: count(raw.vocab_size),
            semantic_begin: raw.semantic_begin,
            semantic_end: raw.semantic_end,
            end_token: raw.end_token,
            device: DeviceKind::from_raw(raw.device),
            device_index: raw.device_index,
            dtype: Dtype::from_raw(raw.dtype),
            weights: Weights::from_raw(raw.weights),
            codec_dtype: Dtype::from_raw(raw.codec_dtype),
            has_lm: raw.has_lm != 0,
            has_codec: raw.has_codec != 0,
            has_encoder: raw.has_encoder != 0,
            int4_group: raw.int4_group.try_into().unwrap_or(0),
            saved_weights: raw.saved_weights != 0,
        }
    }
}

/// What quantising lost, for one kind of matrix: all layers together, against the checkpoint's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WeightError {
    /// Such as "layers.*.attention.wqkv".
    pub layer: String,
    /// How these matrices are kept.
    pub weights: Weights,
    /// Columns that share a scale in 4-bit weights; 0 where there are none.
    pub int4_group: u32,
    /// How many numbers were compared.
    pub numbers: u64,
    /// The root of the sum of squared differences over the sum of squared originals.
    pub relative_error: f32,
    /// The largest difference.
    pub largest_error: f32,
    /// The largest size of an original.
    pub largest_number: f32,
}

impl WeightError {
    pub(crate) fn from_raw(raw: &sys::remora_weight_error) -> Self {
        Self {
            layer: array_text(&raw.layer),
            weights: Weights::from_raw(raw.weights),
            int4_group: raw.int4_group.try_into().unwrap_or(0),
            numbers: raw.numbers,
            relative_error: raw.relative_error,
            largest_error: raw.largest_error,
            largest_number: raw.largest_number,
        }
    }
}

/// What a model takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// The language model's weights.
    pub weights: u64,
    /// The codec's weights.
    pub codec: u64,
    /// K and V of one column.
    pub kv_per_position: u64,
}

impl Memory {
    pub(crate) fn from_raw(raw: &sys::remora_memory) -> Self {
        Self { weights: raw.weights, codec: raw.codec, kv_per_position: raw.kv_per_position }
    }
}
