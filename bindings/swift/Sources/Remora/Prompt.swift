import CRemora

/// What to say, and in which voices. A string literal is a prompt.
public struct Prompt: Sendable, ExpressibleByStringLiteral {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ constant: Int) { rawValue = UInt32(constant) }

    /// Keep this session's earlier turns as context.
    public static let `continue` = Flags(REMORA_PROMPT_CONTINUE)
    /// Control tokens typed in the text act as tokens.
    public static let allowControl = Flags(REMORA_PROMPT_ALLOW_CONTROL)
    /// One piece, however long.
    public static let noSplit = Flags(REMORA_PROMPT_NO_SPLIT)
    /// Collapse white space.
    public static let cleanText = Flags(REMORA_PROMPT_CLEAN_TEXT)
  }

  /// Empty when `tokens` is given.
  public var text: String
  /// Speaker i is `voices[i]`.
  public var voices: [Voice]
  public var flags: Flags
  /// In place of text: a row of tokens above one row for each codebook.
  public var tokens: CodeMatrix?
  /// Long text is cut near this many bytes; nil leaves it to the library.
  public var splitBytes: Int?

  public init(_ text: String, voices: [Voice] = [], flags: Flags = []) {
    self.text = text
    self.voices = voices
    self.flags = flags
  }

  public init(tokens: CodeMatrix, flags: Flags = []) {
    self.init("", flags: flags)
    self.tokens = tokens
  }

  public init(stringLiteral text: String) { self.init(text) }

  /// The prompt as C wants it, for the time of `body`.
  func withRaw<Result>(
    for model: Model, _ body: (UnsafePointer<remora_prompt>) throws(RemoraError) -> Result
  ) throws(RemoraError) -> Result {
    try tokens?.requireRows(model.info.codebooks + 1, "prompt tokens")
    var raw = remora_prompt.defaults(remora_prompt_init)
    raw.flags |= flags.rawValue
    if let splitBytes { raw.split_bytes = UInt64(clamping: splitBytes) }
    raw.n_voices = UInt64(voices.count)
    let utf8 = ContiguousArray(text.utf8CString)  // keeps inner NULs: the length decides
    let pointers = voices.map { Optional($0.raw) }
    return try withExtendedLifetime(voices) { () throws(RemoraError) in
      try utf8.withUnsafeBufferPointer { (bytes) throws(RemoraError) in
        try pointers.withUnsafeBufferPointer { (handles) throws(RemoraError) in
          raw.voices = handles.baseAddress
          guard let tokens else {
            raw.text = bytes.baseAddress
            raw.text_len = UInt64(bytes.count - 1)
            return try body(&raw)
          }
          return try tokens.values.withUnsafeBufferPointer { (matrix) throws(RemoraError) in
            raw.tokens = matrix.baseAddress
            raw.n_tokens = UInt64(tokens.columns)
            return try body(&raw)
          }
        }
      }
    }
  }
}
