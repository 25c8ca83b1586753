// The structs and constants as Swift sees them, against the table that the C test uses.
import CRemora
import Foundation
import Testing

@Suite struct LayoutTests {
  /// "OFFSET SIZE NAME" for each member, as in the table but for the C type.
  static func field<Root, Value>(_ name: String, _ path: KeyPath<Root, Value>) -> String {
    let offset = MemoryLayout<Root>.offset(of: path).map(String.init) ?? "none"
    return "\(offset) \(MemoryLayout<Value>.size) \(name)"
  }

  static func goldenLines() throws -> [[String]] {
    let file = Place.root.appending(path: "tests/abi/layout.txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
  }

  @Test func structsLieAsInTheGoldenTable() throws {
    var name = ""
    var golden: [String: [String]] = [:]
    for words in try Self.goldenLines() {
      if words[0] == "struct" {
        name = words[1]
        golden[name] = ["size \(words[2])"]
      } else if words[0] != "constant" {
        golden[name, default: []].append("\(words[0]) \(words[1]) \(words[3])")
      }
    }
    #expect(golden.count >= 9)
    for (name, lines) in golden {
      #expect(structLayouts[name] == lines, "\(name)")
    }
  }

  @Test func constantsHaveTheGoldenValues() throws {
    let golden = try Self.goldenLines().filter { $0[0] == "constant" }
    #expect(golden.count >= 50)
    for words in golden {
      #expect(constants[words[1]].map { "\($0)" } == words[2], "\(words[1])")
    }
  }
}

private let structLayouts: [String: [String]] = [
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
  LayoutTests.field("struct_size", \remora_reader.struct_size),
  LayoutTests.field("flags", \remora_reader.flags),
  LayoutTests.field("user", \remora_reader.user),
  LayoutTests.field("open", \remora_reader.open),
  LayoutTests.field("read_at", \remora_reader.read_at),
  LayoutTests.field("close", \remora_reader.close),
]

private let modelParams: [String] = [
  "size \(MemoryLayout<remora_model_params>.size)",
  LayoutTests.field("struct_size", \remora_model_params.struct_size),
  LayoutTests.field("flags", \remora_model_params.flags),
  LayoutTests.field("device", \remora_model_params.device),
  LayoutTests.field("device_index", \remora_model_params.device_index),
  LayoutTests.field("dtype", \remora_model_params.dtype),
  LayoutTests.field("weights", \remora_model_params.weights),
  LayoutTests.field("codec_dtype", \remora_model_params.codec_dtype),
  LayoutTests.field("reserved0", \remora_model_params.reserved0),
  LayoutTests.field("progress", \remora_model_params.progress),
  LayoutTests.field("progress_user", \remora_model_params.progress_user),
]

private let modelInfo: [String] = [
  "size \(MemoryLayout<remora_model_info>.size)",
  LayoutTests.field("struct_size", \remora_model_info.struct_size),
  LayoutTests.field("sample_rate", \remora_model_info.sample_rate),
  LayoutTests.field("samples_per_frame", \remora_model_info.samples_per_frame),
  LayoutTests.field("n_codebooks", \remora_model_info.n_codebooks),
  LayoutTests.field("codebook_size", \remora_model_info.codebook_size),
  LayoutTests.field("max_seq_len", \remora_model_info.max_seq_len),
  LayoutTests.field("vocab_size", \remora_model_info.vocab_size),
  LayoutTests.field("semantic_begin", \remora_model_info.semantic_begin),
  LayoutTests.field("semantic_end", \remora_model_info.semantic_end),
  LayoutTests.field("end_token", \remora_model_info.end_token),
  LayoutTests.field("device", \remora_model_info.device),
  LayoutTests.field("device_index", \remora_model_info.device_index),
  LayoutTests.field("dtype", \remora_model_info.dtype),
  LayoutTests.field("weights", \remora_model_info.weights),
  LayoutTests.field("codec_dtype", \remora_model_info.codec_dtype),
  LayoutTests.field("has_lm", \remora_model_info.has_lm),
  LayoutTests.field("has_codec", \remora_model_info.has_codec),
  LayoutTests.field("has_encoder", \remora_model_info.has_encoder),
  LayoutTests.field("family", \remora_model_info.family),
]

private let deviceInfo: [String] = [
  "size \(MemoryLayout<remora_device_info>.size)",
  LayoutTests.field("struct_size", \remora_device_info.struct_size),
  LayoutTests.field("flags", \remora_device_info.flags),
  LayoutTests.field("name", \remora_device_info.name),
  LayoutTests.field("memory_total", \remora_device_info.memory_total),
  LayoutTests.field("memory_free", \remora_device_info.memory_free),
]

private let memory: [String] = [
  "size \(MemoryLayout<remora_memory>.size)",
  LayoutTests.field("struct_size", \remora_memory.struct_size),
  LayoutTests.field("flags", \remora_memory.flags),
  LayoutTests.field("weights", \remora_memory.weights),
  LayoutTests.field("codec", \remora_memory.codec),
  LayoutTests.field("kv_per_position", \remora_memory.kv_per_position),
]

private let sessionParams: [String] = [
  "size \(MemoryLayout<remora_session_params>.size)",
  LayoutTests.field("struct_size", \remora_session_params.struct_size),
  LayoutTests.field("flags", \remora_session_params.flags),
  LayoutTests.field("capacity", \remora_session_params.capacity),
  LayoutTests.field("kv_mode", \remora_session_params.kv_mode),
  LayoutTests.field("sdpa", \remora_session_params.sdpa),
  LayoutTests.field("codec_chunk_first", \remora_session_params.codec_chunk_first),
  LayoutTests.field("codec_chunk_next", \remora_session_params.codec_chunk_next),
  LayoutTests.field("reserved0", \remora_session_params.reserved0),
]

private let sampling: [String] = [
  "size \(MemoryLayout<remora_sampling>.size)",
  LayoutTests.field("struct_size", \remora_sampling.struct_size),
  LayoutTests.field("flags", \remora_sampling.flags),
  LayoutTests.field("temperature", \remora_sampling.temperature),
  LayoutTests.field("top_p", \remora_sampling.top_p),
  LayoutTests.field("top_k", \remora_sampling.top_k),
  LayoutTests.field("repetition_penalty", \remora_sampling.repetition_penalty),
  LayoutTests.field("max_frames", \remora_sampling.max_frames),
  LayoutTests.field("max_frames_per_byte", \remora_sampling.max_frames_per_byte),
  LayoutTests.field("ras_window", \remora_sampling.ras_window),
  LayoutTests.field("reserved0", \remora_sampling.reserved0),
  LayoutTests.field("seed", \remora_sampling.seed),
]

private let prompt: [String] = [
  "size \(MemoryLayout<remora_prompt>.size)",
  LayoutTests.field("struct_size", \remora_prompt.struct_size),
  LayoutTests.field("flags", \remora_prompt.flags),
  LayoutTests.field("text", \remora_prompt.text),
  LayoutTests.field("text_len", \remora_prompt.text_len),
  LayoutTests.field("voices", \remora_prompt.voices),
  LayoutTests.field("n_voices", \remora_prompt.n_voices),
  LayoutTests.field("tokens", \remora_prompt.tokens),
  LayoutTests.field("n_tokens", \remora_prompt.n_tokens),
  LayoutTests.field("split_bytes", \remora_prompt.split_bytes),
]

private let frame: [String] = [
  "size \(MemoryLayout<remora_frame>.size)",
  LayoutTests.field("struct_size", \remora_frame.struct_size),
  LayoutTests.field("n_codes", \remora_frame.n_codes),
  LayoutTests.field("position", \remora_frame.position),
  LayoutTests.field("codes", \remora_frame.codes),
  LayoutTests.field("codes_capacity", \remora_frame.codes_capacity),
]

private let stats: [String] = [
  "size \(MemoryLayout<remora_stats>.size)",
  LayoutTests.field("struct_size", \remora_stats.struct_size),
  LayoutTests.field("finish", \remora_stats.finish),
  LayoutTests.field("sdpa_prefill", \remora_stats.sdpa_prefill),
  LayoutTests.field("sdpa_step", \remora_stats.sdpa_step),
  LayoutTests.field("kv_mode", \remora_stats.kv_mode),
  LayoutTests.field("kv_len", \remora_stats.kv_len),
  LayoutTests.field("kv_capacity", \remora_stats.kv_capacity),
  LayoutTests.field("reserved0", \remora_stats.reserved0),
  LayoutTests.field("seed", \remora_stats.seed),
  LayoutTests.field("prompt_tokens", \remora_stats.prompt_tokens),
  LayoutTests.field("reused_tokens", \remora_stats.reused_tokens),
  LayoutTests.field("frames", \remora_stats.frames),
  LayoutTests.field("samples", \remora_stats.samples),
  LayoutTests.field("kv_bytes", \remora_stats.kv_bytes),
  LayoutTests.field("graph_captures", \remora_stats.graph_captures),
  LayoutTests.field("text_done", \remora_stats.text_done),
  LayoutTests.field("pieces_done", \remora_stats.pieces_done),
  LayoutTests.field("pieces", \remora_stats.pieces),
  LayoutTests.field("prefill_ns", \remora_stats.prefill_ns),
  LayoutTests.field("first_audio_ns", \remora_stats.first_audio_ns),
  LayoutTests.field("step_ns", \remora_stats.step_ns),
  LayoutTests.field("codec_ns", \remora_stats.codec_ns),
]

private let audioInfo: [String] = [
  "size \(MemoryLayout<remora_audio_info>.size)",
  LayoutTests.field("struct_size", \remora_audio_info.struct_size),
  LayoutTests.field("sample_rate", \remora_audio_info.sample_rate),
  LayoutTests.field("channels", \remora_audio_info.channels),
  LayoutTests.field("reserved0", \remora_audio_info.reserved0),
  LayoutTests.field("frames", \remora_audio_info.frames),
]
private let constants: [String: Int] = [
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
