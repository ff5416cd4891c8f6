import PeerCore

/// The id of a board and of its session: 16 bytes.
///
/// Records, heads and answers are signed together with the id of the board, so they are not valid on another board.
public struct BoardID: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}
