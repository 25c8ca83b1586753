import CRemora

/// What the library calls while it loads or writes.
private let progressFunction: remora_progress_fn = { user, fraction in
  guard let callback = Callback<(Float) throws -> Bool>.from(user) else { return 1 }
  return callback.answer { try callback.call(fraction) }
}

/// Weights, tokenizer and codec: immutable, shared by any number of sessions and threads.
public final class Model: @unchecked Sendable {
  public let info: ModelInfo
  let raw: OpaquePointer
  private let reader: ReaderBox?

  /// Loads a checkpoint folder. A folder without a codec gives a model without sound.
  ///
  /// - Parameter progress: gets 0 to 1 on the calling thread; false, or throwing, stops the loading
  ///   with `.cancelled`, and what it threw is in `underlying`.
  /// - Throws: `.io` for a missing folder or file, `.format` for a damaged one (the text names file,
  ///   tensor and reason), `.unsupported` for an unknown model type, device or precision.
  public convenience init(
    directory: String, options: ModelOptions = ModelOptions(),
    progress: ((Float) throws -> Bool)? = nil
  ) throws(RemoraError) {
    try checkName(directory, as: "directory")
    try self.init(options, progress, nil) { params, out in
      remora_model_open(directory, params, out)
    }
  }

  /// The same from a source, which may go afterwards.
  public convenience init(
    source: borrowing Source, options: ModelOptions = ModelOptions(),
    progress: ((Float) throws -> Bool)? = nil
  ) throws(RemoraError) {
    let raw = source.raw
    try self.init(options, progress, source.reader) { params, out in
      remora_model_create(raw, params, out)
    }
  }

  private init(
    _ options: ModelOptions, _ progress: ((Float) throws -> Bool)?, _ reader: ReaderBox?,
    load: (UnsafePointer<remora_model_params>, UnsafeMutablePointer<OpaquePointer?>) ->
      remora_status
  ) throws(RemoraError) {
    try Library.requireMatchingABI()
    var params = options.raw
    let callback = progress.map { Callback($0) }
    if let callback {
      params.progress = progressFunction
      params.progress_user = callback.pointer
    }
    var created: OpaquePointer?
    _ = reader?.takeThrown()  // of an earlier model
    let status = withExtendedLifetime(callback) { load(&params, &created) }
    try check(status, underlying: callback?.thrown ?? reader?.takeThrown())
    let model = created!
    do {
      info = try ModelInfo(describing: model)
    } catch {
      remora_model_destroy(model)
      throw error
    }
    raw = model
    self.reader = reader
  }

  deinit { remora_model_destroy(raw) }

  /// The bytes it takes now.
  public func memory() throws(RemoraError) -> ModelMemory {
    var memory = remora_memory.sized()
    try check(remora_model_memory(raw, &memory))
    return ModelMemory(memory)
  }

  /// What `memory` of a model loaded so would be, before it is loaded: no weights are read. Throws
  /// as loading does.
  public static func estimate(
    source: borrowing Source, options: ModelOptions = ModelOptions()
  ) throws(RemoraError) -> ModelMemory {
    var params = options.raw
    var memory = remora_memory.sized()
    _ = source.reader?.takeThrown()  // of an earlier model
    let status = remora_model_estimate(source.raw, &params, &memory)
    try check(status, underlying: source.reader?.takeThrown())
    return ModelMemory(memory)
  }

  /// Writes the 8 or 4 bit weights as the `model.safetensors` of a quantised checkpoint: beside the
  /// other files of its checkpoint it loads without converting. The file appears when it is whole.
  ///
  /// - Parameter progress: as of loading.
  /// - Throws: `.unsupported` where the weights are not quantised, `.io`, `.cancelled`.
  public func saveWeights(
    to path: String, progress: ((Float) throws -> Bool)? = nil
  ) throws(RemoraError) {
    try checkName(path, as: "path")
    let callback = progress.map { Callback($0) }
    let status = withExtendedLifetime(callback) {
      remora_model_save_weights(
        raw, path, callback == nil ? nil : progressFunction, callback?.pointer)
    }
    try check(status, underlying: callback?.thrown)
  }

  /// What quantising the weights lost, for each kind of matrix, of a model loaded with
  /// `.weightErrors`. Throws `.invalidState` where nothing was measured.
  public func weightErrors() throws(RemoraError) -> [WeightError] {
    var errors: [WeightError] = []
    while true {
      var error = remora_weight_error.sized()
      let status = remora_model_weight_error(raw, errors.count, &error)
      guard try checkUnlessEnd(status) else { return errors }
      errors.append(WeightError(error))
    }
  }

  /// Text to token ids, as inside a prompt. With `allowControl`, control tokens typed in the text
  /// act as tokens.
  public func tokenize(_ text: String, allowControl: Bool = false) throws(RemoraError) -> [Int32] {
    let flags = allowControl ? Prompt.Flags.allowControl.rawValue : 0
    return try sizedArray { ids, capacity, needed in
      remora_model_tokenize(
        self.raw, text, text.utf8.count, flags, ids?.assumingMemoryBound(to: Int32.self), capacity,
        needed)
    }
  }

  /// The prompt matrix that a session would feed for the first piece of `prompt`: a row of tokens
  /// above one row for each codebook.
  public func matrix(of prompt: Prompt) throws(RemoraError) -> CodeMatrix {
    let values: [Int32] = try prompt.withRaw(for: self) { (pointer) throws(RemoraError) in
      try sizedArray { tokens, capacity, needed in
        remora_model_prompt(
          self.raw, pointer, tokens?.assumingMemoryBound(to: Int32.self), capacity, needed)
      }
    }
    return try CodeMatrix(rows: info.codebooks + 1, values: values)
  }

  /// A session of its own that speaks one prompt, as a stream of sound.
  public func speak(
    _ prompt: Prompt, sampling: Sampling = Sampling(), options: SessionOptions = SessionOptions()
  ) throws(RemoraError) -> SpeechStream {
    var session = try Session(self, options: options)
    try session.setSampling(sampling)
    return session.stream(prompt)
  }
}
