import CAvahi
import Glibc
import PeerDiscovery

/// Checks the D-Bus system bus without libdbus, to determine why Avahi cannot be reached.
enum SystemBus {
  /// The path of the system bus socket, from `DBUS_SYSTEM_BUS_ADDRESS` or the default.
  ///
  /// It is `nil` if the variable contains an address that is not a path.
  static var socketPath: String? {
    guard let variable = getenv("DBUS_SYSTEM_BUS_ADDRESS") else { return "/var/run/dbus/system_bus_socket" }
    return socketPath(inAddress: String(cString: variable))
  }

  /// Returns the path from the first address if it has the format `unix:path=…`; otherwise `nil`.
  static func socketPath(inAddress address: String) -> String? {
    let first = address.prefix { $0 != ";" }
    guard first.hasPrefix("unix:") else { return nil }
    for pair in first.dropFirst("unix:".count).split(separator: ",") where pair.hasPrefix("path=") {
      return String(pair.dropFirst("path=".count))
    }
    return nil
  }

  /// Tries to connect to the bus, and returns the problem, or `nil` if there is none.
  static func problem(socket path: String) -> DiscoveryProblem? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result != 0 else { return nil }
    switch errno {
    case ENOENT, ENOTDIR, ECONNREFUSED: return .busNotRunning
    case EACCES, EPERM: return .busRefused
    default: return nil
    }
  }
}

extension AvahiConfiguration {
  /// Whether Avahi is installed on this machine.
  var isInstalled: Bool { installation.contains { access($0, F_OK) == 0 } }

  /// Returns the reason why the daemon cannot be reached.
  ///
  /// - Parameter code: The libavahi error code.
  /// - Returns: The problem found on this machine, or else the one that corresponds to `code`.
  func problem(connecting code: Int32) -> DiscoveryProblem {
    guard isInstalled else { return .notInstalled }
    if let busSocket, let problem = SystemBus.problem(socket: busSocket) { return problem }
    switch code {
    case Int32(AVAHI_ERR_NO_DAEMON), Int32(AVAHI_ERR_DISCONNECTED): return .daemonNotRunning
    default: return Self.problem(code)
    }
  }

  /// Returns the problem that corresponds to an error code from a connected client.
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
