//! Opaque objects, callbacks and structs. The layout test compares every struct with C's.

use core::ffi::{c_char, c_void};
use core::marker::{PhantomData, PhantomPinned};

use crate::constants::*;

macro_rules! opaque {
    ($($name:ident)*) => {$(
        /// Known by pointer only; not `Send`, `Sync` or `Unpin` by itself.
        #[repr(C)]
        pub struct $name {
            data: [u8; 0],
            marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )*};
}

opaque! { remora_source remora_model remora_voice remora_session remora_codec_stream }

pub type remora_log_fn = Option<
    unsafe extern "C" fn(
        user: *mut c_void,
        level: remora_log_level,
        utf8: *const c_char,
        len: usize,
    ),
>;
pub type remora_progress_fn = Option<unsafe extern "C" fn(user: *mut c_void, fraction: f32) -> i32>;
pub type remora_audio_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, pcm: *const f32, n: usize, last: i32) -> i32>;
pub type remora_release_fn =
    Option<unsafe extern "C" fn(user: *mut c_void, data: *const c_void, len: usize)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_reader {
    pub struct_size: u32,
    pub flags: u32,
    pub user: *mut c_void,
    pub open: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            name: *const c_char,
            file: *mut *mut c_void,
            size: *mut u64,
        ) -> remora_status,
    >,
    pub read_at: Option<
        unsafe extern "C" fn(
            user: *mut c_void,
            file: *mut c_void,
            offset: u64,
            dst: *mut c_void,
            n: u64,
        ) -> i64,
    >,
    pub close: Option<unsafe extern "C" fn(user: *mut c_void, file: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_model_params {
    pub struct_size: u32,
    pub flags: u32,
    pub device: remora_device_kind,
    pub device_index: i32,
    pub dtype: remora_dtype,
    pub weights: remora_weights,
    pub codec_dtype: remora_dtype,
    pub int4_group: i32,
    pub progress: remora_progress_fn,
    pub progress_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_model_info {
    pub struct_size: u32,
    pub sample_rate: i32,
    pub samples_per_frame: i32,
    pub n_codebooks: i32,
    pub codebook_size: i32,
    pub max_seq_len: i32,
    pub vocab_size: i32,
    pub semantic_begin: i32,
    pub semantic_end: i32,
    pub end_token: i32,
    pub device: remora_device_kind,
    pub device_index: i32,
    pub dtype: remora_dtype,
    pub weights: remora_weights,
    pub codec_dtype: remora_dtype,
    pub has_lm: i32,
    pub has_codec: i32,
    pub has_encoder: i32,
    pub family: [c_char; 32],
    pub int4_group: i32,
    pub saved_weights: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_device_info {
    pub struct_size: u32,
    pub flags: u32,
    pub name: [c_char; 120],
    pub memory_total: u64,
    pub memory_free: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_memory {
    pub struct_size: u32,
    pub flags: u32,
    pub weights: u64,
    pub codec: u64,
    pub kv_per_position: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_weight_error {
    pub struct_size: u32,
    pub weights: remora_weights,
    pub int4_group: i32,
    pub relative_error: f32,
    pub numbers: u64,
    pub largest_error: f32,
    pub largest_number: f32,
    pub layer: [c_char; 64],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_session_params {
    pub struct_size: u32,
    pub flags: u32,
    pub capacity: i32,
    pub kv_mode: remora_kv_mode,
    pub sdpa: remora_sdpa_policy,
    pub codec_chunk_first: i32,
    pub codec_chunk_next: i32,
    pub reserved0: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_sampling {
    pub struct_size: u32,
    pub flags: u32,
    pub temperature: f32,
    pub top_p: f32,
    pub top_k: i32,
    pub repetition_penalty: f32,
    pub max_frames: i32,
    pub max_frames_per_byte: f32,
    pub ras_window: i32,
    pub reserved0: i32,
    pub seed: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_prompt {
    pub struct_size: u32,
    pub flags: u32,
    pub text: *const c_char,
    pub text_len: u64,
    pub voices: *const *const remora_voice,
    pub n_voices: u64,
    pub tokens: *const i32,
    pub n_tokens: u64,
    pub split_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_frame {
    pub struct_size: u32,
    pub n_codes: i32,
    pub position: i64,
    pub codes: *mut i32,
    pub codes_capacity: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_stats {
    pub struct_size: u32,
    pub finish: remora_finish,
    pub sdpa_prefill: remora_sdpa_policy,
    pub sdpa_step: remora_sdpa_policy,
    pub kv_mode: remora_kv_mode,
    pub kv_len: i32,
    pub kv_capacity: i32,
    pub reserved0: i32,
    pub seed: u64,
    pub prompt_tokens: u64,
    pub reused_tokens: u64,
    pub frames: u64,
    pub samples: u64,
    pub kv_bytes: u64,
    pub graph_captures: u64,
    pub text_done: u64,
    pub pieces_done: u64,
    pub pieces: u64,
    pub prefill_ns: u64,
    pub first_audio_ns: u64,
    pub step_ns: u64,
    pub codec_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct remora_audio_info {
    pub struct_size: u32,
    pub sample_rate: i32,
    pub channels: i32,
    pub reserved0: i32,
    pub frames: u64,
}
