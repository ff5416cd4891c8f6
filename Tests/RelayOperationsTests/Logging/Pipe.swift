import Foundation
import NIOConcurrencyHelpers

/// A pipe whose ends are closed with it.
final class Pipe: Sendable {
  let reader: Int32
  let writer: Int32
  private let isOpen = NIOLockedValueBox(true)

  init(isReaderBlocking: Bool = true) {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0, "a pipe is made")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    if !isReaderBlocking { _ = fcntl(ends[0], F_SETFL, O_NONBLOCK) }
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    close(reader)
    if isOpen.withLockedValue({ $0 }) { close(writer) }
  }

  func endWriting() {
    isOpen.withLockedValue { $0 = false }
    close(writer)
  }

  /// Begins to read to the end on a thread of its own.
  ///
  /// Who waits in `read()` keeps a thread from the tasks of all tests, and there are few of those.
  func reading() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      continuation.yield(self.read())
      continuation.finish()
    }
    return stream
  }

  /// All that is left, to the end; what is there now, where reading does not block.
  func read() -> String {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(reader, &piece, piece.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece.prefix(count)
    }
  }
}
