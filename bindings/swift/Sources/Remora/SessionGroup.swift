import CRemora

/// Several sessions of one model that make their frames over one read of its weights. What bounds a
/// step on a CPU is reading them, so a few sessions together take little longer than one.
///
/// Experimental: may change in any release. Like a session it has one owner and is used by one thread
/// at a time.
public struct SessionGroup: ~Copyable, Sendable {
  /// What one session made in a step.
  public enum Outcome: Sendable {
    case frame(Frame)
    /// The generation is over; the session's `stats` tell why.
    case end
    /// The other sessions go on. The library keeps one text a thread: where several sessions fail,
    /// only the last of them has it.
    case failed(RemoraError)
  }

  /// Sessions that a group takes.
  public static let capacity = Int(REMORA_STEP_SESSIONS_MAX)

  private var handles: [SessionHandle] = []

  public init() {}

  public var count: Int { handles.count }

  /// Takes a session over; `withSession` gives it back for a moment. Its place is the old `count`.
  public mutating func append(_ session: consuming Session) {
    handles.append(session.handle)
  }

  /// One of the sessions, for all that a session can do.
  public mutating func withSession<Result>(
    _ index: Int, _ body: (inout Session) throws -> Result
  ) rethrows -> Result {
    var session = Session(handles[index])
    return try body(&session)
  }

  /// One frame of each session. Throws `.invalidArgument` when there are none or more than
  /// `capacity`, or they are of several models; no session was stepped then.
  public mutating func step() throws(RemoraError) -> [Outcome] {
    let sessions = handles.map { Optional($0.raw) }
    let width = handles.map { $0.model.info.codebooks }.max() ?? 0
    var codes = [Int32](repeating: 0, count: sessions.count * width)
    var frames = [remora_frame](repeating: remora_frame.sized(), count: sessions.count)
    var statuses = [remora_status](repeating: 0, count: sessions.count)
    let status = codes.withUnsafeMutableBufferPointer { codes in
      frames.withUnsafeMutableBufferPointer { frames in
        let places = frames.indices.map { index -> UnsafeMutablePointer<remora_frame>? in
          frames[index].codes = codes.baseAddress.map { $0 + index * width }
          frames[index].codes_capacity = UInt64(width)
          return frames.baseAddress.map { $0 + index }
        }
        return remora_sessions_step(sessions, sessions.count, places, &statuses)
      }
    }
    try check(status)
    let lastFailed = statuses.lastIndex { $0 < 0 }
    return statuses.indices.map { index in
      if statuses[index] == REMORA_END { return .end }
      let first = index * width
      if statuses[index] == REMORA_OK {
        let drawn = Array(codes[first..<first + Int(frames[index].n_codes)])
        return .frame(Frame(codes: drawn, position: Int(frames[index].position)))
      }
      let code = RemoraError.Code(rawValue: statuses[index])
      let text = index == lastFailed ? String(cString: remora_last_error()) : "session \(index): \(code)"
      return .failed(RemoraError(code, text))
    }
  }
}
