import CRemora
import Synchronization

/// Files by closure: an asset pack, an encrypted archive, the network. Calls may come from the
/// threads that load or use a model made from it.
public protocol CheckpointReader: Sendable {
  /// nil when there is no such file. What it throws is found in `RemoraError.underlying`.
  func open(_ name: String) throws -> (any CheckpointFile)?
}

/// An open file. Reads come one at a time; letting go of it closes it.
public protocol CheckpointFile: AnyObject, Sendable {
  /// In bytes.
  var size: UInt64 { get }
  /// Fills the whole buffer from `offset` on, or throws.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws
}

/// A reader as C knows it.
final class ReaderBox: Sendable {
  private let reader: any CheckpointReader
  private let thrown = Mutex<(any Error)?>(nil)

  init(_ reader: any CheckpointReader) { self.reader = reader }

  /// What the reader threw last, once.
  func takeThrown() -> (any Error)? {
    thrown.withLock { value in
      defer { value = nil }
      return value
    }
  }

  var callbacks: remora_reader {
    var raw = remora_reader.sized()
    raw.user = Unmanaged.passUnretained(self).toOpaque()
    raw.open = { user, name, file, size in
      guard let user, let name, let file, let size else { return remora_status(REMORA_E_INTERNAL) }
      return ReaderBox.from(user).open(String(cString: name), file, size)
    }
    raw.read_at = { user, file, offset, destination, count in
      guard let user, let file, let destination, let count = Int(exactly: count) else { return -1 }
      let buffer = UnsafeMutableRawBufferPointer(start: destination, count: count)
      return ReaderBox.from(user).read(file, offset, buffer)
    }
    raw.close = { _, file in
      if let file { Unmanaged<OpenFile>.fromOpaque(file).release() }
    }
    return raw
  }

  private static func from(_ user: UnsafeMutableRawPointer) -> ReaderBox {
    Unmanaged<ReaderBox>.fromOpaque(user).takeUnretainedValue()
  }

  private func open(
    _ name: String, _ file: UnsafeMutablePointer<UnsafeMutableRawPointer?>,
    _ size: UnsafeMutablePointer<UInt64>
  ) -> remora_status {
    do {
      guard let opened = try reader.open(name) else { return remora_status(REMORA_E_IO) }
      size.pointee = opened.size
      file.pointee = Unmanaged.passRetained(OpenFile(opened)).toOpaque()
      return remora_status(REMORA_OK)
    } catch {
      keep(error)
      return remora_status(REMORA_E_CALLBACK)
    }
  }

  private func read(
    _ file: UnsafeMutableRawPointer, _ offset: UInt64, _ buffer: UnsafeMutableRawBufferPointer
  ) -> Int64 {
    do {
      let opened = Unmanaged<OpenFile>.fromOpaque(file).takeUnretainedValue()
      try opened.file.read(at: offset, into: buffer)
      return Int64(buffer.count)
    } catch {
      keep(error)
      return -1
    }
  }

  private func keep(_ error: any Error) {
    thrown.withLock { $0 = error }
  }
}

/// A class of known type around the host's file, to pass through a pointer.
private final class OpenFile: Sendable {
  let file: any CheckpointFile
  init(_ file: any CheckpointFile) { self.file = file }
}
