import Whiteboard
import WhiteboardSync

/// A visible change of a board, for programs that draw it.
package enum BoardChange: Sendable {
  /// An object is new or changed; includes the view of the game if the object is a game.
  case shown(ObjectSnapshot, GameView?)
  case removed(ObjectID)
  /// Another member continues a stroke that is not committed yet.
  case preview(StrokePreview)
  /// A member moved or hid its pointer, or sees another part of the board.
  case presence(MemberID, Presence)
  /// A photo is available: it was already stored, was added by the local user, or has arrived from a member.
  ///
  /// ``SharedBoard/openPhoto(_:)`` returns the path of its file.
  case photo(AssetID)
  /// The first report follows the opening of the board's file.
  case saving(SaveState)
}
