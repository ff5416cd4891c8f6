/// A small public record of key-value pairs, published by an advertiser.
///
/// The record is encoded as the DNS-SD TXT record (RFC 6763, 6). Every value of this type is a valid record. Any device
/// on the network can read and forge records. Implements DSC-3 to DSC-6.
public struct DiscoveryInfo: Hashable, Sendable {
  /// One entry of the record.
  ///
  /// A key without a value differs from a key with an empty value.
  public struct Pair: Hashable, Sendable {
    /// The key: printable ASCII without `=`, compared case-insensitively.
    public let key: String
    /// The bytes after the `=`, or `nil` if there is no `=`.
    public let value: [UInt8]?

    var wireSize: Int { 1 + key.utf8.count + (value.map { 1 + $0.count } ?? 0) }
    var string: [UInt8] { Array(key.utf8) + (value.map { [UInt8(ascii: "=")] + $0 } ?? []) }
  }

  /// The maximum length of one pair in bytes, including the `=`.
  public static let maximumPairSize = 255
  /// The maximum length of the record in bytes, including the length byte of each pair.
  public static let maximumSize = 400

  /// The pairs, in the order in which they were added.
  public private(set) var pairs: [Pair]

  /// Creates an empty record.
  public init() { pairs = [] }

  /// Creates a record from key-value pairs given as strings.
  ///
  /// - Throws: ``DiscoveryInfoError`` for the first violated rule.
  public init(_ pairs: KeyValuePairs<String, String>) throws(DiscoveryInfoError) {
    self.init()
    for (key, value) in pairs { try append(key, Array(value.utf8)) }
  }

  /// Adds a pair at the end.
  ///
  /// - Parameters:
  ///   - key: At least one printable ASCII character, without `=`. The record must not contain the key.
  ///   - value: Any bytes, or `nil` for a key without a value.
  /// - Throws: ``DiscoveryInfoError`` if the pair violates a rule; the record is then unchanged.
  public mutating func append(_ key: String, _ value: [UInt8]?) throws(DiscoveryInfoError) {
    guard !key.isEmpty else { throw .emptyKey }
    for byte in key.utf8 { guard (0x20...0x7e).contains(byte), byte != UInt8(ascii: "=") else { throw .illegalKey } }
    let pair = Pair(key: key, value: value)
    guard pair.wireSize - 1 <= Self.maximumPairSize else { throw .pairTooLong }
    guard !contains(key) else { throw .duplicateKey }
    guard wireSize + pair.wireSize <= Self.maximumSize else { throw .recordTooLong }
    pairs.append(pair)
  }

  /// Returns whether the record contains a key, with or without a value.
  public func contains(_ key: String) -> Bool { pairs.contains { Self.isSameKey($0.key, key) } }

  /// Returns the value of a key, or `nil` if the key is missing or has no value.
  public subscript(key: String) -> [UInt8]? { pairs.first { Self.isSameKey($0.key, key) }?.value }

  /// The length of the encoded record in bytes.
  public var wireSize: Int { pairs.reduce(0) { $0 + $1.wireSize } }

  /// The record as encoded in DNS: a length byte precedes each pair.
  public var wireBytes: [UInt8] { pairs.flatMap { [UInt8($0.wireSize - 1)] + $0.string } }

  /// The pairs as the strings of a TXT record, without length bytes.
  public var strings: [[UInt8]] { pairs.map(\.string) }

  /// Decodes a record from its DNS encoding.
  ///
  /// - Throws: `truncated` if a length exceeds the remaining bytes, or an error of ``init(strings:)``.
  public init(wireBytes bytes: some Collection<UInt8>) throws(DiscoveryInfoError) {
    guard bytes.count <= Self.maximumSize else { throw .recordTooLong }
    let bytes = Array(bytes)
    var strings: [[UInt8]] = []
    var offset = 0
    while offset < bytes.count {
      let length = Int(bytes[offset])
      offset += 1
      guard length <= bytes.count - offset else { throw .truncated }
      strings.append(Array(bytes[offset..<offset + length]))
      offset += length
    }
    try self.init(strings: strings)
  }

  /// Creates a record from the strings of a received TXT record.
  ///
  /// As required by RFC 6763, 6.4, empty strings and strings that begin with `=` are ignored. Of several strings with
  /// the same key, only the first is used.
  ///
  /// - Throws: `recordTooLong`, `pairTooLong` or `illegalKey`.
  public init(strings: some Sequence<[UInt8]>) throws(DiscoveryInfoError) {
    self.init()
    var size = 0
    for string in strings {
      guard string.count <= Self.maximumPairSize else { throw .pairTooLong }
      size += 1 + string.count
      guard size <= Self.maximumSize else { throw .recordTooLong }
      let split = string.firstIndex(of: UInt8(ascii: "=")) ?? string.count
      guard split > 0 else { continue }
      let value = split < string.count ? Array(string[(split + 1)...]) : nil
      do throws(DiscoveryInfoError) {
        try append(String(decoding: string[..<split], as: UTF8.self), value)
      } catch .duplicateKey { continue }
    }
  }

  private static func isSameKey(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8) { folded($0) == folded($1) }
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

/// The reason why a record of key-value pairs is invalid.
public enum DiscoveryInfoError: Error, Hashable, Sendable {
  /// A key is empty.
  case emptyKey
  /// A key contains `=` or a character that is not printable ASCII.
  case illegalKey
  /// The record already contains the key.
  case duplicateKey
  /// A pair exceeds 255 bytes.
  case pairTooLong
  /// The record exceeds 400 bytes.
  case recordTooLong
  /// The length byte of a pair exceeds the number of remaining bytes.
  case truncated
}
