/// The small public record of keys and values that an advertiser publishes, known to be legal.
///
/// It is the TXT record of DNS-SD (RFC 6763, 6). Anybody on the network can read it and anybody can
/// forge one. Implements DSC-3 to DSC-6.
public struct DiscoveryInfo: Hashable, Sendable {
  /// One entry; a key may stand without a value, which is not the same as an empty value.
  public struct Pair: Hashable, Sendable {
    /// Printable ASCII without `=`; letters are compared without regard to case.
    public let key: String
    /// The bytes after the `=`, or nil if there is no `=`.
    public let value: [UInt8]?

    var wireSize: Int { 1 + key.utf8.count + (value.map { 1 + $0.count } ?? 0) }
    var string: [UInt8] { Array(key.utf8) + (value.map { [UInt8(ascii: "=")] + $0 } ?? []) }
  }

  /// The most bytes that one pair may take, `=` included.
  public static let maximumPairSize = 255
  /// The most bytes that the whole record may take, with the length byte of each pair.
  public static let maximumSize = 400

  /// The pairs, in the order they were given.
  public private(set) var pairs: [Pair]

  /// A record with nothing in it.
  public init() { pairs = [] }

  /// Makes a record from text.
  ///
  /// - Throws: ``DiscoveryInfoError``: the first rule that a pair, or the sum of them, breaks.
  public init(_ pairs: KeyValuePairs<String, String>) throws(DiscoveryInfoError) {
    self.init()
    for (key, value) in pairs { try append(key, Array(value.utf8)) }
  }

  /// Adds a pair at the end.
  ///
  /// - Parameters:
  ///   - key: 1 or more of printable ASCII, without `=`, and not a key that is there already.
  ///   - value: any bytes; nil for a key without a value.
  /// - Throws: ``DiscoveryInfoError``: the rule the pair breaks; the record is then as it was.
  public mutating func append(_ key: String, _ value: [UInt8]?) throws(DiscoveryInfoError) {
    guard !key.isEmpty else { throw .emptyKey }
    for byte in key.utf8 {
      guard (0x20...0x7e).contains(byte), byte != UInt8(ascii: "=") else { throw .illegalKey }
    }
    let pair = Pair(key: key, value: value)
    guard pair.wireSize - 1 <= Self.maximumPairSize else { throw .pairTooLong }
    guard !contains(key) else { throw .duplicateKey }
    guard wireSize + pair.wireSize <= Self.maximumSize else { throw .recordTooLong }
    pairs.append(pair)
  }

  /// Whether a pair has this key, with or without a value.
  public func contains(_ key: String) -> Bool {
    pairs.contains { Self.isSameKey($0.key, key) }
  }

  /// The value of a key; nil if the key is missing or has no value.
  public subscript(key: String) -> [UInt8]? {
    pairs.first { Self.isSameKey($0.key, key) }?.value
  }

  /// The bytes the record takes on the wire.
  public var wireSize: Int { pairs.reduce(0) { $0 + $1.wireSize } }

  /// The record as DNS carries it: each pair behind one byte of length.
  public var wireBytes: [UInt8] {
    pairs.flatMap { [UInt8($0.wireSize - 1)] + $0.string }
  }

  /// The pairs as the strings of a TXT record, without length bytes.
  public var strings: [[UInt8]] { pairs.map(\.string) }

  /// Reads a record as DNS carries it.
  ///
  /// - Throws: `truncated` if a length points past the end, or what ``init(strings:)`` throws.
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

  /// Reads a record from the strings of a TXT record, as a stranger sent them.
  ///
  /// By RFC 6763, 6.4, strings that are empty or begin with `=` are passed over, and of two with one
  /// key the first counts.
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
      } catch .duplicateKey {
        continue
      }
    }
  }

  private static func isSameKey(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8) { folded($0) == folded($1) }
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}

/// The reason why a record of keys and values is not legal.
public enum DiscoveryInfoError: Error, Hashable, Sendable {
  /// A key has no character.
  case emptyKey
  /// A key has a character that is not printable ASCII, or `=`.
  case illegalKey
  /// A key stands there twice.
  case duplicateKey
  /// A pair takes more than 255 bytes.
  case pairTooLong
  /// The whole takes more than 400 bytes.
  case recordTooLong
  /// A length points past the end of the bytes.
  case truncated
}
