// What Swift sees of the C interface: the structs' sizes and members, and the constants.
import CRemora

/// "OFFSET SIZE NAME" of a member, as in the golden table but for the C type.
private func field<Root, Value>(_ name: String, _ path: KeyPath<Root, Value>) -> String {
  let offset = MemoryLayout<Root>.offset(of: path).map(String.init) ?? "none"
  return "\(offset) \(MemoryLayout<Value>.size) \(name)"
}

let structLayouts: [String: [String]] = [
  "remora_reader": reader,
  "remora_model_params": modelParams,
  "remora_model_info": modelInfo,
  "remora_device_info": deviceInfo,
  "remora_memory": memory,
  "remora_session_params": sessionParams,
  "remora_sampling": sampling,
  "remora_prompt": prompt,
  "remora_frame": frame,
  "remora_stats": stats,
  "remora_audio_info": audioInfo,
]

private let reader: [String] = [
  "size \(MemoryLayout<remora_reader>.size)",
  field("struct_size", \remora_reader.struct_size),
  field("flags", \remora_reader.flags),
  field("user", \remora_reader.user),
  field("open", \remora_reader.open),
  field("read_at", \remora_reader.read_at),
  field("close", \remora_reader.close),
]

private let modelParams: [String] = [
  "size \(MemoryLayout<remora_model_params>.size)",
  field("struct_size", \remora_model_params.struct_size),
  field("flags", \remora_model_params.flags),
  field("device", \remora_model_params.device),
  field("device_index", \remora_model_params.device_index),
  field("dtype", \remora_model_params.dtype),
  field("weights", \remora_model_params.weights),
  field("codec_dtype", \remora_model_params.codec_dtype),
  field("reserved0", \remora_model_params.reserved0),
  field("progress", \remora_model_params.progress),
  field("progress_user", \remora_model_params.progress_user),
]

private let modelInfo: [String] = [
  "size \(MemoryLayout<remora_model_info>.size)",
  field("struct_size", \remora_model_info.struct_size),
  field("sample_rate", \remora_model_info.sample_rate),
  field("samples_per_frame", \remora_model_info.samples_per_frame),
  field("n_codebooks", \remora_model_info.n_codebooks),
  field("codebook_size", \remora_model_info.codebook_size),
  field("max_seq_len", \remora_model_info.max_seq_len),
  field("vocab_size", \remora_model_info.vocab_size),
  field("semantic_begin", \remora_model_info.semantic_begin),
  field("semantic_end", \remora_model_info.semantic_end),
  field("end_token", \remora_model_info.end_token),
  field("device", \remora_model_info.device),
  field("device_index", \remora_model_info.device_index),
  field("dtype", \remora_model_info.dtype),
  field("weights", \remora_model_info.weights),
  field("codec_dtype", \remora_model_info.codec_dtype),
  field("has_lm", \remora_model_info.has_lm),
  field("has_codec", \remora_model_info.has_codec),
  field("has_encoder", \remora_model_info.has_encoder),
  field("family", \remora_model_info.family),
]

private let deviceInfo: [String] = [
  "size \(MemoryLayout<remora_device_info>.size)",
  field("struct_size", \remora_device_info.struct_size),
  field("flags", \remora_device_info.flags),
  field("name", \remora_device_info.name),
  field("memory_total", \remora_device_info.memory_total),
  field("memory_free", \remora_device_info.memory_free),
]

private let memory: [String] = [
  "size \(MemoryLayout<remora_memory>.size)",
  field("struct_size", \remora_memory.struct_size),
  field("flags", \remora_memory.flags),
  field("weights", \remora_memory.weights),
  field("codec", \remora_memory.codec),
  field("kv_per_position", \remora_memory.kv_per_position),
]

private let sessionParams: [String] = [
  "size \(MemoryLayout<remora_session_params>.size)",
  field("struct_size", \remora_session_params.struct_size),
  field("flags", \remora_session_params.flags),
  field("capacity", \remora_session_params.capacity),
  field("kv_mode", \remora_session_params.kv_mode),
  field("sdpa", \remora_session_params.sdpa),
  field("codec_chunk_first", \remora_session_params.codec_chunk_first),
  field("codec_chunk_next", \remora_session_params.codec_chunk_next),
  field("reserved0", \remora_session_params.reserved0),
]

private let sampling: [String] = [
  "size \(MemoryLayout<remora_sampling>.size)",
  field("struct_size", \remora_sampling.struct_size),
  field("flags", \remora_sampling.flags),
  field("temperature", \remora_sampling.temperature),
  field("top_p", \remora_sampling.top_p),
  field("top_k", \remora_sampling.top_k),
  field("repetition_penalty", \remora_sampling.repetition_penalty),
  field("max_frames", \remora_sampling.max_frames),
  field("max_frames_per_byte", \remora_sampling.max_frames_per_byte),
  field("ras_window", \remora_sampling.ras_window),
  field("reserved0", \remora_sampling.reserved0),
  field("seed", \remora_sampling.seed),
]

private let prompt: [String] = [
  "size \(MemoryLayout<remora_prompt>.size)",
  field("struct_size", \remora_prompt.struct_size),
  field("flags", \remora_prompt.flags),
  field("text", \remora_prompt.text),
  field("text_len", \remora_prompt.text_len),
  field("voices", \remora_prompt.voices),
  field("n_voices", \remora_prompt.n_voices),
  field("tokens", \remora_prompt.tokens),
  field("n_tokens", \remora_prompt.n_tokens),
  field("split_bytes", \remora_prompt.split_bytes),
]

private let frame: [String] = [
  "size \(MemoryLayout<remora_frame>.size)",
  field("struct_size", \remora_frame.struct_size),
  field("n_codes", \remora_frame.n_codes),
  field("position", \remora_frame.position),
  field("codes", \remora_frame.codes),
  field("codes_capacity", \remora_frame.codes_capacity),
]

private let stats: [String] = [
  "size \(MemoryLayout<remora_stats>.size)",
  field("struct_size", \remora_stats.struct_size),
  field("finish", \remora_stats.finish),
  field("sdpa_prefill", \remora_stats.sdpa_prefill),
  field("sdpa_step", \remora_stats.sdpa_step),
  field("kv_mode", \remora_stats.kv_mode),
  field("kv_len", \remora_stats.kv_len),
  field("kv_capacity", \remora_stats.kv_capacity),
  field("reserved0", \remora_stats.reserved0),
  field("seed", \remora_stats.seed),
  field("prompt_tokens", \remora_stats.prompt_tokens),
  field("reused_tokens", \remora_stats.reused_tokens),
  field("frames", \remora_stats.frames),
  field("samples", \remora_stats.samples),
  field("kv_bytes", \remora_stats.kv_bytes),
  field("graph_captures", \remora_stats.graph_captures),
  field("text_done", \remora_stats.text_done),
  field("pieces_done", \remora_stats.pieces_done),
  field("pieces", \remora_stats.pieces),
  field("prefill_ns", \remora_stats.prefill_ns),
  field("first_audio_ns", \remora_stats.first_audio_ns),
  field("step_ns", \remora_stats.step_ns),
  field("codec_ns", \remora_stats.codec_ns),
]

private let audioInfo: [String] = [
  "size \(MemoryLayout<remora_audio_info>.size)",
  field("struct_size", \remora_audio_info.struct_size),
  field("sample_rate", \remora_audio_info.sample_rate),
  field("channels", \remora_audio_info.channels),
  field("reserved0", \remora_audio_info.reserved0),
  field("frames", \remora_audio_info.frames),
]
let constants: [String: Int] = [
  "REMORA_OK": REMORA_OK,
  "REMORA_END": REMORA_END,
  "REMORA_E_INVALID_ARGUMENT": REMORA_E_INVALID_ARGUMENT,
  "REMORA_E_INVALID_STATE": REMORA_E_INVALID_STATE,
  "REMORA_E_BUSY": REMORA_E_BUSY,
  "REMORA_E_CANCELLED": REMORA_E_CANCELLED,
  "REMORA_E_OUT_OF_MEMORY": REMORA_E_OUT_OF_MEMORY,
  "REMORA_E_IO": REMORA_E_IO,
  "REMORA_E_FORMAT": REMORA_E_FORMAT,
  "REMORA_E_UNSUPPORTED": REMORA_E_UNSUPPORTED,
  "REMORA_E_BUFFER_TOO_SMALL": REMORA_E_BUFFER_TOO_SMALL,
  "REMORA_E_CONTEXT_FULL": REMORA_E_CONTEXT_FULL,
  "REMORA_E_DEVICE": REMORA_E_DEVICE,
  "REMORA_E_ABI": REMORA_E_ABI,
  "REMORA_E_CALLBACK": REMORA_E_CALLBACK,
  "REMORA_E_FORKED": REMORA_E_FORKED,
  "REMORA_E_NUMERIC": REMORA_E_NUMERIC,
  "REMORA_E_INTERNAL": REMORA_E_INTERNAL,
  "REMORA_SDPA_AUTO": REMORA_SDPA_AUTO,
  "REMORA_SDPA_MATH": REMORA_SDPA_MATH,
  "REMORA_SDPA_FLASH": REMORA_SDPA_FLASH,
  "REMORA_SDPA_EFFICIENT": REMORA_SDPA_EFFICIENT,
  "REMORA_SDPA_CUDNN": REMORA_SDPA_CUDNN,
  "REMORA_KV_ACTIVE_PREFIX": REMORA_KV_ACTIVE_PREFIX,
  "REMORA_KV_FULL": REMORA_KV_FULL,
  "REMORA_KV_GRAPH": REMORA_KV_GRAPH,
  "REMORA_DEVICE_AUTO": REMORA_DEVICE_AUTO,
  "REMORA_DEVICE_CPU": REMORA_DEVICE_CPU,
  "REMORA_DEVICE_CUDA": REMORA_DEVICE_CUDA,
  "REMORA_DEVICE_MPS": REMORA_DEVICE_MPS,
  "REMORA_DTYPE_AUTO": REMORA_DTYPE_AUTO,
  "REMORA_DTYPE_F32": REMORA_DTYPE_F32,
  "REMORA_DTYPE_BF16": REMORA_DTYPE_BF16,
  "REMORA_DTYPE_F16": REMORA_DTYPE_F16,
  "REMORA_WEIGHTS_AS_DTYPE": REMORA_WEIGHTS_AS_DTYPE,
  "REMORA_WEIGHTS_INT8": REMORA_WEIGHTS_INT8,
  "REMORA_WEIGHTS_INT4": REMORA_WEIGHTS_INT4,
  "REMORA_FINISH_NONE": REMORA_FINISH_NONE,
  "REMORA_FINISH_END_TOKEN": REMORA_FINISH_END_TOKEN,
  "REMORA_FINISH_LENGTH": REMORA_FINISH_LENGTH,
  "REMORA_FINISH_CAPACITY": REMORA_FINISH_CAPACITY,
  "REMORA_FINISH_CANCELLED": REMORA_FINISH_CANCELLED,
  "REMORA_FINISH_ERROR": REMORA_FINISH_ERROR,
  "REMORA_LOG_ERROR": REMORA_LOG_ERROR,
  "REMORA_LOG_WARN": REMORA_LOG_WARN,
  "REMORA_LOG_INFO": REMORA_LOG_INFO,
  "REMORA_LOG_DEBUG": REMORA_LOG_DEBUG,
  "REMORA_AUDIO_WAV_PCM16": REMORA_AUDIO_WAV_PCM16,
  "REMORA_AUDIO_WAV_PCM24": REMORA_AUDIO_WAV_PCM24,
  "REMORA_AUDIO_WAV_FLOAT": REMORA_AUDIO_WAV_FLOAT,
  "REMORA_AUDIO_FLAC16": REMORA_AUDIO_FLAC16,
  "REMORA_AUDIO_FLAC24": REMORA_AUDIO_FLAC24,
  "REMORA_AUDIO_OGG_OPUS": REMORA_AUDIO_OGG_OPUS,
  "REMORA_MODEL_NO_ENCODER": REMORA_MODEL_NO_ENCODER,
  "REMORA_MODEL_NO_CODEC": REMORA_MODEL_NO_CODEC,
  "REMORA_MODEL_NO_LM": REMORA_MODEL_NO_LM,
  "REMORA_MODEL_TEXT_ONLY": REMORA_MODEL_TEXT_ONLY,
  "REMORA_PROMPT_CONTINUE": REMORA_PROMPT_CONTINUE,
  "REMORA_PROMPT_ALLOW_CONTROL": REMORA_PROMPT_ALLOW_CONTROL,
  "REMORA_PROMPT_NO_SPLIT": REMORA_PROMPT_NO_SPLIT,
  "REMORA_PROMPT_CLEAN_TEXT": REMORA_PROMPT_CLEAN_TEXT,
]
