import PeerCore

/// A peer and one of its sessions, found on the network, with all addresses to reach it.
///
/// There is one value for each pair of peer and session, even if the peer is announced on several interfaces, over
/// several protocols or under several names. If the peer restarts, the id remains the same. The value is only a hint.
/// To verify the identity and the addresses of the peer, connect to the peer.
public struct DiscoveredPeer: Hashable, Sendable, Identifiable {
  /// The identity of a discovered peer: its claimed peer id and its session.
  public struct ID: Hashable, Sendable {
    /// The claimed id of the peer.
    public let peer: AnnouncedPeerID
    /// The session that the peer belongs to.
    public let session: AnnouncedSessionID

    /// Creates an id from a peer and a session.
    public init(peer: AnnouncedPeerID, session: AnnouncedSessionID) {
      self.peer = peer
      self.session = session
    }
  }

  /// The latest announcement of the peer.
  public let announcement: Announcement

  /// The addresses of the peer, best first; never empty.
  ///
  /// IPv4 comes before global IPv6, and link-local IPv6 comes last. Only addresses announced with the peer's newest
  /// incarnation are included.
  public let endpoints: [Endpoint]

  /// The announced peer and session.
  public var id: ID { ID(peer: announcement.peer, session: announcement.session) }

  /// Creates a discovered peer from an announcement and the addresses of the peer.
  public init(announcement: Announcement, endpoints: [Endpoint]) {
    self.announcement = announcement
    self.endpoints = endpoints
  }
}

/// A DNS-SD service type.
///
/// Every value of this type is a valid name. The transport is always TCP, because peers connect to the discovered
/// address over TCP. Implements DSC-1.
public struct ServiceType: Hashable, Sendable, CustomStringConvertible {
  /// The service type that every whiteboard advertises.
  public static let whiteboard = ServiceType(unchecked: "whiteboard-p2p")

  /// The maximum number of characters in a name.
  public static let maximumLength = 15

  /// The name without the transport, as in `whiteboard-p2p`.
  public let name: String

  /// The name in DNS-SD format, as in `_whiteboard-p2p._tcp`.
  public var text: String { "_\(name)._tcp" }

  /// A textual representation, equal to `text`.
  public var description: String { text }

  /// Creates a service type from a name that follows RFC 6335, 5.1.
  ///
  /// - Parameter name: 1 to 15 characters of `a-z`, `0-9` and `-`, with at least one letter. A hyphen must not be first
  ///   or last, nor follow another hyphen.
  /// - Throws: ``ServiceTypeError`` for the first violated rule.
  public init(_ name: some StringProtocol) throws(ServiceTypeError) {
    let bytes = Array(name.utf8.prefix(Self.maximumLength + 1))
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong }
    var hasLetter = false
    var previous = UInt8(ascii: "-")
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): hasLetter = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): break
      case UInt8(ascii: "-"): guard previous != byte, index != bytes.count - 1 else { throw .misplacedHyphen }
      default: throw .illegalCharacter
      }
      previous = byte
    }
    guard hasLetter else { throw .noLetter }
    self.name = String(name)
  }

  private init(unchecked name: String) { self.name = name }
}

/// The reason why a name is not a valid service type.
public enum ServiceTypeError: Error, Hashable, Sendable {
  /// The name is empty.
  case empty
  /// The name exceeds 15 characters.
  case tooLong
  /// The name contains a character other than `a-z`, `0-9` and `-`.
  case illegalCharacter
  /// A hyphen is first, last or next to another hyphen.
  case misplacedHyphen
  /// The name contains no letter.
  case noLetter
}

/// The DNS-SD instance name under which a peer advertises a board.
///
/// The name has the format `p-<26 characters of the peer id>-<8 characters of the session id>`. The name contains no
/// user name. Another service may use the same name. Implements DSC-2 and DSC-12.
public struct InstanceName: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of a DNS label in bytes.
  public static let maximumSize = 63
  static let (peerPrefix, sessionPrefix) = (26, 8)

  /// The name without DNS escapes.
  public let text: String

  /// A textual representation, equal to `text`.
  public var description: String { text }

  /// Creates the name under which a peer advertises a session.
  public init(peer: AnnouncedPeerID, session: AnnouncedSessionID) {
    text = "p-\(peer.text.prefix(Self.peerPrefix))-\(session.text.prefix(Self.sessionPrefix))"
  }

  /// Creates a name from a string that follows RFC 6763, 4.1.1.
  ///
  /// - Throws: `empty`, `controlCharacter`, or `tooLong` if the string exceeds 63 bytes in UTF-8.
  public init(_ text: String) throws(InstanceNameError) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= Self.maximumSize else { throw .tooLong }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { throw .controlCharacter }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// Returns a new name for use after a collision: the usual name with a random suffix (DSC-12).
  public static func renamed(
    peer: AnnouncedPeerID,
    session: AnnouncedSessionID,
    using random: inout some RandomNumberGenerator
  ) -> InstanceName {
    let suffix = Base32.encode((0..<5).map { _ in UInt8.random(in: 0...255, using: &random) })
    let plain = InstanceName(peer: peer, session: session)
    return InstanceName(unchecked: "\(plain.text)-\(suffix)")
  }
}

/// The reason why a string is not a valid instance name.
public enum InstanceNameError: Error, Hashable, Sendable {
  /// The string is empty.
  case empty
  /// The string exceeds 63 bytes.
  case tooLong
  /// The string contains an ASCII control character.
  case controlCharacter
}
