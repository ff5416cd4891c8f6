import WhiteboardRendering

/// The verbs that make objects and change them.
extension TextCommandParser {
  static func text(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let color = try arguments.takeColor()
    let at = try arguments.point("where it goes, as X,Y")
    let words = try arguments.words("the words")
    return .text(at: at, words: words, color: color, alias: alias)
  }

  static func stroke(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let pen = try arguments.takePen()
    let over = try arguments.takeSeconds("over") ?? 0
    let points = try arguments.points(
      "the points of the line, as X,Y X,Y …",
      limit: CommandParser.maximumPoints,
      of: "a stroke"
    )
    return .stroke(points: points, pen: pen, seconds: over, alias: alias)
  }

  static func pen(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let pen = try arguments.takePen()
    let points = try arguments.points(
      "where the pen goes, as X,Y X,Y …",
      limit: CommandParser.maximumPoints,
      of: "a stroke"
    )
    return .pen(points: points, pen: pen, alias: alias)
  }

  static func pointer(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let isLaser = arguments.takeFlag("laser")
    let word = try arguments.next("where, as X,Y, or none")
    guard word.text != "none" else {
      guard !isLaser else { throw CommandParser.laserWithoutPoint }
      return .point(nil)
    }
    return .point(try point(word.text), isLaser: isLaser)
  }

  static func view(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let word = try arguments.next("the centre, as X,Y, or none")
    guard word.text != "none" else { return .view(nil) }
    let center = try point(word.text)
    let width = number(try arguments.next("the width, like 800").text) ?? .nan
    let height = number(try arguments.next("the height, like 600").text) ?? .nan
    return .view(
      BoardView(
        center: center,
        width: try CommandParser.checkedExtent(width, key: "the width"),
        height: try CommandParser.checkedExtent(height, key: "the height")
      )
    )
  }

  static func photo(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let at = try arguments.point("where it goes, as X,Y")
    return .photo(at: at, file: try arguments.file(), alias: alias)
  }

  static func game(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let opponent = try arguments.takeTarget("opponent")
    let game = try CommandParser.game(arguments.next("the game").text)
    let at = try arguments.point("where it goes, as X,Y")
    return .game(game, at: at, opponent: opponent, alias: alias)
  }

  static func duplicate(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    let distance = try arguments.takeDistance("by") ?? .duplicate
    return .duplicate(try arguments.references(), by: distance, alias: alias)
  }

  static func move(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let (references, word) = try arguments.references(before: "the target, as X,Y or +DX,DY")
    guard word.text.utf8.first == UInt8(ascii: "+") else {
      return .move(references, .to(try point(word.text)))
    }
    return .move(references, .by(try point(word.text.dropFirst())))
  }

  static func scale(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let about = try arguments.takeValue("about").map { (value) throws(CommandError) in
      try point(value[...])
    }
    let line = try arguments.takeValue("line")
    let (references, word) = try arguments.references(before: "the scale, like 1.5")
    return .scale(
      references,
      factor: try CommandParser.checkedFactor(number(word.text) ?? .nan),
      about: about,
      keepsLineWidth: try CommandParser.keepsLineWidth(line)
    )
  }

  static func rotate(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let (references, word) = try arguments.references(before: "the angle in degrees, like 90")
    return .rotate(references, degrees: try CommandParser.checkedDegrees(number(word.text) ?? .nan))
  }

  static func color(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let (references, word) = try arguments.references(before: "the colour, like #3060C0")
    return .color(references, try CommandParser.color(word.text))
  }

  static func width(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let (references, word) = try arguments.references(before: "the width, like 5")
    let width = try CommandParser.checkedWidth(number(word.text) ?? .nan, key: "the width")
    return .width(references, width)
  }

  static func order(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let above = try arguments.takeReference("above")
    let below = try arguments.takeReference("below")
    switch (above, below) {
    case (let other?, nil):
      return .order(try arguments.references(), .above(other))
    case (nil, let other?):
      return .order(try arguments.references(), .below(other))
    case (_?, _?):
      throw CommandError(.badArgument, "give either above= or below=, not both")
    case (nil, nil):
      let (references, word) = try arguments.references(before: "where to, like front")
      guard let place = StackPlace(word.text) else {
        throw CommandError(
          .badArgument,
          "\(TerminalText.quoted(word.text)) is no place in the stack"
        )
      }
      return .order(references, place)
    }
  }

  static func group(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let alias = try arguments.takeAlias()
    return .group(try arguments.references(), alias: alias)
  }

  static func insert(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let replacing = try arguments.takePlace("replacing") ?? 0
    let was = try arguments.takeValue("was")
    let reference = try arguments.reference()
    let place = try arguments.place("the position, as the number of characters before it")
    let words = try arguments.words("the words")
    return .insert(reference, at: place, words: words, replacing: replacing, was: was)
  }

  static func purge(_ arguments: inout Arguments) throws(CommandError) -> Command {
    guard arguments.takeFlag("--author") else { return .purge(try arguments.reference()) }
    return .purgeAuthor(target: try arguments.target("the author"))
  }

  static func erase(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let radius = try arguments.takeNumber("radius") ?? Command.eraserRadius
    let points = try arguments.points(
      "the path of the eraser, as X,Y X,Y …",
      limit: CommandParser.maximumErasePoints,
      of: "the path of an eraser"
    )
    return .erase(points: points, radius: try CommandParser.checkedWidth(radius, key: "radius"))
  }

  static func play(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let reference = try arguments.reference()
    let word = try arguments.next("the move: a word, a column from 1 to 7, or resign")
    return .play(reference, move: try CommandParser.checkedMove(word.text))
  }

  static func setting(_ arguments: inout Arguments) throws(CommandError) -> Setting {
    let name = try arguments.next("the setting").text
    guard Setting.names.contains(name) else {
      throw CommandError(
        .badArgument,
        "there is no setting \(TerminalText.quoted(name)); there are "
          + Setting.names.joined(separator: ", ")
      )
    }
    let value = try arguments.words("what \(name) is to be")
    switch name {
    case "title": return .title(try CommandParser.checkedTitle(value))
    case "background": return .background(try CommandParser.color(value))
    case "grid": return .grid(try CommandParser.checkedGrid(number(value) ?? .nan))
    default: return .language(try CommandParser.checkedLanguage(value))
    }
  }

  static func area(_ arguments: inout Arguments) throws(CommandError) -> BoardArea {
    let isInside = arguments.takeFlag("inside")
    let corner = try arguments.point("where, as X,Y")
    guard let word = arguments.nextIfAny() else {
      guard !isInside else {
        throw CommandError(.missingArgument, "inside is for a rectangle: give two corners")
      }
      return .point(corner)
    }
    return .rectangle(corner, try point(word.text), isInside: isInside)
  }
}
