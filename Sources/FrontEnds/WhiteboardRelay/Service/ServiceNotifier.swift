import Glibc
import PeerCore

/// A client of the service manager's notification protocol, sd_notify(3). If `NOTIFY_SOCKET` is not set, for example in
/// a shell, nothing is sent and every method returns false.
package struct ServiceNotifier: Sendable {
  package struct EnvironmentError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The watchdog timeout, within which the program must send a notification; `nil` if the service manager does not
  /// monitor this process.
  package let watchdogTimeout: Duration?
  private let socket: NotifySocket?

  /// Creates a notifier from `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`. Throws if sd_notify(3) or
  /// sd_watchdog_enabled(3) does not allow a value.
  package init(environment: [String: String]) throws(EnvironmentError) {
    socket = if let address = environment["NOTIFY_SOCKET"] { try NotifySocket(address) } else { nil }
    guard let text = environment["WATCHDOG_USEC"] else {
      watchdogTimeout = nil
      return
    }
    guard let microseconds = Int64(text), microseconds > 0 else {
      throw EnvironmentError(description: "WATCHDOG_USEC is not a time in microseconds")
    }
    // A child process inherits the environment variables, but the service manager does not monitor the child.
    let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogTimeout = isOurs && socket != nil ? .microseconds(microseconds) : nil
  }

  /// Reports that the program is ready: it has recovered its store and is listening. Also call this method when a
  /// reload announced by ``reloading()`` is complete.
  @discardableResult package func ready(status: String? = nil) -> Bool {
    send(["READY=1"] + (status.map { [Self.assignment(status: $0)] } ?? []))
  }

  /// Sends a one-line description of the program's state, which `systemctl status` shows.
  @discardableResult package func status(_ text: String) -> Bool { send([Self.assignment(status: text)]) }

  /// Reports that the program is reloading its configuration. Call ``ready(status:)`` when the configuration is loaded.
  @discardableResult package func reloading() -> Bool {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    let microseconds = time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    return send(["RELOADING=1", "MONOTONIC_USEC=\(microseconds)"])
  }

  @discardableResult package func stopping(status: String? = nil) -> Bool {
    send(["STOPPING=1"] + (status.map { [Self.assignment(status: $0)] } ?? []))
  }

  /// Sends two watchdog notifications in each ``watchdogTimeout`` until the task is canceled. Returns immediately if
  /// the service manager does not monitor this process. `isWell` should call the component that does the work. While
  /// `isWell` returns false or does not return, no notification is sent, and the service manager eventually restarts
  /// the program.
  package func keepWatchdogQuiet(clock: some Clock<Duration> = ContinuousClock(), while isWell: () async -> Bool) async
  {
    guard let watchdogTimeout else { return }
    while !Task.isCancelled {
      if await isWell() { send(["WATCHDOG=1"]) }
      do { try await clock.sleep(for: watchdogTimeout / 2) } catch { return }
    }
  }

  /// Line breaks become spaces, because a line break would start another assignment.
  private static func assignment(status: String) -> String { "STATUS=\(UntrustedText(status).escaped(limit: 256))" }

  @discardableResult private func send(_ assignments: [String]) -> Bool {
    socket?.send(assignments.joined(separator: "\n")) ?? false
  }
}

/// The address is a path, or `@` and a name in Linux's abstract namespace.
struct NotifySocket: Sendable {
  private let name: [UInt8]

  init(_ address: String) throws(ServiceNotifier.EnvironmentError) {
    var name = Array(address.utf8)
    guard name.first == UInt8(ascii: "/") || name.first == UInt8(ascii: "@"), name.count > 1 else {
      throw ServiceNotifier.EnvironmentError(description: "NOTIFY_SOCKET is neither a path nor an abstract name")
    }
    guard name.count < Self.capacity, !name.contains(0) else {
      throw ServiceNotifier.EnvironmentError(description: "NOTIFY_SOCKET is too long")
    }
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    self.name = name
  }

  func send(_ text: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    // Do not wait longer than a second, because the service manager reads immediately unless it hangs.
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let bytes = Array(text.utf8)
    let sent = withUnixAddress(name) { sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, $1) }
    return sent == bytes.count
  }

  private static var capacity: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) }
}
