import PeerCore
import PeerWire

/// The identity of a peer: the SHA-256 of its certificate's DER SubjectPublicKeyInfo (LNK-2).
///
/// Ids are compared bytewise (DUP-1). The text form of an id has 52 lower-case base32 characters.
public struct PeerID: Hashable, Comparable, Sendable {
  /// The number of bytes in a peer id.
  public static let byteCount = 32

  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// Creates an id from exactly 32 bytes, or returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    words = (
      UInt64(bigEndianBytes: bytes[0..<8]), UInt64(bigEndianBytes: bytes[8..<16]),
      UInt64(bigEndianBytes: bytes[16..<24]), UInt64(bigEndianBytes: bytes[24..<32])
    )
  }

  /// The 32 bytes.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    words.0.append(to: &bytes)
    words.1.append(to: &bytes)
    words.2.append(to: &bytes)
    words.3.append(to: &bytes)
    return bytes
  }

  /// Returns whether two ids have equal bytes.
  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// Returns whether the bytes of `left` come first in lexicographic order.
  public static func < (left: Self, right: Self) -> Bool { left.words < right.words }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}

/// The 16-byte identity of a session; for a whiteboard, the board's id.
///
/// Its text form has 26 lower-case base32 characters.
public struct SessionID: Hashable, Sendable {
  /// The number of bytes in a session id.
  public static let byteCount = 16

  private let high: UInt64
  private let low: UInt64

  /// Creates an id from exactly 16 bytes, or returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    high = UInt64(bigEndianBytes: bytes[0..<8])
    low = UInt64(bigEndianBytes: bytes[8..<16])
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a new random id.
  public static func random() -> SessionID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Creates a new id from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> SessionID {
    SessionID(high: generator.next(), low: generator.next())
  }

  /// The 16 bytes.
  public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

/// The identity of a resource transfer or a stream: 16 bytes chosen by the sender.
///
/// Its text form has 26 lower-case base32 characters.
public struct TransferID: Hashable, Sendable {
  /// The number of bytes in a transfer id.
  public static let byteCount = 16

  private let high: UInt64
  private let low: UInt64

  /// Creates an id from exactly 16 bytes, or returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    high = UInt64(bigEndianBytes: bytes[0..<8])
    low = UInt64(bigEndianBytes: bytes[8..<16])
  }

  private init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a new random id.
  public static func random() -> TransferID {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Creates a new id from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> TransferID {
    TransferID(high: generator.next(), low: generator.next())
  }

  /// The 16 bytes.
  public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

/// A 16-byte secret in the join link of a host that asks its user (HEL-9).
///
/// An invitation that contains the pass can use a reserved slot in the host's queue. The pass does
/// not admit its holder. The text form of a pass has 26 lower-case base32 characters.
public struct InvitationPass: Hashable, Sendable {
  /// The number of bytes in a pass.
  public static let byteCount = 16

  /// The 16 bytes.
  public let bytes: [UInt8]

  /// Creates a pass from exactly 16 bytes, or returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }
}

/// One process of a peer in one session: a restarted process is a new incarnation.
///
/// Its text form has 13 lower-case base32 characters, which encode the 8 bytes of `value` in
/// big-endian order.
public struct SessionIncarnation: Hashable, Sendable {
  /// The number of bytes in an incarnation.
  public static let byteCount = 8

  /// The number.
  public let value: UInt64

  /// Wraps a number.
  public init(_ value: UInt64) { self.value = value }

  /// Creates an incarnation from exactly 8 bytes, or returns `nil` for any other length.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    value = UInt64(bigEndianBytes: bytes[...])
  }

  /// Creates a new random incarnation.
  public static func random() -> SessionIncarnation {
    SessionIncarnation(UInt64.random(in: .min ... .max))
  }

  /// The 8 bytes.
  public var bytes: [UInt8] { value.bigEndianBytes }
}

extension PeerID: Base32Identifier {}
extension SessionID: Base32Identifier {}
extension TransferID: Base32Identifier {}
extension InvitationPass: Base32Identifier {}
extension SessionIncarnation: Base32Identifier {}

/// An identifier with a fixed number of bytes and a base32 text form.
public protocol Base32Identifier: Codable, CustomStringConvertible {
  /// The number of bytes in every identifier of this type.
  static var byteCount: Int { get }
  /// The bytes.
  var bytes: [UInt8] { get }
  /// Creates an identifier from exactly ``byteCount`` bytes, or returns `nil` for any other length.
  init?(bytes: [UInt8])
}

extension Base32Identifier {
  /// The number of characters in the text form of an identifier.
  public static var textLength: Int { Base32.length(ofBytes: byteCount) }

  /// Creates an identifier from its text form.
  ///
  /// Each identifier has exactly one valid text form. The result is `nil` for text with another
  /// length, capital letters, padding, or nonzero unused bits.
  public init?(text: String) {
    guard let bytes = try? Base32.decode(text, byteCount: Self.byteCount) else { return nil }
    self.init(bytes: bytes)
  }

  /// The identifier as text: lower-case base32 without padding.
  public var text: String { Base32.encode(bytes) }

  /// The first 8 characters of the text form, for display only; do not use them to compare ids.
  public var short: String { String(text.prefix(8)) }

  /// A textual representation, equal to `text`.
  public var description: String { text }

  /// Decodes an identifier from its text form.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the text is not valid.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = Self(text: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "not \(Self.textLength) base32 characters"
      )
    }
    self = value
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension UInt64 {
  fileprivate init(bigEndianBytes bytes: ArraySlice<UInt8>) {
    self = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  fileprivate var bigEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Appends the bytes of an integer in big-endian order.
  fileprivate func append(to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: self >> shift))
    }
  }
}
