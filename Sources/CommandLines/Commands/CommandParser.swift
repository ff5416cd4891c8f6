import PeerCore
import WhiteboardKit

/// A parser for lines with commands, from a script, the prompt or a program.
///
/// A line is JSON if its first character that is not a space is `{`. Any other line is in text form.
package enum CommandParser {
  /// The maximum length of a line, in bytes.
  ///
  /// It is enough for a message of 16 MiB in base64 and the other keys of its command.
  package static let maximumLineLength = 23 * 1024 * 1024
  /// The maximum length of a request id, in bytes of UTF-8.
  package static let maximumRequestLength = 256

  /// Parses a line; returns nil if it is empty or only a comment.
  ///
  /// - Throws: ``CommandError`` with the command and the request id, if these could be read.
  package static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    guard line.utf8.count <= maximumLineLength else {
      throw CommandError(
        .lineTooLong,
        "the line has \(line.utf8.count) bytes; at most \(maximumLineLength) are allowed"
      )
    }
    guard let first = line.utf8.first(where: { !isBlank($0) }) else { return nil }
    if first == UInt8(ascii: "{") { return try JSONCommandParser.parse(Array(line.utf8)) }
    return try TextCommandParser.parse(line)
  }

  /// Parses the bytes of a line; returns nil if it is empty or only a comment.
  ///
  /// - Throws: ``CommandError``; its code is `syntax` if the bytes are not UTF-8.
  package static func parse(bytes: [UInt8]) throws(CommandError) -> CommandRequest? {
    guard bytes.count <= maximumLineLength else {
      throw CommandError(.lineTooLong, "the line has \(bytes.count) bytes; at most \(maximumLineLength) are allowed")
    }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.syntax, "the line is not valid UTF-8")
    }
    return try parse(line)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

  static func unknownCommand(_ word: String) -> CommandError {
    let hint =
      if let nearest = CommandTable.nearest(to: word) { "did you mean \(nearest.rawValue)?" } else {
        "`help verbs` lists all commands"
      }
    return CommandError(.unknownCommand, "there is no command \(UntrustedText(word).quoted()); \(hint)")
  }
}
