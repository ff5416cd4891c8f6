import PeerCore

/// The unique name of one operation: the incarnation of its author, and a sequence number.
public struct Dot: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The incarnation that wrote the operation.
  public let incarnation: Incarnation
  /// The sequence number of the operation, from 1 to `BoardLimits.sequence`.
  public let sequence: UInt64

  /// Creates a dot.
  ///
  /// The sequence number must be in range.
  @inlinable public init(_ incarnation: Incarnation, _ sequence: UInt64) {
    precondition(
      sequence >= 1 && sequence <= BoardLimits.sequence,
      "a sequence number must be 1 or more, and within the limit"
    )
    self.incarnation = incarnation
    self.sequence = sequence
  }

  /// The dot as text, `SEQ-INCARNATION`.
  public var description: String { "\(sequence)-\(incarnation)" }

  package func isWithin(_ last: [Incarnation: UInt64]) -> Bool { last[incarnation].map { sequence <= $0 } ?? true }

  /// Compares two dots by incarnation, then by sequence number.
  @inlinable public static func < (lhs: Dot, rhs: Dot) -> Bool {
    lhs.incarnation == rhs.incarnation ? lhs.sequence < rhs.sequence : lhs.incarnation < rhs.incarnation
  }
}

/// The name of an object: the dot of the operation that created it (BRD-2).
public struct ObjectID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The dot of the operation that created the object.
  public let dot: Dot

  /// Creates the id of the object that the operation `dot` creates.
  @inlinable public init(_ dot: Dot) { self.dot = dot }

  /// Creates an id from its canonical text `SEQ-INCARNATION`; nil if `text` is malformed.
  public init?(_ text: some StringProtocol) {
    guard let hyphen = text.utf8.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let digits = text[..<hyphen]
    guard let first = digits.utf8.first, first != UInt8(ascii: "0"),
      digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }), let sequence = UInt64(digits),
      sequence >= 1, sequence <= BoardLimits.sequence,
      let incarnation = Incarnation(text[text.utf8.index(after: hyphen)...])
    else { return nil }
    self.init(Dot(incarnation, sequence))
  }

  /// The id as text, `SEQ-INCARNATION`.
  public var description: String { dot.description }

  /// Compares two ids by incarnation, then by sequence number.
  @inlinable public static func < (lhs: ObjectID, rhs: ObjectID) -> Bool { lhs.dot < rhs.dot }
}

/// The author of operations: one run of one program on one board.
///
/// The program chooses a new incarnation at every start, so that no dot is ever used twice (BRD-1).
public struct Incarnation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The 64 bits of the incarnation, which are never all zero.
  public let rawValue: UInt64

  /// Creates an incarnation from its bits, which must not be zero: in the protocol, zero means "none".
  @inlinable public init(_ rawValue: UInt64) {
    precondition(rawValue != 0, "an incarnation must not be zero")
    self.rawValue = rawValue
  }

  /// Creates an incarnation from its bits; nil if they are zero.
  @inlinable public init?(exactly rawValue: UInt64) {
    guard rawValue != 0 else { return nil }
    self.rawValue = rawValue
  }

  /// Creates an incarnation from its canonical text of 13 base32 characters; nil if `text` is malformed.
  public init?(_ text: some StringProtocol) {
    guard let bytes = try? Base32.decode(text, byteCount: 8) else { return nil }
    self.init(exactly: bytes.reduce(0) { ($0 << 8) | UInt64($1) })
  }

  /// Returns a new random incarnation.
  public static func random(using generator: inout some RandomNumberGenerator) -> Incarnation {
    Incarnation(UInt64.random(in: 1...UInt64.max, using: &generator))
  }

  /// The text form: 13 lower-case base32 characters.
  public var description: String {
    Base32.encode((0..<8).map { UInt8(truncatingIfNeeded: rawValue >> (56 - 8 * UInt64($0))) })
  }

  /// Compares two incarnations as unsigned numbers.
  @inlinable public static func < (lhs: Incarnation, rhs: Incarnation) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The id of a member: the 32 bytes of its peer id, which the board does not interpret.
public struct MemberID: Identifier, Comparable {
  /// The 32 bytes.
  public let value: Bytes32

  /// Creates an id from its bytes.
  public init(_ value: Bytes32) { self.value = value }

  /// Compares two ids byte by byte.
  public static func < (left: MemberID, right: MemberID) -> Bool { left.value < right.value }
}
