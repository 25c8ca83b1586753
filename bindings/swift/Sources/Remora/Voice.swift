import CRemora

/// An encoded reference with the words spoken in it: immutable, shared by sessions and threads.
public final class Voice: @unchecked Sendable {
  let raw: OpaquePointer

  private init(
    create: (UnsafeMutablePointer<OpaquePointer?>) -> remora_status
  ) throws(RemoraError) {
    var created: OpaquePointer?
    try check(create(&created))
    raw = created!
  }

  deinit { remora_voice_destroy(raw) }

  /// From codes [codebooks, frames]. Throws `.invalidArgument` for codes outside their table or an
  /// empty transcript.
  public convenience init(
    _ model: Model, codes: CodeMatrix, transcript: String
  ) throws(RemoraError) {
    try codes.requireRows(model.info.codebooks, "voice")
    try self.init { out in
      remora_voice_from_codes(
        model.raw, codes.values, codes.columns, transcript, transcript.utf8.count, out)
    }
  }

  /// From sound of at least 0.2 s. Throws `.unsupported` when the model has no encoder.
  public convenience init(_ model: Model, sound: Sound, transcript: String) throws(RemoraError) {
    try self.init { out in
      remora_voice_create(
        model.raw, sound.samples, sound.frames, Int32(clamping: sound.channels),
        Int32(clamping: sound.sampleRate), transcript, transcript.utf8.count, out)
    }
  }

  /// From a sound file; its content decides of which kind it is, not its name.
  public convenience init(_ model: Model, file: String, transcript: String) throws(RemoraError) {
    try checkName(file, as: "path")
    try self.init { out in
      remora_voice_open(model.raw, file, transcript, transcript.utf8.count, out)
    }
  }

  /// From the bytes of `saved()`. Throws `.format` when they are damaged and `.invalidArgument` when
  /// they were made for a model of another shape.
  public convenience init(_ model: Model, saved bytes: [UInt8]) throws(RemoraError) {
    try self.init { out in remora_voice_load(model.raw, bytes, bytes.count, out) }
  }

  /// The voice as bytes, to keep and to load again.
  public func saved() throws(RemoraError) -> [UInt8] {
    try sizedArray { bytes, capacity, needed in
      remora_voice_save(self.raw, bytes, capacity, needed)
    }
  }
}
