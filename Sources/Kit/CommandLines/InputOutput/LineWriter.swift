import Dispatch
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Writes whole lines to a file descriptor, in order. Lines wait in a bounded buffer. If the reader at the other end is
/// slow and the buffer is full, ``write(_:)`` waits until the buffer has room again. A slow reader therefore slows down
/// the source of the lines, and the links of the session.
package actor LineWriter {
  private let descriptor: Int32
  private let capacity: Int
  private let queue = DispatchQueue(label: "whiteboard.output")
  private let isPipe: Bool
  /// The lines are not concatenated, because a line can be large.
  private var pending: [[UInt8]] = []
  /// The number of bytes that are not written yet, including the bytes that are being written now.
  private var pendingBytes = 0
  private var isWriting = false
  private var writtenCount = 0
  private var failure: Int32?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Does not close the descriptor. The process must ignore SIGPIPE; ``write(_:)`` then throws an error if the reader
  /// has closed its end.
  package init(descriptor: Int32, capacity: Int = 256 * 1024) {
    self.descriptor = descriptor
    self.capacity = capacity
    var status = stat()
    isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }

  /// Adds a line, and waits until the buffer is within its capacity. Lines are written in the order of the calls.
  /// Canceling the task does not end the wait.
  package func write(_ line: [UInt8]) async throws(OutputError) {
    try check()
    // Add the line before any wait, so that lines are written in the order of the calls.
    pending.append(line)
    pendingBytes += line.count
    startWriting()
    while pendingBytes > capacity, failure == nil { await withCheckedContinuation { waiters.append($0) } }
    try check()
  }

  package func flush() async throws(OutputError) {
    while isWriting, failure == nil { await withCheckedContinuation { waiters.append($0) } }
    try check()
  }

  /// Discards the unwritten lines as soon as the reader has accepted none of these lines for `time`; for use when the
  /// program must end. Afterwards, the writer behaves as if the reader had closed its end. Returns when the lines are
  /// discarded, or the task is canceled.
  package func giveUp(ifStalledFor time: Duration, on clock: some Clock<Duration> = ContinuousClock()) async {
    var before: Int?
    while failure == nil, !Task.isCancelled {
      let count = isWriting ? writtenCount : nil
      if let count, count == before {
        failure = EPIPE
        resumeWaiters()
        return
      }
      before = count
      try? await clock.sleep(for: time)
    }
  }

  private func check() throws(OutputError) { if let failure { throw OutputError(number: failure) } }

  /// `PIPE_BUF`: a pipe with any room accepts this many bytes without blocking. Shorter output is written immediately,
  /// because a thread switch costs far more than the write.
  private static let pipeRoom = 4_096

  private var hasRoom: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) == 1 && entry.revents == Int16(POLLOUT)
  }

  private func startWriting() {
    guard !isWriting, failure == nil, !pending.isEmpty else { return }
    isWriting = true
    let lines = pending
    pending = []
    if isPipe, pendingBytes <= Self.pipeRoom, hasRoom {
      var failure: Int32?
      for line in lines where failure == nil { failure = FileWriting.writeAll(line, to: descriptor) }
      return wrote(pendingBytes, failure)
    }
    let descriptor = descriptor
    queue.async {
      var failure: Int32?
      for line in lines where failure == nil { failure = FileWriting.writeAll(line, to: descriptor) }
      let bytes = lines.reduce(0) { $0 + $1.count }
      // No code waits for this task. The task ends when the actor has the result.
      Task { [failure] in await self.wrote(bytes, failure) }
    }
  }

  private func wrote(_ bytes: Int, _ failure: Int32?) {
    isWriting = false
    writtenCount += 1
    pendingBytes -= bytes
    self.failure = self.failure ?? failure
    startWriting()
    resumeWaiters()
  }

  private func resumeWaiters() {
    let woken = waiters
    waiters = []
    for waiter in woken { waiter.resume() }
  }
}
