import PeerCore
import Whiteboard

/// The id of a board and of its session: 16 bytes.
///
/// Records, heads and answers are signed together with the id of the board, so they are not valid on another
/// board.
public struct BoardID: Hashable, Sendable, CustomStringConvertible {
  /// The number of bytes in an id.
  public static let byteCount = 16

  /// The bytes.
  public let bytes: [UInt8]

  /// Creates an id from bytes; nil unless there are exactly 16 bytes.
  public init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Creates an id from its text form; nil unless `text` is 26 canonical base32 characters.
  public init?(_ text: String) {
    guard let bytes = try? Base32.decode(text, byteCount: Self.byteCount) else { return nil }
    self.init(bytes)
  }

  /// The text form: 26 lower-case base32 characters.
  public var description: String { Base32.encode(bytes) }
}
