import Dispatch

/// The events of a terminal that wait for their reader, in order.
///
/// No event is dropped. While ``limit`` events wait, the terminal is not read, so that the kernel makes the program at
/// its other end wait.
// `@unchecked Sendable` is safe because all variables are confined to the queue.
final class TerminalEvents: @unchecked Sendable {
  /// The number of waiting events at which reading stops.
  static let limit = 256

  private let queue: DispatchQueue
  private let setReading: (Bool) -> Void
  private var waiting: [Terminal.Event] = []
  private var reader: CheckedContinuation<Terminal.Event?, Never>?
  private var isReading = true
  private var isOver = false

  init(on queue: DispatchQueue, setReading: @escaping (Bool) -> Void) {
    self.queue = queue
    self.setReading = setReading
  }

  /// The events; supports one reader.
  var stream: AsyncStream<Terminal.Event> { AsyncStream(unfolding: { await self.next() }) }

  /// Adds an event, after which no more events may follow if the terminal was closed.
  ///
  /// Call it on the queue.
  func add(_ event: Terminal.Event) {
    guard !isOver else { return }
    isOver = event == .hungUp
    if let reader {
      self.reader = nil
      reader.resume(returning: event)
    } else if event != .resized || waiting.last != .resized {
      waiting.append(event)
    }
    updateReading()
  }

  /// Continues to read the terminal, so that its dispatch source can be released; ends the stream.
  func close() {
    queue.sync {
      isOver = true
      waiting = []
      reader?.resume(returning: nil)
      reader = nil
      if !isReading { setReading(true) }
      isReading = true
    }
  }

  private func updateReading() {
    let isReading = !isOver && waiting.count < Self.limit
    guard isReading != self.isReading else { return }
    self.isReading = isReading
    setReading(isReading)
  }

  private func next() async -> Terminal.Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in queue.async { self.read(reader) } }
    } onCancel: {
      queue.async { self.cancel() }
    }
  }

  private func read(_ reader: CheckedContinuation<Terminal.Event?, Never>) {
    if !waiting.isEmpty {
      reader.resume(returning: waiting.removeFirst())
      updateReading()
    } else if isOver {
      reader.resume(returning: nil)
    } else {
      self.reader = reader
    }
  }

  /// Ends the stream, because its reader was canceled.
  private func cancel() {
    isOver = true
    reader?.resume(returning: nil)
    reader = nil
    updateReading()
  }
}
