import CRemora

/// How a session works. The defaults are the library's.
public struct SessionOptions: Sendable {
  private(set) var raw: remora_session_params

  public init() { raw = .defaults(remora_session_params_init) }

  /// Positions of the KV cache, 1 to the model's `maxSequenceLength`; 0 follows the request and
  /// grows.
  public var capacity: Int {
    get { Int(raw.capacity) }
    set { raw.capacity = Int32(clamping: newValue) }
  }
  public var cacheMode: CacheMode {
    get { CacheMode(rawValue: raw.kv_mode) }
    set { raw.kv_mode = newValue.rawValue }
  }
  public var attention: AttentionBackend {
    get { AttentionBackend(rawValue: raw.sdpa) }
    set { raw.sdpa = newValue.rawValue }
  }
  /// Frames of the first decoded piece of sound, at least 1.
  public var firstChunk: Int {
    get { Int(raw.codec_chunk_first) }
    set { raw.codec_chunk_first = Int32(clamping: newValue) }
  }
  /// Pieces grow to this many frames, at least `firstChunk`.
  public var nextChunk: Int {
    get { Int(raw.codec_chunk_next) }
    set { raw.codec_chunk_next = Int32(clamping: newValue) }
  }
  /// Keep what frames are drawn from, for `Session.logits`.
  public var keepsLogits: Bool {
    get { raw.flags & UInt32(REMORA_SESSION_KEEP_LOGITS) != 0 }
    set { raw.flags = newValue ? UInt32(REMORA_SESSION_KEEP_LOGITS) : 0 }
  }
}
