// Sessions: pieces of work, state that moves, cancel, and any order of destruction.
import Foundation
import Remora
import Testing

@Suite struct SessionTests {
  /// In the middle of a generation.
  static func started(_ frames: Int) throws -> Session {
    var session = try session(Models.golden.get(), .seeded(7, frames: 24))
    try session.prefill("One two three. <|speaker:1|>Four.")
    for _ in 0..<frames { _ = try session.advance() }
    _ = try session.readPCM(upTo: 5000)
    return session
  }

  struct Rest: Equatable {
    let frames: [[Int32]]
    let pcm: [Float]
  }

  static func rest(_ session: inout Session) throws -> Rest {
    Rest(frames: try session.allFrames(), pcm: try session.allPCM())
  }

  @Test func generateGivesWhatStepsGive() throws {
    var steps = try session(Models.tiny.get(), .greedy(12))
    try steps.prefill("Hello from remora.")
    let frames = try steps.allFrames()
    let expected = try steps.allPCM()

    var whole = try session(Models.tiny.get(), .greedy(12))
    var pcm: [Float] = []
    var ends = 0
    try whole.generate("Hello from remora.") { piece, last in
      pcm += piece
      if last { ends += 1 }
      return true
    }
    #expect(pcm == expected)
    #expect(ends == 1)
    let stats = try whole.stats()
    #expect(stats.frames == frames.count)
    #expect(stats.samples == pcm.count)
    #expect(stats.finish == .length)
    #expect(stats.pieces == 1 && stats.piecesDone == 1)
    #expect(stats.promptTokens > 0 && stats.prefillTime > .zero && stats.codecTime > .zero)
    #expect(try whole.stats().cacheLength == whole.position())
  }

  @Test func sessionsSteppedTogetherMakeWhatTheyMakeAlone() throws {
    var alone = try session(Models.golden.get(), .greedy(3))
    try alone.prefill("Hello world.")
    let expected = try alone.allFrames()
    var group = SessionGroup()
    for _ in 0..<2 { group.append(try session(Models.golden.get(), .greedy(3))) }
    try group.withSession(1) { try $0.prefill("Hello world.") }
    for index in 0...expected.count {
      let made = try group.step()
      guard case .failed(let error) = made[0] else {
        Issue.record("a session without a prompt made something")
        return
      }
      #expect(error.code == .invalidState && error.message.contains("no prompt yet"))
      switch made[1] {
      case .frame(let frame): #expect(index < expected.count && frame.codes == expected[index])
      case .end: #expect(index == expected.count)
      case .failed(let error): throw error
      }
    }
    var none = SessionGroup()
    #expect(throws: RemoraError.self) { _ = try none.step() }
  }

  @Test func keptLogitsAreWhatGreedyCodesAreDrawnFrom() throws {
    let model = try Models.golden.get()
    var options = SessionOptions()
    #expect(!options.keepsLogits)
    options.keepsLogits = true
    var session = try Session(model, options: options)
    try session.setSampling(.greedy(3))
    #expect(failure { _ = try session.logits(0) }?.code == .invalidState)
    try session.prefill("Hello world.")
    #expect(failure { _ = try session.logits(1) }?.code == .invalidState)
    #expect(failure { _ = try session.logits(6) }?.code == .invalidArgument)
    let next = try session.logits(0)
    #expect(next.count == model.info.codebookSize + 1)
    let frame = try #require(try session.step())
    let endIsFirst = model.info.endToken < model.info.semanticBegin ? 1 : 0
    #expect(next.firstIndex(of: next.max()!)! - endIsFirst == Int(frame.codes[0]))
    for codebook in 1..<6 {
      let logits = try session.logits(codebook)
      #expect(logits.firstIndex(of: logits.max()!)! == Int(frame.codes[codebook]))
    }
  }

  @Test func warmingUpChangesNoResult() throws {
    var session = try session(Models.golden.get(), .greedy(5))
    try session.warmUp()
    try session.prefill("Hello world.")
    let warm = try session.allFrames()
    try session.reset()
    try session.prefill("Hello world.")
    let again = try session.allFrames()
    #expect(warm.count == 5 && warm == again)
  }

  @Test func aPromptsOwnMatrixSaysTheSame() throws {
    let model = try Models.golden.get()
    let matrix = try model.matrix(of: "Hello world.")
    #expect(matrix.rows == model.info.codebooks + 1)
    var session = try session(model, .greedy(5))
    try session.prefill("Hello world.")
    let expected = try session.allFrames()
    try session.reset()
    try session.prefill(Prompt(tokens: matrix))
    let frames = try session.allFrames()
    #expect(frames == expected)
    let short = try CodeMatrix(rows: 2, values: [1, 2])
    #expect(throws: RemoraError.self) { try session.prefill(Prompt(tokens: short)) }
  }

  @Test func codesGoIntoMatricesAndBack() throws {
    let matrix = try CodeMatrix(frames: [[1, 2, 3], [4, 5, 6]])
    #expect(matrix.rows == 3 && matrix.columns == 2)
    #expect(matrix.values == [1, 4, 2, 5, 3, 6])
    #expect(matrix.column(1) == [4, 5, 6])
    #expect(matrix.columns(1..<2).values == [4, 5, 6])
    #expect(throws: RemoraError.self) { try CodeMatrix(frames: [[1, 2], [3]]) }
    #expect(throws: RemoraError.self) { try CodeMatrix(rows: 2, values: [1, 2, 3]) }
  }

  @Test func aCloneGoesOnAlikeAndApart() throws {
    var session = try Self.started(9)
    var clone = try session.clone()
    let ofClone = try Self.rest(&clone)
    let ofSession = try Self.rest(&session)
    #expect(!ofSession.frames.isEmpty && ofClone == ofSession)
  }

  @Test func aSavedSessionGoesOnInAnother() throws {
    var session = try Self.started(9)
    let bytes = try session.saved()
    let expected = try Self.rest(&session)
    var other = try Session(Models.golden.get())
    try other.load(bytes)
    let rest = try Self.rest(&other)
    #expect(rest == expected)

    var damaged = bytes
    damaged[damaged.count / 2] ^= 1
    var error: RemoraError?
    do { try other.load(damaged) } catch let thrown { error = thrown }
    #expect(error?.code == .format)
  }

  @Test func rewindKeepsThePromptForTheNextRequest() throws {
    var session = try Self.started(6)
    let position = try session.position()
    var error: RemoraError?
    do { try session.rewind(to: position + 1) } catch let thrown { error = thrown }
    #expect(error?.code == .invalidArgument)
    try session.rewind(to: position - 6)
    let after = try session.position()
    #expect(after == position - 6)
    try session.prefill("One two three. <|speaker:1|>Four.")
    let frames = try session.allFrames()
    var fresh = try Self.started(0)
    #expect(try fresh.allFrames() == frames)
  }

  @Test func aPromptThatContinuesReusesTheContext() throws {
    var session = try session(Models.golden.get(), .greedy(4))
    try session.prefill("Hello.")
    _ = try session.allFrames()
    let before = try session.position()
    try session.prefill(Prompt("And again.", flags: .continue))
    let stats = try session.stats()
    #expect(before > 4 && stats.reusedTokens == before)
  }

  @Test func aCancelStopsFromAnotherThread() async throws {
    let (began, signal) = AsyncStream.makeStream(of: Void.self)
    var session = try session(Models.golden.get(), .greedy(2000))
    let handle = session.cancelHandle
    let canceller = Task {
      for await _ in began { break }
      handle.cancel()
    }
    var error: RemoraError?
    do {
      try session.generate("你好，世界！今天天气很好。") { _, _ in
        signal.yield()
        return true
      }
    } catch let thrown {
      error = thrown
    }
    await canceller.value
    #expect(error?.code == .cancelled)
    let stats = try session.stats()
    #expect(stats.finish == .cancelled && stats.frames < 2000)

    error = nil
    do { try session.prefill("Hello.") } catch let thrown { error = thrown }
    #expect(error?.code == .invalidState || error?.code == .cancelled, "in force until reset")
    try session.reset()
    try session.setSampling(.greedy(3))
    try session.prefill("Hello.")
    let frames = try session.allFrames()
    #expect(!frames.isEmpty)
  }

  @Test func aCancelFromTheCallbackStops() throws {
    var session = try session(Models.golden.get(), .greedy(500))
    let handle = session.cancelHandle
    var error: RemoraError?
    do {
      try session.generate("你好，世界！今天天气很好。") { _, _ in
        handle.cancel()
        return true
      }
    } catch let thrown {
      error = thrown
    }
    #expect(error?.code == .cancelled)
    #expect(error?.underlying == nil)
  }

  @Test func whatTheAudioClosureThrowsArrives() throws {
    var session = try session(Models.tiny.get(), .greedy(30))
    var error: RemoraError?
    do {
      try session.generate("Hello.") { _, _ in throw HostError(number: 11) }
    } catch let thrown {
      error = thrown
    }
    #expect(error?.code == .cancelled)
    #expect(error?.underlying as? HostError == HostError(number: 11))
    try session.reset()
    try session.generate("Hello.") { _, _ in true }
  }

  @Test func aCancelHandleOutlivesItsSession() throws {
    let handle = try Session(Models.golden.get()).cancelHandle
    handle.cancel()
    let session = try Session(Models.golden.get())
    let other = session.cancelHandle
    session.close()
    other.cancel()
  }

  @Test func objectsGoInAnyOrder() throws {
    var source: Source? = try Source()
    try source?.addDirectory(Place.tiny("s2-pro"))
    var model: Model? = try Model(source: source!)
    source = nil
    let codes = [Int32](repeating: 1, count: model!.info.codebooks * 4)
    let matrix = try CodeMatrix(rows: model!.info.codebooks, values: codes)
    var voice: Voice? = try Voice(model!, codes: matrix, transcript: "four frames")
    var first: Session? = try session(model!, .greedy(4))
    var second: Session? = try first?.clone()
    var stream: CodecStream? = try CodecStream(model!)
    try first?.prefill(Prompt("Hello.", voices: [voice!]))
    model = nil
    voice = nil
    #expect(try first?.allFrames().count == 4)
    first = nil
    try second?.prefill("Hello.")
    let frames = try second?.allFrames()
    #expect(frames?.count == 4)
    second = nil
    let samples = try stream?.push(matrix)
    #expect(samples?.isEmpty == false)
    stream = nil
  }
}
