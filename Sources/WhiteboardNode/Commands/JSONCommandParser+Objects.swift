/// The verbs that make objects and change them.
extension JSONCommandParser {
  static func text(_ fields: JSONFields) throws(CommandError) -> Command {
    .text(
      at: try fields.point("at"),
      words: try fields.words(),
      color: try fields.colorIfAny(),
      alias: try fields.alias()
    )
  }

  static func stroke(_ fields: JSONFields) throws(CommandError) -> Command {
    let over = try fields.numberIfAny("over") ?? 0
    return .stroke(
      points: try fields.points(limit: CommandParser.maximumPoints, of: "a stroke"),
      pen: try fields.pen(),
      seconds: try CommandParser.checkedSeconds(over, key: "over"),
      alias: try fields.alias()
    )
  }

  static func pen(_ fields: JSONFields) throws(CommandError) -> Command {
    .pen(
      points: try fields.points(limit: CommandParser.maximumPoints, of: "a stroke"),
      pen: try fields.pen(),
      alias: try fields.alias()
    )
  }

  static func pointer(_ fields: JSONFields) throws(CommandError) -> Command {
    let isLaser = try fields.flag("laser")
    guard let place = try fields.pointIfAny("at") else {
      guard !isLaser else { throw CommandParser.laserWithoutPoint }
      return .point(nil)
    }
    return .point(place, isLaser: isLaser)
  }

  static func view(_ fields: JSONFields) throws(CommandError) -> BoardView? {
    guard fields.has("at") || fields.has("width") || fields.has("height") else { return nil }
    return BoardView(
      center: try fields.point("at"),
      width: try CommandParser.checkedExtent(fields.number("width"), key: "width"),
      height: try CommandParser.checkedExtent(fields.number("height"), key: "height")
    )
  }

  static func photo(_ fields: JSONFields) throws(CommandError) -> Command {
    .photo(at: try fields.point("at"), file: try fields.file(), alias: try fields.alias())
  }

  static func game(_ fields: JSONFields) throws(CommandError) -> Command {
    let opponent = try fields.stringIfAny("opponent")
    return .game(
      try CommandParser.game(fields.string("game")),
      at: try fields.point("at"),
      opponent: try opponent.map { (name) throws(CommandError) in
        try CommandParser.target(name, what: "opponent")
      },
      alias: try fields.alias()
    )
  }

  static func duplicate(_ fields: JSONFields) throws(CommandError) -> Command {
    .duplicate(
      try fields.references(),
      by: try fields.pointIfAny("by") ?? .duplicate,
      alias: try fields.alias()
    )
  }

  static func movement(_ fields: JSONFields) throws(CommandError) -> Movement {
    switch (try fields.pointIfAny("to"), try fields.pointIfAny("by")) {
    case (let point?, nil): return .to(point)
    case (nil, let distance?): return .by(distance)
    case (nil, nil):
      throw CommandError(.missingArgument, #"say where: "to":[x,y] or "by":[dx,dy]"#)
    case (_?, _?):
      throw CommandError(.badArgument, #"say where once: "to" or "by", not both"#)
    }
  }

  static func scale(_ fields: JSONFields) throws(CommandError) -> Command {
    let factor = try CommandParser.checkedFactor(fields.number("factor"))
    return .scale(
      try fields.references(),
      factor: factor,
      about: try fields.pointIfAny("about"),
      keepsLineWidth: try CommandParser.keepsLineWidth(fields.stringIfAny("line"))
    )
  }

  static func rotate(_ fields: JSONFields) throws(CommandError) -> Command {
    let degrees = try CommandParser.checkedDegrees(fields.number("degrees"))
    return .rotate(try fields.references(), degrees: degrees)
  }

  static func width(_ fields: JSONFields) throws(CommandError) -> Command {
    let width = try CommandParser.checkedWidth(fields.number("width"), key: "width")
    return .width(try fields.references(), width)
  }

  static func place(_ fields: JSONFields) throws(CommandError) -> StackPlace {
    let word = try fields.stringIfAny("place")
    let above = try fields.referenceIfAny("above")
    let below = try fields.referenceIfAny("below")
    switch (word, above, below) {
    case (let word?, nil, nil):
      guard let place = StackPlace(word) else {
        throw CommandError(.badArgument, "place is front, back, forward or backward")
      }
      return place
    case (nil, let other?, nil): return .above(other)
    case (nil, nil, let other?): return .below(other)
    case (nil, nil, nil):
      throw CommandError(.missingArgument, #"say where: "place":"front", "above":ID or "below":ID"#)
    default:
      throw CommandError(.badArgument, #"say where once: "place", "above" or "below""#)
    }
  }

  static func insert(_ fields: JSONFields) throws(CommandError) -> Command {
    let replacing = try fields.placeIfAny("replacing") ?? 0
    guard let place = try fields.placeIfAny("at") else { throw JSONFields.missing("at") }
    return .insert(
      try fields.reference(),
      at: place,
      words: try fields.words(),
      replacing: replacing,
      was: try fields.stringIfAny("was")
    )
  }

  static func purge(_ fields: JSONFields) throws(CommandError) -> Command {
    guard let author = try fields.stringIfAny("author") else {
      return .purge(try fields.reference())
    }
    guard !fields.has("id") else {
      throw CommandError(.badArgument, #"give either "id" or "author", not both"#)
    }
    return .purgeAuthor(target: author)
  }

  static func erase(_ fields: JSONFields) throws(CommandError) -> Command {
    let radius = try fields.numberIfAny("radius") ?? Command.eraserRadius
    return .erase(
      points: try fields.points(
        limit: CommandParser.maximumErasePoints,
        of: "the path of an eraser"
      ),
      radius: try CommandParser.checkedWidth(radius, key: "radius")
    )
  }

  static func play(_ fields: JSONFields) throws(CommandError) -> Command {
    .play(try fields.reference(), move: try CommandParser.checkedMove(fields.string("move")))
  }

  static func setting(_ fields: JSONFields) throws(CommandError) -> Setting {
    let given = Setting.names.filter { fields.has($0) }
    guard given.count == 1 else {
      throw CommandError(
        given.isEmpty ? .missingArgument : .badArgument,
        "set takes one of " + Setting.names.joined(separator: ", ")
      )
    }
    switch given[0] {
    case "title": return .title(try CommandParser.checkedTitle(fields.string("title")))
    case "background": return .background(try CommandParser.color(fields.string("background")))
    case "grid": return .grid(try CommandParser.checkedGrid(fields.number("grid")))
    default: return .language(try CommandParser.checkedLanguage(fields.string("language")))
    }
  }

  static func area(_ fields: JSONFields) throws(CommandError) -> BoardArea {
    let corner = try fields.point("at")
    let isInside = try fields.flag("inside")
    guard let other = try fields.pointIfAny("to") else {
      guard !isInside else {
        throw CommandError(.missingArgument, #"inside is for a rectangle: give "at" and "to""#)
      }
      return .point(corner)
    }
    return .rectangle(corner, other, isInside: isInside)
  }
}
