import Whiteboard
import WhiteboardSync

/// What shows in another way on the board.
package enum BoardChange: Sendable {
  /// An object is new or changed; with the game if it is one.
  case shown(ObjectSnapshot, GameView?)
  /// An object is gone.
  case removed(ObjectID)
  /// A stroke goes on, elsewhere, and that is not committed yet.
  case preview(StrokePreview)
  /// A member points somewhere else, or nowhere, or looks at another part of the board.
  case presence(MemberID, Presence)
  /// The node has a photo: from the start, because it was added here, or because it arrived.
  ///
  /// ``SharedBoard/openPhoto(_:)`` returns its file.
  case photo(AssetID)
  /// The save state changed; reported first when the file is open.
  case saving(SaveState)
}
