import WhiteboardRendering

/// The one parser of every mode: reads a line of a script, of the prompt or of a program into a verb.
///
/// A line whose first character, blanks aside, is `{` is JSON; any other is words.
package enum CommandParser {
  /// The longest line, in bytes: a message of 16 MiB in base64 and room beside it.
  package static let maximumLineLength = 23 * 1024 * 1024
  /// The longest message of `send`, in bytes.
  ///
  /// It is what a session carries, less the byte that says what it is.
  package static let maximumMessageLength = 16 * 1024 * 1024 - 1
  /// The longest message of `send --unreliable`, in bytes.
  package static let maximumDatagramLength = 64 * 1024 - 1
  /// The longest text of a text object or chat line, in bytes of UTF-8.
  package static let maximumTextLength = 8 * 1024
  /// The most points of one stroke.
  package static let maximumPoints = 65_536
  /// The most points of the path of an eraser.
  package static let maximumErasePoints = 4_096
  /// The most objects that one verb names.
  package static let maximumReferences = 4_096
  /// The most characters of a text, and so the last place in it.
  package static let maximumCharacters = 65_536
  /// The widest line and the widest eraser, in board units.
  package static let maximumWidth = 1_024.0
  /// The widest grid, in board units.
  package static let maximumGrid = 65_536.0
  /// The most pixels of a page for each board unit.
  package static let maximumPixels = 64.0
  /// The longest title of a board and name of a checkpoint, in bytes of UTF-8.
  package static let maximumTitleLength = 256
  /// The longest name of a person, in bytes of UTF-8.
  package static let maximumPersonLength = 64
  /// The longest move of a game, in bytes of UTF-8.
  package static let maximumMoveLength = 64
  /// The longest name of a resource or stream, in bytes of UTF-8.
  package static let maximumNameLength = 16 * 1024
  /// The longest time a verb takes, in seconds: a day.
  package static let maximumSeconds = 86_400.0
  /// The longest mark of a request, in bytes of UTF-8.
  package static let maximumRequestLength = 256

  /// Reads one line, or nil if it holds nothing, or nothing but a comment.
  ///
  /// - Throws: ``CommandError`` that names the verb and its mark as far as the line could be read.
  package static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    guard line.utf8.count <= maximumLineLength else {
      throw CommandError(
        .lineTooLong,
        "the line has \(line.utf8.count) bytes; at most \(maximumLineLength) can be read"
      )
    }
    guard let first = line.utf8.first(where: { !isBlank($0) }) else { return nil }
    if first == UInt8(ascii: "{") {
      return try JSONCommandParser.parse(Array(line.utf8))
    }
    return try TextCommandParser.parse(line)
  }

  /// Reads one line of bytes, or nil if it holds nothing, or nothing but a comment.
  ///
  /// - Throws: ``CommandError``, `syntax` if the bytes are not UTF-8.
  package static func parse(bytes: [UInt8]) throws(CommandError) -> CommandRequest? {
    guard bytes.count <= maximumLineLength else {
      throw CommandError(
        .lineTooLong,
        "the line has \(bytes.count) bytes; at most \(maximumLineLength) can be read"
      )
    }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.syntax, "the line is not UTF-8")
    }
    return try parse(line)
  }

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A
  }

  static func unknownCommand(_ word: String) -> CommandError {
    let hint =
      if let nearest = CommandTable.nearest(to: word) {
        "did you mean \(nearest.rawValue)?"
      } else {
        "`help verbs` lists them"
      }
    return CommandError(.unknownCommand, "there is no verb \(TerminalText.quoted(word)); \(hint)")
  }
}
