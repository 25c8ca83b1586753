// The library as a whole, error values, and that nothing of the C interface was left out.
import CRemora
import Foundation
import Synchronization
import Testing

@testable import Remora

@Suite struct LibraryTests {
  @Test func everyFunctionOfTheHeaderIsUsed() throws {
    let include = Place.environment("REMORA_INCLUDE_DIR").map { URL(filePath: $0) }
    let header = (include ?? Place.root.appending(path: "include")).appending(
      path: "remora/remora.h")
    let text = try String(contentsOf: header, encoding: .utf8)
    let functions = text.matches(of: /REMORA_API [^;(]*?REMORA_CALL\s+(remora_\w+)\(/).map { $0.1 }
    #expect(functions.count >= 60)
    let sources = Place.root.appending(path: "bindings/swift/Sources/Remora")
    var code = ""
    for file in try FileManager.default.contentsOfDirectory(atPath: sources.path()) {
      code += try String(contentsOf: sources.appending(path: file), encoding: .utf8)
    }
    for function in functions {
      #expect(code.contains(try Regex("\\b\(function)\\b")), "\(function) has no Swift side")
    }
  }

  @Test func versionsComeFromTheLoadedLibrary() {
    #expect(Library.version == remora_version())
    #expect(Library.abiVersion == UInt32(REMORA_ABI_VERSION))
    #expect(Library.buildInfo.contains("remora"))
  }

  @Test func anotherInterfaceIsRefusedWithBothNumbers() {
    let error = failure { try Library.requireMatchingABI(loaded: 71, expected: 93) }
    #expect(error?.code == .abi)
    #expect(error?.message.contains("71") == true && error?.message.contains("93") == true)
    #expect(failure { try Library.requireMatchingABI(loaded: 7, expected: 7) } == nil)
  }

  @Test func codesKeepTheirRawNumber() {
    #expect(RemoraError.Code.io.rawValue == -6)
    #expect(RemoraError.Code.io.description == "REMORA_E_IO")
    let unknown = RemoraError.Code(rawValue: -4711)
    #expect(unknown.rawValue == -4711)
    #expect(unknown.description == "REMORA_E_UNKNOWN -4711")
  }

  @Test func defaultsAreTheLibrarys() {
    var sampling = remora_sampling()
    _ = remora_sampling_init(&sampling, UInt32(MemoryLayout<remora_sampling>.size))
    #expect(Sampling().temperature == sampling.temperature)
    #expect(Sampling().topK == Int(sampling.top_k))
    #expect(Sampling().seed == sampling.seed)
    #expect(Sampling.randomSeed == UInt64.max)
    var params = remora_session_params()
    _ = remora_session_params_init(&params, UInt32(MemoryLayout<remora_session_params>.size))
    #expect(SessionOptions().firstChunk == Int(params.codec_chunk_first))
    #expect(SessionOptions().nextChunk == Int(params.codec_chunk_next))
  }

  @Test func numbersOutOfTheRangeOfCAreRefusedAndDoNotTrap() throws {
    #expect(failure { try Library.setThreads(.max) }?.code == .invalidArgument)
    #expect(failure { try Library.setThreads(0) }?.code == .invalidArgument)
    let model = try Models.golden.get()
    var sampling = Sampling()
    sampling.topK = .min
    #expect(failure { _ = try session(model, sampling) }?.code == .invalidArgument)
    var options = SessionOptions()
    options.capacity = .min
    #expect(failure { _ = try Session(model, options: options) }?.code == .invalidArgument)
  }

  @Test func devicesAreDescribed() throws {
    #expect(Library.deviceCount(.cpu) == 1)
    #expect(Library.deviceCount(DeviceKind(rawValue: 4711)) == 0)
    #expect(try !Library.device(.cpu).name.isEmpty)
    #expect(failure { _ = try Library.device(.cpu, index: 5) } != nil)
    try Library.trimMemory()
  }

  @Test func theLogGoesToTheHandlerUntilItIsTakenAway() throws {
    let lines = Mutex<[String]>([])
    // A codec with more codebooks than the language model uses is worth a line.
    func load() throws {
      var source = try Source()
      try source.addDirectory(Place.data("lm/s2pro_tiny"))
      try source.addCodecDirectory(Place.data("codec"))
      _ = try Model(source: source)
    }
    try Library.setLog(upTo: .debug) { _, text in lines.withLock { $0.append(text) } }
    try load()
    try Library.setLog(nil)
    let count = lines.withLock { $0.count }
    #expect(count > 0 && lines.withLock { $0.allSatisfy { !$0.isEmpty && !$0.hasSuffix("\n") } })
    try load()
    #expect(lines.withLock { $0.count } == count)
  }

  @Test func loadingTellsItsProgressAndCanBeStopped() throws {
    var seen: [Float] = []
    let folder = Place.data("lm/s2pro_tiny")
    _ = try Model(directory: folder) { fraction in
      seen.append(fraction)
      return true
    }
    #expect(seen.last == 1 && seen == seen.sorted())
    let stopped = failure { _ = try Model(directory: folder) { _ in false } }
    #expect(stopped?.code == .cancelled)
    #expect(stopped?.underlying == nil)
    let threw = failure { _ = try Model(directory: folder) { _ in throw HostError(number: 3) } }
    #expect(threw?.code == .cancelled)
    #expect(threw?.underlying as? HostError == HostError(number: 3))
  }

  @Test func partsOfAModelCanBeLeftOut() throws {
    var options = ModelOptions()
    options.parts = .textOnly
    let text = try Model(directory: Place.tiny("s2-pro"), options: options)
    #expect(try !text.tokenize("Hello").isEmpty)
    #expect(failure { _ = try Session(text) }?.code == .unsupported)
    options.parts = .withoutCodec
    let codes = try Model(directory: Place.tiny("s2-pro"), options: options)
    #expect(codes.info.hasLanguageModel && !codes.info.hasCodec)
    let memory = try codes.memory()
    #expect(memory.weights > 0 && memory.codec == 0 && memory.perPosition > 0)
    options.device = DeviceKind(rawValue: 4711)
    #expect(failure { _ = try Model(directory: Place.tiny("s2-pro"), options: options) } != nil)
  }
}
