import Glibc
import NIOConcurrencyHelpers

/// Writes whole lines to a descriptor, one at a time.
///
/// A line that cannot be written, because nobody reads or the disk is full, is dropped: a log never stops the program for longer
/// than a second.
public final class LineWriter: Sendable {
  /// Standard error, for the whole program.
  public static let standardError = LineWriter(descriptor: STDERR_FILENO)
  private let descriptor: Int32
  /// How long a reader that does not read is waited for, in milliseconds.
  private let patience: Int32
  /// Whether the last line that was begun lacks its end.
  private let isMidLine = NIOLockedValueBox(false)

  /// Writes to a descriptor, which must stay open.
  public convenience init(descriptor: Int32) { self.init(descriptor: descriptor, patience: 1_000) }

  init(descriptor: Int32, patience: Int32) {
    self.descriptor = descriptor
    self.patience = patience
  }

  /// Writes a line, which ends in a line feed.
  func write(_ line: String) {
    isMidLine.withLockedValue { isMidLine in
      var bytes = Array((isMidLine ? "\n" + line : line).utf8)[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
          isMidLine = true
          bytes = bytes.dropFirst(count)
        } else if errno == EAGAIN {
          guard isWritableInTime() else { return }
        } else if errno != EINTR {
          return
        }
      }
      isMidLine = false
    }
  }

  private func isWritableInTime() -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&waiting, 1, patience) > 0
  }
}
