import Whiteboard

enum DrawingCommands {
  static let text = CommandSpec(
    .text,
    "add a text with its center at X,Y",
    notes: ["With from=corner, the letters start at X,Y, and the text is as wide as its longest line."],
    .point("the center, as X,Y"),
    .text(),
    .startsAtCorner,
    .colorOption,
    .alias
  ) { (editor, at, words, startsAtCorner, color, alias) throws(CommandError) in
    try editor.make(alias) { (board) throws(BoardError) in
      try board.createText(words, at: Point(at), color: color, isAutoWidth: startsAtCorner)
    }
  }

  static let stroke = CommandSpec(
    .stroke,
    "draw a line through the points, immediately or live over SECONDS",
    .points("the points of the line, as X,Y X,Y …", limit: CommandLimits.maximumPoints, of: "a stroke"),
    .pen,
    .duration,
    .alias
  ) { (runner, _, points, pen, seconds, alias) async throws(CommandError) in
    try await runner.withEditor { (editor) async throws(CommandError) in
      try editor.check(alias)
      return try await editor.draw(points, pen, seconds: seconds, alias)
    }
  }

  static let pen = CommandSpec(
    .pen,
    "continue the line you are drawing, or start one; others see it grow",
    notes: [
      "The line keeps the color and width that it starts with. It ends with `lift`, with your next change,",
      "or when you leave.",
    ],
    .points("the next points of the line, as X,Y X,Y …", limit: CommandLimits.maximumPoints, of: "a stroke"),
    .pen,
    .alias
  ) { (runner, _, points, pen, alias) async throws(CommandError) in
    try await runner.withEditor(endsStroke: false) { (editor) throws(CommandError) in
      try editor.drawWithPen(points, pen, alias)
    }
  }

  static let lift = CommandSpec(
    .lift,
    rules: CommandRules(requires: .board, .changesOtherData),
    "end the line you are drawing"
  ) { (runner, _) async throws(CommandError) in
    try await runner.withEditor(endsStroke: false) { (editor) throws(CommandError) in try editor.liftPen() }
  }

  static let photo = CommandSpec(
    .photo,
    "add a picture (JPEG, PNG, WebP, GIF, SVG, HEIC, AVIF, TIFF or BMP) with its center at X,Y",
    .point("the center, as X,Y"),
    .file,
    .alias
  ) { (runner, _, at, file, alias) async throws(CommandError) in
    try await runner.withEditor { (editor) async throws(CommandError) in
      try await editor.addPhoto(file, at: Point(at), alias)
    }
  }

  static let game = CommandSpec(
    .game,
    "start a game: Wordle for all members, or Connect Four for two players",
    notes: gameRules,
    .game,
    .point("the center, as X,Y"),
    .opponent,
    .alias
  ) { (editor, game, at, opponent, alias) throws(CommandError) in
    try editor.addGame(game, at: Point(at), opponent: opponent, alias)
  }

  static let gameRules = [
    "wordle: guess an English word of five letters; each player has six guesses. The marks of a guess:",
    "= for a letter in the right place, ~ for a letter elsewhere in the word, - for a letter that is not in",
    "the word, or not as often as in the guess.",
    "connect-four: without opponent=, the first two members that move are the players. R moves first, then Y.",
    "`undo` does not take back moves.",
  ]

  private static let copyOffset = "\(Int(ObjectDefaults.copyOffset.x)),\(Int(ObjectDefaults.copyOffset.y))"

  static let duplicate = CommandSpec(
    .duplicate,
    "copy objects; the copies are moved by DX,DY from the originals",
    notes: [
      "Without DX,DY, they are moved by \(copyOffset), and again if a copy would be exactly on an object of its kind.",
      "A copy of a whole group is a new group. Copies of only some of its objects are in no group.",
      "A frame is copied with the objects in it. The copy of a game is a new game.",
    ],
    .objects,
    .distance,
    .alias
  ) { (editor, objects, distance, alias) throws(CommandError) in
    try editor.check(alias)
    let ids = try editor.resolve(objects)
    guard alias == nil || ids.count == 1 else {
      throw CommandError(.badArgument, "as= can name only one copy, but this command makes \(ids.count)")
    }
    let offset = distance.map { Point($0) }
    let made = try editor.edit { (board) throws(BoardError) in
      try board.duplicate(ids, by: offset ?? ObjectDefaults.copyOffset, isExact: offset != nil)
    }
    let copies = ids.compactMap { made[$0] }
    if let last = copies.last { editor.name(last, alias) }
    return .about(copies, asOne: editor.isOne(objects))
  }
}

extension Command {
  /// Adds a text object with its center at a point. If `startsAtCorner` is true, the point is the upper left corner
  /// instead, and the object is as wide as its longest line.
  public static func text(
    at point: BoardPoint,
    words: String,
    startsAtCorner: Bool = false,
    color: UInt32? = nil,
    alias: ObjectAlias?
  ) -> Command { DrawingCommands.text(point, words, startsAtCorner, color, alias) }

  /// Draws a line through the points over a number of seconds; zero draws it immediately.
  public static func stroke(points: [BoardPoint], pen: Pen = Pen(), seconds: Double, alias: ObjectAlias?) -> Command {
    DrawingCommands.stroke(points, pen, seconds, alias)
  }

  /// Continues the line that is being drawn, or starts a line; other members see the line grow.
  public static func pen(points: [BoardPoint], pen: Pen = Pen(), alias: ObjectAlias?) -> Command {
    DrawingCommands.pen(points, pen, alias)
  }

  /// Ends the line that is being drawn.
  public static let lift = DrawingCommands.lift()

  /// Adds a photo from a file with its center at a point.
  public static func photo(at point: BoardPoint, file: String, alias: ObjectAlias?) -> Command {
    DrawingCommands.photo(point, file, alias)
  }

  /// Starts a game; `opponent` names the second player of a game for two.
  public static func game(_ game: GameName, at point: BoardPoint, opponent: String?, alias: ObjectAlias?) -> Command {
    DrawingCommands.game(game, point, opponent, alias)
  }

  /// Copies objects, and moves the copies by `distance`. If `distance` is nil, the copies are moved by the default
  /// distance, and moved again if a copy would be exactly on an object of the same kind.
  public static func duplicate(_ objects: [ObjectReference], by distance: BoardPoint? = nil, alias: ObjectAlias?)
    -> Command
  { DrawingCommands.duplicate(objects, distance, alias) }

  /// The default radius of the eraser, in board units.
  public static let eraserRadius = 8.0
}
