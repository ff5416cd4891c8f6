import PeerCore

/// The claimed identity of a peer: the SHA-256 hash of its public key, as 52 characters of base32.
///
/// The handshake of the session proves it.
public struct AnnouncedPeerID: Identifier {
  /// The bytes of the hash.
  public let value: Bytes32

  /// Creates an id from its bytes.
  public init(_ value: Bytes32) { self.value = value }
}

/// The session that a peer claims to belong to, as 26 characters of base32.
public struct AnnouncedSessionID: Identifier {
  /// The bytes of the session id.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }

  /// The session id that a relay announces to show that it accepts further sessions (DSC-24).
  public static let none = AnnouncedSessionID(Bytes16.zero)
}

/// One run of a peer's program, as 13 characters of base32.
///
/// A restarted peer has a new incarnation.
public struct AnnouncedIncarnation: Identifier {
  /// The number.
  public let value: Bytes8

  /// Creates an incarnation from its bytes.
  public init(_ value: Bytes8) { self.value = value }

  /// Creates an incarnation from a number.
  public init(_ number: UInt64) { value = Bytes8(number) }
}
