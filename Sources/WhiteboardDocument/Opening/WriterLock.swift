import Foundation
import PeerCore

/// The exclusive right to write a document, among all processes and within this one.
///
/// It is an `flock` on a separate lock file in the same directory. The document itself cannot be locked: closing any
/// descriptor of it would release all of SQLite's locks. The kernel releases the lock when the process exits for any
/// reason. A lock file that is left behind has no effect. Readers ignore the lock.
final class WriterLock: Sendable {
  private let descriptor: Locked<CInt?>
  private let path: String
  private let isOurs: Bool

  init(_ document: String) throws(DocumentError) {
    let path = document + "-lock"
    while true {
      let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw DocumentError.creating(document) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw DocumentError(
          .inUse,
          "\(document): the board is already open in another window or program; use that one, or close it there first"
        )
      }
      // The previous holder may have removed the file between `open` and `flock`. Other processes would not find the
      // removed file, so create another one.
      var ours = stat()
      if fstat(descriptor, &ours) == 0, Self.isFile(descriptor, at: path) {
        self.descriptor = Locked(descriptor)
        self.path = path
        // This program creates only empty lock files, so a file with content belongs to another program.
        isOurs = ours.st_size == 0
        return
      }
      close(descriptor)
    }
  }

  /// Returns whether this is the lock of the document at the path `document`.
  func isLock(of document: String) -> Bool { path == document + "-lock" && descriptor.withLock { $0 != nil } }

  /// Releases the lock now, without waiting for `deinit`.
  ///
  /// A closure that already ran may still hold a reference to the lock.
  func release() {
    descriptor.withLock { descriptor in
      guard let open = descriptor else { return }
      descriptor = nil
      // If the directory was recreated, the file at the path may be another document's lock.
      if isOurs, Self.isFile(open, at: path) { unlink(path) }
      close(open)
    }
  }

  private static func isFile(_ descriptor: CInt, at path: String) -> Bool {
    var ours = stat()
    var there = stat()
    return fstat(descriptor, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino
      && ours.st_dev == there.st_dev
  }

  deinit { release() }
}

/// The right to write a board's file that this program is about to open.
///
/// While the reservation exists, no other program can open the file for writing.
public struct BoardReservation: Sendable {
  private let writerLock: WriterLock

  /// Reserves the document at a path; blocks the thread.
  init(_ document: String) throws(DocumentError) { writerLock = try WriterLock(DocumentFile.resolved(document)) }

  /// Returns the lock of a document; nil if the reservation is for another one, or was used and released.
  func lock(of document: String) -> WriterLock? { writerLock.isLock(of: document) ? writerLock : nil }
}

func systemMessage() -> String { String(cString: strerror(errno)) }
