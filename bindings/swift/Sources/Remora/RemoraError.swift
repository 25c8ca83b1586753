import CRemora

/// An error of the library: a code to branch on and a text for people, of the form
/// `what, where, what to do`.
public struct RemoraError: Error, Sendable, CustomStringConvertible {
  public let code: Code
  public let message: String
  /// What a closure of yours threw, where that is why the call stopped.
  public let underlying: (any Error)?

  public var description: String { "\(message) (\(code))" }

  init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.underlying = underlying
  }

  /// A status of the C interface. Values that this version does not know keep their raw number.
  public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }
    init(_ constant: Int) { rawValue = Int32(constant) }

    /// A parameter is out of its range; the text names it.
    public static let invalidArgument = Code(REMORA_E_INVALID_ARGUMENT)
    /// Not valid now: no prompt yet, or the session failed before.
    public static let invalidState = Code(REMORA_E_INVALID_STATE)
    /// Another call runs on this session.
    public static let busy = Code(REMORA_E_BUSY)
    /// Stopped by a cancel handle, a closure or the cancellation of the task.
    public static let cancelled = Code(REMORA_E_CANCELLED)
    public static let outOfMemory = Code(REMORA_E_OUT_OF_MEMORY)
    /// A file is missing or cannot be read or written.
    public static let io = Code(REMORA_E_IO)
    /// A file's content is damaged or not what it should be.
    public static let format = Code(REMORA_E_FORMAT)
    /// Asked for something this build, device or model lacks.
    public static let unsupported = Code(REMORA_E_UNSUPPORTED)
    public static let bufferTooSmall = Code(REMORA_E_BUFFER_TOO_SMALL)
    /// Prompt and wanted frames do not fit the capacity.
    public static let contextFull = Code(REMORA_E_CONTEXT_FULL)
    public static let device = Code(REMORA_E_DEVICE)
    /// The library that was loaded and this package do not fit together.
    public static let abi = Code(REMORA_E_ABI)
    /// A reader of yours failed.
    public static let callback = Code(REMORA_E_CALLBACK)
    /// The process is a forked child.
    public static let forked = Code(REMORA_E_FORKED)
    /// NaN or infinite logits, or nothing left to sample from.
    public static let numeric = Code(REMORA_E_NUMERIC)
    /// A fault in the library: please report the text.
    public static let `internal` = Code(REMORA_E_INTERNAL)

    /// "REMORA_E_IO" and the like.
    public var description: String {
      let name = String(cString: remora_status_name(rawValue))
      return name == "REMORA_E_UNKNOWN" ? "\(name) \(rawValue)" : name
    }
  }
}

/// Throws what a failed call left behind. The text belongs to the thread, so this must stand in the
/// same synchronous function as the call.
func check(_ status: remora_status, underlying: (any Error)? = nil) throws(RemoraError) {
  if status == REMORA_OK { return }
  throw RemoraError(
    .init(rawValue: status), String(cString: remora_last_error()), underlying: underlying)
}

/// The same for calls that can also report the end of a generation or of a list: false then.
func checkUnlessEnd(_ status: remora_status) throws(RemoraError) -> Bool {
  if status == REMORA_END { return false }
  try check(status)
  return true
}

/// A path or a name goes to C up to its first NUL: one inside would name another file.
func checkName(_ name: String, as what: String) throws(RemoraError) {
  if name.utf8.contains(0) {
    throw RemoraError(.invalidArgument, "\(what): holds a NUL character; use a name without one")
  }
}
