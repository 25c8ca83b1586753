//! Every function of `remora.h`, in its order.

use core::ffi::{c_char, c_void};

use crate::constants::*;
use crate::structs::*;

extern "C" {
    // Library.
    pub fn remora_version() -> u32;
    pub fn remora_abi_version() -> u32;
    pub fn remora_build_info() -> *const c_char;
    pub fn remora_status_name(status: remora_status) -> *const c_char;
    pub fn remora_last_error() -> *const c_char;
    pub fn remora_set_log(
        callback: remora_log_fn,
        user: *mut c_void,
        max_level: remora_log_level,
    ) -> remora_status;
    pub fn remora_set_threads(intra_op: i32) -> remora_status;
    pub fn remora_device_count(kind: remora_device_kind) -> i32;
    pub fn remora_device_describe(
        kind: remora_device_kind,
        index: i32,
        out: *mut remora_device_info,
    ) -> remora_status;
    pub fn remora_trim_memory() -> remora_status;

    // Source.
    pub fn remora_source_create(out: *mut *mut remora_source) -> remora_status;
    pub fn remora_source_add_dir(
        source: *mut remora_source,
        utf8_dir: *const c_char,
    ) -> remora_status;
    pub fn remora_source_add_codec_dir(
        source: *mut remora_source,
        utf8_dir: *const c_char,
    ) -> remora_status;
    pub fn remora_source_add_path(
        source: *mut remora_source,
        name: *const c_char,
        utf8_path: *const c_char,
    ) -> remora_status;
    pub fn remora_source_add_memory(
        source: *mut remora_source,
        name: *const c_char,
        data: *const c_void,
        len: usize,
        release: remora_release_fn,
        user: *mut c_void,
    ) -> remora_status;
    pub fn remora_source_add_fd(
        source: *mut remora_source,
        name: *const c_char,
        fd: i32,
        offset: u64,
        len: u64,
    ) -> remora_status;
    pub fn remora_source_set_reader(
        source: *mut remora_source,
        reader: *const remora_reader,
    ) -> remora_status;
    pub fn remora_source_destroy(source: *mut remora_source);

    // Model.
    pub fn remora_model_params_init(
        params: *mut remora_model_params,
        struct_size: u32,
    ) -> remora_status;
    pub fn remora_model_open(
        utf8_dir: *const c_char,
        params: *const remora_model_params,
        out: *mut *mut remora_model,
    ) -> remora_status;
    pub fn remora_model_create(
        source: *mut remora_source,
        params: *const remora_model_params,
        out: *mut *mut remora_model,
    ) -> remora_status;
    pub fn remora_model_estimate(
        source: *mut remora_source,
        params: *const remora_model_params,
        out: *mut remora_memory,
    ) -> remora_status;
    pub fn remora_model_describe(
        model: *const remora_model,
        out: *mut remora_model_info,
    ) -> remora_status;
    pub fn remora_model_memory(
        model: *const remora_model,
        out: *mut remora_memory,
    ) -> remora_status;
    pub fn remora_model_tokenize(
        model: *const remora_model,
        utf8: *const c_char,
        len: usize,
        flags: u32,
        ids: *mut i32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_model_prompt(
        model: *const remora_model,
        prompt: *const remora_prompt,
        tokens: *mut i32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_model_save_weights(
        model: *const remora_model,
        utf8_path: *const c_char,
        progress: remora_progress_fn,
        user: *mut c_void,
    ) -> remora_status;
    pub fn remora_model_weight_error(
        model: *const remora_model,
        index: usize,
        out: *mut remora_weight_error,
    ) -> remora_status;
    pub fn remora_model_destroy(model: *mut remora_model);

    // Voice.
    pub fn remora_voice_from_codes(
        model: *const remora_model,
        codes: *const i32,
        n_frames: usize,
        transcript: *const c_char,
        transcript_len: usize,
        out: *mut *mut remora_voice,
    ) -> remora_status;
    pub fn remora_voice_create(
        model: *const remora_model,
        interleaved: *const f32,
        n_frames: usize,
        channels: i32,
        rate: i32,
        transcript: *const c_char,
        transcript_len: usize,
        out: *mut *mut remora_voice,
    ) -> remora_status;
    pub fn remora_voice_open(
        model: *const remora_model,
        utf8_path: *const c_char,
        transcript: *const c_char,
        transcript_len: usize,
        out: *mut *mut remora_voice,
    ) -> remora_status;
    pub fn remora_voice_save(
        voice: *const remora_voice,
        dst: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_voice_load(
        model: *const remora_model,
        src: *const c_void,
        len: usize,
        out: *mut *mut remora_voice,
    ) -> remora_status;
    pub fn remora_voice_destroy(voice: *mut remora_voice);

    // Session.
    pub fn remora_session_params_init(
        params: *mut remora_session_params,
        struct_size: u32,
    ) -> remora_status;
    pub fn remora_sampling_init(sampling: *mut remora_sampling, struct_size: u32) -> remora_status;
    pub fn remora_prompt_init(prompt: *mut remora_prompt, struct_size: u32) -> remora_status;
    pub fn remora_session_create(
        model: *const remora_model,
        params: *const remora_session_params,
        out: *mut *mut remora_session,
    ) -> remora_status;
    pub fn remora_session_warmup(session: *mut remora_session) -> remora_status;
    pub fn remora_session_set_sampling(
        session: *mut remora_session,
        sampling: *const remora_sampling,
    ) -> remora_status;
    pub fn remora_session_prefill(
        session: *mut remora_session,
        prompt: *const remora_prompt,
    ) -> remora_status;
    pub fn remora_session_step(
        session: *mut remora_session,
        out: *mut remora_frame,
    ) -> remora_status;
    pub fn remora_sessions_step(
        sessions: *const *mut remora_session,
        n_sessions: usize,
        frames: *const *mut remora_frame,
        statuses: *mut remora_status,
    ) -> remora_status;
    pub fn remora_session_logits(
        session: *const remora_session,
        codebook: i32,
        out: *mut f32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_session_read_pcm(
        session: *mut remora_session,
        dst: *mut f32,
        capacity: usize,
        written: *mut usize,
    ) -> remora_status;
    pub fn remora_session_generate(
        session: *mut remora_session,
        prompt: *const remora_prompt,
        on_audio: remora_audio_fn,
        user: *mut c_void,
    ) -> remora_status;
    pub fn remora_session_cancel(session: *mut remora_session);
    pub fn remora_session_reset(session: *mut remora_session) -> remora_status;
    pub fn remora_session_position(session: *const remora_session) -> i64;
    pub fn remora_session_rewind(session: *mut remora_session, position: i64) -> remora_status;
    pub fn remora_session_clone(
        session: *const remora_session,
        out: *mut *mut remora_session,
    ) -> remora_status;
    pub fn remora_session_save(
        session: *const remora_session,
        dst: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_session_load(
        session: *mut remora_session,
        src: *const c_void,
        len: usize,
    ) -> remora_status;
    pub fn remora_session_stats(
        session: *const remora_session,
        out: *mut remora_stats,
    ) -> remora_status;
    pub fn remora_session_destroy(session: *mut remora_session);

    // Codec.
    pub fn remora_codec_encode(
        model: *const remora_model,
        interleaved: *const f32,
        n_frames: usize,
        channels: i32,
        rate: i32,
        codes: *mut i32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_codec_decode(
        model: *const remora_model,
        codes: *const i32,
        n_frames: usize,
        pcm: *mut f32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_codec_stream_create(
        model: *const remora_model,
        out: *mut *mut remora_codec_stream,
    ) -> remora_status;
    pub fn remora_codec_stream_push(
        stream: *mut remora_codec_stream,
        codes: *const i32,
        n_frames: usize,
        pcm: *mut f32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_codec_stream_reset(stream: *mut remora_codec_stream) -> remora_status;
    pub fn remora_codec_stream_destroy(stream: *mut remora_codec_stream);

    // Audio files.
    pub fn remora_audio_describe(
        utf8_path: *const c_char,
        out: *mut remora_audio_info,
    ) -> remora_status;
    pub fn remora_audio_read(
        utf8_path: *const c_char,
        interleaved: *mut f32,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_audio_to_s16(samples: *const f32, n: usize, out: *mut i16) -> remora_status;
    pub fn remora_audio_stream_header(
        format: remora_audio_format,
        channels: i32,
        rate: i32,
        dst: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> remora_status;
    pub fn remora_audio_write(
        utf8_path: *const c_char,
        interleaved: *const f32,
        n_frames: usize,
        channels: i32,
        rate: i32,
        format: remora_audio_format,
    ) -> remora_status;
}
