import CommandLines
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit

/// Commands in the text form of scripts, so that tests are readable.
extension CommandRequest {
  /// The line without the request id.
  ///
  /// The continuation of a stroke needs no pen.
  var line: String {
    if request == nil, command.name == .pen, let points: [BoardPoint] = command.argument() {
      return (["pen"] + points.map { CommandLine.text($0) }).joined(separator: " ")
    }
    return CommandLine.text(command)
  }

  var isParsedFromLine: Bool { (try? CommandParser.parse(line))?.map { $0.command == command } ?? false }
}

/// The text form of the commands that the client sends.
enum CommandLine {
  static func text(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }

  static func text(_ point: BoardPoint) -> String { "\(text(point.x)),\(text(point.y))" }

  static func text(_ place: Point) -> String { "\(DecimalText.hundredths(place.x)),\(DecimalText.hundredths(place.y))" }

  static func text(_ command: Command) -> String { words(command).joined(separator: " ") }

  private static func words(_ command: Command) -> [String] {
    let words = command.arguments.map(words)
    return switch command.name {
    case .rect, .ellipse, .diamond, .note:
      [command.name.rawValue] + words[0] + option("size", words[1].first) + words[4]
    case .line: ["line"] + words[0] + words[2]
    case .arrow: ["arrow"] + words[0] + (words[1].isEmpty ? [] : ["connect"]) + words[3]
    case .stroke, .pen: [command.name.rawValue] + words[0] + words[1]
    case .color: ["color"] + words[0] + (words[1].isEmpty ? ["default"] : words[1])
    case .duplicate: ["duplicate"] + words[0] + option("by", words[1].first)
    case .group, .decline: [command.name.rawValue] + words[0]
    case .photo: ["photo"] + words[0] + words[1]
    case .text:
      ["text"] + words[0] + words[1] + (words[2].isEmpty ? [] : ["from=corner"]) + option("color", words[3].first)
        + option("as", words[4].first)
    case .game: ["game"] + words[0] + words[1] + option("as", words[3].first)
    case .scale:
      ["scale"] + words[0] + words[1] + option("about", words[2].first) + (words[3].isEmpty ? [] : ["line=keep"])
    case .insert:
      ["insert"] + words[0] + words[1] + words[2] + option("replacing", words[3] == ["0"] ? nil : words[3].first)
        + option("was", words[4].first)
    case .resize: ["resize"] + words[0] + words[1] + option("at", words[2].first)
    case .clear: ["clear board sure"]
    case .erase: ["erase"] + words[0] + option("radius", words[1].first)
    case .point: ["point"] + (words[0].isEmpty ? ["none"] : words[0]) + (words[1].isEmpty ? [] : ["laser"])
    case .view: ["view"] + (words[0].isEmpty ? ["none"] : words[0])
    case .accept: ["accept"] + words[0] + (words[1].isEmpty ? [] : ["always"])
    case .export: ["export"] + words[0] + (words[4].isEmpty ? [] : ["embed"]) + (words[5].isEmpty ? [] : ["force"])
    // The argument of `help` is the text of the help.
    case .help: ["help"]
    default: [command.name.rawValue] + words.joined()
    }
  }

  /// Returns the words of an argument; none for nil and false.
  private static func words(_ argument: any Equatable & Sendable) -> [String] {
    switch argument {
    case let isSet as Bool: isSet ? ["true"] : []
    case let color as UInt32: [ColorText.text(color)]
    case let number as Int: ["\(number)"]
    case let number as Double: [text(number)]
    case let point as BoardPoint: [text(point)]
    case let ends as LineEnds:
      [ends.from, ends.to].map { if case .point(let point) = $0 { text(point) } else { "" } }
    case let points as [BoardPoint]: points.map(text)
    case .by(let distance) as Movement: ["+\(text(distance))"]
    case .to(let point) as Movement: [text(point)]
    case let pen as Pen: options(pen)
    case let object as ObjectReference: [object.description]
    case let objects as [ObjectReference]: objects.map(\.description)
    case let edge as AlignmentEdge: [edge.rawValue]
    case let axis as BoardAxis: [axis.rawValue]
    case let game as GameName: [game.rawValue]
    case let place as StackPlace: ["\(place)"]
    case let alias as ObjectAlias: [alias.description]
    case let view as BoardView: [text(view.center), "\(view.width)", "\(view.height)"]
    case let words as String: [quoted(words)]
    default: []
    }
  }

  private static func options(_ pen: Pen) -> [String] {
    option("color", pen.color.map(ColorText.text)) + ["width=\(text(pen.width))"]
  }

  private static func option(_ name: String, _ value: String?) -> [String] { value.map { ["\(name)=\($0)"] } ?? [] }

  private static func quoted(_ words: String) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in words.unicodeScalars {
      switch scalar {
      case "\\", "\"": escaped.append(contentsOf: ["\\", scalar])
      case "\n": escaped.append(contentsOf: ["\\", "n"])
      default: escaped.append(scalar)
      }
    }
    return "\"\(String(escaped))\""
  }
}
