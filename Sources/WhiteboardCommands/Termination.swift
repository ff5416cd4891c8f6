import Dispatch

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Ends a program in good order at the first SIGTERM, SIGINT or SIGHUP, and the process at the second.
package final class Termination {
  private let source: any DispatchSourceRead

  /// Watches for signals from now on; make one a process, before anything that should end well.
  ///
  /// - Parameters:
  ///   - ask: Called at the first signal, on a queue of its own.
  ///   - reload: Called at each SIGHUP, which then ends nothing; nil where it ends the program.
  package convenience init(
    _ ask: @escaping @Sendable () async -> Void,
    reload: (@Sendable () async -> Void)? = nil
  ) {
    self.init(reload: reload) { _ in
      await ask()
      return true
    }
  }

  /// Starts to watch for signals, in a program that may ask its user before it ends.
  ///
  /// - Parameters:
  ///   - reload: Called at each SIGHUP, which then does not end the program; nil if it ends the
  ///     program.
  ///   - ask: Called for each signal, on a separate queue, until it returns that the program ends.
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
    source = DispatchSource.makeReadSource(
      fileDescriptor: readEnd,
      queue: DispatchQueue(label: "whiteboard.signals")
    )
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(readEnd, &number, 1) == 1 else { return }
      if let reload, Int32(number) == SIGHUP {
        // Nobody waits for it: what it comes to is logged.
        Task { await reload() }
        return
      }
      let status = 128 + Int32(number)
      // Ends when the node has been asked; whoever runs the node waits for that.
      Task {
        guard await first.begin() else { exit(status) }
        if !(await ask(Int32(number))) { await first.reset() }
      }
    }
    source.activate()
    // A pipe makes sure that no signal is lost, not even one that arrives before the source is
    // active.
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

    /// Returns whether this is the first signal that ends the program.
    func begin() -> Bool {
      defer { isPast = true }
      return !isPast
    }

    /// Records that the signal did not end the program.
    func reset() { isPast = false }
  }
}

// Written once, before the handlers that read it are set; a handler can reach nothing but globals.
private nonisolated(unsafe) var signalPipe: Int32 = -1
