import CRemora

/// The structs of the C interface: each begins with its own size.
protocol CStruct {
  init()
  var struct_size: UInt32 { get set }
}

extension CStruct {
  static var byteCount: UInt32 { UInt32(MemoryLayout<Self>.size) }

  /// Zeroes, for the library to fill in.
  static func sized() -> Self {
    var value = Self()
    value.struct_size = byteCount
    return value
  }

  /// The library's defaults. Should it refuse the size, struct_size stays 0 and the call that takes
  /// the struct reports it.
  static func defaults(
    _ initialize: (UnsafeMutablePointer<Self>, UInt32) -> remora_status
  ) -> Self {
    var value = Self()
    return initialize(&value, byteCount) == REMORA_OK ? value : Self()
  }
}

extension remora_reader: CStruct {}
extension remora_model_params: CStruct {}
extension remora_model_info: CStruct {}
extension remora_device_info: CStruct {}
extension remora_memory: CStruct {}
extension remora_weight_error: CStruct {}
extension remora_session_params: CStruct {}
extension remora_sampling: CStruct {}
extension remora_prompt: CStruct {}
extension remora_frame: CStruct {}
extension remora_stats: CStruct {}
extension remora_audio_info: CStruct {}

/// Asks for the size, then for the content.
func sizedArray<Element>(
  _ call: (UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>) -> remora_status,
  of: Element.Type = Element.self
) throws(RemoraError) -> [Element] {
  var needed = 0
  try check(call(nil, 0, &needed))
  if needed == 0 { return [] }
  var status = remora_status(REMORA_OK)
  let values = [Element](unsafeUninitializedCapacity: needed) { buffer, count in
    var written = 0
    status = call(buffer.baseAddress, needed, &written)
    count = status == REMORA_OK ? min(written, needed) : 0
  }
  try check(status)
  return values
}

/// A `char[n]` member, which arrives as a tuple, up to its NUL.
func string<Tuple>(fromCharacters tuple: Tuple) -> String {
  withUnsafeBytes(of: tuple) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}

/// A closure on its way through C as a user pointer, and what it threw there: nothing may unwind
/// through C, so the error waits until the call has returned.
final class Callback<Call> {
  let call: Call
  var thrown: (any Error)?

  init(_ call: Call) { self.call = call }

  var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  static func from(_ pointer: UnsafeMutableRawPointer?) -> Self? {
    pointer.map { Unmanaged<Self>.fromOpaque($0).takeUnretainedValue() }
  }

  /// 0 to go on, 1 to stop: on false, and on an error, which is kept.
  func answer(_ goesOn: () throws -> Bool) -> Int32 {
    do {
      return try goesOn() ? 0 : 1
    } catch {
      thrown = error
      return 1
    }
  }
}
