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

  /// Says something that is for people, on standard error.
  static func complain(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var offset = 0
    while offset < bytes.count {
      let count = bytes[offset...].withUnsafeBytes {
        write(STDERR_FILENO, $0.baseAddress, $0.count)
      }
      guard count > 0 || errno == EINTR else { return }
      offset += max(count, 0)
    }
  }
}

/// Ends a node in good order at the first SIGTERM, SIGINT or SIGHUP, and the process at the second.
final class Termination {
  private let sources: [any DispatchSourceSignal]

  /// Watches for signals while the value lives.
  ///
  /// - Parameter ask: Called at the first signal, on a queue of its own.
  init(_ ask: @escaping @Sendable () async -> Void) {
    let queue = DispatchQueue(label: "whiteboard.signals")
    let first = FirstSignal()
    sources = [SIGTERM, SIGINT, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        // Ends when the node has been asked; whoever runs the node waits for that.
        Task {
          if await first.isFirst() {
            await ask()
          } else {
            exit(128 + number)
          }
        }
      }
      source.activate()
      return source
    }
  }

  deinit {
    for source in sources {
      source.cancel()
    }
  }

  private actor FirstSignal {
    private var isPast = false

    func isFirst() -> Bool {
      defer { isPast = true }
      return !isPast
    }
  }
}

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
