import PeerCore
import Whiteboard
import WhiteboardRendering

struct Parameter<Value: Equatable & Sendable>: Sendable {
  typealias Words = @Sendable (inout LineArguments) throws(CommandError) -> Value
  typealias JSON = @Sendable (JSONFields) throws(CommandError) -> Value
  typealias Check = @Sendable (Value) throws(CommandError) -> Value

  let usage: String
  let keys: [CommandEntry.Key]
  let options: [LineOption]
  /// The number of words that this parameter needs. A preceding list of objects does not include these words. If the
  /// line has one of the options, the parameter needs no word.
  let wordCount: Int
  var isNumber: Bool { wordCount == 1 && keys.allSatisfy { $0.kind == .number } }
  let words: Words
  let json: JSON
  /// Returns the value with normalized text; throws if the value exceeds its limits.
  let check: Check

  init(
    _ usage: String,
    _ keys: [(String, JSONKind)],
    options: [LineOption] = [],
    wordCount: Int = 0,
    words: @escaping Words,
    json: @escaping JSON,
    check: @escaping Check = { (value) throws(CommandError) in value }
  ) {
    self.usage = usage
    self.keys = keys.map { CommandEntry.Key(name: $0.0, kind: $0.1) }
    self.options = options
    self.wordCount = wordCount
    self.words = words
    self.json = json
    self.check = check
  }

  /// A parameter whose text form is one word, and whose JSON form is a string. `what` names the parameter if it is
  /// missing.
  static func word(
    _ usage: String,
    _ key: String,
    _ what: String,
    kind: JSONKind = .string,
    _ parse: @escaping @Sendable (String) throws(CommandError) -> Value,
    check: @escaping Check = { (value) throws(CommandError) in value }
  ) -> Parameter {
    Parameter(usage, [(key, kind)], wordCount: 1) { (arguments) throws(CommandError) in
      try parse(arguments.next(what).text)
    } json: { (fields) throws(CommandError) in
      try parse(fields.string(key))
    } check: { (value) throws(CommandError) in
      try check(value)
    }
  }

  /// A parameter whose text form is `key=value`, and whose JSON form is a string.
  static func option(
    _ key: String,
    _ form: String,
    default value: Value,
    _ parse: @escaping @Sendable (String) throws(CommandError) -> Value
  ) -> Parameter {
    Parameter("[\(key)=\(form)]", [(key, .string)], options: [.value(key)]) { (arguments) throws(CommandError) in
      try arguments.value(key).map(parse) ?? value
    } json: { (fields) throws(CommandError) in
      try fields.stringIfAny(key).map(parse) ?? value
    }
  }

  /// A parameter whose text form is `key=value`, and whose JSON form is not a string.
  static func option(
    _ key: String,
    _ form: String,
    _ kind: JSONKind,
    default value: Value,
    _ parse: @escaping @Sendable (String) throws(CommandError) -> Value,
    json: @escaping @Sendable (JSONFields) throws(CommandError) -> Value?,
    check: @escaping Check = { (value) throws(CommandError) in value }
  ) -> Parameter {
    Parameter("[\(key)=\(form)]", [(key, kind)], options: [.value(key)]) { (arguments) throws(CommandError) in
      try arguments.value(key).map(parse) ?? value
    } json: { (fields) throws(CommandError) in
      try json(fields) ?? value
    } check: { (value) throws(CommandError) in
      try check(value)
    }
  }
}

// MARK: - Points

extension Parameter where Value == BoardPoint {
  static func point(_ what: String) -> Parameter {
    Parameter("X,Y", [("at", .point)], wordCount: 1) { (arguments) throws(CommandError) in
      try arguments.point(what)
    } json: { (fields) throws(CommandError) in
      try fields.point("at")
    }
  }
}

extension Parameter where Value == BoardPoint? {
  /// The distance between copies and their originals, which can begin with a `+`, as in `move`.
  static var distance: Parameter {
    option("by", "DX,DY", .point, default: nil) { (value) throws(CommandError) in
      try TextCommandParser.point(value.hasPrefix("+") ? value.dropFirst() : value[...])
    } json: { (fields) throws(CommandError) in
      try fields.pointIfAny("by")
    }
  }

  static func pointOption(_ key: String) -> Parameter {
    option(key, "X,Y", .point, default: nil, TextCommandParser.point) { (fields) throws(CommandError) in
      try fields.pointIfAny(key)
    }
  }

  static var optionalPoint: Parameter {
    Parameter("[X,Y]", [("at", .point)]) { (arguments) throws(CommandError) in
      try arguments.pointIfAny()
    } json: { (fields) throws(CommandError) in
      try fields.pointIfAny("at")
    }
  }

  static var pointOrNone: Parameter {
    Parameter("X,Y|none", [("at", .point)]) { (arguments) throws(CommandError) in
      let word = try arguments.next("the point, as X,Y, or none").text
      return word == "none" ? nil : try TextCommandParser.point(word)
    } json: { (fields) throws(CommandError) in
      try fields.pointIfAny("at")
    }
  }
}

extension Parameter where Value == [BoardPoint] {
  /// `line` names the figure that the points form, with an article.
  static func points(_ what: String, limit: Int, of line: String) -> Parameter {
    Parameter("X,Y X,Y …", [("points", .points)]) { (arguments) throws(CommandError) in
      try arguments.points(what, limit: limit, of: line)
    } json: { (fields) throws(CommandError) in
      try fields.points(limit: limit, of: line)
    }
  }
}

extension Parameter where Value == Movement {
  static var movement: Parameter {
    Parameter("X,Y|+DX,DY", [("to", .point), ("by", .point)], wordCount: 1) {
      (arguments) throws(CommandError) in
      let word = try arguments.next("the target, as X,Y or +DX,DY").text
      guard word.utf8.first == UInt8(ascii: "+") else { return .to(try TextCommandParser.point(word)) }
      return .by(try TextCommandParser.point(word.dropFirst()))
    } json: { (fields) throws(CommandError) in
      switch (try fields.pointIfAny("to"), try fields.pointIfAny("by")) {
      case (let point?, nil): return .to(point)
      case (nil, let distance?): return .by(distance)
      case (nil, nil): throw CommandError(.missingArgument, #"give the target: "to":[x,y] or "by":[dx,dy]"#)
      case (_?, _?): throw CommandError(.badArgument, #"give one target: "to" or "by", not both"#)
      }
    }
  }
}

extension Parameter where Value == BoardView? {
  static var view: Parameter {
    Parameter("X,Y WIDTH HEIGHT|none", [("at", .point), ("width", .number), ("height", .number)]) {
      (arguments) throws(CommandError) in
      let word = try arguments.next("the center, as X,Y, or none").text
      guard word != "none" else { return nil }
      let center = try TextCommandParser.point(word)
      let width = TextCommandParser.number(try arguments.next("the width, like 800").text) ?? .nan
      let height = TextCommandParser.number(try arguments.next("the height, like 600").text) ?? .nan
      return BoardView(
        center: center,
        width: try CommandLimits.checkedExtent(width, key: "the width"),
        height: try CommandLimits.checkedExtent(height, key: "the height")
      )
    } json: { (fields) throws(CommandError) in
      guard fields.has("at") || fields.has("width") || fields.has("height") else { return nil }
      return BoardView(
        center: try fields.point("at"),
        width: try CommandLimits.checkedExtent(fields.number("width"), key: "width"),
        height: try CommandLimits.checkedExtent(fields.number("height"), key: "height")
      )
    }
  }
}

extension Parameter where Value == BoardArea {
  static var area: Parameter {
    Parameter(
      #"X,Y [X,Y] [inside] | text "WORDS""#,
      [("at", .point), ("to", .point), ("inside", .flag), ("text", .string)],
      options: [.flag("inside")]
    ) { (arguments) throws(CommandError) in
      if arguments.skip("text") { return try text(arguments.words("the words to find")) }
      let corner = try arguments.point("the point, as X,Y")
      guard let other = try arguments.pointIfAny() else {
        guard !arguments.hasFlag("inside") else {
          throw CommandError(.missingArgument, "`inside` needs a rectangle; give two corners")
        }
        return .point(corner)
      }
      return .rectangle(corner, other, isInside: arguments.hasFlag("inside"))
    } json: { (fields) throws(CommandError) in
      if fields.has("text"), !fields.has("at") { return try text(fields.words()) }
      let corner = try fields.point("at")
      guard let other = try fields.pointIfAny("to") else {
        guard !fields.flag("inside") else {
          throw CommandError(.missingArgument, #""inside" needs a rectangle; give "at" and "to""#)
        }
        return .point(corner)
      }
      return .rectangle(corner, other, isInside: fields.flag("inside"))
    } check: { (area) throws(CommandError) in
      guard case .text(let words) = area else { return area }
      return try text(words)
    }
  }

  private static func text(_ words: String) throws(CommandError) -> BoardArea {
    guard TextSearch(words) != nil else { throw CommandError(.badArgument, "the words to find are empty") }
    return .text(words)
  }
}

extension Parameter where Value == ExportArea {
  static var exportArea: Parameter {
    Parameter(
      "[region=X,Y,W,H|frame=FRAME|frames]",
      [("region", .region), ("frame", .string), ("frames", .flag)],
      options: [.value("region"), .value("frame"), .flag("frames")]
    ) { (arguments) throws(CommandError) in
      try ExportArea(
        region: arguments.value("region").map(CommandParser.region),
        frame: arguments.value("frame"),
        isEachFrame: arguments.hasFlag("frames")
      )
    } json: { (fields) throws(CommandError) in
      try ExportArea(
        region: fields.regionIfAny(),
        frame: fields.stringIfAny("frame"),
        isEachFrame: fields.flag("frames")
      )
    }
  }
}

// MARK: - Objects

extension Parameter where Value == ObjectReference {
  static var object: Parameter {
    Parameter("ID", [("id", .wordOrNumber)]) { (arguments) throws(CommandError) in
      try arguments.reference()
    } json: { (fields) throws(CommandError) in
      try fields.reference()
    }
  }
}

extension Parameter where Value == [ObjectReference] {
  /// One or more objects: in the text form, all words except the words of later parameters.
  static var objects: Parameter {
    Parameter("ID …", [("id", .wordOrNumber), ("ids", .objects)]) { (arguments) throws(CommandError) in
      try arguments.references()
    } json: { (fields) throws(CommandError) in
      try fields.references()
    } check: { (references) throws(CommandError) in
      try CommandLimits.checkedReferences(references)
    }
  }
}

extension Parameter where Value == [ObjectReference] {
  static var objectsOrSelection: Parameter {
    Parameter("[ID …]", [("id", .wordOrNumber), ("ids", .objects)]) { (arguments) throws(CommandError) in
      arguments.isAtEnd ? [.selected] : try arguments.references()
    } json: { (fields) throws(CommandError) in
      fields.has("id") || fields.has("ids") ? try fields.references() : [.selected]
    } check: { (references) throws(CommandError) in
      try CommandLimits.checkedReferences(references)
    }
  }
}

extension Parameter where Value: RawRepresentable<String> {
  static func choice(_ key: String, _ values: [Value]) -> Parameter {
    let names = values.map(\.rawValue)
    return word(names.joined(separator: "|"), key, "the \(key), like \(names[0])") { (word) throws(CommandError) in
      guard let value = Value(rawValue: word) else {
        throw CommandError(
          .badArgument,
          "\(UntrustedText(word).quoted()) is not a value of \(key); give one of \(names.joined(separator: ", "))"
        )
      }
      return value
    }
  }
}

extension Parameter where Value == ObjectAlias? {
  static var alias: Parameter { option("as", "ALIAS", default: nil, CommandParser.alias) }
}

extension Parameter where Value == StackPlace {
  static var place: Parameter {
    Parameter(
      "front|back|forward|backward|above=ID|below=ID",
      [("place", .string), ("above", .wordOrNumber), ("below", .wordOrNumber)],
      options: [.value("above"), .value("below")],
      wordCount: 1
    ) { (arguments) throws(CommandError) in
      switch (arguments.value("above"), arguments.value("below")) {
      case (let other?, nil): return .above(try CommandParser.reference(other))
      case (nil, let other?): return .below(try CommandParser.reference(other))
      case (_?, _?): throw CommandError(.badArgument, "give either above= or below=, not both")
      case (nil, nil):
        let word = try arguments.next("the new position, like front").text
        guard let place = StackPlace(word) else {
          throw CommandError(.badArgument, "\(UntrustedText(word).quoted()) is not front, back, forward or backward")
        }
        return place
      }
    } json: { (fields) throws(CommandError) in
      switch (fields.stringIfAny("place"), try fields.referenceIfAny("above"), try fields.referenceIfAny("below")) {
      case (let word?, nil, nil):
        guard let place = StackPlace(word) else {
          throw CommandError(.badArgument, "place must be front, back, forward or backward")
        }
        return place
      case (nil, let other?, nil): return .above(other)
      case (nil, nil, let other?): return .below(other)
      case (nil, nil, nil):
        throw CommandError(.missingArgument, #"give the new position: "place":"front", "above":ID or "below":ID"#)
      case (_, _?, _?), (_?, _?, _), (_?, _, _?):
        throw CommandError(.badArgument, #"give one position: "place", "above" or "below""#)
      }
    }
  }
}

extension StackPlace {
  fileprivate init?(_ word: String) {
    switch word {
    case "front": self = .front
    case "back": self = .back
    case "forward": self = .forward
    case "backward": self = .backward
    default: return nil
    }
  }
}

// MARK: - Text

extension Parameter where Value == String {
  /// The last word of the line. Errors call the word `own` if a program creates the command without parsing a line.
  static func text(_ own: String = "the text") -> Parameter {
    Parameter("\"WORDS\"", [("text", .string)]) { (arguments) throws(CommandError) in
      try arguments.words("the text")
    } json: { (fields) throws(CommandError) in
      try fields.words()
    } check: { (words) throws(CommandError) in
      try CommandLimits.checkedWords(words, what: own)
    }
  }

  static var file: Parameter {
    word("FILE", "file", "the file", CommandLimits.checkedFile, check: CommandLimits.checkedFile)
  }

  static var streamName: Parameter {
    word("NAME", "name", "the name of the stream", CommandLimits.checkedName, check: CommandLimits.checkedName)
  }

  /// Accepts the id, an id prefix or the name of a member, an invitation or a transfer.
  static func target(_ usage: String, _ what: String) -> Parameter {
    Parameter(usage, [("target", .string)]) { (arguments) throws(CommandError) in
      try arguments.target(what)
    } json: { (fields) throws(CommandError) in
      try fields.target()
    } check: { (target) throws(CommandError) in
      try CommandLimits.checkedTarget(target, what: what)
    }
  }

  static func checkpoint(_ key: String) -> Parameter {
    let check: Check = CommandLimits.checkedCheckpoint
    return word("NAME", key, "the name of the checkpoint", check, check: check)
  }

  static var gameMove: Parameter {
    let check: Check = CommandLimits.checkedMove
    return word(
      "MOVE",
      "move",
      "the move: a word, a column from 1 to 7, or resign",
      kind: .wordOrNumber,
      check,
      check: check
    )
  }

  static var help: Parameter {
    Parameter("[COMMAND|verbs]", [("topic", .string)]) { (arguments) throws(CommandError) in
      try CommandTable.help(arguments.nextIfAny()?.text)
    } json: { (fields) throws(CommandError) in
      try CommandTable.help(fields.stringIfAny("topic"))
    }
  }
}

extension Parameter where Value == String? {
  static var baseText: Parameter { option("was", "\"WORDS\"", default: nil) { (value) throws(CommandError) in value } }

  static var opponent: Parameter {
    option("opponent", "PEER", default: nil) { (value) throws(CommandError) in
      try CommandLimits.checkedTarget(value, what: "opponent")
    }
  }

  static var reason: Parameter {
    Parameter("[\"WHY\"]", [("reason", .string)]) { (arguments) throws(CommandError) in
      try arguments.wordsIfAny("the reason")
    } json: { (fields) throws(CommandError) in
      try fields.reason()
    }
  }

  static var laterCheckpoint: Parameter {
    Parameter("[NAME]", [("to", .string)]) { (arguments) throws(CommandError) in
      guard let word = arguments.nextIfAny() else { return nil }
      return try CommandLimits.checkedCheckpoint(word.text)
    } json: { (fields) throws(CommandError) in
      fields.has("to") ? try fields.checkpoint("to") : nil
    }
  }

  static var displayName: Parameter { option("name", "NAME", default: nil, CommandLimits.checkedDisplayName) }
}

// MARK: - Numbers and colors

extension Parameter where Value == Bool {
  static func flag(_ word: String, _ key: String? = nil) -> Parameter {
    let key = key ?? word
    return Parameter("[\(word)]", [(key, .flag)], options: [.flag(word)]) { (arguments) throws(CommandError) in
      arguments.hasFlag(word)
    } json: { (fields) throws(CommandError) in
      fields.flag(key)
    }
  }

  static var startsAtCorner: Parameter { option("from", "corner", default: false, CommandParser.startsAtCorner) }

  static var keepsLineWidth: Parameter { option("line", "keep", default: false, CommandParser.keepsLineWidth) }
}

extension Parameter where Value == Double {
  private static func number(
    _ usage: String,
    _ key: String,
    _ what: String,
    _ check: @escaping @Sendable (_ value: Double, _ name: String) throws(CommandError) -> Double
  ) -> Parameter {
    Parameter(usage, [(key, .number)], wordCount: 1) { (arguments) throws(CommandError) in
      try check(TextCommandParser.number(arguments.next(what).text) ?? .nan, "the \(key)")
    } json: { (fields) throws(CommandError) in
      try check(fields.number(key), key)
    } check: { (value) throws(CommandError) in
      try check(value, "the \(key)")
    }
  }

  private static func numberOption(
    _ key: String,
    _ form: String,
    default value: Double,
    _ check: @escaping Check
  ) -> Parameter {
    option(key, form, .number, default: value) { (text) throws(CommandError) in
      try check(TextCommandParser.number(text) ?? .nan)
    } json: { (fields) throws(CommandError) in
      try fields.numberIfAny(key).map(check)
    }
  }

  static var factor: Parameter {
    number("FACTOR", "factor", "the scale, like 1.5") { (factor, _) throws(CommandError) in
      try CommandLimits.checkedFactor(factor)
    }
  }

  static var degrees: Parameter {
    number("DEGREES", "degrees", "the angle in degrees, like 90") { (degrees, _) throws(CommandError) in
      try CommandLimits.checkedDegrees(degrees)
    }
  }

  static var lineWidth: Parameter { number("WIDTH", "width", "the width, like 5", CommandLimits.checkedWidth) }

  static var radius: Parameter {
    numberOption("radius", "R", default: Command.eraserRadius) { (radius) throws(CommandError) in
      try CommandLimits.checkedWidth(radius, key: "radius")
    }
  }

  /// The duration in which a stroke is drawn, in seconds.
  static var duration: Parameter {
    option("over", "SECONDS", .number, default: 0) { (value) throws(CommandError) in
      try CommandLimits.checkedSeconds(Double(value) ?? .nan, key: "over")
    } json: { (fields) throws(CommandError) in
      try fields.secondsIfAny("over")
    }
  }
}

extension Parameter where Value == PaperSize? {
  static var paper: Parameter {
    option("page", "a4|letter", default: nil) { (text) throws(CommandError) in
      guard let paper = PaperSize(rawValue: text.lowercased()) else {
        throw CommandError(.badArgument, "page must be a4 or letter")
      }
      return paper
    }
  }
}

extension Parameter where Value == Double? {
  /// The number of pixels per board unit.
  static var pixels: Parameter {
    option("scale", "N", .number, default: nil) { (text) throws(CommandError) in
      try CommandLimits.checkedPixels(TextCommandParser.number(text) ?? .nan)
    } json: { (fields) throws(CommandError) in
      try fields.numberIfAny("scale").map(CommandLimits.checkedPixels)
    }
  }

  static var timeout: Parameter {
    option("timeout", "SECONDS", .number, default: nil) { (value) throws(CommandError) in
      try CommandLimits.checkedSeconds(Double(value) ?? .nan, key: "timeout")
    } json: { (fields) throws(CommandError) in
      try fields.secondsIfAny("timeout")
    } check: { (seconds) throws(CommandError) in
      guard let seconds else { return nil }
      return try CommandLimits.checkedSeconds(seconds, key: "the timeout")
    }
  }
}

extension Parameter where Value == Int {
  /// A position in a text: the number of characters before the position.
  static var position: Parameter {
    Parameter("AT", [("at", .number)], wordCount: 1) { (arguments) throws(CommandError) in
      let word = try arguments.next("the position, as the number of characters before it").text
      return try CommandLimits.checkedPosition(Int64(word) ?? -1, key: "the position")
    } json: { (fields) throws(CommandError) in
      guard let position = try fields.positionIfAny("at") else { throw JSONFields.missing("at") }
      return position
    } check: { (position) throws(CommandError) in
      try CommandLimits.checkedPosition(Int64(position), key: "the position")
    }
  }

  static var replacedCount: Parameter {
    option("replacing", "N", .number, default: 0) { (value) throws(CommandError) in
      try CommandLimits.checkedPosition(Int64(value) ?? -1, key: "replacing")
    } json: { (fields) throws(CommandError) in
      try fields.positionIfAny("replacing")
    } check: { (count) throws(CommandError) in
      try CommandLimits.checkedPosition(Int64(count), key: "replacing")
    }
  }
}

extension Parameter where Value == UInt32? {
  static var color: Parameter {
    word("#RRGGBB[AA]|default", "color", "the color, like #3060C0", CommandParser.color)
  }

  static var colorOption: Parameter { option("color", "#RRGGBB", default: nil, CommandParser.color) }
}

extension Parameter where Value == Pen {
  static var pen: Parameter { pen(Pen()) }

  /// A property that the line does not set has the value of `usual`.
  static func pen(_ usual: Pen) -> Parameter {
    Parameter(
      "[color=#RRGGBB] [width=WIDTH]",
      [("color", .string), ("width", .number)],
      options: [.value("color"), .value("width")]
    ) { (arguments) throws(CommandError) in
      var pen = usual
      if let color = arguments.value("color") { pen.color = try CommandParser.color(color) }
      if let width = arguments.value("width") {
        pen.width = try CommandLimits.checkedWidth(TextCommandParser.number(width) ?? .nan, key: "width")
      }
      return pen
    } json: { (fields) throws(CommandError) in
      try fields.pen(usual)
    }
  }
}

// MARK: - Words with a fixed meaning

extension Parameter where Value == GameName {
  static var game: Parameter { word("wordle|connect-four", "game", "the game", CommandParser.game) }
}

extension Parameter where Value == BoardRole {
  static var role: Parameter { word("editor|viewer", "role", "editor or viewer", CommandParser.role) }
}

extension Parameter where Value == WebAccess {
  static var webAccess: Parameter { word("on|off|revoke", "state", "on, off or revoke", CommandParser.webAccess) }
}

extension Parameter where Value == BroadcastOrder {
  static var broadcastOrder: Parameter {
    Parameter(
      "start|pause|resume|finish",
      [
        ("action", .string), ("fps", .number), ("size", .string), ("codec", .string), ("region", .region),
        ("follow", .string), ("frames", .flag),
      ],
      options: [
        .value("fps"), .value("size"), .value("codec"), .value("region"), .value("follow"), .flag("frames"),
      ],
      wordCount: 1
    ) { (arguments) throws(CommandError) in
      try CommandParser.broadcast(
        arguments.next("start, pause, resume or finish").text,
        fps: arguments.value("fps").map { TextCommandParser.number($0) ?? .nan },
        size: arguments.value("size"),
        codec: arguments.value("codec"),
        region: arguments.value("region").map(CommandParser.region),
        follow: arguments.value("follow"),
        showsFrames: arguments.hasFlag("frames")
      )
    } json: { (fields) throws(CommandError) in
      try CommandParser.broadcast(
        fields.string("action"),
        fps: fields.numberIfAny("fps"),
        size: fields.stringIfAny("size"),
        codec: fields.stringIfAny("codec"),
        region: fields.regionIfAny(),
        follow: fields.stringIfAny("follow"),
        showsFrames: fields.flag("frames")
      )
    }
  }
}

extension Parameter where Value == IconChange? {
  static var icon: Parameter { option("icon", "ICON|none", default: nil, CommandParser.iconChange) }
}

extension Parameter where Value == InvitationTerms {
  static var invitationTerms: Parameter {
    Parameter(
      "[web] [once] [view] [expires=TIME]",
      [("web", .flag), ("once", .flag), ("view", .flag), ("expires", .string)],
      options: [.value("expires"), .flag("web"), .flag("once"), .flag("view")]
    ) { (arguments) throws(CommandError) in
      try CommandParser.terms(
        isView: arguments.hasFlag("view"),
        isForBrowsers: arguments.hasFlag("web"),
        isOnce: arguments.hasFlag("once"),
        expires: arguments.value("expires")
      )
    } json: { (fields) throws(CommandError) in
      try CommandParser.terms(
        isView: fields.flag("view"),
        isForBrowsers: fields.flag("web"),
        isOnce: fields.flag("once"),
        expires: fields.stringIfAny("expires")
      )
    }
  }
}

extension Parameter where Value == Setting {
  static var setting: Parameter {
    Parameter(
      "title|background|grid|language VALUE",
      [("title", .string), ("background", .string), ("grid", .number), ("language", .string)]
    ) { (arguments) throws(CommandError) in
      let word = try arguments.next("the setting").text
      guard let name = Setting.Name(rawValue: word) else {
        throw CommandError(
          .badArgument,
          "no setting is called \(UntrustedText(word).quoted()); the settings are \(Setting.Name.list)"
        )
      }
      let form = name == .background ? ", like #F4F0E8" : ""
      let value = try arguments.words("the value of \(word)\(form)")
      switch name {
      case .title: return .title(try CommandLimits.checkedTitle(value))
      case .background: return .background(try CommandParser.color(value))
      case .grid: return .grid(try CommandLimits.checkedGrid(TextCommandParser.number(value) ?? .nan))
      case .language: return .language(try CommandLimits.checkedLanguage(value))
      }
    } json: { (fields) throws(CommandError) in
      let names = Setting.Name.allCases.filter { fields.has($0.rawValue) }
      guard names.count == 1, let name = names.first else {
        throw CommandError(names.isEmpty ? .missingArgument : .badArgument, "give one setting: \(Setting.Name.list)")
      }
      switch name {
      case .title: return .title(try CommandLimits.checkedTitle(fields.string("title")))
      case .background: return .background(try CommandParser.color(fields.string("background")))
      case .grid: return .grid(try CommandLimits.checkedGrid(fields.number("grid")))
      case .language: return .language(try CommandLimits.checkedLanguage(fields.string("language")))
      }
    }
  }
}

extension Setting {
  fileprivate enum Name: String, CaseIterable {
    case title, background, grid, language
    static let list = allCases.map(\.rawValue).joined(separator: ", ")
  }
}

extension Parameter where Value == WaitCondition {
  static var condition: Parameter {
    Parameter(
      "peers=N|objects=N|synced|SECONDS",
      [("peers", .number), ("objects", .number), ("synced", .flag), ("seconds", .number)]
    ) { (arguments) throws(CommandError) in
      let word = try arguments.next("a condition, like peers=1")
      if word.text == "synced" { return .synced }
      if let count = word.value(of: "peers") { return .peers(try Self.count(count, key: "peers")) }
      if let count = word.value(of: "objects") { return .objects(try Self.count(count, key: "objects")) }
      guard let seconds = TextCommandParser.number(word.text) else {
        throw CommandError(
          .badArgument,
          "cannot wait for \(UntrustedText(word.text).quoted()); give peers=N, objects=N, synced or SECONDS"
        )
      }
      return .seconds(try CommandLimits.checkedSeconds(seconds, key: "the time to wait"))
    } json: { (fields) throws(CommandError) in
      guard ["peers", "objects", "synced", "seconds"].filter(fields.has).count == 1 else {
        throw CommandError(.missingArgument, "give one condition: peers, objects, synced or seconds")
      }
      if fields.has("peers") { return .peers(try fields.count("peers")) }
      if fields.has("objects") { return .objects(try fields.count("objects")) }
      if fields.has("synced") {
        guard fields.flag("synced") else {
          throw CommandError(.badArgument, #"to wait for equal boards, write "synced":true"#)
        }
        return .synced
      }
      return .seconds(try CommandLimits.checkedSeconds(fields.number("seconds"), key: "seconds"))
    } check: { (condition) throws(CommandError) in
      guard case .seconds(let seconds) = condition else { return condition }
      return .seconds(try CommandLimits.checkedSeconds(seconds, key: "the time to wait"))
    }
  }

  private static func count(_ text: String, key: String) throws(CommandError) -> Int {
    guard let count = Int64(text) else {
      throw CommandError(.badArgument, "\(key)= must be a whole number, like \(key)=2")
    }
    return try CommandLimits.checkedCount(count, key: key)
  }
}

enum PurgedObjects: Equatable, Sendable {
  case object(ObjectReference)
  case author(String)
}

extension Parameter where Value == PurgedObjects {
  static var purgedObjects: Parameter {
    Parameter(
      "ID | --author PEER",
      [("id", .wordOrNumber), ("author", .string)],
      options: [.flag("--author")]
    ) { (arguments) throws(CommandError) in
      guard arguments.hasFlag("--author") else { return .object(try arguments.reference()) }
      return .author(try arguments.target("the author"))
    } json: { (fields) throws(CommandError) in
      guard let author = fields.stringIfAny("author") else { return .object(try fields.reference()) }
      guard !fields.has("id") else { throw CommandError(.badArgument, #"give either "id" or "author", not both"#) }
      return .author(author)
    }
  }
}

// MARK: - Messages and files

extension Parameter where Value == [String] {
  /// The recipients; an empty list means all peers.
  static var recipients: Parameter {
    Parameter("[--to PEER]", [("to", .peers)], options: [.list("--to", "the peer")]) {
      (arguments) throws(CommandError) in
      arguments.list("--to")
    } json: { (fields) throws(CommandError) in
      try fields.recipients()
    }
  }
}

extension Parameter where Value == [UInt8] {
  static var message: Parameter {
    Parameter("\"WORDS\"", [("text", .string), ("base64", .string)]) { (arguments) throws(CommandError) in
      let word = try arguments.next("the message")
      try arguments.expectEnd(after: word)
      return try CommandLimits.checkedMessage(Array(word.text.utf8))
    } json: { (fields) throws(CommandError) in
      try CommandLimits.checkedMessage(fields.payload())
    } check: { (bytes) throws(CommandError) in
      try CommandLimits.checkedMessage(bytes)
    }
  }
}

enum SentFiles: Equatable, Sendable {
  case named(file: String, name: String)
  /// Files keep their own names; a folder stands for all its files.
  case files([String])
}

extension Parameter where Value == SentFiles {
  static var sentFiles: Parameter {
    Parameter(
      "FILE|FOLDER... [--name TEXT]",
      [("file", .string), ("files", .files), ("name", .string)],
      // The word after `--to` is never an option, so `--to` is removed before `--name`.
      options: [.list("--to", "the peer"), .list("--name", "the name")]
    ) { (arguments) throws(CommandError) in
      let names = arguments.list("--name")
      var files = [try CommandLimits.checkedFile(arguments.next("the file").text)]
      while let file = arguments.nextIfAny() { files.append(try CommandLimits.checkedFile(file.text)) }
      guard let name = names.first else { return .files(try CommandLimits.checkedFiles(files)) }
      guard names.count == 1, files.count == 1 else {
        throw CommandError(.badArgument, "--name TEXT requires exactly one file")
      }
      return .named(file: files[0], name: try CommandLimits.checkedName(name))
    } json: { (fields) throws(CommandError) in
      guard fields.has("name") else {
        return .files(try CommandLimits.checkedFiles(fields.has("files") ? fields.files() : [fields.file()]))
      }
      guard !fields.has("files") else {
        throw CommandError(.badArgument, "the key \"name\" requires exactly one \"file\"")
      }
      return .named(file: try fields.file(), name: try CommandLimits.checkedName(fields.string("name")))
    } check: { (sent) throws(CommandError) in
      guard case .files(let files) = sent else { return sent }
      for file in try CommandLimits.checkedFiles(files) { _ = try CommandLimits.checkedFile(file) }
      return sent
    }
  }
}
