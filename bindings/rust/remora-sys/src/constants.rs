//! Enumerations, flags and special values.

/// The `remora_abi_version()` that these declarations were written for.
pub const REMORA_ABI_VERSION: u32 = 0;

/// As a text length: measure up to the terminating NUL.
pub const REMORA_NUL_TERMINATED: usize = usize::MAX;

/// As a seed: draw one from the system.
pub const REMORA_SEED_RANDOM: u64 = u64::MAX;
/// Sessions that one `remora_sessions_step` takes.
pub const REMORA_STEP_SESSIONS_MAX: usize = 8;

pub type remora_status = i32;
pub const REMORA_OK: remora_status = 0;
pub const REMORA_END: remora_status = 1;
pub const REMORA_E_INVALID_ARGUMENT: remora_status = -1;
pub const REMORA_E_INVALID_STATE: remora_status = -2;
pub const REMORA_E_BUSY: remora_status = -3;
pub const REMORA_E_CANCELLED: remora_status = -4;
pub const REMORA_E_OUT_OF_MEMORY: remora_status = -5;
pub const REMORA_E_IO: remora_status = -6;
pub const REMORA_E_FORMAT: remora_status = -7;
pub const REMORA_E_UNSUPPORTED: remora_status = -8;
pub const REMORA_E_BUFFER_TOO_SMALL: remora_status = -9;
pub const REMORA_E_CONTEXT_FULL: remora_status = -10;
pub const REMORA_E_DEVICE: remora_status = -11;
pub const REMORA_E_ABI: remora_status = -12;
pub const REMORA_E_CALLBACK: remora_status = -13;
pub const REMORA_E_FORKED: remora_status = -14;
pub const REMORA_E_NUMERIC: remora_status = -15;
pub const REMORA_E_INTERNAL: remora_status = -16;

pub type remora_sdpa_policy = i32;
pub const REMORA_SDPA_AUTO: remora_sdpa_policy = 0;
pub const REMORA_SDPA_MATH: remora_sdpa_policy = 1;
pub const REMORA_SDPA_FLASH: remora_sdpa_policy = 2;
pub const REMORA_SDPA_EFFICIENT: remora_sdpa_policy = 3;
pub const REMORA_SDPA_CUDNN: remora_sdpa_policy = 4;
pub const REMORA_SDPA_BUILTIN: remora_sdpa_policy = 5;

pub type remora_kv_mode = i32;
pub const REMORA_KV_ACTIVE_PREFIX: remora_kv_mode = 0;
pub const REMORA_KV_FULL: remora_kv_mode = 1;
pub const REMORA_KV_GRAPH: remora_kv_mode = 2;

pub type remora_device_kind = i32;
pub const REMORA_DEVICE_AUTO: remora_device_kind = 0;
pub const REMORA_DEVICE_CPU: remora_device_kind = 1;
pub const REMORA_DEVICE_CUDA: remora_device_kind = 2;
pub const REMORA_DEVICE_MPS: remora_device_kind = 3;

pub type remora_dtype = i32;
pub const REMORA_DTYPE_AUTO: remora_dtype = 0;
pub const REMORA_DTYPE_F32: remora_dtype = 1;
pub const REMORA_DTYPE_BF16: remora_dtype = 2;
pub const REMORA_DTYPE_F16: remora_dtype = 3;

pub type remora_weights = i32;
pub const REMORA_WEIGHTS_AS_DTYPE: remora_weights = 0;
pub const REMORA_WEIGHTS_INT8: remora_weights = 1;
pub const REMORA_WEIGHTS_INT4: remora_weights = 2;

pub type remora_finish = i32;
pub const REMORA_FINISH_NONE: remora_finish = 0;
pub const REMORA_FINISH_END_TOKEN: remora_finish = 1;
pub const REMORA_FINISH_LENGTH: remora_finish = 2;
pub const REMORA_FINISH_CAPACITY: remora_finish = 3;
pub const REMORA_FINISH_CANCELLED: remora_finish = 4;
pub const REMORA_FINISH_ERROR: remora_finish = 5;

pub type remora_log_level = i32;
pub const REMORA_LOG_ERROR: remora_log_level = 0;
pub const REMORA_LOG_WARN: remora_log_level = 1;
pub const REMORA_LOG_INFO: remora_log_level = 2;
pub const REMORA_LOG_DEBUG: remora_log_level = 3;

pub type remora_audio_format = i32;
pub const REMORA_AUDIO_WAV_PCM16: remora_audio_format = 0;
pub const REMORA_AUDIO_WAV_PCM24: remora_audio_format = 1;
pub const REMORA_AUDIO_WAV_FLOAT: remora_audio_format = 2;
pub const REMORA_AUDIO_FLAC16: remora_audio_format = 3;
pub const REMORA_AUDIO_FLAC24: remora_audio_format = 4;
pub const REMORA_AUDIO_OGG_OPUS: remora_audio_format = 5;

// remora_model_params.flags
pub const REMORA_MODEL_NO_ENCODER: u32 = 1;
pub const REMORA_MODEL_NO_CODEC: u32 = 2;
pub const REMORA_MODEL_NO_LM: u32 = 4;
pub const REMORA_MODEL_TEXT_ONLY: u32 = 8;
pub const REMORA_MODEL_WEIGHT_ERRORS: u32 = 16;

// remora_session_params.flags
pub const REMORA_SESSION_KEEP_LOGITS: u32 = 1;

// remora_prompt.flags
pub const REMORA_PROMPT_CONTINUE: u32 = 1;
pub const REMORA_PROMPT_ALLOW_CONTROL: u32 = 2;
pub const REMORA_PROMPT_NO_SPLIT: u32 = 4;
pub const REMORA_PROMPT_CLEAN_TEXT: u32 = 8;
