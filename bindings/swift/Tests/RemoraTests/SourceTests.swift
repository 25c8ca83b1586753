// A checkpoint through each kind of source gives the same codes.
import Foundation
import Remora
import Synchronization
import Testing

private let files = [
  "config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
  "model.safetensors.index.json", "tokenizer.json",
]

private func path(_ file: String) -> String { Place.data("lm/s2pro_tiny/\(file)") }

private func codes(_ model: Model) throws -> [[Int32]] {
  var session = try session(model, .greedy(6))
  try session.prefill("Hello world.")
  return try session.allFrames()
}

private final class MemoryFile: CheckpointFile {
  let bytes: [UInt8]
  let failsAfter: Int
  let reads = Counter()
  let closed: Counter

  init(_ bytes: [UInt8], failsAfter: Int, closed: Counter) {
    self.bytes = bytes
    self.failsAfter = failsAfter
    self.closed = closed
  }

  deinit { closed.add() }

  var size: UInt64 { UInt64(bytes.count) }

  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws {
    reads.add()
    if reads.value > failsAfter { throw HostError(number: 7) }
    guard let start = Int(exactly: offset), start + buffer.count <= bytes.count else {
      throw HostError(number: 8)
    }
    bytes[start..<(start + buffer.count)].withUnsafeBytes { buffer.copyMemory(from: $0) }
  }
}

private final class FolderReader: CheckpointReader {
  let failsAfter: Int
  let opened = Counter()
  let closed = Counter()

  init(failsAfter: Int = .max) { self.failsAfter = failsAfter }

  func open(_ name: String) throws -> (any CheckpointFile)? {
    guard files.contains(name) else { return nil }
    opened.add()
    return MemoryFile(try Place.bytes(path(name)), failsAfter: failsAfter, closed: closed)
  }
}

@Suite struct SourceTests {
  @Test(arguments: [WeightFormat.asNumberType, .int8, .int4])
  func anEstimateIsWhatTheLoadedModelTakes(_ weights: WeightFormat) throws {
    var source = try Source()
    try source.addDirectory(Place.tiny("s2-pro"))
    var options = ModelOptions()
    options.weights = weights
    let estimate = try Model.estimate(source: source, options: options)
    #expect(estimate.weights > 0 && estimate.codec > 0)
    #expect(try Model(source: source, options: options).memory() == estimate)
    let empty = try Source()
    #expect(failure { _ = try Model.estimate(source: empty) }?.code == .io)
  }

  @Test func quantisedWeightsAreSavedAndLoadAsTheyAre() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/remora-saved-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for file in ["config.json", "tokenizer.json"] {
      try FileManager.default.copyItem(atPath: path(file), toPath: "\(folder)/\(file)")
    }
    var options = ModelOptions()
    options.weights = .int4
    options.int4Group = 32
    options.parts = .weightErrors
    let converted = try Model(directory: Place.data("lm/s2pro_tiny"), options: options)
    let measured = try converted.weightErrors()
    #expect(measured.contains { $0.layer == "layers.*.attention.wo" && $0.int4Group == 32 })
    let file = folder + "/model.safetensors"
    #expect(failure { try converted.saveWeights(to: file) { _ in false } }?.code == .cancelled)
    #expect(!FileManager.default.fileExists(atPath: file))
    var last: Float = 0
    try converted.saveWeights(to: file) { fraction in
      last = fraction
      return true
    }
    #expect(last == 1)
    let saved = try Model(directory: folder)
    #expect(saved.info.weights == .int4)
    #expect(saved.info.int4Group == 32 && saved.info.hasSavedWeights)
    #expect(try codes(saved) == codes(converted))
    #expect(failure { _ = try saved.weightErrors() }?.code == .invalidState)
  }

  static let expected = Result { try codes(Model(directory: Place.data("lm/s2pro_tiny"))) }

  @Test func singleFilesServe() throws {
    var source = try Source()
    for file in files { try source.addFile(file, at: path(file)) }
    let model = try Model(source: source)
    #expect(try codes(model) == Self.expected.get())
  }

  @Test func copiedMemoryServes() throws {
    let model: Model
    do {
      var source = try Source()
      for file in files { try source.addMemory(file, copying: try Place.bytes(path(file))) }
      model = try Model(source: source)
    }
    #expect(try codes(model) == Self.expected.get())
  }

  @Test func borrowedMemoryIsGivenBackOnce() throws {
    let released = Counter()
    func use() throws {
      var source = try Source()
      for file in files {
        let bytes = try Place.bytes(path(file))
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
        memory.copyBytes(from: bytes)
        let address = UInt(bitPattern: memory.baseAddress)
        try source.addMemory(file, borrowing: UnsafeRawBufferPointer(memory)) {
          UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
          released.add()
        }
      }
      let model = try Model(source: source)
      _ = consume source
      #expect(try codes(model) == Self.expected.get())
    }
    try use()
    #expect(released.value == files.count)
  }

  @Test func refusedMemoryIsGivenBackToo() throws {
    let released = Counter()
    var source = try Source()
    let bytes: [UInt8] = [1]
    for name in ["", "a\0b"] {
      let error = failure {
        try bytes.withUnsafeBytes { try source.addMemory(name, borrowing: $0) { released.add() } }
      }
      #expect(error?.code == .invalidArgument, "\(name)")
    }
    #expect(released.value == 2)
  }

  @Test func descriptorsServe() throws {
    let folder = try TemporaryFolder()
    var source = try Source()
    for file in files {
      let packed = folder.path + "/" + file
      let bytes = try Place.bytes(path(file))
      try Data([9, 9, 9] + bytes).write(to: URL(filePath: packed))
      let handle = try #require(FileHandle(forReadingAtPath: packed))
      try source.addDescriptor(
        file, descriptor: handle.fileDescriptor, offset: 3, length: UInt64(bytes.count))
      try handle.close()
    }
    let model = try Model(source: source)
    #expect(try codes(model) == Self.expected.get())
  }

  @Test func aReaderServesAndLivesAsLongAsItIsNeeded() throws {
    weak var held: FolderReader?
    let closed: Counter
    var kept: Session?
    do {
      let reader = FolderReader()
      held = reader
      closed = reader.closed
      var source = try Source()
      try source.setReader(reader)
      let model = try Model(source: source)
      #expect(reader.opened.value >= files.count - 1)
      #expect(try codes(model) == Self.expected.get())
      kept = try session(model, .greedy(6))
    }
    #expect(held != nil, "the session's model may still read")
    try kept?.prefill("Hello world.")
    let frame = try kept?.step()
    #expect(frame?.codes == (try Self.expected.get())[0])
    kept = nil
    #expect(held == nil)
    #expect(closed.value > 0)
  }

  @Test func whatAReaderThrowsArrives() throws {
    let reader = FolderReader(failsAfter: 0)
    var source = try Source()
    try source.setReader(reader)
    var error: RemoraError?
    do { _ = try Model(source: source) } catch let thrown { error = thrown }
    #expect(error?.code == .callback)
    #expect(error?.underlying as? HostError == HostError(number: 7))
    #expect(reader.opened.value == reader.closed.value)
  }

  @Test func aMissingFileIsNamed() throws {
    var source = try Source()
    var missing: RemoraError?
    do { try source.addFile("config.json", at: "нет файла") } catch { missing = error }
    #expect(missing?.code == .io)
    #expect(missing?.message.contains("нет файла") == true)
    var empty: RemoraError?
    do { _ = try Model(source: source) } catch { empty = error }
    #expect(empty?.code == .io)
    #expect(empty?.message.contains("config.json") == true)
  }
}
