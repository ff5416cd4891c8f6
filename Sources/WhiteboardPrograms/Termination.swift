import Dispatch
import Synchronization

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A handler of SIGTERM, SIGINT and SIGHUP.
///
/// The first signal asks the program to exit. A second signal terminates the process immediately.
package final class Termination {
  private let source: any DispatchSourceRead
  private static let asked = Atomic(false)

  /// Whether a signal has asked the program to exit.
  ///
  /// It stays true if the program continues, because its user chose so.
  static var isAsked: Bool { asked.load(ordering: .relaxed) }

  /// Create only one instance in a process, before starting work that must not be interrupted.
  ///
  /// The first signal calls `ask` in a separate task. SIGHUP calls `reload`; if it is nil, SIGHUP terminates the
  /// program.
  package convenience init(_ ask: @escaping @Sendable () async -> Void, reload: (@Sendable () async -> Void)? = nil) {
    self.init(reload: reload) { _ in
      await ask()
      return true
    }
  }

  /// Starts handling signals in a program that may ask its user whether to exit; SIGHUP terminates it if `reload` is
  /// nil.
  package init(
    reload: (@Sendable () async -> Void)? = nil,
    asking ask: @escaping @Sendable (_ signal: Int32) async -> Bool
  ) {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    signalPipe = ends[1]
    let readEnd = ends[0]
    let first = FirstSignal()
    source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: DispatchQueue(label: "whiteboard.signals"))
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(readEnd, &number, 1) == 1 else { return }
      if let reload, Int32(number) == SIGHUP {
        // No code awaits this task, because `reload` logs its result.
        Task { await reload() }
        return
      }
      Self.asked.store(true, ordering: .relaxed)
      let status = 128 + Int32(number)
      // This task finishes when the board has received the request to close. The code that runs the board awaits its
      // end.
      Task {
        guard await first.begin() else { exit(status) }
        if !(await ask(Int32(number))) { await first.reset() }
      }
    }
    source.activate()
    // A pipe preserves every signal, even one that arrives before the source is active.
    for number in [SIGTERM, SIGINT, SIGHUP] {
      signal(number) { number in
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(signalPipe, &byte, 1)
      }
    }
  }

  deinit { source.cancel() }

  private actor FirstSignal {
    private var isPast = false

    /// Returns whether this is the first signal that asks the program to exit.
    func begin() -> Bool {
      defer { isPast = true }
      return !isPast
    }

    /// Records that the program continues after the signal.
    func reset() { isPast = false }
  }
}

// Global, because a signal handler cannot capture variables. Safe, because it is written once, before the handlers are
// installed.
private nonisolated(unsafe) var signalPipe: Int32 = -1
