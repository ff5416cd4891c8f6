import PeerCore

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
