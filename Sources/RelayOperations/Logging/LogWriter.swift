import Glibc
import NIOConcurrencyHelpers

/// Writes whole lines to a descriptor, one at a time.
///
/// A line that nobody takes within a second, or that the disk has no room for, is dropped, and until somebody reads again the lines
/// after it at once: a log that hangs does not hang the program. The process must ignore SIGPIPE where the reader may go.
public final class LogWriter: Sendable {
  /// Standard error, for the whole program.
  public static let standardError = LogWriter(descriptor: STDERR_FILENO)

  /// The number of bytes that a writable pipe accepts without blocking, even if it has other
  /// writers.
  private static let pieceSize = 4_096

  private struct State {
    /// Whether the last line that was begun lacks its end.
    var isMidLine = false
    /// Whether the last line was waited for in vain.
    var isStuck = false
  }

  private let descriptor: Int32
  /// How long a reader that does not read is waited for, in milliseconds.
  private let patience: Int32
  private let state = NIOLockedValueBox(State())

  /// Writes to a descriptor, which must stay open.
  public convenience init(descriptor: Int32) { self.init(descriptor: descriptor, patience: 1_000) }

  init(descriptor: Int32, patience: Int32) {
    self.descriptor = descriptor
    self.patience = patience
  }

  /// Writes a line, which ends in a line feed.
  func write(_ line: String) {
    state.withLockedValue { state in
      var bytes = Array((state.isMidLine ? "\n" + line : line).utf8)[...]
      while !bytes.isEmpty {
        state.isStuck = !isWritable(within: state.isStuck ? 0 : patience)
        guard !state.isStuck else { return }
        let count = bytes.prefix(Self.pieceSize).withUnsafeBytes {
          Glibc.write(descriptor, $0.baseAddress, $0.count)
        }
        if count >= 0 {
          state.isMidLine = true
          bytes = bytes.dropFirst(count)
        } else if errno != EINTR, errno != EAGAIN {
          return
        }
      }
      state.isMidLine = false
    }
  }

  private func isWritable(within milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while true {
      let count = poll(&waiting, 1, milliseconds)
      if count >= 0 || errno != EINTR { return count > 0 }
    }
  }
}
