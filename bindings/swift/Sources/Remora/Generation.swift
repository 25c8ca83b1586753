import CRemora

/// One frame of codes.
public struct Frame: Sendable, Hashable {
  public let codes: [Int32]
  /// Column in the context.
  public let position: Int
}

extension Session {
  /// Makes one frame; nil when the generation is over (`stats` tells why).
  public mutating func step() throws(RemoraError) -> Frame? {
    var raw = remora_frame.sized()
    var status = remora_status(REMORA_OK)
    let codes = [Int32](unsafeUninitializedCapacity: model.info.codebooks) { buffer, count in
      raw.codes = buffer.baseAddress
      raw.codes_capacity = UInt64(buffer.count)
      status = remora_session_step(handle.raw, &raw)
      count = status == REMORA_OK ? min(max(0, Int(raw.n_codes)), buffer.count) : 0
    }
    return try checkUnlessEnd(status) ? Frame(codes: codes, position: Int(raw.position)) : nil
  }

  /// Makes one frame without handing out its codes; false when the generation is over.
  public mutating func advance() throws(RemoraError) -> Bool {
    try checkUnlessEnd(remora_session_step(handle.raw, nil))
  }

  /// Gives up to `capacity` decoded samples; none when more steps are needed, nil when the generation
  /// is over and everything was read. Throws `.unsupported` when the model has no codec.
  public mutating func readPCM(upTo capacity: Int) throws(RemoraError) -> [Float]? {
    var goesOn: Result<Bool, RemoraError> = .success(true)
    let samples = [Float](unsafeUninitializedCapacity: max(1, capacity)) { buffer, count in
      do throws(RemoraError) {
        let written = try readPCM(into: .init(rebasing: buffer.prefix(max(0, capacity))))
        goesOn = .success(written != nil)
        count = written ?? 0
      } catch {
        goesOn = .failure(error)
      }
    }
    return try goesOn.get() ? samples : nil
  }

  /// The same into memory of yours: the number of samples written, nil at the end.
  public mutating func readPCM(
    into buffer: UnsafeMutableBufferPointer<Float>
  ) throws(RemoraError) -> Int? {
    var written = 0
    let status = remora_session_read_pcm(handle.raw, buffer.baseAddress, buffer.count, &written)
    return try checkUnlessEnd(status) ? written : nil
  }

  /// Speaks a prompt, the sound going to `onAudio` as it is ready: mono samples, valid during the
  /// call only, and whether they are the last ones (which may be none). False, or throwing, stops
  /// with `.cancelled`; what it threw is in `underlying`. A length limit is no error: see
  /// `stats().finish`.
  public mutating func generate(
    _ prompt: Prompt, onAudio: (_ pcm: UnsafeBufferPointer<Float>, _ last: Bool) throws -> Bool
  ) throws(RemoraError) {
    let session = handle.raw
    try prompt.withRaw(for: model) { (raw) throws(RemoraError) in
      var thrown: (any Error)?
      let status = withoutActuallyEscaping(onAudio) { audio in
        let callback = Callback(audio)
        defer { thrown = callback.thrown }
        return remora_session_generate(session, raw, Session.forwardAudio, callback.pointer)
      }
      try check(status, underlying: thrown)
    }
  }

  private static let forwardAudio: remora_audio_fn = { user, pcm, count, last in
    typealias Audio = (UnsafeBufferPointer<Float>, Bool) throws -> Bool
    guard let callback = Callback<Audio>.from(user) else { return 1 }
    return callback.answer {
      try callback.call(UnsafeBufferPointer(start: pcm, count: count), last != 0)
    }
  }
}
