import Dispatch
import PeerCore

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package final class FileReading: Sendable {
  private let descriptor: Int32
  private let file: String
  private let queue = DispatchQueue(label: "whiteboard.file")

  init(_ file: String) throws(CommandError) {
    try FileReading.check(file)
    descriptor = open(file, O_RDONLY | O_CLOEXEC)
    self.file = file
    guard descriptor >= 0 else { throw FileReading.unreadable(file, errno) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads the next bytes; returns nil at the end of the file. Throws `fileUnreadable`.
  func next(upTo count: Int) async throws(CommandError) -> [UInt8]? {
    let descriptor = descriptor
    let result: Result<[UInt8], CommandError> = await withCheckedContinuation { continuation in
      queue.async { [file] in
        var bytes = [UInt8](repeating: 0, count: count)
        let got = read(descriptor, &bytes, count)
        if got < 0 {
          continuation.resume(returning: .failure(FileReading.unreadable(file, errno)))
        } else {
          bytes.removeSubrange(got...)
          continuation.resume(returning: .success(bytes))
        }
      }
    }
    let bytes = try result.get()
    return bytes.isEmpty ? nil : bytes
  }

  /// Throws `fileUnreadable` if the path is not a regular file that this process can read.
  static func check(_ file: String) throws(CommandError) {
    var status = stat()
    guard stat(file, &status) == 0 else { throw unreadable(file, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandError(.fileUnreadable, "\(UntrustedText(file).quoted(limit: 256)) is not a regular file")
    }
    guard access(file, R_OK) == 0 else { throw unreadable(file, errno) }
  }

  /// Returns the size of a file, in bytes; nil if the file cannot be examined.
  static func size(_ file: String) -> Int? {
    var status = stat()
    guard stat(file, &status) == 0 else { return nil }
    return Int(status.st_size)
  }

  /// Replaces an existing file; returns whether the move succeeded.
  static func move(_ file: String, over name: String) -> Bool { rename(file, name) == 0 }

  /// Reads a whole file. Throws `fileUnreadable`, or `tooBig` if the file exceeds `limit` bytes.
  package static func whole(_ file: String, limit: Int) throws(CommandError) -> [UInt8] {
    try check(file)
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(file, errno) }
    defer { close(descriptor) }
    return try whole(descriptor, file, limit: limit)
  }

  package static func standardInput(limit: Int) throws(CommandError) -> [UInt8] {
    try whole(STDIN_FILENO, "standard input", limit: limit)
  }

  private static func whole(_ descriptor: Int32, _ file: String, limit: Int) throws(CommandError) -> [UInt8] {
    var bytes: [UInt8] = []
    var status = stat()
    if fstat(descriptor, &status) == 0 { bytes.reserveCapacity(min(Int(status.st_size), limit)) }
    var piece = [UInt8](repeating: 0, count: 256 * 1024)
    while true {
      let got = read(descriptor, &piece, piece.count)
      guard got >= 0 else { throw unreadable(file, errno) }
      guard got > 0 else { return bytes }
      guard bytes.count + got <= limit else {
        throw CommandError(.tooBig, "\(UntrustedText(file).quoted(limit: 256)) has more than \(limit) bytes")
      }
      bytes.append(contentsOf: piece.prefix(got))
    }
  }

  private static func unreadable(_ file: String, _ number: Int32) -> CommandError {
    CommandError(
      .fileUnreadable,
      "\(UntrustedText(file).quoted(limit: 256)) cannot be read: \(SystemError.words(for: number))"
    )
  }
}
