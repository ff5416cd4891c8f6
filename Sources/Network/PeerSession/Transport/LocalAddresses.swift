import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

enum LocalAddresses {
  struct Entry: Equatable {
    var interface: String
    var address: String
  }

  /// The kind of an interface; the kinds that other machines are most likely to reach come first.
  enum Kind: Int {
    case physical
    case virtual
    case bridge
    case tunnel
  }

  /// Returns IP literals without scope, in the order of ``ordered(_:metrics:kind:)``.
  static func current(listen: PeerAddress?, interface: String?) -> [String] {
    if let listen, listen.host != "::", listen.host != "0.0.0.0" {
      return isIPLiteral(listen.host) ? [listen.host] : []
    }
    guard let devices = try? System.enumerateDevices() else { return [] }
    let entries = devices.compactMap { device -> Entry? in
      guard interface == nil || device.name == interface, let address = device.address?.ipAddress else { return nil }
      // A label such as `eth0:1` names another address of the interface.
      return Entry(interface: String(device.name.prefix { $0 != ":" }), address: address)
    }
    let metrics = defaultRoutes(ipv4: contents(of: "/proc/net/route"), ipv6: contents(of: "/proc/net/ipv6_route"))
    return ordered(entries, metrics: metrics, kind: kind)
  }

  /// Returns the addresses by which other machines are likely to reach this machine, best first.
  ///
  /// The addresses of the interfaces with a default route come first, unless the interface is a tunnel. Then come the
  /// addresses of other network cards, of virtual interfaces, of bridges and of tunnels. Link-local IPv4 addresses come
  /// last. For each group, IPv4 comes before IPv6. Loopback is included only if there is no other address. Link-local
  /// IPv6 addresses are never included, because their scope has no meaning on other machines.
  static func ordered(_ entries: [Entry], metrics: [String: UInt32], kind: (String) -> Kind) -> [String] {
    var ranked: [(rank: [UInt32], address: String)] = []
    var loopback: [String] = []
    for (index, entry) in entries.enumerated() {
      let address = entry.address
      if address.hasPrefix("127.") || address == "::1" {
        loopback.append(address)
        continue
      }
      guard !address.lowercased().hasPrefix("fe80"), !address.contains("%") else { continue }
      let kind = kind(entry.interface)
      let metric = kind == .tunnel ? nil : metrics[entry.interface]
      let rank: [UInt32] = [
        address.hasPrefix("169.254.") ? 1 : 0, metric == nil ? 1 + UInt32(kind.rawValue) : 0, metric ?? 0,
        address.contains(":") ? 1 : 0, UInt32(index),
      ]
      ranked.append((rank, address))
    }
    guard !ranked.isEmpty else { return loopback }
    return ranked.sorted { $0.rank.lexicographicallyPrecedes($1.rank) }.map(\.address)
  }

  // MARK: - Reading the system

  static func defaultRoutes(ipv4: String, ipv6: String) -> [String: UInt32] {
    let isUp: UInt32 = 0x1
    let rejects: UInt32 = 0x200
    var metrics: [String: UInt32] = [:]
    func add(_ interface: Substring, _ flags: UInt32?, _ metric: UInt32?) {
      guard let flags, let metric, flags & (isUp | rejects) == isUp, interface != "lo" else { return }
      metrics[String(interface)] = min(metrics[String(interface)] ?? metric, metric)
    }
    for line in ipv4.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count >= 8, words[1] == "00000000", words[7] == "00000000" else { continue }
      add(words[0], UInt32(words[3], radix: 16), UInt32(words[6]))
    }
    for line in ipv6.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count >= 10, words[1] == "00", words[0].allSatisfy({ $0 == "0" }) else { continue }
      add(words[9], UInt32(words[8], radix: 16), UInt32(words[5], radix: 16))
    }
    return metrics
  }

  private static func kind(_ interface: String) -> Kind {
    let directory = "/sys/class/net/\(interface)"
    func has(_ name: String) -> Bool { access("\(directory)/\(name)", F_OK) == 0 }
    if has("bridge") { return .bridge }
    // 65534 is the type of interfaces without link-layer addresses, such as the interfaces of WireGuard.
    let type = contents(of: "\(directory)/type").prefix { !$0.isWhitespace }
    if has("tun_flags") || type == "65534" { return .tunnel }
    return has("device") || has("wireless") ? .physical : .virtual
  }

  private static func contents(of path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while bytes.count < 1 << 20 {
      let count = fread(&chunk, 1, chunk.count, file)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The only network interface on which a program listens.
///
/// The loopback interface is always included, because a connection from the same machine arrives on the loopback
/// interface, whatever address the connection uses.
package struct ListeningInterface: Equatable, Sendable {
  package let name: String

  package init?(_ name: String?) {
    guard let name else { return nil }
    self.name = name
  }

  package var indexes: [CInt] { [Self.loopback, index].compactMap(\.self) }

  package var index: CInt? { Self.index(of: name) }

  package static var loopback: CInt? { index(of: "lo") }

  private static func index(of name: String) -> CInt? {
    let index = if_nametoindex(name)
    return index == 0 ? nil : CInt(exactly: index)
  }
}

extension ChannelOption where Self == ChannelOptions.Types.SocketOption {
  /// The socket option `SO_BINDTOIFINDEX`: a socket receives packets only from the interface with this index.
  ///
  /// Only recent kernels know the option.
  static var boundInterface: Self {
    ChannelOptions.Types.SocketOption(level: .socket, name: NIOBSDSocket.Option(rawValue: 62))
  }
}

extension ServerBootstrap {
  package func restricted(to interface: CInt) -> ServerBootstrap {
    interface == 0 ? self : serverChannelOption(.boundInterface, value: Int(interface))
  }
}

extension SocketAddress {
  /// Creates an address from a literal with an optional `%scope` (a name or a number), or resolves a host name.
  static func makeScoped(host: String, port: Int) throws -> SocketAddress {
    let pieces = host.split(separator: "%", maxSplits: 1)
    guard pieces.count == 2 else {
      if let literal = try? SocketAddress(ipAddress: host, port: port) { return literal }
      return try SocketAddress.makeAddressResolvingHost(host, port: port)
    }
    let literal = try SocketAddress(ipAddress: String(pieces[0]), port: port)
    guard case .v6(let v6) = literal else { return literal }
    let scope = UInt32(pieces[1]) ?? if_nametoindex(String(pieces[1]))
    var raw = v6.address
    raw.sin6_scope_id = scope
    return SocketAddress(raw, host: host)
  }
}
