import CRemora

/// How to load a model. The defaults are the library's.
public struct ModelOptions: Sendable {
  /// Parts of a checkpoint to leave out, and what to measure.
  public struct Parts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ constant: Int) { rawValue = UInt32(constant) }

    /// Voices from codes only.
    public static let withoutEncoder = Parts(REMORA_MODEL_NO_ENCODER)
    /// Codes only, no sound.
    public static let withoutCodec = Parts(REMORA_MODEL_NO_CODEC)
    /// Codec only: the folder may hold nothing else.
    public static let withoutLanguageModel = Parts(REMORA_MODEL_NO_LM)
    /// Configuration and tokenizer only: no weights are read.
    public static let textOnly = Parts(REMORA_MODEL_TEXT_ONLY)
    /// Measure what 8 or 4 bit weights lose, for `Model.weightErrors`.
    public static let weightErrors = Parts(REMORA_MODEL_WEIGHT_ERRORS)
  }

  public var parts: Parts
  public var device: DeviceKind
  public var deviceIndex: Int
  /// `.auto` on the CPU: float32 up to 4 GiB of such weights; larger and quantised ones bfloat16.
  public var numberType: NumberType
  public var weights: WeightFormat
  public var codecNumberType: NumberType
  /// Columns that share a scale in 4-bit weights: 32 or 64; 0 is the library's choice.
  public var int4Group: Int

  public init() {
    let defaults = remora_model_params.defaults(remora_model_params_init)
    parts = Parts(rawValue: defaults.flags)
    device = DeviceKind(rawValue: defaults.device)
    deviceIndex = Int(defaults.device_index)
    numberType = NumberType(rawValue: defaults.dtype)
    weights = WeightFormat(rawValue: defaults.weights)
    codecNumberType = NumberType(rawValue: defaults.codec_dtype)
    int4Group = Int(defaults.int4_group)
  }

  var raw: remora_model_params {
    var raw = remora_model_params.defaults(remora_model_params_init)
    raw.flags = parts.rawValue
    raw.device = device.rawValue
    raw.device_index = Int32(clamping: deviceIndex)
    raw.dtype = numberType.rawValue
    raw.weights = weights.rawValue
    raw.codec_dtype = codecNumberType.rawValue
    raw.int4_group = Int32(clamping: int4Group)
    return raw
  }
}
