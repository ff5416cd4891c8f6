import AvahiDiscovery
import FoundationEssentials
import PeerCore
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

package enum NetworkSurvey {
  struct Interface: Equatable, Sendable {
    var name: String
    var addresses: [String]
    var isLoopback: Bool
    var canMulticast: Bool
    /// The IPv4 address, in network byte order.
    var internetAddress: UInt32?
  }

  static func interfaces() -> [Interface] {
    var head: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&head) == 0 else { return [] }
    defer { freeifaddrs(head) }
    var found: [String: Interface] = [:]
    var next = head
    while let entry = next?.pointee {
      next = entry.ifa_next
      let flags = Int(entry.ifa_flags)
      guard flags & Int(IFF_UP) != 0, let rawName = entry.ifa_name else { continue }
      let name = String(cString: rawName)
      var interface =
        found[name]
        ?? Interface(
          name: name,
          addresses: [],
          isLoopback: flags & Int(IFF_LOOPBACK) != 0,
          canMulticast: flags & Int(IFF_MULTICAST) != 0
        )
      if let address = entry.ifa_addr {
        if address.pointee.sa_family == sa_family_t(AF_INET) {
          let internet = UnsafeRawPointer(address).loadUnaligned(as: sockaddr_in.self)
          interface.internetAddress = interface.internetAddress ?? internet.sin_addr.s_addr
        }
        if let text = numericHost(address) { interface.addresses.append(text) }
      }
      found[name] = interface
    }
    return found.values.sorted { $0.name < $1.name }
  }

  private static func numericHost(_ address: UnsafeMutablePointer<sockaddr>) -> String? {
    let length: Int
    switch Int32(address.pointee.sa_family) {
    case AF_INET: length = MemoryLayout<sockaddr_in>.size
    case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
    default: return nil
    }
    var text = [CChar](repeating: 0, count: 128)
    guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
      return nil
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func joinsMulticast(_ interface: Interface) -> Bool {
    guard let address = interface.internetAddress else {
      // For an interface that has only IPv6, trust the multicast flag.
      return interface.canMulticast
    }
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var request = ip_mreq()
    request.imr_multiaddr.s_addr = UInt32(0xE000_00FB).bigEndian
    request.imr_interface.s_addr = address
    return setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, &request, socklen_t(MemoryLayout<ip_mreq>.size))
      == 0
  }

  /// The time limit for an answer of the bus, in milliseconds.
  private static let busTimeout: Int32 = 2_000

  /// Returns the error number if the bus cannot be reached, or does not answer in time.
  static func connectsToSystemBus() -> Int32? {
    let path = SystemBus.socketPath ?? "/run/dbus/system_bus_socket"
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    guard let result = withUnixAddress(path.utf8, { connect(descriptor, $0, $1) }) else { return ENAMETOOLONG }
    guard result == 0 else { return errno }
    // The system accepts connections even if the bus is stopped, so wait for an answer. The bus answers this first line
    // of every connection with OK or REJECTED.
    let user = String(getuid()).utf8.map { "3\($0 - 0x30)" }.joined()
    let greeting = Array("\0AUTH EXTERNAL \(user)\r\n".utf8)
    guard send(descriptor, greeting, greeting.count, Int32(MSG_NOSIGNAL)) >= 0 else { return errno }
    var answer = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&answer, 1, busTimeout) > 0 ? nil : ETIMEDOUT
  }

  /// Tries to open the port for TCP and UDP on every address; returns the error number if this fails.
  static func bindFailure(port: Int) -> Int32? {
    for kind in [SOCK_STREAM, SOCK_DGRAM] {
      let descriptor = socket(AF_INET, Int32(kind.rawValue), 0)
      guard descriptor >= 0 else { return errno }
      defer { close(descriptor) }
      var yes: Int32 = 1
      if kind == SOCK_STREAM {
        // Set SO_REUSEADDR, as the listener does, so that a port in the state TIME_WAIT can be opened.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
      }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard result == 0 else { return errno }
    }
    return nil
  }

  static func status(of path: String) -> (owner: UInt32, mode: UInt32)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return (status.st_uid, status.st_mode)
  }
}

/// Functions that read the state of the computer; tests replace these functions.
package struct SystemReading: Sendable {
  package var file: @Sendable (_ path: String) -> String?
  package var exists: @Sendable (_ path: String) -> Bool
  package var output: @Sendable (_ command: Command) -> String?
  package var environment: @Sendable (_ name: String) -> String?

  package enum Command: String, Sendable, CaseIterable {
    /// Can include the rules of iptables; only root can read the rules.
    case nftables = "/usr/sbin/nft list ruleset"
    /// Only root can read the rules.
    case iptables = "/usr/sbin/iptables-save"
    /// Prints `yes` or `no`.
    case clock = "timedatectl show --property=NTPSynchronized --value"
    /// Whether tmux passes escape sequences through to the terminal.
    case tmuxPassthrough = "tmux display-message -p '#{allow-passthrough}'"
  }

  package init(
    file: @escaping @Sendable (String) -> String?,
    exists: @escaping @Sendable (String) -> Bool,
    output: @escaping @Sendable (Command) -> String?,
    environment: @escaping @Sendable (String) -> String?
  ) {
    self.file = file
    self.exists = exists
    self.output = output
    self.environment = environment
  }

  package static let machine = SystemReading(
    file: { path in (try? FileReading.whole(path, limit: maximumSize)).map { String(decoding: $0, as: UTF8.self) } },
    exists: { FileManager.default.fileExists(atPath: $0) },
    output: run,
    environment: { name in getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }
  )

  private static let maximumSize = 4 << 20

  private static func run(_ command: Command) -> String? {
    // Every command is a constant, so no untrusted text reaches the shell.
    guard let pipe = popen("\(command.rawValue) 2>/dev/null", "r") else { return nil }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < maximumSize {
      let count = fread(&piece, 1, piece.count, pipe)
      guard count > 0 else { break }
      bytes += piece.prefix(count)
    }
    return pclose(pipe) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
  }
}
