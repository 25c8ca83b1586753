import CRemora

/// What a session did since the last prompt.
public struct SessionStats: Sendable, Hashable {
  public let finish: Finish
  /// The attention kernel that really ran in the last prefill, and in the last step.
  public let prefillAttention: AttentionBackend
  public let stepAttention: AttentionBackend
  public let cacheMode: CacheMode
  /// Columns in the cache, and columns it has room for now.
  public let cacheLength: Int
  public let cacheCapacity: Int
  /// Bytes of the cache.
  public let cacheBytes: UInt64
  public let graphCaptures: Int
  /// The seed in force.
  public let seed: UInt64
  /// Columns of the last prompt, and how many of them were in the cache already.
  public let promptTokens: Int
  public let reusedTokens: Int
  /// Frames made, all pieces together.
  public let frames: Int
  /// Samples given to the caller.
  public let samples: Int
  /// Bytes of the text whose pieces are finished.
  public let textDone: Int
  public let piecesDone: Int
  public let pieces: Int
  public let prefillTime: Duration
  /// From the prompt to the first samples; zero before them.
  public let firstAudioTime: Duration
  public let stepTime: Duration
  public let codecTime: Duration

  init(of session: OpaquePointer) throws(RemoraError) {
    var raw = remora_stats.sized()
    try check(remora_session_stats(session, &raw))
    finish = Finish(rawValue: raw.finish)
    prefillAttention = AttentionBackend(rawValue: raw.sdpa_prefill)
    stepAttention = AttentionBackend(rawValue: raw.sdpa_step)
    cacheMode = CacheMode(rawValue: raw.kv_mode)
    cacheLength = Int(raw.kv_len)
    cacheCapacity = Int(raw.kv_capacity)
    cacheBytes = raw.kv_bytes
    graphCaptures = Int(clamping: raw.graph_captures)
    seed = raw.seed
    promptTokens = Int(clamping: raw.prompt_tokens)
    reusedTokens = Int(clamping: raw.reused_tokens)
    frames = Int(clamping: raw.frames)
    samples = Int(clamping: raw.samples)
    textDone = Int(clamping: raw.text_done)
    piecesDone = Int(clamping: raw.pieces_done)
    pieces = Int(clamping: raw.pieces)
    prefillTime = .nanoseconds(Int64(clamping: raw.prefill_ns))
    firstAudioTime = .nanoseconds(Int64(clamping: raw.first_audio_ns))
    stepTime = .nanoseconds(Int64(clamping: raw.step_ns))
    codecTime = .nanoseconds(Int64(clamping: raw.codec_ns))
  }
}
