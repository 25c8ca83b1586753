import CRemora
import Dispatch
import Synchronization

extension Session {
  /// Speaks a prompt as a stream of pieces of sound. The stream owns the session; work is done only
  /// while a piece is awaited, on a thread of the stream's own queue.
  public consuming func stream(_ prompt: Prompt) -> SpeechStream {
    SpeechStream(StreamWorker(self, prompt))
  }
}

/// Pieces of mono sound, each given once, to whichever iterator asks.
///
/// Cancelling the task that awaits a piece stops the work within one step; the stream then throws
/// `.cancelled`. Letting go of stream and iterator frees the session. After an error the stream is
/// at its end.
public struct SpeechStream: AsyncSequence, Sendable {
  public typealias Element = [Float]
  public typealias Failure = RemoraError

  let worker: StreamWorker

  init(_ worker: StreamWorker) { self.worker = worker }

  public func makeAsyncIterator() -> Iterator { Iterator(worker: worker) }

  public struct Iterator: AsyncIteratorProtocol {
    let worker: StreamWorker

    public mutating func next() async throws(RemoraError) -> [Float]? {
      try await worker.pull()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(RemoraError) -> [Float]? {
      try await worker.pull()
    }
  }

  /// Stops the stream from anywhere.
  public var cancelHandle: CancelHandle { worker.cancelHandle }

  /// The session's numbers so far. Throws `.invalidState` when the session was taken out.
  public func stats() async throws(RemoraError) -> SessionStats {
    try await worker.stats()
  }

  /// Takes the session out, to go on with it; the stream is then at its end. Nil the second time.
  public func takeSession() async -> Session? {
    await worker.takeSession()
  }
}

/// The owner of a stream's session. Calls block, so they run on a queue and never on the threads of
/// Swift's concurrency; the lock is therefore never waited for.
final class StreamWorker: Sendable {
  let cancelHandle: CancelHandle
  private let queue = DispatchQueue(label: "remora.stream")
  private let state: Mutex<StreamState>

  init(_ session: consuming Session, _ prompt: Prompt) {
    cancelHandle = session.cancelHandle
    state = Mutex(StreamState(session: session, prompt: prompt))
  }

  func pull() async throws(RemoraError) -> [Float]? {
    let piece = await withTaskCancellationHandler {
      await onQueue { state in state.pull() }
    } onCancel: {
      cancelHandle.cancel()
    }
    return try piece.get()
  }

  func stats() async throws(RemoraError) -> SessionStats {
    try await onQueue { state in state.stats() }.get()
  }

  func takeSession() async -> Session? {
    let taken = Mutex<Session?>(nil)
    await onQueue { state in
      taken.withLock { $0 = state.session.take() }
    }
    return taken.withLock { $0.take() }
  }

  private func onQueue<Result: Sendable>(
    _ body: @escaping @Sendable (inout StreamState) -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async {
        continuation.resume(returning: self.state.withLock { body(&$0) })
      }
    }
  }
}

struct StreamState: ~Copyable, Sendable {
  var session: Session?
  private var prompt: Prompt?  // until it was taken up
  private var ended = false

  init(session: consuming Session, prompt: Prompt) {
    self.session = consume session
    self.prompt = prompt
  }

  /// The next piece that is not empty; nil at the end, and after an error.
  mutating func pull() -> Result<[Float]?, RemoraError> {
    if ended { return .success(nil) }
    do throws(RemoraError) {
      let piece = try nextPiece()
      ended = piece == nil
      return .success(piece)
    } catch {
      ended = true
      return .failure(error)
    }
  }

  private mutating func nextPiece() throws(RemoraError) -> [Float]? {
    if let prompt {
      try session?.prefill(prompt)
      self.prompt = nil
    }
    // Room for a second; a piece is as long as the codec makes it.
    let capacity = session?.model.info.sampleRate ?? 0
    while true {
      guard let samples = try session?.readPCM(upTo: capacity) else { return nil }
      if !samples.isEmpty { return samples }
      _ = try session?.advance()  // at the end readPCM gives what is left
    }
  }

  func stats() -> Result<SessionStats, RemoraError> {
    do throws(RemoraError) {
      guard let stats = try session?.stats() else {
        throw RemoraError(
          .invalidState, "stream: its session was taken out; ask the session itself")
      }
      return .success(stats)
    } catch {
      return .failure(error)
    }
  }
}
