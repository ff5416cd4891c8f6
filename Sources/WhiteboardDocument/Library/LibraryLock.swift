import Foundation
import Synchronization

/// A lock on a directory, held while a board is found or created.
///
/// Waiting for the lock blocks no thread of a pool: the callers of this process wait in a queue, and the first of them
/// waits for other processes on a thread of its own.
final class LibraryLock: Sendable {
  /// The callers that wait, by directory; a directory without an entry is not locked by this process.
  private static let queues = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

  private let directory: String
  private let descriptor: Mutex<CInt?>

  private init(_ directory: String, _ descriptor: CInt) {
    self.directory = directory
    self.descriptor = Mutex(descriptor)
  }

  /// Waits for the lock on a directory, in the order of the calls.
  /// - Returns: The lock; the error if the directory accepts no lock file.
  static func acquire(_ directory: String) async -> Result<LibraryLock, DocumentError> {
    await enter(directory)
    let opened = await Blocking.result(directory) {
      let descriptor = open(directory + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw DocumentError.creating(directory, "nothing was changed") }
      return descriptor
    }
    guard case .success(let descriptor) = opened else {
      leave(directory)
      return opened.map { LibraryLock(directory, $0) }
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
          continuation.resume()
        }
      }
    }
    return .success(LibraryLock(directory, descriptor))
  }

  /// Releases the lock; a second call does nothing.
  func release() {
    let held = descriptor.withLock { descriptor in
      defer { descriptor = nil }
      return descriptor
    }
    guard let held else { return }
    close(held)
    Self.leave(directory)
  }

  deinit { release() }

  private static func enter(_ directory: String) async {
    await withCheckedContinuation { continuation in
      let isFree = queues.withLock { queues in
        guard queues[directory] != nil else {
          queues[directory] = []
          return true
        }
        queues[directory]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private static func leave(_ directory: String) {
    let next: CheckedContinuation<Void, Never>? = queues.withLock { queues in
      guard queues[directory]?.isEmpty == false else {
        queues[directory] = nil
        return nil
      }
      return queues[directory]?.removeFirst()
    }
    next?.resume()
  }
}
