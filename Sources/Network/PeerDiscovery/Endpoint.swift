/// A network address and port of a peer, with the local interface on which it was discovered.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// The address on which the peer listens.
  public let address: NetworkAddress
  /// The TCP port on which the peer listens, never 0.
  public let port: UInt16
  /// The local interface on which the peer was discovered.
  public let interface: NetworkInterface

  /// Creates an endpoint.
  public init(address: NetworkAddress, port: UInt16, interface: NetworkInterface) {
    self.address = address
    self.port = port
    self.interface = interface
  }

  /// The address in the format that `connect` expects.
  ///
  /// A link-local IPv6 address is followed by `%` and the name of the interface.
  public var host: String {
    address.isLinkLocal && address.isIPv6 ? "\(address)%\(interface.name)" : address.description
  }

  /// The scope for `sockaddr_in6`: the interface's index for link-local IPv6, otherwise 0.
  public var scope: UInt32 { address.isLinkLocal && address.isIPv6 ? interface.index : 0 }

  /// The text `HOST:PORT`; an IPv6 host is in brackets.
  public var description: String { address.isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// Returns whether to try `one` before `other`: IPv4 comes first, then global IPv6, then link-local IPv6.
  static func isBetter(_ one: Endpoint, _ other: Endpoint) -> Bool {
    if one.address.rank != other.address.rank { return one.address.rank < other.address.rank }
    if one.interface.index != other.interface.index { return one.interface.index < other.interface.index }
    if one.address.bytes != other.address.bytes {
      return one.address.bytes.lexicographicallyPrecedes(other.address.bytes)
    }
    return one.port < other.port
  }
}

/// A network interface of this machine.
public struct NetworkInterface: Hashable, Sendable {
  /// The index that the kernel assigned to the interface.
  public let index: UInt32
  /// The name that the kernel assigned to the interface.
  public let name: String

  /// Creates an interface from its index and name.
  public init(index: UInt32, name: String) {
    self.index = index
    self.name = name
  }
}

/// An IPv4 or IPv6 address without a scope.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
  /// The 4 or 16 bytes of the address in network byte order.
  public let bytes: [UInt8]

  /// Creates an IPv4 address.
  public init(_ one: UInt8, _ two: UInt8, _ three: UInt8, _ four: UInt8) { bytes = [one, two, three, four] }

  /// Creates an IPv4 address from 4 bytes or an IPv6 address from 16 bytes; returns `nil` for any other length.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = Array(bytes)
  }

  /// The part of the address that a machine cannot choose freely. This part is the first 64 bits of a global IPv6
  /// address, or the whole of any other address.
  package var group: ArraySlice<UInt8> { bytes.prefix(isIPv6 && !isLinkLocal ? 8 : bytes.count) }

  /// Whether the address is an IPv6 address.
  public var isIPv6: Bool { bytes.count == 16 }

  /// Whether the address is valid only on one link: `169.254/16` or `fe80::/10`.
  public var isLinkLocal: Bool {
    isIPv6 ? bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80 : bytes[0] == 169 && bytes[1] == 254
  }

  /// Whether the address can belong to a peer; unspecified, multicast and broadcast addresses cannot.
  public var isUsable: Bool {
    guard bytes.contains(where: { $0 != 0 }) else { return false }
    return isIPv6 ? bytes[0] != 0xff : bytes[0] < 224 && bytes[0] != 0
  }

  /// The address in dotted decimal format (IPv4) or the format of RFC 5952 (IPv6).
  public var description: String { isIPv6 ? ipv6Text : bytes.map(String.init).joined(separator: ".") }

  fileprivate var rank: Int { isIPv6 ? (isLinkLocal ? 2 : 1) : 0 }

  private var ipv6Text: String {
    let groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    var longest = 0..<0
    var start = 0
    while start < groups.count {
      let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
      if end - start > max(longest.count, 1) { longest = start..<end }
      start = max(end, start + 1)
    }
    func text(_ range: Range<Int>) -> String { groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
    guard !longest.isEmpty else { return text(0..<8) }
    return "\(text(0..<longest.lowerBound))::\(text(longest.upperBound..<8))"
  }
}

/// The known peers and sessions, which a browser resolves first and forgets last (DSC-26).
public struct BrowserPreference: Hashable, Sendable {
  /// The peers whose keys the local peer knows.
  public let peers: Set<AnnouncedPeerID>
  /// The sessions that the local peer has a copy of.
  public let sessions: Set<AnnouncedSessionID>

  /// Creates a preference; without arguments, all peers have the same rank.
  ///
  /// - Parameters:
  ///   - peers: The peers whose keys the local peer knows.
  ///   - sessions: The sessions that the local peer has a copy of.
  public init(peers: Set<AnnouncedPeerID> = [], sessions: Set<AnnouncedSessionID> = []) {
    self.peers = peers
    self.sessions = sessions
  }

  /// The rank of a discovered peer; a browser prefers greater ranks.
  package enum Rank: Int, Comparable, Sendable {
    case unknown
    case knownSession
    case knownPeer

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  func rank(of id: DiscoveredPeer.ID) -> Rank {
    if peers.contains(id.peer) { return .knownPeer }
    return sessions.contains(id.session) ? .knownSession : .unknown
  }
}
