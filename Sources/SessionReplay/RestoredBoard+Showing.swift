import Whiteboard
import WhiteboardSync

extension RestoredBoard {
  /// Returns the board for display, with only `photos` available; it must not be edited.
  package func shown(photos: Set<AssetID> = []) -> Board {
    guard let member = MemberID(bytes: [UInt8](repeating: 0, count: 32)), let incarnation = Incarnation(exactly: 1)
    else { preconditionFailure("a member id has 32 bytes, and an incarnation is not 0") }
    let board = Board(incarnation: incarnation, member: member, wallClock: 0)
    board.show(state, authors: members)
    board.assets = photos
    return board
  }
}
