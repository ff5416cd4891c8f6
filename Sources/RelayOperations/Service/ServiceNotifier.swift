import Glibc

/// Tells the service manager how the program is, by the protocol of sd_notify(3).
///
/// Where `NOTIFY_SOCKET` is unset, as in a shell, nothing is sent and every call says so by `false`.
public struct ServiceNotifier: Sendable {
  /// A description of why a variable of the service manager cannot be used.
  public struct EnvironmentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
  }

  /// How long the service manager lets the program be silent; nil when it does not watch this process.
  public let watchdogTimeout: Duration?
  private let socket: NotifySocket?

  /// Reads `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
  ///
  /// - Throws: when one of them is not as sd_notify(3) and sd_watchdog_enabled(3) say.
  public init(environment: [String: String]) throws(EnvironmentError) {
    socket =
      if let address = environment["NOTIFY_SOCKET"] { try NotifySocket(address) } else { nil }
    guard let text = environment["WATCHDOG_USEC"] else {
      watchdogTimeout = nil
      return
    }
    guard let microseconds = Int64(text), microseconds > 0 else {
      throw EnvironmentError(description: "WATCHDOG_USEC is not a time in microseconds")
    }
    // The variables are inherited: a child of the watched process is not watched.
    let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogTimeout = isOurs && socket != nil ? .microseconds(microseconds) : nil
  }

  /// The program does its work: its store is recovered and it listens; also after ``reloading()``.
  @discardableResult
  public func ready(status: String? = nil) -> Bool {
    send(["READY=1"] + (status.map { [Self.assignment(status: $0)] } ?? []))
  }

  /// Sends the state of the program in one line, as `systemctl status` shows it.
  @discardableResult
  public func status(_ text: String) -> Bool { send([Self.assignment(status: text)]) }

  /// The program reads its configuration anew; ``ready(status:)`` says that it has.
  @discardableResult
  public func reloading() -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let microseconds = time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    return send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
  }

  /// The program begins to end.
  @discardableResult
  public func stopping(status: String? = nil) -> Bool {
    send(["STOPPING=1"] + (status.map { [Self.assignment(status: $0)] } ?? []))
  }

  /// Tells the service manager, twice in every ``watchdogTimeout``, that the program is well, as
  /// long as it is, until the task is cancelled.
  ///
  /// Returns at once where nobody watches.
  ///
  /// - Parameters:
  ///   - clock: What the times are measured by.
  ///   - isWell: Goes round by whatever does the work. While it says no, or does not return, the service manager is
  ///     told nothing, and restarts the program in the end.
  public func keepWatchdogQuiet(
    clock: some Clock<Duration> = ContinuousClock(),
    while isWell: () async -> Bool
  ) async {
    guard let watchdogTimeout else { return }
    while !Task.isCancelled {
      if await isWell() { send(["WATCHDOG=1"]) }
      do { try await clock.sleep(for: watchdogTimeout / 2) } catch { return }
    }
  }

  /// A line end in the text would begin an assignment of its own.
  private static func assignment(status: String) -> String {
    "STATUS=\(status.cleaned(limit: 256))"
  }

  @discardableResult
  private func send(_ assignments: [String]) -> Bool {
    socket?.send(assignments.joined(separator: "\n")) ?? false
  }
}
