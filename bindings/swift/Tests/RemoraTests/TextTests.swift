// Text and names of every script reach C byte by byte.
import Foundation
import Remora
import Testing

@Suite struct TextTests {
  struct Tokenized: Decodable {
    let text: String
    let s2, s1: [Int32]
  }
  struct TokenizerCases: Decodable { let strings: [Tokenized] }

  @Test func RB_51_tokenizerCasesGiveTheReferencesIds() throws {
    let cases = try Place.json("tests/data/lm/tokenizer_cases.json", as: TokenizerCases.self)
    #expect(cases.strings.count > 50)
    let s2 = try Models.golden.get()
    let s1 = try Models.s1.get()
    for item in cases.strings {
      #expect(try s2.tokenize(item.text, allowControl: true) == item.s2, "\(item.text)")
      #expect(try s1.tokenize(item.text, allowControl: true) == item.s1, "\(item.text)")
    }
  }

  @Test func RB_51_decomposedTextStaysDecomposed() throws {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    #expect(composed == decomposed, "Swift holds them for equal, the bytes differ")
    let s1 = try Models.s1.get()  // this family does not normalize
    #expect(try s1.tokenize(composed) != s1.tokenize(decomposed))
    let s2 = try Models.golden.get()
    #expect(try s2.tokenize(composed) == s2.tokenize(decomposed))
  }

  @Test func RB_51_aNULInsideTextDoesNotCutIt() throws {
    let model = try Models.golden.get()
    let ids = try model.tokenize("one\0two")
    #expect(ids.count > (try model.tokenize("one")).count)
    // A prompt may not hold one; the library sees it and names the place.
    let error = failure { _ = try model.matrix(of: "one\0two") }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("byte 3") == true)
  }

  @Test func aNULInsideANameIsRefused() throws {
    let error = failure { _ = try Model(directory: "model\0.bak") }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("NUL") == true)
    #expect(failure { _ = try AudioFile.read("a\0b") }?.code == .invalidArgument)
  }

  @Test(arguments: ["голос", "声音 ボイス", "😀👍🏽", "cafe\u{301}", "with blank"])
  func RB_52_modelsAndSoundLieUnderNamesOfEveryScript(_ name: String) throws {
    let folder = try TemporaryFolder(name)
    let copy = folder.path + "/" + name
    try FileManager.default.copyItem(atPath: Place.tiny("s2-pro"), toPath: copy)
    let model = try Model(directory: copy)
    let expected = try Models.tiny.get()
    #expect(model.info == expected.info)
    let path = folder.path + "/\(name).wav"
    try AudioFile.write(Sound(samples: [0, 0.5, -0.5], sampleRate: 8000), to: path)
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try AudioFile.read(path).samples == [0, 0.5, -0.5])
  }
}
