// The README's program and `say`, run as processes, against the C interface called directly.
import CRemora
import Foundation
import Testing

@Suite struct ExampleTests {
  struct Outcome {
    let status: Int32
    let errors: String
  }

  /// The program that `variable` names. Where it is not set, as in a plain `swift test`, there is
  /// nothing to run; test.sh sets both.
  static func run(
    _ variable: String, _ arguments: [String], environment: [String: String]? = nil
  ) throws -> Outcome? {
    guard let program = Place.environment(variable) else { return nil }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    // One thread, as in writeWithC: the last bits depend on the number.
    process.environment = (environment ?? ProcessInfo.processInfo.environment)
      .merging(["OMP_NUM_THREADS": "1"]) { $1 }
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return Outcome(status: process.terminationStatus, errors: text)
  }

  /// The same sound by C calls alone: default sampling, 16-bit WAV.
  static func writeWithC(_ text: String, to path: String) {
    final class Samples { var pcm: [Float] = [] }
    var model: OpaquePointer?
    var session: OpaquePointer?
    #expect(remora_set_threads(1) == REMORA_OK)
    #expect(remora_model_open(Place.tiny("s2-pro"), nil, &model) == REMORA_OK)
    #expect(remora_session_create(model, nil, &session) == REMORA_OK)
    let samples = Samples()
    var prompt = remora_prompt()
    #expect(remora_prompt_init(&prompt, UInt32(MemoryLayout<remora_prompt>.size)) == REMORA_OK)
    text.withCString { bytes in
      prompt.text = bytes
      prompt.text_len = UInt64(text.utf8.count)
      let status = remora_session_generate(
        session, &prompt,
        { user, pcm, count, _ in
          let samples = Unmanaged<Samples>.fromOpaque(user!).takeUnretainedValue()
          samples.pcm += UnsafeBufferPointer(start: pcm, count: count)
          return 0
        }, Unmanaged.passUnretained(samples).toOpaque())
      #expect(status == REMORA_OK)
    }
    let status = remora_audio_write(
      path, samples.pcm, samples.pcm.count, 1, 44100, Int32(REMORA_AUDIO_WAV_PCM16))
    #expect(status == REMORA_OK)
    remora_session_destroy(session)
    remora_model_destroy(model)
  }

  @Test(.enabled(if: Place.environment("REMORA_SWIFT_README") != nil))
  func theReadmesProgramWritesWhatCWrites() throws {
    let folder = try TemporaryFolder()
    Self.writeWithC("Hello from remora.", to: folder.path + "/c.wav")
    let outcome = try #require(
      try Self.run("REMORA_SWIFT_README", [Place.tiny("s2-pro"), folder.path + "/swift.wav"]))
    #expect(outcome.status == 0, "\(outcome.errors)")
    let expected = try Place.bytes(folder.path + "/c.wav")
    #expect(expected.count > 1000)
    #expect(try Place.bytes(folder.path + "/swift.wav") == expected)
  }

  @Test(.enabled(if: Place.environment("REMORA_SWIFT_SAY") != nil))
  func saySpeaksAndReportsErrors() throws {
    let folder = try TemporaryFolder("речь")
    let text = "Привет, 世界 😀"
    Self.writeWithC(text, to: folder.path + "/c.wav")
    let path = folder.path + "/swift.wav"
    let outcome = try #require(
      try Self.run("REMORA_SWIFT_SAY", [Place.tiny("s2-pro"), text, path]))
    #expect(outcome.status == 0 || outcome.status == 3, "\(outcome.errors)")
    #expect(try Place.bytes(path) == Place.bytes(folder.path + "/c.wav"))

    let missing = try #require(try Self.run("REMORA_SWIFT_SAY", ["нет модели", text, path]))
    #expect(missing.status == 1)
    #expect(missing.errors.contains("нет модели"))
  }

  @Test(.enabled(if: Place.environment("REMORA_SWIFT_SAY") != nil))
  func aMissingLibraryIsNamedByTheLoader() throws {
    var environment = ProcessInfo.processInfo.environment
    for name in ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] { environment[name] = nil }
    let outcome = try #require(
      try Self.run("REMORA_SWIFT_SAY", ["model", "text", "out.wav"], environment: environment))
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("libremora"))
  }
}
