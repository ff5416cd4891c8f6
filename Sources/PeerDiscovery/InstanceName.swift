/// The DNS-SD name of one advertised board of one peer, known to be legal.
///
/// Names can be taken by others, so ours comes from the key and the session, and says nothing about
/// the person: `p-<26 of the peer id>-<8 of the session id>`. Implements DSC-2 and DSC-12.
public struct InstanceName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes in a DNS label.
  public static let maximumSize = 63
  /// How many characters of the peer's id and of the session's id are in it.
  static let (peerPrefix, sessionPrefix) = (26, 8)

  /// The name, with none of the escapes of DNS.
  public let text: String

  /// The same as `text`.
  public var description: String { text }

  /// The name that a peer advertises a session under.
  public init(peer: AnnouncedPeerID, session: AnnouncedSessionID) {
    text = "p-\(peer.text.prefix(Self.peerPrefix))-\(session.text.prefix(Self.sessionPrefix))"
  }

  /// Checks a name by RFC 6763, 4.1.1.
  ///
  /// - Throws: `empty`, `tooLong` past 63 bytes of UTF-8, or `controlCharacter`.
  public init(_ text: String) throws(InstanceNameError) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= Self.maximumSize else { throw .tooLong }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { throw .controlCharacter }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// The name to take when somebody else has ours: the plain one and a fresh random suffix (DSC-12).
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

/// The reason why a text is not an instance name.
public enum InstanceNameError: Error, Hashable, Sendable {
  /// There is no character.
  case empty
  /// There are more than 63 bytes.
  case tooLong
  /// There is an ASCII control character.
  case controlCharacter
}
