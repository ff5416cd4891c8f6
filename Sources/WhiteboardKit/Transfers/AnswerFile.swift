import PeerSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A private file from which a transfer sends a catch-up answer.
///
/// The file is locked while the transfer needs it, and then removed. If the process dies, the system releases the lock,
/// so the next process can remove the file.
final class AnswerFile: Sendable {
  /// The path of the file.
  let path: String
  private let descriptor: Int32

  /// Writes an answer to a new file; returns nil if that fails.
  init?(_ bytes: [UInt8], inDirectory directory: String) {
    path = "\(directory)/\(TransferID.random().text)"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, FileWriting.writeAll(bytes, to: descriptor) == nil else {
      return nil
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    unlink(path)
    close(descriptor)
  }

  /// Removes the file of a process that exited.
  ///
  /// - Parameter path: The path of the file. A file that a process still locks is not removed.
  static func removeAbandoned(atPath path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }
}
