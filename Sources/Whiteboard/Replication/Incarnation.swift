/// One run of one program on one board: the author of operations, apart from who sits at it.
///
/// A new one is drawn at random at every start, so that a dot is never used twice (BRD-1).
public struct Incarnation: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The 64 bits; never zero.
  public let rawValue: UInt64

  /// An incarnation of known bits; zero, which means "none" on the wire, is a broken invariant.
  @inlinable public init(_ rawValue: UInt64) {
    precondition(rawValue != 0, "an incarnation is not zero")
    self.rawValue = rawValue
  }

  /// An incarnation from bits that may be zero, in which case there is none.
  @inlinable public init?(exactly rawValue: UInt64) {
    guard rawValue != 0 else { return nil }
    self.rawValue = rawValue
  }

  /// The incarnation of a canonical text of 13 base32 characters, or nil.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Base32.decode(text, count: 8) else { return nil }
    self.init(exactly: bytes.reduce(0) { ($0 << 8) | UInt64($1) })
  }

  /// A fresh incarnation.
  public static func random(
    using generator: inout some RandomNumberGenerator
  ) -> Incarnation {
    Incarnation(UInt64.random(in: 1...UInt64.max, using: &generator))
  }

  /// The text form: 13 lower-case base32 characters.
  public var description: String {
    Base32.encode((0..<8).map { UInt8(truncatingIfNeeded: rawValue >> (56 - 8 * UInt64($0))) })
  }

  /// Orders by the unsigned number.
  @inlinable public static func < (lhs: Incarnation, rhs: Incarnation) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}
