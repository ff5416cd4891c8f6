/// A value that is a fixed number of bytes, stored inline.
public protocol FixedBytes: Hashable, Comparable, Sendable {
  /// The number of bytes in every value of the type.
  static var byteCount: Int { get }

  /// Creates a value; nil if there are not exactly ``byteCount`` bytes.
  init?(_ bytes: some Collection<UInt8>)

  /// The bytes.
  var bytes: [UInt8] { get }

  /// Returns random bytes from `generator`.
  static func random(using generator: inout some RandomNumberGenerator) -> Self
}

/// A value of 32 bytes, such as a hash.
@frozen public struct Bytes32: FixedBytes {
  /// The number of bytes.
  public static let byteCount = 32

  @usableFromInline let words: [4 of UInt64]

  @inlinable init(words: [4 of UInt64]) { self.words = words }

  /// Creates a value; nil if `bytes` does not have exactly 32 bytes.
  @inlinable public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    var words: [4 of UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.words = words
  }

  /// Returns random bytes from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> Bytes32 {
    Bytes32(words: [generator.next(), generator.next(), generator.next(), generator.next()])
  }

  /// The value as an array of 32 bytes.
  @inlinable public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    for index in 0..<4 { words[index].append(to: &bytes) }
    return bytes
  }

  /// Returns whether both values have the same bytes.
  @inlinable public static func == (left: Bytes32, right: Bytes32) -> Bool {
    left.words[0] == right.words[0] && left.words[1] == right.words[1] && left.words[2] == right.words[2]
      && left.words[3] == right.words[3]
  }

  /// Compares two values byte by byte.
  @inlinable public static func < (left: Bytes32, right: Bytes32) -> Bool {
    for index in 0..<4 where left.words[index] != right.words[index] { return left.words[index] < right.words[index] }
    return false
  }

  /// Hashes all bytes.
  @inlinable public func hash(into hasher: inout Hasher) { for index in 0..<4 { hasher.combine(words[index]) } }
}

/// A value of 16 bytes, such as the id of a board.
@frozen public struct Bytes16: FixedBytes {
  /// The number of bytes.
  public static let byteCount = 16

  @usableFromInline let high: UInt64
  @usableFromInline let low: UInt64

  /// The value whose bytes are all zero.
  public static let zero = Bytes16(high: 0, low: 0)

  @inlinable init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Creates a value; nil if `bytes` does not have exactly 16 bytes.
  @inlinable public init?(_ bytes: some Collection<UInt8>) {
    guard let high = Bytes8(bytes.prefix(8)), let low = Bytes8(bytes.dropFirst(8)) else { return nil }
    self.init(high: high.number, low: low.number)
  }

  /// Returns random bytes from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> Bytes16 {
    Bytes16(high: generator.next(), low: generator.next())
  }

  /// The value as an array of 16 bytes.
  @inlinable public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    high.append(to: &bytes)
    low.append(to: &bytes)
    return bytes
  }

  /// Compares two values byte by byte.
  @inlinable public static func < (left: Bytes16, right: Bytes16) -> Bool {
    (left.high, left.low) < (right.high, right.low)
  }
}

/// A value of 8 bytes: an integer, the most significant byte first.
@frozen public struct Bytes8: FixedBytes {
  /// The number of bytes.
  public static let byteCount = 8

  /// The value as an integer.
  public let number: UInt64

  /// Creates a value from an integer.
  @inlinable public init(_ number: UInt64) { self.number = number }

  /// Creates a value; nil if `bytes` does not have exactly 8 bytes.
  @inlinable public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Returns random bytes from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> Bytes8 { Bytes8(generator.next()) }

  /// The value as an array of 8 bytes.
  @inlinable public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount)
    number.append(to: &bytes)
    return bytes
  }

  /// Compares two values as integers, which is also the order of their bytes.
  @inlinable public static func < (left: Bytes8, right: Bytes8) -> Bool { left.number < right.number }
}

extension UInt64 {
  @inlinable func append(to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: self >> shift)) }
  }
}

/// An identifier with a fixed number of bytes and a base32 text form.
///
/// To convert an identifier to another type with the same bytes, pass its value: `MemberID(peer.value)` is the member
/// id of a peer.
public protocol Identifier: Hashable, Sendable, CustomStringConvertible {
  /// The type of the bytes.
  associatedtype Value: FixedBytes

  /// The bytes of the identifier.
  var value: Value { get }

  /// Creates an identifier from its bytes.
  init(_ value: Value)
}

extension Identifier {
  /// The number of bytes in every identifier of this type.
  @inlinable public static var byteCount: Int { Value.byteCount }

  /// The number of characters in the text of every identifier of this type.
  public static var textLength: Int { Base32.length(ofBytes: Value.byteCount) }

  /// Creates an identifier from bytes; nil if there are not exactly ``byteCount``.
  @inlinable public init?(bytes: some Collection<UInt8>) {
    guard let value = Value(bytes) else { return nil }
    self.init(value)
  }

  /// Creates an identifier from its text; nil if the text is not valid.
  ///
  /// An identifier has only one valid text: other lengths, capitals, padding and unused bits that are not zero are
  /// invalid.
  @inlinable public init?(text: some StringProtocol) {
    guard let bytes = try? Base32.decode(text, byteCount: Value.byteCount) else { return nil }
    self.init(bytes: bytes)
  }

  /// The bytes as an array.
  @inlinable public var bytes: [UInt8] { value.bytes }

  /// The text, in lower-case base32 without padding.
  @inlinable public var text: String { Base32.encode(bytes) }

  /// The first 8 characters of the text, for display; do not compare ids by them.
  public var short: String { String(text.prefix(8)) }

  /// The same as ``text``.
  public var description: String { text }

  /// Returns a new random identifier.
  public static func random() -> Self {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  /// Returns a new identifier from `generator`.
  public static func random(using generator: inout some RandomNumberGenerator) -> Self {
    Self(Value.random(using: &generator))
  }
}
