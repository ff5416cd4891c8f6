import Dispatch
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program's own standard streams.
enum Console {
  /// Whether a person types and reads here.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

  /// Columns and rows of the terminal; nil where there is none.
  static var size: (columns: Int, rows: Int)? {
    var size = winsize()
    guard isTerminal, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Whether a board may take up the whole terminal: one that can move its cursor, and whose reader did
  /// not ask for lines.
  static func hasScreen(_ settings: Settings) -> Bool {
    let term = Environment["TERM"] ?? ""
    return isTerminal && !term.isEmpty && term != "dumb" && settings.value(.accessible) != true
  }

  /// Writes a text to standard output, whole.
  ///
  /// - Throws: ``NodeError`` when it cannot be written; that its reader is gone is no error.
  static func tell(_ text: String) throws(NodeError) { try tell(Array(text.utf8)) }

  /// Writes bytes to standard output, all of them.
  ///
  /// - Throws: As for a text.
  static func tell(_ bytes: [UInt8]) throws(NodeError) {
    switch LineWriter.writeAll(bytes, to: STDOUT_FILENO) {
    case nil, EPIPE?: return
    default: throw NodeError.unwritable
    }
  }

  /// Says something that is for people, on standard error.
  static func complain(_ line: String) {
    // Where nobody can be told that it cannot be said.
    _ = LineWriter.writeAll(Array((line + "\n").utf8), to: STDERR_FILENO)
  }
}

extension NodeError {
  /// Standard output cannot be written to.
  static let unwritable = NodeError(.inputOutput, "the output cannot be written to")
}

/// Ends a node in good order at the first SIGTERM, SIGINT or SIGHUP, and the process at the second.
final class Termination {
  private let source: any DispatchSourceRead

  /// Watches for signals from now on; make one a process, before anything that should end well.
  ///
  /// - Parameter ask: Called at the first signal, on a queue of its own.
  init(_ ask: @escaping @Sendable () async -> Void) {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe = ends[1]
    let readEnd = ends[0]
    let first = FirstSignal()
    source = DispatchSource.makeReadSource(
      fileDescriptor: readEnd,
      queue: DispatchQueue(label: "whiteboard.signals")
    )
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(readEnd, &number, 1) == 1 else { return }
      let status = 128 + Int32(number)
      // Ends when the node has been asked; whoever runs the node waits for that.
      Task {
        if await first.isFirst() {
          await ask()
        } else {
          exit(status)
        }
      }
    }
    source.activate()
    // Through a pipe, so that a signal is never lost: not one that comes before the source is on.
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipe, &byte, 1)
      }
    }
  }

  deinit {
    source.cancel()
  }

  private actor FirstSignal {
    private var isPast = false

    func isFirst() -> Bool {
      defer { isPast = true }
      return !isPast
    }
  }
}

// Written once, before the handlers that read it are set; a handler can reach nothing but globals.
private nonisolated(unsafe) var signalPipe: Int32 = -1

/// A terminal as input: its end means that the person is done.
struct TerminalLines: LineSource {
  let reader: LineReader
  let ended: @Sendable () async -> Void

  func next() async throws(InputError) -> LineReader.Line? {
    let line = try await reader.next()
    if line == nil, !Task.isCancelled {
      await ended()
    }
    return line
  }
}
