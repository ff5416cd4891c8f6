import PeerCore

/// A fixed-size identifier that announcements contain in base32.
///
/// An announced identifier is only a claim; the handshake of the session proves it.
public protocol AnnouncedIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The number of bytes in every identifier of this type.
  static var byteCount: Int { get }

  /// The `byteCount` bytes of the identifier.
  var bytes: [UInt8] { get }

  /// Creates an identifier from exactly `byteCount` bytes.
  init(checked bytes: [UInt8])
}

extension AnnouncedIdentifier {
  /// Creates an identifier, or returns `nil` if `bytes` does not have `byteCount` bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(checked: Array(bytes))
  }

  /// Creates an identifier from its base32 text, or returns `nil` if the text is not canonical.
  ///
  /// Canonical text is in lower case and has no padding, and its unused bits are zero.
  public init?(text: some StringProtocol) {
    guard let bytes = try? Base32.decode(text, byteCount: Self.byteCount) else { return nil }
    self.init(checked: bytes)
  }

  /// The number of characters in the base32 text.
  public static var textLength: Int { Base32.length(ofBytes: byteCount) }

  /// The identifier as lower-case base32.
  public var text: String { Base32.encode(bytes) }

  /// A textual representation, equal to `text`.
  public var description: String { text }
}

/// The claimed identity of a peer, which is the SHA-256 hash of its public key.
///
/// Its text form has 52 base32 characters.
public struct AnnouncedPeerID: AnnouncedIdentifier {
  /// The length of a SHA-256 hash in bytes.
  public static let byteCount = 32

  /// The bytes of the hash.
  public let bytes: [UInt8]

  /// Creates a peer id from the 32 bytes of a hash.
  ///
  /// - Precondition: `bytes` has 32 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a peer id is 32 bytes")
    self.bytes = bytes
  }
}

/// The id of the session that a peer belongs to.
///
/// Its text form has 26 base32 characters.
public struct AnnouncedSessionID: AnnouncedIdentifier {
  /// The length of a session id in bytes.
  public static let byteCount = 16

  /// The bytes of the session id.
  public let bytes: [UInt8]

  /// Creates a session id from its 16 bytes.
  ///
  /// - Precondition: `bytes` has 16 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a session id is 16 bytes")
    self.bytes = bytes
  }

  /// The special session id that a relay announces if it accepts further sessions (DSC-24).
  public static let none = AnnouncedSessionID(checked: Array(repeating: 0, count: byteCount))
}

/// One run of a peer's program.
///
/// A restarted peer has a new incarnation. Its text form has 13 base32 characters.
public struct AnnouncedIncarnation: AnnouncedIdentifier {
  /// The length of an incarnation in bytes.
  public static let byteCount = 8

  /// The bytes of the incarnation, most significant byte first.
  public let bytes: [UInt8]

  /// Creates an incarnation from its 8 bytes.
  ///
  /// - Precondition: `bytes` has 8 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "an incarnation is 8 bytes")
    self.bytes = bytes
  }

  /// Creates an incarnation from an integer.
  public init(_ value: UInt64) {
    bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }

  /// The incarnation as an integer.
  public var value: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
