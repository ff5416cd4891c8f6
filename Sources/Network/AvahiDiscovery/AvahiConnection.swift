import CAvahi
import Glibc
import PeerCore
import PeerDiscovery

/// An advertiser or browser that uses a connection to the daemon, on the connection's thread. The libavahi callbacks
/// only record events. `work` handles the events later, outside of callbacks, where it may free any libavahi object.
protocol AvahiDriver: AnyObject {
  /// The time at which to call `work` even if no event occurs; `nil` to wait for an event.
  var deadline: Duration? { get }

  /// Called at least once for each client, before `work`.
  func daemonChanged(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure)

  func work(_ daemon: AvahiDaemon, now: Duration) throws(AvahiFailure)

  /// Called after all objects of the client are freed.
  func disconnected(_ problem: DiscoveryProblem, now: Duration)

  func idle(now: Duration)

  /// Called when the daemon answers a call that was reported as stalled.
  func answered()
}

/// The connection to the daemon, valid until the next failure.
struct AvahiDaemon {
  let client: OpaquePointer
  /// Whether the daemon has chosen its host name and thus accepts services.
  let isRunning: Bool
  let interface: AvahiIfIndex

  var failure: AvahiFailure { AvahiFailure(code: avahi_client_errno(client)) }

  func check(_ status: Int32) throws(AvahiFailure) { if status < 0 { throw AvahiFailure(code: status) } }
}

struct AvahiFailure: Error { let code: Int32 }

/// The poll loop of one thread, with an Avahi client that is recreated after each failure. Implements DSC-21. A client
/// that has lost the daemon or the bus reports `AVAHI_CLIENT_FAILURE` and is unusable, even if the client was created
/// with `AVAHI_CLIENT_NO_FAIL`. Freeing the client also frees all objects that were created with it.
final class AvahiConnection {
  private static let interfaceCheck = Duration.seconds(2)

  private let configuration: AvahiConfiguration
  private let driver: any AvahiDriver
  private let bell: Bell
  private let stallWatch: StallWatch
  private let loop: OpaquePointer
  private let watch: OpaquePointer?
  private let start = ContinuousClock.now
  private var client: OpaquePointer?
  private var interface = whiteboard_avahi_any_interface
  private var latestState: AvahiClientState?
  /// Whether the daemon has answered, and has not failed since then.
  private(set) var isConnected = false
  private var isRunning = false
  private var pause: Duration
  private var nextAttempt = Duration.zero
  private var nextInterfaceCheck = Duration.zero
  private var callStart = Duration.zero

  init?(_ configuration: AvahiConfiguration, bell: Bell, stallWatch: StallWatch, driver: any AvahiDriver) {
    self.configuration = configuration
    self.driver = driver
    self.bell = bell
    self.stallWatch = stallWatch
    pause = configuration.shortestPause
    guard let loop = avahi_simple_poll_new() else { return nil }
    self.loop = loop
    let context = Unmanaged.passUnretained(bell).toOpaque()
    watch = whiteboard_avahi_watch_input(avahi_simple_poll_get(loop), bell.descriptor, bellRang, context)
  }

  deinit {
    if let watch { whiteboard_avahi_watch_free(avahi_simple_poll_get(loop), watch) }
    avahi_simple_poll_free(loop)
  }

  private var now: Duration { start.duration(to: .now) }

  /// Runs one step of the poll loop; ``StallWatch/begin()`` must have been called.
  func step() {
    checkInterface()
    if client == nil, nextAttempt <= now { connect() }
    deal()
    var deadlines = [driver.deadline, configuration.interface.map { _ in nextInterfaceCheck }]
    if client == nil { deadlines.append(nextAttempt) }
    let timeout = deadlines.compactMap(\.self).min().map { milliseconds(from: now, to: $0) } ?? -1
    var isPolled = avahi_simple_poll_prepare(loop, timeout) >= 0
    if stallWatch.end(), isConnected { driver.answered() }
    // This call waits for events; every other call to libavahi waits only for the daemon.
    if isPolled { isPolled = avahi_simple_poll_run(loop) >= 0 }
    callStart = now
    stallWatch.begin()
    guard isPolled, avahi_simple_poll_dispatch(loop) >= 0 else { return fail(AvahiFailure(code: Int32(AVAHI_ERR_OS))) }
    deal()
  }

  private var isStalled: Bool { now - callStart >= configuration.stall }

  func close() {
    if let client { avahi_client_free(client) }
    client = nil
  }

  private func connect() {
    if let name = configuration.interface {
      let index = if_nametoindex(name)
      guard index > 0, let index = AvahiIfIndex(exactly: index) else { return retry(.noSuchInterface(name)) }
      interface = index
    }
    latestState = nil
    var code: Int32 = 0
    let context = Unmanaged.passUnretained(self).toOpaque()
    client = avahi_client_new(avahi_simple_poll_get(loop), AVAHI_CLIENT_NO_FAIL, clientChanged, context, &code)
    guard client != nil else { return retry(isStalled ? .notAnswering : configuration.problem(connecting: code)) }
    // If a daemon does not answer, the client waits for the daemon to register its name on the bus. That never happens,
    // because the name is already registered.
    if latestState == AVAHI_CLIENT_CONNECTING, isStalled {
      close()
      latestState = nil
      retry(.notAnswering)
    }
  }

  private func deal() {
    if let state = latestState, let client {
      latestState = nil
      switch state {
      case AVAHI_CLIENT_FAILURE: return fail(AvahiFailure(code: avahi_client_errno(client)))
      case AVAHI_CLIENT_CONNECTING:
        isConnected = false
        driver.disconnected(configuration.problem(connecting: Int32(AVAHI_ERR_NO_DAEMON)), now: now)
      default:
        isConnected = true
        isRunning = state == AVAHI_CLIENT_S_RUNNING
        perform { daemon throws(AvahiFailure) in try driver.daemonChanged(daemon, now: now) }
      }
    }
    if isConnected {
      perform { daemon throws(AvahiFailure) in try driver.work(daemon, now: now) }
    } else {
      driver.idle(now: now)
    }
  }

  private func perform(_ body: (AvahiDaemon) throws(AvahiFailure) -> Void) {
    guard let client else { return }
    do throws(AvahiFailure) {
      try body(AvahiDaemon(client: client, isRunning: isRunning, interface: interface))
      if isRunning { pause = configuration.shortestPause }
    } catch { fail(error) }
  }

  private func fail(_ failure: AvahiFailure) {
    let wasConnected = isConnected
    close()
    isConnected = false
    let code = failure.code
    guard !isStalled else { return retry(.notAnswering) }
    switch code {
    case Int32(AVAHI_ERR_DISCONNECTED), Int32(AVAHI_ERR_NO_DAEMON), Int32(AVAHI_ERR_DBUS_ERROR):
      retry(configuration.problem(connecting: wasConnected ? Int32(AVAHI_ERR_DISCONNECTED) : code))
    default: retry(AvahiConfiguration.problem(code))
    }
  }

  private func retry(_ problem: DiscoveryProblem) {
    driver.disconnected(problem, now: now)
    nextAttempt = now + pause
    pause = min(pause * 2, configuration.longestPause)
  }

  private func checkInterface() {
    guard let name = configuration.interface, nextInterfaceCheck <= now else { return }
    nextInterfaceCheck = now + Self.interfaceCheck
    guard client != nil, if_nametoindex(name) != UInt32(bitPattern: interface) else { return }
    close()
    isConnected = false
    retry(.noSuchInterface(name))
  }

  fileprivate func note(_ state: AvahiClientState) {
    // A client never recovers from a failure, so ignore all later states.
    if latestState != AVAHI_CLIENT_FAILURE { latestState = state }
  }
}

private func clientChanged(_: OpaquePointer?, _ state: AvahiClientState, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<AvahiConnection>.fromOpaque(context).takeUnretainedValue().note(state)
}

private func bellRang(_: OpaquePointer?, _: Int32, _: AvahiWatchEvent, _ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  Unmanaged<Bell>.fromOpaque(context).takeUnretainedValue().silence()
}

/// Rounds up, so that the wait does not end early.
private func milliseconds(from now: Duration, to deadline: Duration) -> Int32 {
  let (seconds, attoseconds) = max(deadline - now, .zero).components
  guard seconds < 3600 else { return 3_600_000 }
  return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}

/// Only tests change settings other than the interface.
package struct AvahiConfiguration: Sendable {
  /// The only interface to use; `nil` means all interfaces.
  package var interface: String?
  /// Avahi is installed if at least one of these paths exists.
  package var installation = [
    "/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon", "/sbin/avahi-daemon", "/usr/local/sbin/avahi-daemon",
    "/run/current-system/sw/bin/avahi-daemon", "/usr/share/dbus-1/system-services/org.freedesktop.Avahi.service",
  ]
  package var busSocket = SystemBus.socketPath
  /// The delay before the first reconnection attempt; the delay doubles after each attempt.
  package var shortestPause = Duration.milliseconds(200)
  package var longestPause = Duration.seconds(5)
  /// The time after which a daemon that does not answer is reported.
  package var stall = Duration.milliseconds(2_500)
  /// How long `advertise` or `browse` waits for an unresponsive daemon before it returns.
  package var farewell = Duration.seconds(3)

  package init(interface: String? = nil) { self.interface = interface }
}

/// Checks the D-Bus system bus without libdbus, to determine why Avahi cannot be reached.
package enum SystemBus {
  /// The path of the bus socket, from `DBUS_SYSTEM_BUS_ADDRESS` or the default; `nil` if the variable contains an
  /// address that is not a path.
  package static var socketPath: String? {
    guard let variable = getenv("DBUS_SYSTEM_BUS_ADDRESS") else { return "/var/run/dbus/system_bus_socket" }
    return socketPath(inAddress: String(cString: variable))
  }

  /// Returns the path from the first address if that address has the format `unix:path=…`; otherwise `nil`.
  static func socketPath(inAddress address: String) -> String? {
    let first = address.prefix { $0 != ";" }
    guard first.hasPrefix("unix:") else { return nil }
    for pair in first.dropFirst("unix:".count).split(separator: ",") where pair.hasPrefix("path=") {
      return String(pair.dropFirst("path=".count))
    }
    return nil
  }

  static func problem(socket path: String) -> DiscoveryProblem? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let result = withUnixAddress(path.utf8, { connect(descriptor, $0, $1) }) else { return nil }
    guard result != 0 else { return nil }
    switch errno {
    case ENOENT, ENOTDIR, ECONNREFUSED: return .busNotRunning
    case EACCES, EPERM: return .busRefused
    default: return nil
    }
  }
}

extension AvahiConfiguration {
  var isInstalled: Bool { installation.contains { access($0, F_OK) == 0 } }

  func problem(connecting code: Int32) -> DiscoveryProblem {
    guard isInstalled else { return .notInstalled }
    if let busSocket, let problem = SystemBus.problem(socket: busSocket) { return problem }
    switch code {
    case Int32(AVAHI_ERR_NO_DAEMON), Int32(AVAHI_ERR_DISCONNECTED): return .daemonNotRunning
    default: return Self.problem(code)
    }
  }

  static func problem(_ code: Int32) -> DiscoveryProblem {
    switch code {
    case Int32(AVAHI_ERR_ACCESS_DENIED): .busRefused
    case Int32(AVAHI_ERR_NOT_PERMITTED): .publishingDisabled
    case Int32(AVAHI_ERR_NO_DAEMON), Int32(AVAHI_ERR_DISCONNECTED): .daemonNotRunning
    case Int32(AVAHI_ERR_TOO_MANY_CLIENTS), Int32(AVAHI_ERR_TOO_MANY_OBJECTS), Int32(AVAHI_ERR_TOO_MANY_ENTRIES):
      .daemonBusy
    default: .failed(code: code, reason: String(cString: avahi_strerror(code)))
    }
  }
}

func networkAddress(_ address: AvahiAddress) -> NetworkAddress? {
  switch address.proto {
  case whiteboard_avahi_ipv4: withUnsafeBytes(of: address.data.ipv4.address) { NetworkAddress(bytes: $0) }
  case whiteboard_avahi_ipv6: withUnsafeBytes(of: address.data.ipv6.address) { NetworkAddress(bytes: $0) }
  default: nil
  }
}

/// Returns the strings of the list. If the strings exceed the maximum size of a record, the remaining strings are left
/// out.
func strings(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
  var result: [[UInt8]] = []
  var size = 0
  var next = list
  while let item = next, size <= DiscoveryInfo.maximumSize {
    let count = avahi_string_list_get_size(item)
    result.append(Array(UnsafeBufferPointer(start: avahi_string_list_get_text(item), count: count)))
    size += 1 + count
    next = avahi_string_list_get_next(item)
  }
  return result
}
