import Foundation
import Synchronization

/// The right to write one document, against other processes and other parts of this one.
///
/// It is an `flock` on a file beside the document, and not on the document itself: closing any
/// descriptor of a file gives up all of SQLite's own locks on it. The kernel releases it however
/// the process ends; the file that may be left behind then means nothing. Readers never look at it.
final class WriterLock: Sendable {
  private let descriptor: Mutex<CInt?>
  private let path: String
  private let isOurs: Bool

  /// Locks the document at `path`.
  init(_ document: String) throws(DocumentError) {
    let path = document + "-lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else {
        throw DocumentError.creating(document)
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw DocumentError(
          .inUse,
          "\(document): it is open for writing already; close it there, or open it for reading"
        )
      }
      // Whoever had it before may have removed the file between our two steps: then this lock is
      // on a file nobody else will find.
      var ours = stat()
      if fstat(descriptor, &ours) == 0, Self.isFile(descriptor, at: path) {
        self.descriptor = Mutex(descriptor)
        self.path = path
        // One that holds something is somebody else's file.
        isOurs = ours.st_size == 0
        return
      }
      close(descriptor)
    }
  }

  /// Gives the lock up, now and not when the last reference to it goes: a closure that has run may
  /// keep one for a moment.
  func release() {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return }
      descriptor = nil
      // If the directory was recreated, the path may be another document's lock.
      if isOurs, Self.isFile(open, at: path) { unlink(path) }
      close(open)
    }
  }

  /// Whether a path is that of an open file.
  private static func isFile(_ descriptor: CInt, at path: String) -> Bool {
    var ours = stat()
    var there = stat()
    return fstat(descriptor, &ours) == 0 && stat(path, &there) == 0
      && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev
  }

  deinit { release() }
}

/// The system's words for the last error.
func systemMessage() -> String { String(cString: strerror(errno)) }
