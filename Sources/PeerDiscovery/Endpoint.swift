/// One way to reach a peer: an address, a port, and the interface it was heard on.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// The address on which the peer listens.
  public let address: NetworkAddress
  /// The TCP port the peer listens on, never 0.
  public let port: UInt16
  /// The interface of ours that the peer was heard on.
  public let interface: NetworkInterface

  /// Joins the three parts.
  public init(address: NetworkAddress, port: UInt16, interface: NetworkInterface) {
    self.address = address
    self.port = port
    self.interface = interface
  }

  /// The address as `connect` wants it, with the interface's name behind `%` where it needs a scope.
  public var host: String {
    address.isLinkLocal && address.isIPv6 ? "\(address)%\(interface.name)" : address.description
  }

  /// The scope for `sockaddr_in6`: the interface's index for a link-local address, 0 for others.
  public var scope: UInt32 { address.isLinkLocal && address.isIPv6 ? interface.index : 0 }

  /// `HOST:PORT`, with the host in brackets where it is IPv6.
  public var description: String { address.isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Whether a caller should try this one first: IPv4, then global IPv6, then link-local IPv6.
  static func isBetter(_ one: Endpoint, _ other: Endpoint) -> Bool {
    if one.address.rank != other.address.rank { return one.address.rank < other.address.rank }
    if one.interface.index != other.interface.index {
      return one.interface.index < other.interface.index
    }
    if one.address.bytes != other.address.bytes {
      return one.address.bytes.lexicographicallyPrecedes(other.address.bytes)
    }
    return one.port < other.port
  }
}

/// A network interface of this machine.
public struct NetworkInterface: Hashable, Sendable {
  /// The number the kernel gives it.
  public let index: UInt32
  /// The name the kernel gives it.
  public let name: String

  /// Joins the two parts.
  public init(index: UInt32, name: String) {
    self.index = index
    self.name = name
  }
}

/// An IPv4 or IPv6 address without a scope.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
  /// 4 or 16 bytes, in the order of the network.
  public let bytes: [UInt8]

  /// Takes an IPv4 address.
  public init(_ one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) {
    bytes = [one, two, three, four]
  }

  /// Takes 4 bytes of IPv4 or 16 of IPv6, and nothing else.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// The part of the address that one machine cannot choose freely: of a global IPv6 address the first 64 bits,
  /// of others all of it.
  package var group: ArraySlice<UInt8> { bytes.prefix(isIPv6 && !isLinkLocal ? 8 : bytes.count) }

  /// Whether there are 16 bytes.
  public var isIPv6: Bool { bytes.count == 16 }

  /// Whether the address holds on one link alone: `169.254/16` or `fe80::/10`.
  public var isLinkLocal: Bool {
    isIPv6
      ? bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
      : bytes[0] == 169 && bytes[1] == 254
  }

  /// Whether a peer can be reached there: not unspecified, not multicast, not broadcast.
  public var isUsable: Bool {
    guard bytes.contains(where: { $0 != 0 }) else { return false }
    return isIPv6 ? bytes[0] != 0xff : bytes[0] < 224 && bytes[0] != 0
  }

  /// Dotted decimal, or the form of RFC 5952.
  public var description: String {
    isIPv6 ? ipv6Text : bytes.map(String.init).joined(separator: ".")
  }

  fileprivate var rank: Int { isIPv6 ? (isLinkLocal ? 2 : 1) : 0 }

  private var ipv6Text: String {
    let groups = stride(from: 0, to: 16, by: 2).map {
      UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
    }
    var longest = 0..<0
    var start = 0
    while start < groups.count {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start > max(longest.count, 1) { longest = start..<end }
      start = max(end, start + 1)
    }
    func text(_ range: Range<Int>) -> String {
      groups[range].map { String($0, radix: 16) }.joined(separator: ":")
    }
    guard !longest.isEmpty else { return text(0..<8) }
    return "\(text(0..<longest.lowerBound))::\(text(longest.upperBound..<8))"
  }
}
