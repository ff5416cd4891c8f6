/// Lines that a program hands to a node, as another would type them.
package actor LineFeed: LineSource {
  private var lines: [LineReader.Line] = []
  private var isFinished = false
  private var waiter: CheckedContinuation<LineReader.Line?, Never>?

  /// Makes a feed without lines.
  package init() {}

  /// Hands a line over; never waits, however many lie there.
  package func push(_ line: String) {
    let line = LineReader.Line.line(Array(line.utf8))
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: line)
    } else {
      lines.append(line)
    }
  }

  /// Says that no more lines come.
  package func finish() {
    isFinished = true
    waiter?.resume(returning: nil)
    waiter = nil
  }

  /// The next line, or nil when no more come or the task is cancelled, which ends the feed.
  package func next() async -> LineReader.Line? {
    guard lines.isEmpty else { return lines.removeFirst() }
    guard !isFinished else { return nil }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(returning: nil)
        } else {
          waiter = continuation
        }
      }
    } onCancel: {
      // Ends at once; nobody waits for it.
      Task { await self.finish() }
    }
  }
}
