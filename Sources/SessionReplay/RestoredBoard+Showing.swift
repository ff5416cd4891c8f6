import Whiteboard
import WhiteboardSync

extension RestoredBoard {
  /// The board for the eyes: to be looked at, not written on.
  ///
  /// - Parameter photos: Those whose bytes are here.
  /// - Returns: The board.
  /// - Complexity: O(1); the objects are shared.
  package func shown(photos: Set<AssetID> = []) -> Board {
    guard let member = MemberID([UInt8](repeating: 0, count: 32)),
      let incarnation = Incarnation(exactly: 1)
    else { preconditionFailure("an id has 32 bytes, and an incarnation is not 0") }
    let board = Board(incarnation: incarnation, member: member, wallClock: 0)
    board.show(state, authors: members)
    board.assets = photos
    return board
  }
}
