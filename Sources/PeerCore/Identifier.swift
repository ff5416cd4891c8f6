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
  public static var byteCount: Int { Value.byteCount }

  /// The number of characters in the text of every identifier of this type.
  public static var textLength: Int { Base32.length(ofBytes: Value.byteCount) }

  /// Creates an identifier from bytes; nil if there are not exactly ``byteCount``.
  public init?(bytes: some Collection<UInt8>) {
    guard let value = Value(bytes) else { return nil }
    self.init(value)
  }

  /// Creates an identifier from its text; nil for any other text.
  ///
  /// An identifier has only one valid text: other lengths, capitals, padding and unused bits that are not zero are
  /// invalid.
  public init?(text: some StringProtocol) {
    guard let bytes = try? Base32.decode(text, byteCount: Value.byteCount) else { return nil }
    self.init(bytes: bytes)
  }

  /// The bytes as an array.
  public var bytes: [UInt8] { value.bytes }

  /// The text, in lower-case base32 without padding.
  public var text: String { Base32.encode(bytes) }

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
