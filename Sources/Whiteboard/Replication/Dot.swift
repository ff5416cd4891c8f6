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

  /// Returns whether the sequence number does not exceed the limit for its incarnation; true if there is no limit.
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
