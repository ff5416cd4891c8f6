/// An identifier of fixed size that an announcement carries as base32.
///
/// These types only carry bytes from one place to another: what a peer announces is a claim, and
/// the handshake of the session is what proves it.
public protocol AnnouncedIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// How many bytes there are.
  static var byteCount: Int { get }

  /// The bytes, always `byteCount` of them.
  var bytes: [UInt8] { get }

  /// Creates an identifier from bytes whose number is known to be right.
  init(checked bytes: [UInt8])
}

extension AnnouncedIdentifier {
  /// Takes bytes when there are exactly `byteCount` of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(checked: Array(bytes))
  }

  /// Reads the one canonical text: lower case, without padding, with no bit left over.
  public init?(text: some StringProtocol) {
    guard let bytes = Base32.decode(text.utf8, byteCount: Self.byteCount) else { return nil }
    self.init(checked: bytes)
  }

  /// The number of characters of the text.
  public static var textLength: Int { Base32.length(ofBytes: byteCount) }

  /// The bytes as lower-case base32.
  public var text: String { Base32.encode(bytes) }

  /// The same as `text`.
  public var description: String { text }
}

/// The identity a peer claims: the SHA-256 of its public key, as 52 characters of base32.
public struct AnnouncedPeerID: AnnouncedIdentifier {
  /// A SHA-256 hash is 32 bytes.
  public static let byteCount = 32

  /// The hash.
  public let bytes: [UInt8]

  /// Takes the 32 bytes of a hash.
  ///
  /// - Precondition: there are 32 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a peer id is 32 bytes")
    self.bytes = bytes
  }
}

/// The session a peer is a member of, as 26 characters of base32.
public struct AnnouncedSessionID: AnnouncedIdentifier {
  /// A session id is 16 bytes.
  public static let byteCount = 16

  /// The session id.
  public let bytes: [UInt8]

  /// Takes the 16 bytes of a session id.
  ///
  /// - Precondition: there are 16 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "a session id is 16 bytes")
    self.bytes = bytes
  }

  /// The session id that a relay announces to show that it accepts further sessions (DSC-24).
  public static let none = AnnouncedSessionID(checked: Array(repeating: 0, count: byteCount))
}

/// The run of a peer's program, as 13 characters of base32; a restarted peer has another.
public struct AnnouncedIncarnation: AnnouncedIdentifier {
  /// An incarnation is 8 bytes.
  public static let byteCount = 8

  /// The incarnation, most significant byte first.
  public let bytes: [UInt8]

  /// Takes the 8 bytes of an incarnation.
  ///
  /// - Precondition: there are 8 bytes.
  public init(checked bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "an incarnation is 8 bytes")
    self.bytes = bytes
  }

  /// Takes an incarnation that is held as an integer.
  public init(_ value: UInt64) {
    bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
  }

  /// The incarnation as an integer.
  public var value: UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
