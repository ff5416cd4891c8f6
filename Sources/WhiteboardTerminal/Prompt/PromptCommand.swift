import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// A line of the `:` prompt: a command for the terminal or for the board.
enum PromptCommand: Sendable {
  case quit(isAnyway: Bool)
  case suspend
  /// Go to the object with an id, or to an object whose text contains the words.
  case go(String)
  case follow(String)
  case fit
  /// Zoom to a factor, where 1 is the actual size.
  case zoom(Double)
  case dotStyle(DotStyle)
  case board(Command)

  static let names: [(name: String, about: String)] = [
    ("q", "leave the board"), ("suspend", "return to the shell until you run fg, like Ctrl+Z"),
    ("go", "go to the object with this id, or to the text with these words"),
    ("follow", "follow the member with this name"), ("fit", "show everything"), ("zoom", "zoom to a percentage"),
    ("pen-style", "how lines are drawn: braille, half or ascii"),
  ]

  enum Failure: Error, Equatable, Sendable {
    /// The terminal does not accept the command.
    case terminal(String)
    /// The line is not a valid command for the board.
    case parser(CommandError)
  }

  /// Parses a line; nil if it is empty or a comment; throws ``Failure`` with the message for the user.
  init?(_ line: String) throws(Failure) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1].trimmed : ""
    switch words.first {
    case nil: return nil
    case "q", "quit": self = .quit(isAnyway: rest == "anyway")
    case "suspend": self = .suspend
    case "go" where !rest.isEmpty: self = .go(rest)
    case "follow" where !rest.isEmpty: self = .follow(rest)
    case "fit": self = .fit
    case "zoom":
      guard let percent = Double(rest), percent > 0 else {
        throw .terminal(":zoom needs a percentage, such as :zoom 50")
      }
      self = .zoom(percent / 100)
    case "pen-style":
      guard let style = DotStyle(rawValue: rest) else {
        throw .terminal(":pen-style needs one of braille, half or ascii")
      }
      self = .dotStyle(style)
    case let word? where CommandName(rawValue: word) == nil && !word.hasPrefix("{"):
      let known = CommandName.allCases.map(\.rawValue) + Self.names.map(\.name)
      let nearest = Spelling.nearest(to: word, in: known)
      let advice = nearest.map { "did you mean \($0)?" } ?? ":help lists them"
      throw .terminal("there is no command \(UntrustedText(word)); \(advice)")
    default:
      do throws(CommandError) {
        guard let request = try CommandParser.parse(line) else { return nil }
        self = .board(request.command)
      } catch { throw .parser(error) }
    }
  }
}

extension String {
  var trimmed: String {
    let isBlank: (Character) -> Bool = { $0.isWhitespace }
    let rest = drop(while: isBlank)
    return String(rest.reversed().drop(while: isBlank).reversed())
  }

  var lines: [String] { split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init) }
}
