//! What a request took.

use std::time::Duration;

use remora_sys as sys;

use crate::kinds::{Finish, KvMode, SdpaPolicy};

/// Numbers of a session's last request: "since then" means since its prefill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Why the generation ended.
    pub finish: Finish,
    /// The attention backend that really ran in the last prefill.
    pub sdpa_prefill: SdpaPolicy,
    /// ... and in the last step.
    pub sdpa_step: SdpaPolicy,
    /// How a step looks at the KV cache.
    pub kv_mode: KvMode,
    /// Columns in the cache.
    pub kv_len: usize,
    /// Columns it has room for now.
    pub kv_capacity: usize,
    /// The seed in force.
    pub seed: u64,
    /// Columns of the last prompt.
    pub prompt_tokens: u64,
    /// Of them found in the cache already.
    pub reused_tokens: u64,
    /// Frames since then, all pieces.
    pub frames: u64,
    /// Samples given out since then.
    pub samples: u64,
    /// Bytes of the cache allocated now.
    pub kv_bytes: u64,
    /// Captured CUDA graphs.
    pub graph_captures: u64,
    /// Bytes of the text whose pieces are finished.
    pub text_done: u64,
    /// Pieces that are finished.
    pub pieces_done: u64,
    /// Pieces the text was cut into.
    pub pieces: u64,
    /// Time in prefill since then.
    pub prefill: Duration,
    /// From the prefill call to the first samples; `None` before them.
    pub first_audio: Option<Duration>,
    /// Time in steps.
    pub steps: Duration,
    /// Time in codec decoding.
    pub codec: Duration,
}

impl Stats {
    pub(crate) fn from_raw(raw: &sys::remora_stats) -> Self {
        let count = |value: i32| usize::try_from(value).unwrap_or(0);
        let first_audio = Duration::from_nanos(raw.first_audio_ns);
        Self {
            finish: Finish::from_raw(raw.finish),
            sdpa_prefill: SdpaPolicy::from_raw(raw.sdpa_prefill),
            sdpa_step: SdpaPolicy::from_raw(raw.sdpa_step),
            kv_mode: KvMode::from_raw(raw.kv_mode),
            kv_len: count(raw.kv_len),
            kv_capacity: count(raw.kv_capacity),
            seed: raw.seed,
            prompt_tokens: raw.prompt_tokens,
            reused_tokens: raw.reused_tokens,
            frames: raw.frames,
            samples: raw.samples,
            kv_bytes: raw.kv_bytes,
            graph_captures: raw.graph_captures,
            text_done: raw.text_done,
            pieces_done: raw.pieces_done,
            pieces: raw.pieces,
            prefill: Duration::from_nanos(raw.prefill_ns),
            first_audio: (!first_audio.is_zero()).then_some(first_audio),
            steps: Duration::from_nanos(raw.step_ns),
            codec: Duration::from_nanos(raw.codec_ns),
        }
    }
}
