import CRemora

// The enumerations of the C interface. They are numbers with names and not Swift enums: a newer
// library may give a value that this version has no name for.

/// Where a model computes.
public struct DeviceKind: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let auto = DeviceKind(REMORA_DEVICE_AUTO)
  public static let cpu = DeviceKind(REMORA_DEVICE_CPU)
  public static let cuda = DeviceKind(REMORA_DEVICE_CUDA)
  public static let mps = DeviceKind(REMORA_DEVICE_MPS)
}

/// The numbers a model computes with.
public struct NumberType: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let auto = NumberType(REMORA_DTYPE_AUTO)
  public static let float32 = NumberType(REMORA_DTYPE_F32)
  public static let bfloat16 = NumberType(REMORA_DTYPE_BF16)
  public static let float16 = NumberType(REMORA_DTYPE_F16)
}

/// How weights are kept in memory.
public struct WeightFormat: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let asNumberType = WeightFormat(REMORA_WEIGHTS_AS_DTYPE)
  public static let int8 = WeightFormat(REMORA_WEIGHTS_INT8)
  public static let int4 = WeightFormat(REMORA_WEIGHTS_INT4)
}

/// The attention kernel.
public struct AttentionBackend: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let auto = AttentionBackend(REMORA_SDPA_AUTO)
  public static let math = AttentionBackend(REMORA_SDPA_MATH)
  public static let flash = AttentionBackend(REMORA_SDPA_FLASH)
  public static let efficient = AttentionBackend(REMORA_SDPA_EFFICIENT)
  public static let cudnn = AttentionBackend(REMORA_SDPA_CUDNN)
  /// Reported only: the library's own attention, part of `auto` on the CPU.
  public static let builtin = AttentionBackend(REMORA_SDPA_BUILTIN)
}

/// How a step reads the KV cache.
public struct CacheMode: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let activePrefix = CacheMode(REMORA_KV_ACTIVE_PREFIX)
  public static let full = CacheMode(REMORA_KV_FULL)
  public static let graph = CacheMode(REMORA_KV_GRAPH)
}

/// Why a generation ended.
public struct Finish: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  /// Still going, or nothing was asked yet.
  public static let none = Finish(REMORA_FINISH_NONE)
  /// The model ended by itself.
  public static let endToken = Finish(REMORA_FINISH_END_TOKEN)
  /// `maxFrames` or `maxFramesPerByte` was reached.
  public static let length = Finish(REMORA_FINISH_LENGTH)
  /// The context was full.
  public static let capacity = Finish(REMORA_FINISH_CAPACITY)
  public static let cancelled = Finish(REMORA_FINISH_CANCELLED)
  public static let error = Finish(REMORA_FINISH_ERROR)
}

/// How much the log tells.
public struct LogLevel: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let error = LogLevel(REMORA_LOG_ERROR)
  public static let warning = LogLevel(REMORA_LOG_WARN)
  public static let info = LogLevel(REMORA_LOG_INFO)
  public static let debug = LogLevel(REMORA_LOG_DEBUG)
}

/// The kinds of sound file that can be written.
public struct AudioFormat: RawRepresentable, Sendable, Hashable {
  public let rawValue: Int32
  public init(rawValue: Int32) { self.rawValue = rawValue }
  init(_ constant: Int) { rawValue = Int32(constant) }

  public static let wav16 = AudioFormat(REMORA_AUDIO_WAV_PCM16)
  public static let wav24 = AudioFormat(REMORA_AUDIO_WAV_PCM24)
  public static let wavFloat = AudioFormat(REMORA_AUDIO_WAV_FLOAT)
  public static let flac16 = AudioFormat(REMORA_AUDIO_FLAC16)
  public static let flac24 = AudioFormat(REMORA_AUDIO_FLAC24)
  public static let oggOpus = AudioFormat(REMORA_AUDIO_OGG_OPUS)
}
