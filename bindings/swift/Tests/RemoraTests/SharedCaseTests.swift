// The cases that every language reproduces.
import Foundation
import Remora
import Testing

struct SharedCases: Decodable {
  struct Speech: Decodable, CustomTestStringConvertible {
    let name, model, text: String
    let flags: UInt32
    let max_frames, prompt_elements, samples: Int
    let ids: [Int32]
    let codes: [[Int32]]
    let rms: Double
    var testDescription: String { name }
  }
  struct Failure: Decodable, CustomTestStringConvertible {
    let name, call, text: String
    let status: Int32
    let path, prompt, field, transcript: String?
    let value: Float?
    let max_frames, codebook: Int?
    let codes: [Int32]?
    let bytes: [UInt8]?
    var testDescription: String { name }
  }
  struct LongText: Decodable {
    let unit: String
    let repeats, ids: Int
    let rolling: UInt32
  }
  let rms_tolerance: Double
  let long_text: LongText
  let errors_model: String
  let speech: [Speech]
  let errors: [Failure]

  static let all = Result { try Place.json("tests/bindings/cases.json", as: SharedCases.self) }
}

@Suite struct SharedCaseTests {
  @Test func thereAreCases() throws {
    let cases = try SharedCases.all.get()
    #expect(cases.speech.count >= 8)
    #expect(cases.errors.count >= 8)
  }

  @Test(arguments: (try? SharedCases.all.get().speech) ?? [])
  func RB_51_speechIsAsFromC(_ item: SharedCases.Speech) throws {
    let model = try Models.named(item.model)
    let prompt = Prompt(item.text, flags: Prompt.Flags(rawValue: item.flags))
    let allowControl = prompt.flags.contains(.allowControl)
    #expect(try model.tokenize(item.text, allowControl: allowControl) == item.ids)
    #expect(try model.matrix(of: prompt).values.count == item.prompt_elements)

    var session = try session(model, .greedy(item.max_frames))
    try session.prefill(prompt)
    let codes = try session.allFrames()
    #expect(codes == item.codes)
    let pcm = try session.allPCM()
    #expect(pcm.count == item.samples)
    let power = pcm.reduce(0.0) { $0 + Double($1) * Double($1) } / Double(max(1, pcm.count))
    let tolerance = try SharedCases.all.get().rms_tolerance
    #expect(abs(power.squareRoot() - item.rms) <= item.rms * tolerance)
  }

  @Test func RB_51_aMegabyteOfTextIsAsFromC() throws {
    let item = try SharedCases.all.get().long_text
    let text = String(repeating: item.unit, count: item.repeats)
    let ids = try Models.golden.get().tokenize(text)
    #expect(ids.count == item.ids)
    #expect(ids.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } == item.rolling)
  }

  @Test(arguments: (try? SharedCases.all.get().errors) ?? [])
  func RB_51_failuresAreAsFromC(_ item: SharedCases.Failure) throws {
    let error = failure { try Self.run(item) }
    #expect(error?.code.rawValue == item.status)
    #expect(error?.message == item.text)
  }

  private static func run(_ item: SharedCases.Failure) throws {
    if item.call == "open_model" {
      _ = try Model(directory: item.path ?? "")
      return
    }
    if item.call == "estimate" {
      let empty = try Source()
      _ = try Model.estimate(source: empty)
      return
    }
    let model = try Models.named(SharedCases.all.get().errors_model)
    let codes = try item.codes.map { try CodeMatrix(rows: model.info.codebooks, values: $0) }
    switch item.call {
    case "decode": _ = try model.decode(#require(codes))
    case "voice": _ = try Voice(model, codes: #require(codes), transcript: item.transcript ?? "")
    case "load_voice": _ = try Voice(model, saved: item.bytes ?? [])
    default: try runOnSession(item, model)
    }
  }

  private static func runOnSession(_ item: SharedCases.Failure, _ model: Model) throws {
    let frames = item.max_frames ?? 4
    var session = try session(model, .greedy(frames))
    switch item.call {
    case "step": _ = try session.step()
    case "logits": _ = try session.logits(#require(item.codebook))
    case "set_sampling":
      var sampling = Sampling.greedy(frames)
      switch item.field {
      case "top_p": sampling.topP = try #require(item.value)
      case "top_k": sampling.topK = Int(try #require(item.value))
      default: Issue.record("unknown field \(item.field ?? "")")
      }
      try session.setSampling(sampling)
    case "prefill", "cancelled_prefill":
      if item.call == "cancelled_prefill" { session.cancelHandle.cancel() }
      try session.prefill(Prompt(item.prompt ?? ""))
    default: Issue.record("unknown call \(item.call)")
    }
  }
}
