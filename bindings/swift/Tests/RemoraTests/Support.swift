// Where things are, the models that the tests share, and short ways to common requests.
import Foundation
import Remora
import Synchronization

enum Place {
  /// The repository, four levels above this file.
  static let root: URL = {
    var url = URL(filePath: #filePath)
    for _ in 0..<5 { url.deleteLastPathComponent() }
    return url
  }()

  static func data(_ relative: String) -> String {
    root.appending(path: "tests/data/\(relative)").path(percentEncoded: false)
  }

  /// The build's made-up checkpoints: "s2-pro" and "s1-mini".
  static func tiny(_ family: String) -> String {
    let folder = environment("REMORA_TINY_DIR")
    return "\(folder ?? root.path(percentEncoded: false) + "/build/release/tests/tiny")/\(family)"
  }

  static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  static func json<Value: Decodable>(_ relative: String, as type: Value.Type) throws -> Value {
    let data = try Data(contentsOf: root.appending(path: relative))
    return try JSONDecoder().decode(type, from: data)
  }
}

/// A folder that goes with its owner.
final class TemporaryFolder {
  let path: String

  init(_ name: String = "remora") throws {
    path = NSTemporaryDirectory() + "/\(UUID().uuidString)/\(name)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: URL(filePath: path).deletingLastPathComponent())
  }
}

/// Opened once each. One thread: the last bits of a result depend on the number.
enum Models {
  static let golden = Result { try open(["lm/s2pro_tiny"], codec: "codec") }
  static let tiny = Result {
    try Library.setThreads(1)
    return try Model(directory: Place.tiny("s2-pro"))
  }
  static let s1 = Result { try open(["lm/s1mini_tiny"], codec: nil) }

  private static func open(_ folders: [String], codec: String?) throws -> Model {
    try Library.setThreads(1)
    var source = try Source()
    for folder in folders { try source.addDirectory(Place.data(folder)) }
    if let codec { try source.addCodecDirectory(Place.data(codec)) }
    return try Model(source: source)
  }

  static func named(_ name: String) throws -> Model {
    try (name == "tiny" ? tiny : golden).get()
  }
}

extension Sampling {
  /// As in the shared cases.
  static func greedy(_ frames: Int) -> Sampling {
    var sampling = Sampling()
    sampling.temperature = 0
    sampling.repetitionPenalty = 1
    sampling.maxFrames = frames
    sampling.maxFramesPerByte = 0
    return sampling
  }

  static func seeded(_ seed: UInt64, frames: Int) -> Sampling {
    var sampling = Sampling()
    sampling.seed = seed
    sampling.maxFrames = frames
    sampling.maxFramesPerByte = 0
    return sampling
  }
}

extension Session {
  mutating func allFrames() throws -> [[Int32]] {
    var frames: [[Int32]] = []
    while let frame = try step() { frames.append(frame.codes) }
    return frames
  }

  mutating func allPCM() throws -> [Float] {
    var samples: [Float] = []
    while let piece = try readPCM(upTo: 4096) { samples += piece }
    return samples
  }
}

/// A session with its sampling set.
func session(_ model: Model, _ sampling: Sampling) throws -> Session {
  var session = try Session(model)
  try session.setSampling(sampling)
  return session
}

/// The error that `body` ends with.
func failure(of body: () throws -> Void) -> RemoraError? {
  do {
    try body()
    return nil
  } catch {
    return error as? RemoraError
  }
}

struct HostError: Error, Equatable { let number: Int }

/// A number that closures of any thread may count up.
final class Counter: Sendable {
  private let number = Mutex(0)
  var value: Int { number.withLock { $0 } }
  func add() { number.withLock { $0 += 1 } }
}
