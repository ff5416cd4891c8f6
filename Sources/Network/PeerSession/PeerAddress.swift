import NIOCore

/// The address of a peer: a host and a port.
///
/// The host is a name or an IP literal. A link-local IPv6 literal has a scope.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
  /// The IP literal, such as `fe80::1%eth0`, or the host name.
  public var host: String
  /// The TCP and UDP port, 1 to 65535.
  public var port: Int

  /// Creates an address from valid parts.
  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Reads `192.0.2.1:26273`, `[fe80::1%eth0]:26273`, `[fe80::1%25eth0]:26273` or `name.local:26273`.
  ///
  /// - Returns: `nil` if `text` has another format or the port is out of range.
  public init?(_ text: String) {
    guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let portText = text[text.index(after: colon)...]
    guard portText.utf8.count <= 5, portText.utf8.allSatisfy({ (48...57).contains($0) }), let port = Int(portText),
      (1...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("[") && host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.utf8.contains(UInt8(ascii: ":")) {
      return nil
    }
    guard !host.isEmpty, host.utf8.count <= 255 else { return nil }
    let pieces = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    if pieces.count == 2 {
      let scope = pieces[1].hasPrefix("25") ? pieces[1].dropFirst(2) : pieces[1]
      guard !scope.isEmpty else { return nil }
      self.host = "\(pieces[0])%\(scope)"
    } else {
      self.host = String(host)
    }
    self.port = port
  }

  /// The text `HOST:PORT`; an IPv6 address is in brackets.
  public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }

  init?(_ address: SocketAddress) {
    guard let ip = address.ipAddress, let port = address.port else { return nil }
    var host = ip
    if case .v6(let v6) = address {
      let scope = v6.address.sin6_scope_id
      if scope != 0 && !ip.contains("%") { host += "%\(scope)" }
      // A dual-stack socket reports an IPv4 address with the prefix `::ffff:`.
      if ip.hasPrefix("::ffff:"), ip.contains(".") { host = String(ip.dropFirst(7)) }
    }
    self.init(host: host, port: port)
  }

  /// Blocks if the host is a name, so do not call this method on an event loop.
  func socketAddress() throws -> SocketAddress { try SocketAddress.makeScoped(host: host, port: port) }
}
