import CRemora

/// One speaker's state: KV cache, random generator, codec. It has one owner and is used by one
/// thread at a time, which the compiler sees to; stop it from elsewhere by a `CancelHandle`.
///
/// `prefill` takes a prompt, `step` makes one frame of codes, `readPCM` gives the sound that is
/// ready. `generate` and `stream` do all three. After an error that is not about an argument only
/// `reset` and `stats` are valid.
public struct Session: ~Copyable, Sendable {
  let handle: SessionHandle
  public var model: Model { handle.model }

  /// Throws `.unsupported` when the model has no language model, or the device lacks the attention
  /// kernel asked for.
  public init(_ model: Model, options: SessionOptions = SessionOptions()) throws(RemoraError) {
    var params = options.raw
    var created: OpaquePointer?
    try check(remora_session_create(model.raw, &params, &created))
    handle = SessionHandle(created!, model)
  }

  init(_ handle: SessionHandle) { self.handle = handle }

  /// Does the first-use work (memory, kernels, threads) now in place of in the first request.
  public mutating func warmUp() throws(RemoraError) {
    try check(remora_session_warmup(handle.raw))
  }

  /// For the prompts that follow; restarts the random stream from the seed.
  public mutating func setSampling(_ sampling: Sampling) throws(RemoraError) {
    var raw = sampling.raw
    try check(remora_session_set_sampling(handle.raw, &raw))
  }

  /// Takes a prompt and runs the model over its first piece. Ends a generation that was going.
  /// Throws `.contextFull` when prompt and frames do not fit; nothing was done then.
  public mutating func prefill(_ prompt: Prompt) throws(RemoraError) {
    try prompt.withRaw(for: model) { (raw) throws(RemoraError) in
      try check(remora_session_prefill(handle.raw, raw))
    }
  }

  /// Back to the state after creation; sampling stays. Clears an error and a cancel.
  public mutating func reset() throws(RemoraError) {
    try check(remora_session_reset(handle.raw))
  }

  /// Columns in the context.
  public func position() throws(RemoraError) -> Int {
    let position = remora_session_position(handle.raw)
    if position < 0 { try check(remora_status(clamping: position)) }
    return Int(position)
  }

  /// The logits that frames are drawn from, before penalty, temperature and filters. Codebook 0: for
  /// the next frame, an entry for each semantic token and one for the end token, by ascending id (see
  /// `ModelInfo`). Codebook 1 and up: for that code of the last frame; entry i is code i. Throws
  /// `.invalidState` when nothing was kept yet, or the options have no `keepsLogits`.
  public func logits(_ codebook: Int) throws(RemoraError) -> [Float] {
    let raw = handle.raw
    return try sizedArray { values, capacity, needed in
      remora_session_logits(
        raw, Int32(clamping: codebook), values?.assumingMemoryBound(to: Float.self), capacity, needed)
    }
  }

  /// Forgets the columns from `position` on, and ends a generation that was going; the next prompt
  /// reuses what is left.
  public mutating func rewind(to position: Int) throws(RemoraError) {
    try check(remora_session_rewind(handle.raw, Int64(position)))
  }

  /// An independent session in the same state, in the middle of a generation too.
  public func clone() throws(RemoraError) -> Session {
    var created: OpaquePointer?
    try check(remora_session_clone(handle.raw, &created))
    return Session(SessionHandle(created!, model))
  }

  /// The whole state (columns, cache, random stream, codec) as bytes.
  public func saved() throws(RemoraError) -> [UInt8] {
    let raw = handle.raw
    return try sizedArray { bytes, capacity, needed in
      remora_session_save(raw, bytes, capacity, needed)
    }
  }

  /// Takes up a saved state. Throws `.format` when it is damaged or of another version, and
  /// `.invalidArgument` when it was saved with another model or precision or is too long for this
  /// capacity; the session is then unchanged.
  public mutating func load(_ bytes: [UInt8]) throws(RemoraError) {
    try check(remora_session_load(handle.raw, bytes, bytes.count))
  }

  public func stats() throws(RemoraError) -> SessionStats {
    try SessionStats(of: handle.raw)
  }

  /// To stop this session from another thread. It does not keep the session alive.
  public var cancelHandle: CancelHandle { CancelHandle(handle) }

  /// Frees the session here; else it is freed with its last use.
  public consuming func close() {}
}

/// The owner of the C object; only a session and, for the moment of a cancel, its cancel handles
/// hold it, so that a cancel never meets a freed session.
final class SessionHandle: @unchecked Sendable {
  let raw: OpaquePointer
  let model: Model  // its reader must outlive the C session

  init(_ raw: OpaquePointer, _ model: Model) {
    self.raw = raw
    self.model = model
  }

  deinit { remora_session_destroy(raw) }
}

/// Stops a session from any thread, any number of times; does nothing when the session is gone.
public final class CancelHandle: @unchecked Sendable {
  private weak var session: SessionHandle?  // written once

  init(_ session: SessionHandle) { self.session = session }

  /// Asks the running call, or else the next one, to throw `.cancelled`, within one step, one chunk
  /// of a prompt or one piece of sound. Stays in force until `Session.reset`.
  public func cancel() {
    if let session { remora_session_cancel(session.raw) }
  }
}
