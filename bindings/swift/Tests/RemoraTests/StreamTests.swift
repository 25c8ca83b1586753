// Streams of sound: the same samples, stopped by their task, freed when let go.
import Foundation
import Testing

@testable import Remora

@Suite struct StreamTests {
  static let endless: Prompt = "你好，世界！今天天气很好。"

  @Test func theStreamIsWhatGenerateGives() async throws {
    let model = try Models.tiny.get()
    var expected: [Float] = []
    var session = try session(model, .seeded(5, frames: 20))
    try session.generate("Hello from remora.") { piece, _ in
      expected += piece
      return true
    }
    var pcm: [Float] = []
    var pieces = 0
    let stream = try model.speak("Hello from remora.", sampling: .seeded(5, frames: 20))
    for try await piece in stream {
      #expect(!piece.isEmpty)
      pcm += piece
      pieces += 1
    }
    #expect(pcm == expected)
    #expect(pieces > 1)
    #expect(try await stream.stats().samples == pcm.count)
  }

  @Test func aStreamGivesItsSessionBack() async throws {
    let model = try Models.tiny.get()
    let stream = try model.speak("Hello.", sampling: .greedy(3))
    for try await _ in stream {}
    var session = await stream.takeSession()
    let position = try session?.position()
    #expect((position ?? 0) > 0)
    try session?.prefill(Prompt("Again.", flags: .continue))
    let frames = try session?.allFrames()
    #expect(frames?.isEmpty == false)
    session = nil
    session = await stream.takeSession()
    let gone = session == nil
    #expect(gone)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == nil)
    await #expect(throws: RemoraError.self) { try await stream.stats() }
  }

  @Test func cancellingTheTaskStopsTheStream() async throws {
    let stream = try Models.golden.get().speak(Self.endless, sampling: .greedy(2000))
    let (began, signal) = AsyncStream.makeStream(of: Void.self)
    let listener = Task { () -> RemoraError.Code? in
      do {
        for try await _ in stream { signal.yield() }
        return nil
      } catch {
        return (error as? RemoraError)?.code
      }
    }
    for await _ in began { break }
    listener.cancel()
    #expect(await listener.value == .cancelled)
    let stats = try await stream.stats()
    #expect(stats.finish == .cancelled && stats.frames < 2000)
    var iterator = stream.makeAsyncIterator()
    #expect(try await iterator.next() == nil, "after an error the stream is at its end")
  }

  @Test func aCancelHandleStopsTheStream() async throws {
    let stream = try Models.golden.get().speak(Self.endless, sampling: .greedy(2000))
    let handle = stream.cancelHandle
    var code: RemoraError.Code?
    do throws(RemoraError) {
      for try await _ in stream { handle.cancel() }
    } catch {
      code = error.code
    }
    #expect(code == .cancelled)
  }

  @Test func aDroppedStreamFreesItsSession() async throws {
    weak var worker: StreamWorker?
    weak var session: SessionHandle?
    func hearOnePiece() async throws {
      let speaker = try Remora.Session(Models.golden.get())
      session = speaker.handle
      let stream = speaker.stream(Self.endless)
      worker = stream.worker
      for try await _ in stream { break }
      #expect(session != nil)
    }
    try await hearOnePiece()
    // The queue lets go of its last block a moment after the piece was handed over.
    for _ in 0..<200 where worker != nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect(worker == nil)
    #expect(session == nil)
  }

  @Test func anErrorOfThePromptArrivesWithTheFirstPiece() async throws {
    let stream = try Models.golden.get().speak(" ")
    var iterator = stream.makeAsyncIterator()
    var code: RemoraError.Code?
    do throws(RemoraError) { _ = try await iterator.next() } catch { code = error.code }
    #expect(code == .invalidArgument)
    #expect(try await iterator.next() == nil)
  }

  @Test func streamsSpeakAtTheSameTime() async throws {
    let model = try Models.tiny.get()
    var alone: [Float] = []
    for try await piece in try model.speak("One.", sampling: .greedy(8)) { alone += piece }
    let expected = alone
    try await withThrowingTaskGroup(of: [Float].self) { group in
      for _ in 0..<3 {
        group.addTask {
          var pcm: [Float] = []
          for try await piece in try model.speak("One.", sampling: .greedy(8)) { pcm += piece }
          return pcm
        }
      }
      for try await pcm in group { #expect(pcm == expected) }
    }
  }
}
