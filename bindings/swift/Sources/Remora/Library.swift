import CRemora
import Synchronization

/// What concerns the library as a whole.
public enum Library {
  /// major << 16 | minor << 8 | patch of the loaded library.
  public static var version: UInt32 { remora_version() }

  /// The number of the loaded library's binary interface.
  public static var abiVersion: UInt32 { remora_abi_version() }

  /// One line: remora's version, compiler, LibTorch built against and LibTorch loaded.
  public static var buildInfo: String { String(cString: remora_build_info()) }

  /// Sets LibTorch's thread count for the whole process: 1 to 1024. Every user of LibTorch in the
  /// process is affected, and results can differ in the last bits between counts.
  public static func setThreads(_ count: Int) throws(RemoraError) {
    try check(remora_set_threads(Int32(clamping: count)))
  }

  /// How many devices of a kind this process can use.
  public static func deviceCount(_ kind: DeviceKind) -> Int {
    Int(remora_device_count(kind.rawValue))
  }

  public static func device(_ kind: DeviceKind, index: Int = 0) throws(RemoraError) -> Device {
    var raw = remora_device_info.sized()
    try check(remora_device_describe(kind.rawValue, Int32(clamping: index), &raw))
    return Device(
      name: string(fromCharacters: raw.name), memoryTotal: raw.memory_total,
      memoryFree: raw.memory_free)
  }

  /// Gives memory that freed models and sessions left with the allocator back to the system.
  public static func trimMemory() throws(RemoraError) {
    try check(remora_trim_memory())
  }

  /// A device; memory in bytes, 0 where it is not known.
  public struct Device: Sendable, Hashable {
    public let name: String
    public let memoryTotal: UInt64
    public let memoryFree: UInt64
  }

  /// Sends log lines up to `level` of the whole process to `handler`, from whichever thread calls
  /// into the library; nil silences the log, which is the state at start. Do not call this from
  /// inside the handler.
  public static func setLog(
    upTo level: LogLevel = .info, _ handler: (@Sendable (LogLevel, String) -> Void)?
  ) throws(RemoraError) {
    try logSink.withLock { (current) throws(RemoraError) in
      guard let handler else {
        try check(remora_set_log(nil, nil, level.rawValue))
        current = nil
        return
      }
      let sink = LogSink(handler)
      try check(
        remora_set_log(
          { user, level, text, length in
            guard let user, let text else { return }
            let bytes = UnsafeRawBufferPointer(start: text, count: length)
            Unmanaged<LogSink>.fromOpaque(user).takeUnretainedValue().handler(
              LogLevel(rawValue: level), String(decoding: bytes, as: UTF8.self))
          }, Unmanaged.passUnretained(sink).toOpaque(), level.rawValue))
      current = sink  // the one before is not called again, so it may go
    }
  }

  /// Everything begins with a model, a source or a sound file: these ask here first.
  static func requireMatchingABI() throws(RemoraError) {
    try requireMatchingABI(loaded: remora_abi_version(), expected: UInt32(REMORA_ABI_VERSION))
  }

  static func requireMatchingABI(loaded: UInt32, expected: UInt32) throws(RemoraError) {
    if loaded == expected { return }
    throw RemoraError(
      .abi,
      "libremora: the loaded library has interface \(loaded), this package was compiled for "
        + "\(expected); install the library that belongs to the package and compile again")
  }
}

private final class LogSink: Sendable {
  let handler: @Sendable (LogLevel, String) -> Void
  init(_ handler: @escaping @Sendable (LogLevel, String) -> Void) { self.handler = handler }
}

/// The handler in use: C holds no reference of its own.
private let logSink = Mutex<LogSink?>(nil)
