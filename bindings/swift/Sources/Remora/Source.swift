import CRemora

/// Where a checkpoint's files come from; needed only when one folder is not the answer. Models made
/// from a source do not need it any longer.
public struct Source: ~Copyable, @unchecked Sendable {
  let raw: OpaquePointer
  /// C borrows the reader: every model made from this source keeps it too.
  private(set) var reader: ReaderBox?

  /// An empty source.
  public init() throws(RemoraError) {
    try Library.requireMatchingABI()
    var created: OpaquePointer?
    try check(remora_source_create(&created))
    raw = created!
  }

  deinit { remora_source_destroy(raw) }

  /// All files of a folder, under their own names. Names already in the source keep their meaning.
  public mutating func addDirectory(_ path: String) throws(RemoraError) {
    try checkName(path, as: "directory")
    try check(remora_source_add_dir(raw, path))
  }

  /// The codec of another folder, in the place of one that was added before.
  public mutating func addCodecDirectory(_ path: String) throws(RemoraError) {
    try checkName(path, as: "codec directory")
    try check(remora_source_add_codec_dir(raw, path))
  }

  /// One file, under the name a checkpoint gives it ("config.json", "model.safetensors", ...).
  public mutating func addFile(_ name: String, at path: String) throws(RemoraError) {
    try checkName(name, as: "file name")
    try checkName(path, as: "path")
    try check(remora_source_add_path(raw, name, path))
  }

  /// A file in memory, copied once.
  public mutating func addMemory(_ name: String, copying bytes: [UInt8]) throws(RemoraError) {
    let owned = OwnedBytes(bytes)
    try addMemory(name, borrowing: UnsafeRawBufferPointer(owned.buffer)) { owned.end() }
  }

  /// A file in memory, used in place. `release` is called once, from any thread, when source and
  /// models no longer need the bytes, and also when this call throws.
  public mutating func addMemory(
    _ name: String, borrowing bytes: UnsafeRawBufferPointer, release: @escaping @Sendable () -> Void
  ) throws(RemoraError) {
    do {
      try checkName(name, as: "file name")
    } catch {
      release()
      throw error
    }
    let user = Unmanaged.passRetained(Release(release)).toOpaque()
    let status = remora_source_add_memory(
      raw, name, bytes.baseAddress, bytes.count,
      { user, _, _ in
        guard let user else { return }
        Unmanaged<Release>.fromOpaque(user).takeRetainedValue().call()
      }, user)
    try check(status)
  }

  /// `length` bytes at `offset` of an open file descriptor, which is duplicated.
  public mutating func addDescriptor(
    _ name: String, descriptor: Int32, offset: UInt64, length: UInt64
  ) throws(RemoraError) {
    try checkName(name, as: "file name")
    try check(remora_source_add_fd(raw, name, descriptor, offset, length))
  }

  /// Names that were not added are asked of `reader`, which lives as long as the source and every
  /// model made from it.
  public mutating func setReader(_ reader: any CheckpointReader) throws(RemoraError) {
    let box = ReaderBox(reader)
    var callbacks = box.callbacks
    try check(remora_source_set_reader(raw, &callbacks))
    self.reader = box
  }
}

private final class Release: Sendable {
  let call: @Sendable () -> Void
  init(_ call: @escaping @Sendable () -> Void) { self.call = call }
}

/// A copy whose address stays; the closure that holds it ends it.
private final class OwnedBytes: @unchecked Sendable {
  let buffer: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    // 64: a cache line, and more than any tensor's element asks for.
    buffer = .allocate(byteCount: bytes.count, alignment: 64)
    buffer.copyBytes(from: bytes)
  }

  func end() { buffer.deallocate() }
}
