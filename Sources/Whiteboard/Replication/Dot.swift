/// The name of one operation: its author's incarnation and its place in that author's sequence.
public struct Dot: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The author of the operation.
  public let incarnation: Incarnation
  /// The operation's number, counted from 1; at most `BoardLimits.sequence`.
  public let sequence: UInt64

  /// A dot of parts that are known to be in range.
  @inlinable public init(_ incarnation: Incarnation, _ sequence: UInt64) {
    precondition(
      sequence >= 1 && sequence <= BoardLimits.sequence,
      "a sequence number starts at 1"
    )
    self.incarnation = incarnation
    self.sequence = sequence
  }

  /// The text form, `SEQ-INCARNATION`.
  public var description: String { "\(sequence)-\(incarnation)" }

  /// Whether it is not behind the last sequence of its incarnation, if that is among these.
  package func isWithin(_ last: [Incarnation: UInt64]) -> Bool {
    last[incarnation].map { sequence <= $0 } ?? true
  }

  /// Orders by incarnation, then by sequence number.
  @inlinable public static func < (lhs: Dot, rhs: Dot) -> Bool {
    lhs.incarnation == rhs.incarnation
      ? lhs.sequence < rhs.sequence : lhs.incarnation < rhs.incarnation
  }
}

/// The name of an object: the dot of the operation that created it (BRD-2).
public struct ObjectID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The dot of the create operation.
  public let dot: Dot

  /// The id of the object that the operation `dot` creates.
  @inlinable public init(_ dot: Dot) { self.dot = dot }

  /// The id of a canonical text `SEQ-INCARNATION`, or nil.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let first = parts[0].utf8.first, first != UInt8(ascii: "0"),
      parts[0].utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
      let sequence = UInt64(parts[0]), sequence >= 1, sequence <= BoardLimits.sequence,
      let incarnation = Incarnation(parts[1])
    else { return nil }
    self.init(Dot(incarnation, sequence))
  }

  /// The text form, `SEQ-INCARNATION`.
  public var description: String { dot.description }

  /// Orders by incarnation, then by sequence number.
  @inlinable public static func < (lhs: ObjectID, rhs: ObjectID) -> Bool { lhs.dot < rhs.dot }
}
