import CRemora

/// How codes are drawn. The defaults are the library's.
public struct Sampling: Sendable {
  private(set) var raw: remora_sampling

  public init() { raw = .defaults(remora_sampling_init) }

  /// As a seed: draw one from the system; `SessionStats.seed` tells which.
  public static let randomSeed: UInt64 = remora_swift_seed_random

  /// 0 to 10; 0 is greedy.
  public var temperature: Float {
    get { raw.temperature }
    set { raw.temperature = newValue }
  }
  /// 0 to 1; the entry that crosses it is removed, the best never is.
  public var topP: Float {
    get { raw.top_p }
    set { raw.top_p = newValue }
  }
  /// 1 to 65536; 1 takes the best.
  public var topK: Int {
    get { Int(raw.top_k) }
    set { raw.top_k = Int32(clamping: newValue) }
  }
  /// S1-mini only, 0.5 to 2; 0 is the family's default, 1 is off.
  public var repetitionPenalty: Float {
    get { raw.repetition_penalty }
    set { raw.repetition_penalty = newValue }
  }
  /// Frames for each piece of a prompt; 0: until the context is full.
  public var maxFrames: Int {
    get { Int(raw.max_frames) }
    set { raw.max_frames = Int32(clamping: newValue) }
  }
  /// A bound tied to the text: 64 + this * bytes of the piece; 0 is off.
  public var maxFramesPerByte: Float {
    get { raw.max_frames_per_byte }
    set { raw.max_frames_per_byte = newValue }
  }
  /// S2-Pro: frames looked back at for repetitions, 0 to 64; 0 is off.
  public var repetitionWindow: Int {
    get { Int(raw.ras_window) }
    set { raw.ras_window = Int32(clamping: newValue) }
  }
  /// The same seed gives the same sound again.
  public var seed: UInt64 {
    get { raw.seed }
    set { raw.seed = newValue }
  }
}
