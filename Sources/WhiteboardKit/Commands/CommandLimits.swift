/// The limits of the values in commands.
package enum CommandLimits {
  /// The maximum length of a message sent with `send`, in bytes.
  ///
  /// The value is one byte less than the session's limit, because one byte contains the message type.
  package static let maximumMessageLength = 16 * 1024 * 1024 - 1
  /// The maximum length of a message sent with `send --unreliable`, in bytes.
  package static let maximumDatagramLength = 64 * 1024 - 1
  /// The maximum length of a text object or chat line, in bytes of UTF-8.
  package static let maximumTextLength = 8 * 1024
  /// The maximum number of points in a stroke.
  package static let maximumPoints = 65_536
  /// The maximum number of points in an eraser path.
  package static let maximumErasePoints = 4_096
  /// The maximum number of objects in a command.
  package static let maximumReferences = 4_096
  /// The maximum number of characters in a text object, and therefore the maximum position.
  package static let maximumCharacters = 65_536
  /// The maximum line width and eraser radius, in board units.
  package static let maximumWidth = 1_024.0
  /// The maximum grid spacing, in board units.
  package static let maximumGrid = 65_536.0
  /// The maximum number of pixels per board unit in an export.
  package static let maximumPixels = 64.0
  /// The maximum length of a board title or checkpoint name, in bytes of UTF-8.
  package static let maximumTitleLength = 256
  /// The maximum length of a display name, in bytes of UTF-8.
  package static let maximumPersonLength = 64
  /// The maximum length of a game move, in bytes of UTF-8.
  package static let maximumMoveLength = 64
  /// The maximum length of a resource or stream name, in bytes of UTF-8.
  package static let maximumNameLength = 16 * 1024
  /// The maximum number of files and folders that one command names.
  package static let maximumFileCount = 256
  /// The maximum duration that a command accepts, in seconds: one day.
  package static let maximumSeconds = 86_400.0
}
