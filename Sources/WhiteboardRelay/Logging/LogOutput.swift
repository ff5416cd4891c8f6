import Dispatch
import Glibc
import NIOCore
import PeerCore

/// A writer that writes lines to a file descriptor, in order, on its own thread.
///
/// The caller never waits for the reader of the descriptor. If the reader is slow, lines wait in a queue of at most 1
/// MiB. If the queue is full, the oldest line is dropped and counted. A line that cannot be written, for example
/// because the disk is full, is dropped too. The process must ignore SIGPIPE if the reader can exit.
public final class LogOutput: Sendable {
  /// The number of bytes that a writable pipe accepts without blocking, even if it has other writers.
  private static let pieceSize = 4_096

  private struct State {
    var lines = BoundedLines()
    /// Whether a job on the queue is writing the lines.
    var isWriting = false
    /// Whether the last line was written only in part.
    var isMidLine = false
  }

  private let descriptor: Int32
  private let limit: Int
  private let dropped: @Sendable () -> Void
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "whiteboard.log")

  /// Creates a writer for a descriptor.
  ///
  /// - Parameters:
  ///   - descriptor: The descriptor. It must stay open while the writer exists.
  ///   - dropped: A closure that is called for each line that is dropped because the queue is full.
  public convenience init(descriptor: Int32, dropped: @escaping @Sendable () -> Void = {}) {
    self.init(descriptor: descriptor, limit: 1 << 20, dropped: dropped)
  }

  init(descriptor: Int32, limit: Int, dropped: @escaping @Sendable () -> Void = {}) {
    self.descriptor = descriptor
    self.limit = limit
    self.dropped = dropped
  }

  /// Adds a line to the queue, and returns immediately.
  ///
  /// - Parameters:
  ///   - line: The line, with its line feed.
  ///   - note: A closure that returns the line to write in place of a number of dropped lines; `nil` if no such line
  ///     must be written.
  public func write(_ line: String, ifDropped note: (@Sendable (Int) -> String)? = nil) {
    let (count, mustStart) = state.withLock { state in
      let count = state.lines.append(line, note: note, limit: limit)
      defer { state.isWriting = true }
      return (count, !state.isWriting)
    }
    for _ in 0..<count { dropped() }
    guard mustStart else { return }
    queue.async { self.writeAll() }
  }

  /// Waits until all queued lines are written, or `timeout` has expired.
  ///
  /// - Parameter timeout: The maximum time that the calling thread waits.
  public func flush(timeout: DispatchTimeInterval = .seconds(1)) {
    let written = DispatchWorkItem {}
    queue.async(execute: written)
    _ = written.wait(timeout: .now() + timeout)
  }

  private func writeAll() { while let line = next() { write(bytes: line) } }

  private func next() -> [UInt8]? {
    state.withLock { state in
      guard let text = state.lines.takeFirst() else {
        state.isWriting = false
        return nil
      }
      return Array((state.isMidLine ? "\n" + text : text).utf8)
    }
  }

  private func write(bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      waitUntilWritable()
      let count = rest.prefix(Self.pieceSize).withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR, errno != EAGAIN { break }
    }
    guard rest.count < bytes.count else { return }
    state.withLock { $0.isMidLine = !rest.isEmpty }
  }

  /// Waits until a non-blocking descriptor is writable.
  ///
  /// For a blocking descriptor, the write itself waits.
  private func waitUntilWritable() {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    while poll(&waiting, 1, -1) < 0, errno == EINTR {}
  }
}

/// The lines that wait to be written, and the number of dropped lines.
struct BoundedLines {
  private var lines = CircularBuffer<String>()
  private var size = 0
  private var dropped = 0
  private var note: (@Sendable (Int) -> String)?

  /// Adds a line, and drops the oldest lines if the total size exceeds a limit; returns the number of lines that were
  /// dropped.
  ///
  /// The new line is never dropped, even if it alone exceeds the limit.
  mutating func append(_ line: String, note: (@Sendable (Int) -> String)?, limit: Int) -> Int {
    let before = dropped
    lines.append(line)
    size += line.utf8.count
    self.note = note
    while size > limit, lines.count > 1 {
      size -= lines.removeFirst().utf8.count
      dropped += 1
    }
    return dropped - before
  }

  /// Removes and returns the oldest line; `nil` if there are no lines.
  ///
  /// If lines were dropped, the result begins with a line about them.
  mutating func takeFirst() -> String? {
    guard let line = lines.popFirst() else { return nil }
    size -= line.utf8.count
    guard dropped > 0 else { return line }
    defer { dropped = 0 }
    return (note?(dropped) ?? "") + line
  }
}
