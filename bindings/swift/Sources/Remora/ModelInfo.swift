import CRemora

/// What a model is.
public struct ModelInfo: Sendable, Hashable {
  /// "s2-pro", "s1-mini", "codec".
  public let family: String
  /// Hz; 0 without a codec.
  public let sampleRate: Int
  /// 0 without a codec.
  public let samplesPerFrame: Int
  /// Codes per frame of the language model, else of the codec.
  public let codebooks: Int
  /// Entries of the language model's code tables.
  public let codebookSize: Int
  /// Columns the model was made for.
  public let maxSequenceLength: Int
  public let vocabularySize: Int
  /// Token id of semantic code 0.
  public let semanticBegin: Int32
  /// Token id of the last semantic code.
  public let semanticEnd: Int32
  /// Token id that ends a turn.
  public let endToken: Int32
  public let device: DeviceKind
  public let deviceIndex: Int
  public let numberType: NumberType
  public let weights: WeightFormat
  public let codecNumberType: NumberType
  public let hasLanguageModel: Bool
  public let hasCodec: Bool
  public let hasEncoder: Bool
  /// Columns that share a scale in 4-bit weights; 0 where there are none.
  public let int4Group: Int
  /// The checkpoint is quantised: its weights are mapped, not converted.
  public let hasSavedWeights: Bool

  init(describing model: OpaquePointer) throws(RemoraError) {
    var raw = remora_model_info.sized()
    try check(remora_model_describe(model, &raw))
    family = string(fromCharacters: raw.family)
    sampleRate = Int(raw.sample_rate)
    samplesPerFrame = Int(raw.samples_per_frame)
    codebooks = Int(raw.n_codebooks)
    codebookSize = Int(raw.codebook_size)
    maxSequenceLength = Int(raw.max_seq_len)
    vocabularySize = Int(raw.vocab_size)
    semanticBegin = raw.semantic_begin
    semanticEnd = raw.semantic_end
    endToken = raw.end_token
    device = DeviceKind(rawValue: raw.device)
    deviceIndex = Int(raw.device_index)
    numberType = NumberType(rawValue: raw.dtype)
    weights = WeightFormat(rawValue: raw.weights)
    codecNumberType = NumberType(rawValue: raw.codec_dtype)
    hasLanguageModel = raw.has_lm != 0
    hasCodec = raw.has_codec != 0
    hasEncoder = raw.has_encoder != 0
    int4Group = Int(raw.int4_group)
    hasSavedWeights = raw.saved_weights != 0
  }
}

/// What quantising lost, for one kind of matrix: all layers together, against the checkpoint's.
public struct WeightError: Sendable, Hashable {
  /// Such as "layers.*.attention.wqkv".
  public let layer: String
  public let weights: WeightFormat
  /// Columns that share a scale in 4-bit weights; 0 where there are none.
  public let int4Group: Int
  /// How many numbers were compared.
  public let numbers: UInt64
  /// The root of the sum of squared differences over that of squared originals.
  public let relativeError: Float
  public let largestError: Float
  /// The largest size of an original.
  public let largestNumber: Float

  init(_ raw: remora_weight_error) {
    layer = string(fromCharacters: raw.layer)
    weights = WeightFormat(rawValue: raw.weights)
    int4Group = Int(raw.int4_group)
    numbers = raw.numbers
    relativeError = raw.relative_error
    largestError = raw.largest_error
    largestNumber = raw.largest_number
  }
}

/// Bytes that a model takes.
public struct ModelMemory: Sendable, Hashable {
  /// The language model's weights.
  public let weights: UInt64
  /// The codec's weights.
  public let codec: UInt64
  /// Keys and values of one column of a session.
  public let perPosition: UInt64

  init(_ raw: remora_memory) {
    weights = raw.weights
    codec = raw.codec
    perPosition = raw.kv_per_position
  }
}
