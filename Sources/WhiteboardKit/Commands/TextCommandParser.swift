import PeerCore

/// A parser of commands in their text form, such as `move last +10,0`.
enum TextCommandParser {
  static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    let words = try LineWords.split(line)
    guard let first = words.first else { return nil }
    var arguments = LineArguments(words.dropFirst())
    // Read the request id first, so that an error about any other argument contains it.
    let request = try arguments.removeRequest()
    guard let name = CommandName(rawValue: first.text), !first.isQuoted else {
      throw CommandParser.unknownCommand(first.text).answering(
        verb: UntrustedText(first.text).escaped(limit: 64),
        request: request
      )
    }
    let entry = CommandTable.entry(name)
    do throws(CommandError) {
      let command = try entry.parseWords(&arguments)
      try arguments.expectEnd()
      return CommandRequest(command, request: request)
    } catch {
      let isAboutUsage = [.missingArgument, .badArgument, .unknownArgument].contains(error.code)
      let message = isAboutUsage ? "\(error.message). Usage: \(entry.usage)" : error.message
      throw CommandError(error.code, message, verb: name.rawValue, request: request)
    }
  }
}

/// The text form of points and numbers.
extension TextCommandParser {
  static func point(_ text: some StringProtocol) throws(CommandError) -> BoardPoint {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let x = number(parts[0]), let y = number(parts[1]) else {
      throw CommandError(.badArgument, "\(UntrustedText(text).quoted()) is not a point; write X,Y, like 120,-40.5")
    }
    guard let point = BoardPoint(x: x, y: y) else {
      throw CommandError(
        .badArgument,
        "\(UntrustedText(text).quoted()) is outside the board: X and Y go from -33554432 to just below 33554432"
      )
    }
    return point
  }

  /// Parses a decimal number; nil for other forms that `Double` accepts, such as hexadecimal numbers.
  static func number(_ text: some StringProtocol) -> Double? {
    guard (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 == 0x45 || $0 == 0x65
      })
    else { return nil }
    return Double(text)
  }
}
