import CRemora

extension Model {
  /// Sound of any length to codes [codebooks, ceil(samples / samplesPerFrame)]. Throws
  /// `.unsupported` when the model has no encoder.
  public func encode(_ sound: Sound) throws(RemoraError) -> CodeMatrix {
    let codes: [Int32] = try sizedArray { codes, capacity, needed in
      remora_codec_encode(
        self.raw, sound.samples, sound.frames, Int32(clamping: sound.channels),
        Int32(clamping: sound.sampleRate), codes?.assumingMemoryBound(to: Int32.self), capacity,
        needed)
    }
    return try CodeMatrix(rows: info.codebooks, values: codes)
  }

  /// Whole clip: codes to columns * samplesPerFrame mono samples. Throws `.invalidArgument` for a
  /// negative code (one past its table is clamped) and `.unsupported` without a codec.
  public func decode(_ codes: CodeMatrix) throws(RemoraError) -> [Float] {
    try codes.requireRows(info.codebooks, "codes")
    return try sizedArray { pcm, capacity, needed in
      remora_codec_decode(
        self.raw, codes.values, codes.columns, pcm?.assumingMemoryBound(to: Float.self), capacity,
        needed)
    }
  }
}

/// Exact piecewise decode: the pieces joined equal the whole clip within 2e-5.
public struct CodecStream: ~Copyable, @unchecked Sendable {
  private let raw: OpaquePointer
  private let model: Model  // its reader must outlive the C stream

  public init(_ model: Model) throws(RemoraError) {
    var created: OpaquePointer?
    try check(remora_codec_stream_create(model.raw, &created))
    raw = created!
    self.model = model
  }

  deinit { remora_codec_stream_destroy(raw) }

  /// The next frames, any number from 1 on, to their samples.
  public mutating func push(_ codes: CodeMatrix) throws(RemoraError) -> [Float] {
    try codes.requireRows(model.info.codebooks, "codes")
    let raw = self.raw
    return try sizedArray { pcm, capacity, needed in
      remora_codec_stream_push(
        raw, codes.values, codes.columns, pcm?.assumingMemoryBound(to: Float.self), capacity,
        needed)
    }
  }

  /// Back to the start of a clip.
  public mutating func reset() throws(RemoraError) {
    try check(remora_codec_stream_reset(raw))
  }
}
