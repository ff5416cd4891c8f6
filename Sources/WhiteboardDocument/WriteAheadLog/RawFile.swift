import Foundation

final class RawFile {
  private let descriptor: CInt
  /// The length of the file in bytes.
  let size: Int

  init?(_ path: String) {
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      size = 0
      return nil
    }
    size = Int(status.st_size)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns up to `count` bytes; fewer if the file ends or cannot be read.
  func bytes(at offset: Int, _ count: Int) -> [UInt8] { Self.read(descriptor, at: offset, count) }

  /// Returns up to `count` bytes of an open file; fewer if the file ends or cannot be read.
  static func read(_ descriptor: CInt, at offset: Int, _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      // The buffer has `count` bytes, and pread writes and reports at most that many.
      filled = max(0, pread(descriptor, buffer.baseAddress, max(0, count), off_t(offset)))
    }
  }
}
