// Voices, the codec alone, and sound files.
import Foundation
import Remora
import Testing

@Suite struct SoundTests {
  static func tone(_ seconds: Double, rate: Int = 22050, channels: Int = 1) -> Sound {
    let frames = Int(seconds * Double(rate))
    let samples = (0..<frames).flatMap { index in
      let value = Float(0.5 * sin(2 * .pi * 220 * Double(index) / Double(rate)))
      return [Float](repeating: value, count: channels)
    }
    return Sound(samples: samples, channels: channels, sampleRate: rate)
  }

  static func speak(_ model: Model, _ voice: Voice) throws -> [[Int32]] {
    var session = try session(model, .greedy(6))
    try session.prefill(Prompt("Hello.", voices: [voice]))
    return try session.allFrames()
  }

  @Test func voicesFromCodesSoundAndFileAreTheSame() throws {
    let model = try Models.tiny.get()
    #expect(model.info.hasEncoder)
    let sound = Self.tone(0.5)
    let codes = try model.encode(sound)
    #expect(codes.rows == model.info.codebooks && codes.columns > 5)
    let folder = try TemporaryFolder("голос")
    let path = folder.path + "/voice.wav"
    try AudioFile.write(sound, to: path, format: .wavFloat)

    let fromCodes = try Voice(model, codes: codes, transcript: "a tone")
    let expected = try Self.speak(model, fromCodes)
    #expect(!expected.isEmpty)
    #expect(
      try Self.speak(model, Voice(model, sound: sound, transcript: "a tone")) == expected)
    #expect(try Self.speak(model, Voice(model, file: path, transcript: "a tone")) == expected)
    let saved = try fromCodes.saved()
    #expect(try Self.speak(model, Voice(model, saved: saved)) == expected)
    var plain = try session(model, .greedy(6))
    try plain.prefill("Hello.")
    let without = try plain.allFrames()
    #expect(without != expected, "the voice makes a difference")
  }

  @Test func damagedVoicesAreRefused() throws {
    let model = try Models.tiny.get()
    let codes = try model.encode(Self.tone(0.3))
    let saved = try Voice(model, codes: codes, transcript: "a tone").saved()
    #expect(
      failure { _ = try Voice(model, saved: Array(saved.dropLast(3))) }?.code == .format)
    #expect(failure { _ = try Voice(model, saved: []) }?.code == .format)
    #expect(
      failure { _ = try Voice(model, codes: codes, transcript: "") }?.code == .invalidArgument)
    let narrow = try CodeMatrix(rows: 1, values: [1, 2, 3])
    #expect(
      failure { _ = try Voice(model, codes: narrow, transcript: "x") }?.code == .invalidArgument)
    #expect(failure { _ = try Voice(model, file: "нет.wav", transcript: "x") }?.code == .io)
  }

  @Test func channelsAndRatesAreConverted() throws {
    let model = try Models.tiny.get()
    let stereo = Self.tone(0.5, channels: 2)
    #expect(stereo.frames == Self.tone(0.5).frames)
    #expect(try model.encode(stereo) == model.encode(Self.tone(0.5)))
    let none = Sound(samples: [0, 0], channels: 0, sampleRate: 44100)
    #expect(failure { _ = try model.encode(none) }?.code == .invalidArgument)
  }

  @Test func decodeInPiecesIsDecodeOfTheWhole() throws {
    let model = try Models.tiny.get()
    let codes = try model.encode(Self.tone(0.6))
    let whole = try model.decode(codes)
    #expect(whole.count == codes.columns * model.info.samplesPerFrame)
    var stream = try CodecStream(model)
    for _ in 0..<2 {
      let half = codes.columns / 2
      let first = try stream.push(codes.columns(0..<half))
      let second = try stream.push(codes.columns(half..<codes.columns))
      let pieces = first + second
      #expect(pieces.count == whole.count)
      // What the library promises between pieces and the whole clip.
      #expect(zip(pieces, whole).allSatisfy { abs($0 - $1) <= 2e-5 })
      try stream.reset()
    }
    let narrow = try CodeMatrix(rows: 1, values: [1])
    #expect(failure { _ = try model.decode(narrow) }?.code == .invalidArgument)
  }

  @Test func aCodecServesAlone() throws {
    var source = try Source()
    try source.addCodecDirectory(Place.data("codec"))
    var options = ModelOptions()
    options.parts = .withoutLanguageModel
    let model = try Model(source: source, options: options)
    #expect(model.info.family == "codec")
    #expect(model.info.codebooks == 10)
    #expect(model.info.sampleRate == 44100)
    let codes = try model.encode(Self.tone(0.2))
    #expect(try model.decode(codes).count == codes.columns * 2048)
    #expect(failure { _ = try model.tokenize("text") }?.code == .unsupported)
  }

  @Test(
    arguments: [
      (AudioFormat.wav16, 1e-4), (.wav24, 1e-6), (.wavFloat, 0), (.flac16, 1e-4), (.flac24, 1e-6),
    ] as [(AudioFormat, Float)])
  func filesComeBackAsTheyWere(_ format: AudioFormat, _ tolerance: Float) throws {
    let folder = try TemporaryFolder("音 звук")
    let path = folder.path + "/file"
    let sound = Self.tone(0.1, rate: 16000, channels: 2)
    try AudioFile.write(sound, to: path, format: format)
    let info = try AudioFile.describe(path)
    #expect(info.sampleRate == 16000 && info.channels == 2)
    #expect(info.frames == UInt64(sound.frames))
    let back = try AudioFile.read(path)
    #expect(back.channels == 2 && back.samples.count == sound.samples.count)
    // Half a step of the format's numbers, doubled.
    #expect(zip(back.samples, sound.samples).allSatisfy { abs($0 - $1) <= tolerance })
  }

  @Test func opusIsWritten() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/sound.ogg"
    try AudioFile.write(Self.tone(0.2, rate: 48000), to: path, format: .oggOpus)
    #expect(try AudioFile.describe(path).sampleRate == 48000)
    #expect(
      failure { try AudioFile.write(Self.tone(0.1), to: path, format: .oggOpus) } != nil,
      "Opus has no 22050 Hz")
  }

  @Test func damagedFilesAreRefused() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/no sound"
    try Data("plain text".utf8).write(to: URL(filePath: path))
    #expect(failure { _ = try AudioFile.read(path) }?.code == .format)
    #expect(failure { _ = try AudioFile.read(path + ".missing") }?.code == .io)
    let where_ = folder.path + "/no folder/file.wav"
    #expect(failure { try AudioFile.write(Self.tone(0.1), to: where_) }?.code == .io)
    #expect(
      failure { try AudioFile.write(Self.tone(0.1), to: path, format: AudioFormat(rawValue: 99)) }
        != nil)
  }

  @Test func samplesBecomeIntegers() throws {
    #expect(
      try AudioFile.int16([0, 0.5, -1, 2, -2, .nan]) == [0, 16384, -32768, 32767, -32768, 0])
    #expect(try AudioFile.int16([]).isEmpty)
    let header = try AudioFile.streamHeader(.wav16, sampleRate: 44100)
    #expect(String(decoding: header.prefix(4), as: UTF8.self) == "RIFF")
    #expect(header[4..<8].elementsEqual([255, 255, 255, 255]))
    #expect(failure { _ = try AudioFile.streamHeader(.flac16, sampleRate: 44100) } != nil)
  }
}
