import PeerCore

/// The DNS-SD instance name under which a peer advertises a board.
///
/// The name has the format `p-<26 characters of the peer id>-<8 characters of the session id>`. It contains no user
/// name. Another service may use the same name. Implements DSC-2 and DSC-12.
public struct InstanceName: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of a DNS label in bytes.
  public static let maximumSize = 63
  /// The numbers of characters from the peer id and from the session id in an instance name.
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
