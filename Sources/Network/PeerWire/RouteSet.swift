/// A set of route numbers that identify the recipients of a member's message (`Protocol/session.md`, 11.2).
///
/// The encoding is a bitmap, preceded by one byte with its length (1 to 32). Bit i of byte j stands for route 8j + i,
/// and the last byte is not zero.
public struct RouteSet: Hashable, Sendable {
  /// The maximum length of the bitmap in bytes.
  public static let maximumBytes = 32
  /// The number of possible route numbers, 0 to 255 (RLY-4).
  public static let capacity = 256

  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// Creates an empty set, which cannot be encoded.
  public init() {}

  /// Creates a set of route numbers.
  public init(_ routes: some Sequence<UInt8>) { for route in routes { insert(route) } }

  /// Adds a route number.
  public mutating func insert(_ route: UInt8) {
    let bit = UInt64(1) << UInt64(route & 63)
    switch route >> 6 {
    case 0: words.0 |= bit
    case 1: words.1 |= bit
    case 2: words.2 |= bit
    default: words.3 |= bit
    }
  }

  /// Returns whether the set contains a route number.
  public func contains(_ route: UInt8) -> Bool { word(route >> 6) >> UInt64(route & 63) & 1 == 1 }

  /// Whether the set has no route numbers.
  public var isEmpty: Bool { words == (0, 0, 0, 0) }

  /// The route numbers in ascending order.
  public var routes: [UInt8] {
    var result: [UInt8] = []
    for index in UInt8(0)..<4 {
      var rest = word(index)
      while rest != 0 {
        result.append(index << 6 | UInt8(truncatingIfNeeded: rest.trailingZeroBitCount))
        rest &= rest - 1
      }
    }
    return result
  }

  /// Returns whether two sets contain the same route numbers.
  public static func == (left: Self, right: Self) -> Bool { left.words == right.words }

  /// Hashes the route numbers.
  public func hash(into hasher: inout Hasher) { for index in UInt8(0)..<4 { hasher.combine(word(index)) } }

  private func word(_ index: UInt8) -> UInt64 {
    switch index {
    case 0: words.0
    case 1: words.1
    case 2: words.2
    default: words.3
    }
  }

  /// Reads a set at `offset` and moves `offset` past it.
  ///
  /// - Throws: `malformed` if the length is not 1 to 32, the bytes end early, or the last byte is zero.
  public static func read(from bytes: Span<UInt8>, at offset: inout Int) throws(RelayMessage.DecodingError) -> RouteSet
  {
    guard offset < bytes.count else { throw .malformed }
    let count = Int(bytes[offset])
    let start = offset + 1
    guard count >= 1, count <= maximumBytes, bytes.count - start >= count, bytes[start + count - 1] != 0 else {
      throw .malformed
    }
    var result = RouteSet()
    for index in 0..<count {
      let byte = bytes[start + index]
      for bit in 0..<8 where byte >> UInt8(bit) & 1 == 1 { result.insert(UInt8(truncatingIfNeeded: index * 8 + bit)) }
    }
    offset = start + count
    return result
  }

  /// Appends the encoded set.
  ///
  /// Each set has exactly one encoding.
  ///
  /// - Precondition: The set is not empty.
  public func append(to bytes: inout [UInt8]) {
    precondition(!isEmpty, "a relayed message has at least one route")
    var bitmap: [UInt8] = []
    bitmap.reserveCapacity(Self.maximumBytes)
    for index in UInt8(0)..<4 {
      for shift in UInt64(0)..<8 { bitmap.append(UInt8(truncatingIfNeeded: word(index) >> (shift * 8))) }
    }
    while bitmap.last == 0 { bitmap.removeLast() }
    bytes.append(UInt8(truncatingIfNeeded: bitmap.count))
    bytes.append(contentsOf: bitmap)
  }
}
