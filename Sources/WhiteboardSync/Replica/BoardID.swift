import Whiteboard

/// Which board this is: 16 bytes, the id of its session.
///
/// Records, heads and answers are signed for one board, so that nothing of it counts on another.
public struct BoardID: Hashable, Sendable, CustomStringConvertible {
  /// How many bytes there are.
  public static let byteCount = 16

  /// The bytes.
  public let bytes: [UInt8]

  /// The board of exactly 16 bytes, or nil.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// The board of a canonical text of 26 base32 characters, or nil.
  public init?(_ text: String) {
    guard let bytes = Base32.decode(text, count: Self.byteCount) else { return nil }
    self.init(bytes)
  }

  /// The text form: 26 lower-case base32 characters.
  public var description: String { Base32.encode(bytes) }
}
