import PeerCore
import WhiteboardKit

/// Objects as text.
extension EventText {
  /// Returns an object in one line.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - name: Returns the name of a peer; by default, the beginning of its id.
  /// - Returns: The line.
  static func object(_ object: BoardEvent.ObjectDescription, naming name: (String) -> String = EventText.prefix)
    -> String
  { about(object, wordsLimit: 80, naming: name).joined(separator: ", ") }

  static func prefix(of peer: String) -> String { UntrustedText(peer.prefix(8)).escaped() }

  /// Returns an object in one line.
  ///
  /// For a game, further lines show the game and explain its marks.
  static func whole(_ object: BoardEvent.ObjectDescription, naming name: (String) -> String = EventText.prefix)
    -> String
  { self.object(object, naming: name) + (game(object) + rules(object)).joined() }

  /// Returns all properties of an object in one line.
  ///
  /// For a game, further lines show the game.
  static func detailed(_ object: BoardEvent.ObjectDescription) -> String {
    (about(object, wordsLimit: wordsLimit, naming: EventText.prefix) + looks(object)).joined(separator: ", ")
      + (game(object) + rules(object)).joined()
  }

  /// Returns the kind and the position of an object, and its other properties.
  private static func about(_ object: BoardEvent.ObjectDescription, wordsLimit: Int, naming name: (String) -> String)
    -> [String]
  {
    var first = "\(UntrustedText(object.type).escaped()) \(UntrustedText(object.id).escaped())"
    if let game = object.game?.view["game"]?.text { first += " \(UntrustedText(game).quoted())" }
    if let text = object.text { first += " \(text.quoted(limit: wordsLimit))" }
    var parts = [first]
    if let members = object.members { parts.append("of \(count(members.count, "object"))") }
    if let points = object.points { parts.append(count(object.pointCount ?? points.count, "point")) }
    if let erased = object.erased { parts.append("erased in \(count(erased.count, "place"))") }
    if let isHere = object.isAssetAvailable { parts.append(isHere ? "with its photo" : "photo not received yet") }
    parts[parts.count - 1] += " at \(object.centerPosition.map(number).joined(separator: ","))"
    if object.scale != 1 { parts.append("scale \(number(object.scale))") }
    if object.angle != 0 { parts.append("turned \(number((object.angle * 180 / .pi).rounded()))°") }
    if object.isLocked == true { parts.append("locked") }
    for (index, group) in (object.groups ?? []).enumerated() {
      parts.append("\(index == 0 ? "in" : "that in") group \(UntrustedText(group).escaped())")
    }
    if let holder = object.selectedBy { parts.append("selected by \(name(holder))") }
    return parts
  }

  /// Returns the appearance of an object, and its contents.
  private static func looks(_ object: BoardEvent.ObjectDescription) -> [String] {
    var parts = ["size \(object.size.map(number).joined(separator: " by "))"]
    if let color = object.color { parts.append("color \(UntrustedText(color).escaped(limit: 16))") }
    if let width = object.lineWidth { parts.append("line \(number(width)) wide") }
    if object.isFinished == false { parts.append("still being drawn") }
    if let pixels = object.pixelSize { parts.append("\(pixels.map { "\($0)" }.joined(separator: " by ")) pixels") }
    if let format = object.format { parts.append(UntrustedText(format).escaped(limit: 16)) }
    if let byteCount = object.byteCount { parts.append(count(byteCount, "byte")) }
    if let path = object.path { parts.append("in \(UntrustedText(path).escaped())") }
    if !object.updatedAt.isEmpty { parts.append("changed \(UntrustedText(object.updatedAt).escaped(limit: 32))") }
    if let members = object.members {
      parts.append("holds " + members.map { UntrustedText($0).escaped() }.joined(separator: ", "))
    }
    return parts
  }

  /// Returns the state of a game, in lines of its own.
  static func game(_ object: BoardEvent.ObjectDescription) -> [String] {
    (object.game?.lines ?? []).map { "\n    \($0.escaped(limit: 512))" }
  }

  /// Returns the rules of a game, and the meaning of its marks.
  private static func rules(_ object: BoardEvent.ObjectDescription) -> [String] {
    let play = "\n    (play \(UntrustedText(object.id).escaped())"
    return switch object.game?.view["game"]?.text {
    case "wordle": ["\(play) WORD; = right place, ~ elsewhere in the word, - not in the word)"]
    case "connect-four": ["\(play) COLUMN, from 1 to 7, or resign)"]
    default: []
    }
  }
}
