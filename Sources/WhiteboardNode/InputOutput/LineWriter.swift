import Dispatch

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Writes whole lines to a file descriptor in the order they are given.
///
/// What is written waits in a bounded buffer. When the reader at the other end is slow the buffer
/// fills, and ``write(_:)`` then returns only once there is room: whoever makes the lines slows
/// down with the reader, down to the links of the session.
package actor LineWriter {
  private let descriptor: Int32
  private let capacity: Int
  private let queue = DispatchQueue(label: "whiteboard.output")
  /// What waits to be written; not joined, since a line can be large.
  private var pending: [[UInt8]] = []
  /// The number of bytes not written yet, including those being written now.
  private var pendingBytes = 0
  private var isWriting = false
  private var failure: Int32?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Makes a writer; the descriptor stays the caller's.
  ///
  /// The process must ignore SIGPIPE, so that a reader that is gone is an error of ``write(_:)``.
  package init(descriptor: Int32, capacity: Int = 256 * 1024) {
    self.descriptor = descriptor
    self.capacity = capacity
  }

  /// Takes a line, and waits until the buffer is within its bound again.
  ///
  /// Lines keep the order of the calls. Cancelling the task does not end the wait.
  ///
  /// - Throws: ``OutputError`` when the descriptor cannot be written to any more.
  package func write(_ line: [UInt8]) async throws(OutputError) {
    try check()
    // Taken before any waiting, so that lines keep the order of the calls.
    pending.append(line)
    pendingBytes += line.count
    startWriting()
    while pendingBytes > capacity, failure == nil {
      await withCheckedContinuation { waiters.append($0) }
    }
    try check()
  }

  /// Waits until everything taken so far has been written.
  ///
  /// - Throws: ``OutputError`` when the descriptor cannot be written to any more.
  package func flush() async throws(OutputError) {
    while isWriting, failure == nil {
      await withCheckedContinuation { waiters.append($0) }
    }
    try check()
  }

  private func check() throws(OutputError) {
    if let failure {
      throw OutputError(number: failure)
    }
  }

  private func startWriting() {
    guard !isWriting, failure == nil, !pending.isEmpty else { return }
    isWriting = true
    let lines = pending
    pending = []
    let descriptor = descriptor
    queue.async {
      var failure: Int32?
      for line in lines where failure == nil {
        failure = LineWriter.writeAll(line, to: descriptor)
      }
      let bytes = lines.reduce(0) { $0 + $1.count }
      // Ends by itself as soon as the actor has taken the result; nobody waits for it.
      Task { [failure] in await self.wrote(bytes, failure) }
    }
  }

  private func wrote(_ bytes: Int, _ failure: Int32?) {
    isWriting = false
    pendingBytes -= bytes
    self.failure = failure
    startWriting()
    let woken = waiters
    waiters = []
    for waiter in woken {
      waiter.resume()
    }
  }

  /// Writes all of `bytes`, waiting where the descriptor is full.
  ///
  /// - Returns: The system's number where it cannot.
  package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(
          descriptor,
          buffer.baseAddress.map { $0 + offset },
          buffer.count - offset
        )
      }
      if count >= 0 {
        offset += count
        continue
      }
      switch errno {
      case EINTR:
        continue
      case EAGAIN:
        // A terminal that another program has set not to block.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
      default:
        return errno
      }
    }
    return nil
  }
}

/// Output that cannot be written.
package struct OutputError: Error, Equatable, Sendable {
  /// The system's number for the reason.
  package let number: Int32

  /// Whether whoever read the output has gone, which is no fault of ours.
  package var isReaderGone: Bool { number == EPIPE }
}
