import CommandLines
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit

/// Commands as a script would write them, so that tests can be read.
extension CommandRequest {
  /// The line without the request id.
  ///
  /// The continuation of a stroke needs no pen.
  var line: String {
    if request == nil, case .pen(let points, _, _) = command {
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
    switch command {
    case .text(let at, let words, let color, let alias):
      ["text", text(at), quoted(words)] + option("color", color.map(ColorText.text)) + option("as", alias?.description)
    case .stroke(let points, let pen, _, _): ["stroke"] + points.map(text) + options(pen)
    case .pen(let points, let pen, _): ["pen"] + points.map(text) + options(pen)
    case .photo(let at, let file, _): ["photo", text(at), quoted(file)]
    case .game(let game, let at, _, let alias): ["game", game.rawValue, text(at)] + option("as", alias?.description)
    case .duplicate(let objects, _, _): ["duplicate"] + names(objects)
    case .select(let objects): ["select"] + names(objects)
    case .move(let objects, .by(let distance)): ["move"] + names(objects) + ["+\(text(distance))"]
    case .move(let objects, .to(let point)): ["move"] + names(objects) + [text(point)]
    case .scale(let objects, let factor, let about, let keepsLineWidth):
      ["scale"] + names(objects) + [text(factor)] + option("about", about.map(text))
        + (keepsLineWidth ? ["line=keep"] : [])
    case .rotate(let objects, let degrees): ["rotate"] + names(objects) + [text(degrees)]
    case .color(let objects, let color): ["color"] + names(objects) + [color.map(ColorText.text) ?? "default"]
    case .width(let objects, let width): ["width"] + names(objects) + [text(width)]
    case .order(let objects, let place): ["order"] + names(objects) + ["\(place)"]
    case .group(let objects, _): ["group"] + names(objects)
    case .ungroup(let object): ["ungroup", object.description]
    case .lock(let objects): ["lock"] + names(objects)
    case .unlock(let objects): ["unlock"] + names(objects)
    case .insert(let object, let at, let words, let replacing, let was):
      ["insert", object.description, "\(at)", quoted(words)]
        + option("replacing", replacing == 0 ? nil : "\(replacing)") + option("was", was.map(quoted))
    case .erase(let points, let radius): ["erase"] + points.map(text) + ["radius=\(text(radius))"]
    case .delete(let objects): ["delete"] + names(objects)
    case .copy(let objects): ["copy"] + names(objects)
    case .paste(let at): ["paste"] + (at.map { [text($0)] } ?? [])
    case .play(let object, let move): ["play", object.description, quoted(move)]
    case .point(let point, let isLaser): ["point", point.map(text) ?? "none"] + (isLaser ? ["laser"] : [])
    case .view(let view): ["view"] + (view.map { [text($0.center), "\($0.width)", "\($0.height)"] } ?? ["none"])
    case .accept(let target, let isAlways): ["accept", quoted(target)] + (isAlways ? ["always"] : [])
    case .decline(let target, _): ["decline", quoted(target)]
    case .say(let words): ["say", quoted(words)]
    case .export(let file, _, _, let isReplacing): ["export", quoted(file)] + (isReplacing ? ["force"] : [])
    case .saveAs(let file): ["save-as", quoted(file)]
    case .help: ["help"]
    default: ["\(command)"]
    }
  }

  private static func names(_ objects: [ObjectReference]) -> [String] { objects.map(\.description) }

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
