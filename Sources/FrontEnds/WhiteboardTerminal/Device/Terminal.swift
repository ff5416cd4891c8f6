import CTerminal
import Dispatch

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The terminal of the process in raw mode; its state is restored at the end, even after a crash.
// `@unchecked Sendable` is safe because all properties are constant, and any thread may cancel the dispatch sources.
package final class Terminal: @unchecked Sendable {
  package enum Event: Hashable, Sendable {
    case bytes([UInt8])
    case resized
    /// The program was stopped by another process and continued, so the whole screen must be drawn again.
    case continued
    case hungUp
  }

  private let input: Int32
  private let output: Int32
  private let exitMessage: String
  private let enter: String
  private let errors: Int32
  /// The file that receives standard error until the terminal is restored; -1 if it cannot be opened.
  private let log: Int32
  /// The events; supports one reader. No event is dropped: while too many events wait for the reader, the terminal is
  /// not read.
  package let events: AsyncStream<Event>
  private let waiting: TerminalEvents
  private let source: any DispatchSourceRead
  private let sizeSource: any DispatchSourceSignal
  /// Reports that the process was continued; nil if the system has no descriptors left.
  private let continuationSource: (any DispatchSourceRead)?

  /// Sets up the terminal; nil if standard input or output is not a terminal.
  package init?(mouse: TerminalSettings.Mouse = .auto, exitMessage: String, log path: String) {
    enter = TerminalFeatures.enter(mouse)
    input = STDIN_FILENO
    output = STDOUT_FILENO
    self.exitMessage = exitMessage
    guard isatty(input) == 1, isatty(output) == 1 else { return nil }
    errors = dup(STDERR_FILENO)
    log = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard Self.arm(output, exitMessage, log: log, errors: errors) else { return nil }
    if log >= 0 { dup2(log, STDERR_FILENO) }
    let queue = DispatchQueue(label: "whiteboard.terminal")
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: queue)
    let waiting = TerminalEvents(on: queue) { isReading in if isReading { source.resume() } else { source.suspend() } }
    (self.source, self.waiting, events) = (source, waiting, waiting.stream)
    signal(SIGWINCH, SIG_IGN)
    sizeSource = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: queue)
    let continuation = terminal_guard_watch()
    continuationSource =
      continuation < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: continuation, queue: queue)
    let (descriptor, output, enter) = (input, output, enter)
    // Another process may stop this process. The shell or that process may continue this process in the background.
    let returnToForeground: @Sendable () -> Void = {
      if terminal_guard_is_background() == 1 {
        guard terminal_guard_can_stop() == 1 else { return }
        terminal_guard_stop()
      }
      guard terminal_guard_rearm() == 1 else { return }
      Self.write(Array(enter.utf8), to: output)
      waiting.add(.continued)
    }
    continuationSource?.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 64)
      while read(continuation, &bytes, bytes.count) > 0 {}
      returnToForeground()
    }
    source.setEventHandler {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &buffer, buffer.count)
      if count > 0 {
        waiting.add(.bytes(Array(buffer[..<count])))
      } else if count < 0, errno == EIO, terminal_guard_is_background() == 1, terminal_guard_can_stop() == 1 {
        // The program is in the background, and the shell reads what the user types.
        returnToForeground()
      } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
        waiting.add(.hungUp)
      }
    }
    sizeSource.setEventHandler { waiting.add(.resized) }
    source.activate()
    sizeSource.activate()
    continuationSource?.activate()
    write(Array(enter.utf8))
  }

  deinit {
    waiting.close()
    source.cancel()
    sizeSource.cancel()
    continuationSource?.cancel()
    leave()
  }

  private static func arm(_ output: Int32, _ exitMessage: String, log: Int32, errors: Int32) -> Bool {
    let leave = TerminalFeatures.leave
    return terminal_guard_arm(output, leave, leave.utf8.count, exitMessage, exitMessage.utf8.count, log, errors) == 0
  }

  package var size: (columns: Int, rows: Int) {
    guard let window else { return (80, 24) }
    return (Int(window.ws_col), Int(window.ws_row))
  }

  /// The size of a cell in pixels; nil if the kernel does not know it.
  package var cellSize: TerminalFeatures.CellSize? {
    guard let window, window.ws_xpixel >= window.ws_col, window.ws_ypixel >= window.ws_row else { return nil }
    return TerminalFeatures.CellSize(
      width: Double(window.ws_xpixel) / Double(window.ws_col),
      height: Double(window.ws_ypixel) / Double(window.ws_row)
    )
  }

  private var window: winsize? {
    var size = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return size
  }

  /// Writes all bytes. Blocks while the terminal accepts no more. In the background, writes nothing, because the shell
  /// uses the terminal.
  package func write(_ bytes: [UInt8]) {
    guard terminal_guard_is_background() == 0 else { return }
    Self.write(bytes, to: output)
  }

  private static func write(_ bytes: [UInt8], to output: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        var wait = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        _ = poll(&wait, 1, 1000)
      } else if errno != EINTR {
        return
      }
    }
  }

  /// Restores the terminal; further calls have no effect.
  package func leave() {
    terminal_guard_disarm()
    if log >= 0 { dup2(errors, STDERR_FILENO) }
  }

  package static let cannotSuspend = "Cannot suspend: this program was not started from a shell that could continue it."

  /// Suspends the program until the user continues it. Returns false if no shell could continue it.
  package func suspend() -> Bool {
    guard terminal_guard_can_stop() == 1 else { return false }
    leave()
    terminal_guard_stop()
    _ = Self.arm(output, exitMessage, log: log, errors: errors)
    if log >= 0 { dup2(log, STDERR_FILENO) }
    write(Array(enter.utf8))
    return true
  }
}

/// The events of a terminal that wait for their reader, in order. No event is dropped. While ``limit`` events wait, the
/// terminal is not read, so the kernel makes the program at the other end of the terminal wait.
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

  /// Adds an event. Events after ``Terminal/Event/hungUp`` are ignored. Call this method on the queue.
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

  /// Ends the stream. Resumes the dispatch source of the terminal, because a suspended source cannot be released.
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
