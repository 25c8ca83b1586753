import CRemora

/// Sound in memory.
public struct Sound: Sendable, Hashable {
  /// Interleaved, -1 to 1.
  public var samples: [Float]
  public var channels: Int
  /// Hz.
  public var sampleRate: Int

  public init(samples: [Float], channels: Int = 1, sampleRate: Int) {
    self.samples = samples
    self.channels = channels
    self.sampleRate = sampleRate
  }

  /// Samples of each channel; 0 for a number of channels that the library will refuse.
  public var frames: Int { channels > 0 ? samples.count / channels : 0 }
}

/// Sound files of any kind that libsndfile reads.
public enum AudioFile {
  public struct Info: Sendable, Hashable {
    /// Hz.
    public let sampleRate: Int
    public let channels: Int
    /// Samples of each channel that are really there.
    public let frames: UInt64
  }

  /// Throws `.io` when the file is missing and `.format` when it is not readable.
  public static func describe(_ path: String) throws(RemoraError) -> Info {
    try Library.requireMatchingABI()
    try checkName(path, as: "path")
    var raw = remora_audio_info.sized()
    try check(remora_audio_describe(path, &raw))
    return Info(
      sampleRate: Int(raw.sample_rate), channels: Int(raw.channels), frames: raw.frames)
  }

  /// The whole file.
  public static func read(_ path: String) throws(RemoraError) -> Sound {
    let info = try describe(path)
    let samples: [Float] = try sizedArray { samples, capacity, needed in
      remora_audio_read(path, samples?.assumingMemoryBound(to: Float.self), capacity, needed)
    }
    return Sound(samples: samples, channels: info.channels, sampleRate: info.sampleRate)
  }

  /// Writes a file, which appears under its name only when it is complete. Louder samples saturate,
  /// NaN becomes 0.
  public static func write(
    _ sound: Sound, to path: String, format: AudioFormat = .wav16
  ) throws(RemoraError) {
    try Library.requireMatchingABI()
    try checkName(path, as: "path")
    try check(
      remora_audio_write(
        path, sound.samples, sound.frames, Int32(clamping: sound.channels),
        Int32(clamping: sound.sampleRate), format.rawValue))
  }

  /// The WAV header to send before samples of unknown number into a pipe.
  public static func streamHeader(
    _ format: AudioFormat, channels: Int = 1, sampleRate: Int
  ) throws(RemoraError) -> [UInt8] {
    try sizedArray { bytes, capacity, needed in
      remora_audio_stream_header(
        format.rawValue, Int32(clamping: channels), Int32(clamping: sampleRate), bytes, capacity,
        needed)
    }
  }

  /// Float samples to 16 bits: floor(x * 32768), saturated; NaN becomes 0.
  public static func int16(_ samples: [Float]) throws(RemoraError) -> [Int16] {
    var status = remora_status(REMORA_OK)
    let converted = [Int16](unsafeUninitializedCapacity: samples.count) { buffer, count in
      guard let destination = buffer.baseAddress, !samples.isEmpty else { return }
      status = remora_audio_to_s16(samples, samples.count, destination)
      count = status == REMORA_OK ? samples.count : 0
    }
    try check(status)
    return converted
  }
}
