/// The limits of the values in commands.
package enum CommandLimits {
  /// The maximum length of a message of `send`, in bytes.
  ///
  /// It is one byte less than the limit of a session, because one byte contains the type of the
  /// message.
  package static let maximumMessageLength = 16 * 1024 * 1024 - 1
  /// The maximum length of a message of `send --unreliable`, in bytes.
  package static let maximumDatagramLength = 64 * 1024 - 1
  /// The maximum length of a text object or chat line, in bytes of UTF-8.
  package static let maximumTextLength = 8 * 1024
  /// The maximum number of points of a stroke.
  package static let maximumPoints = 65_536
  /// The maximum number of points of the path of an eraser.
  package static let maximumErasePoints = 4_096
  /// The maximum number of objects in a command.
  package static let maximumReferences = 4_096
  /// The maximum number of characters of a text, and so the greatest position in it.
  package static let maximumCharacters = 65_536
  /// The maximum width of a line and radius of an eraser, in board units.
  package static let maximumWidth = 1_024.0
  /// The maximum distance between the lines of the grid, in board units.
  package static let maximumGrid = 65_536.0
  /// The maximum number of pixels per board unit in an export.
  package static let maximumPixels = 64.0
  /// The maximum length of the title of a board or the name of a checkpoint, in bytes of UTF-8.
  package static let maximumTitleLength = 256
  /// The maximum length of a display name, in bytes of UTF-8.
  package static let maximumPersonLength = 64
  /// The maximum length of a move in a game, in bytes of UTF-8.
  package static let maximumMoveLength = 64
  /// The maximum length of the name of a resource or stream, in bytes of UTF-8.
  package static let maximumNameLength = 16 * 1024
  /// The maximum time in a command, in seconds: one day.
  package static let maximumSeconds = 86_400.0
}
