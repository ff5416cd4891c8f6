import Foundation
import PeerCore

/// A pipe whose ends are closed with the object.
final class Pipe: Sendable {
  let reader: Int32
  let writer: Int32
  private let isOpen = Locked(true)

  init() {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0, "a pipe is made")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    close(reader)
    if isOpen.withLock({ $0 }) { close(writer) }
  }

  func endWriting() {
    isOpen.withLock { $0 = false }
    close(writer)
  }

  /// Fills the pipe with lines until a write would block.
  func fill() {
    let flags = fcntl(writer, F_GETFL)
    _ = fcntl(writer, F_SETFL, flags | O_NONBLOCK)
    let line = [UInt8](repeating: UInt8(ascii: "#"), count: 4_095) + [UInt8(ascii: "\n")]
    while write(writer, line, line.count) > 0 {}
    _ = fcntl(writer, F_SETFL, flags)
  }

  /// Starts reading to the end on its own thread.
  ///
  /// A blocking read must not occupy a thread of the pool, because all tests share its few threads.
  func reading() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      var text = ""
      var readiness = pollfd(fd: self.reader, events: Int16(POLLIN), revents: 0)
      while poll(&readiness, 1, -1) > 0 {
        let piece = self.read()
        if piece.isEmpty { break }
        text += piece
      }
      continuation.yield(text)
      continuation.finish()
    }
    return stream
  }

  /// Returns the text that the pipe contains now.
  ///
  /// This does not wait for the end, because a process that another test started may also have an end open.
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
