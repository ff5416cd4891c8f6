enum DrawingCommands {
  static let text = CommandEntry(
    .text,
    arguments: ##"X,Y "WORDS" [color=#RRGGBB] [as=ALIAS]"##,
    summary: "add a text with its center at X,Y",
    keys: ["at", "text", "color", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let color = try arguments.removeColor()
      let at = try arguments.point("the center, as X,Y")
      let words = try arguments.words("the text")
      return .text(at: at, words: words, color: color, alias: alias)
    },
    json: { fields throws(CommandError) in
      .text(
        at: try fields.point("at"),
        words: try fields.words(),
        color: try fields.colorIfAny(),
        alias: try fields.alias()
      )
    }
  )

  static let stroke = CommandEntry(
    .stroke,
    arguments: "X,Y X,Y … [color=#RRGGBB] [width=WIDTH] [over=SECONDS] [as=ALIAS]",
    summary: "draw a line through the points, immediately or live over SECONDS",
    keys: ["points", "color", "width", "over", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let pen = try arguments.removePen()
      let over = try arguments.removeSeconds("over") ?? 0
      let points = try arguments.points(
        "the points of the line, as X,Y X,Y …",
        limit: CommandLimits.maximumPoints,
        of: "a stroke"
      )
      return .stroke(points: points, pen: pen, seconds: over, alias: alias)
    },
    json: { fields throws(CommandError) in
      .stroke(
        points: try fields.points(limit: CommandLimits.maximumPoints, of: "a stroke"),
        pen: try fields.pen(),
        seconds: try CommandLimits.checkedSeconds(fields.numberIfAny("over") ?? 0, key: "over"),
        alias: try fields.alias()
      )
    }
  )

  static let pen = CommandEntry(
    .pen,
    arguments: "X,Y X,Y … [color=#RRGGBB] [width=WIDTH] [as=ALIAS]",
    summary: "continue the line you are drawing, or start one; others see it grow",
    notes: [
      "The line keeps the color and width that it starts with. It ends with `lift`, with your next change,",
      "or when you leave.",
    ],
    keys: ["points", "color", "width", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let pen = try arguments.removePen()
      let points = try arguments.points(
        "the next points of the line, as X,Y X,Y …",
        limit: CommandLimits.maximumPoints,
        of: "a stroke"
      )
      return .pen(points: points, pen: pen, alias: alias)
    },
    json: { fields throws(CommandError) in
      .pen(
        points: try fields.points(limit: CommandLimits.maximumPoints, of: "a stroke"),
        pen: try fields.pen(),
        alias: try fields.alias()
      )
    }
  )

  static let lift = CommandEntry(.lift, summary: "end the line you are drawing")

  static let photo = CommandEntry(
    .photo,
    arguments: "X,Y FILE [as=ALIAS]",
    summary: "add a photo (JPEG, PNG or WebP) with its center at X,Y",
    keys: ["at", "file", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let at = try arguments.point("the center, as X,Y")
      return .photo(at: at, file: try arguments.file(), alias: alias)
    },
    json: { fields throws(CommandError) in
      .photo(at: try fields.point("at"), file: try fields.file(), alias: try fields.alias())
    }
  )

  static let game = CommandEntry(
    .game,
    arguments: "wordle|connect-four X,Y [opponent=PEER] [as=ALIAS]",
    summary: "start a game: Wordle for all members, or Connect Four for two players",
    notes: gameRules,
    keys: ["game", "at", "opponent", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let opponent = try arguments.removeTarget("opponent")
      let game = try CommandParser.game(arguments.next("the game").text)
      let at = try arguments.point("the center, as X,Y")
      return .game(game, at: at, opponent: opponent, alias: alias)
    },
    json: { fields throws(CommandError) in
      .game(
        try CommandParser.game(fields.string("game")),
        at: try fields.point("at"),
        opponent: try fields.targetIfAny("opponent"),
        alias: try fields.alias()
      )
    }
  )

  static let play = CommandEntry(
    .play,
    arguments: "ID MOVE",
    summary: "make a move in a game: a word, a column from 1 to 7, or resign",
    notes: gameRules,
    keys: ["id", "move"],
    words: { arguments throws(CommandError) in
      let reference = try arguments.reference()
      let word = try arguments.next("the move: a word, a column from 1 to 7, or resign")
      return .play(reference, move: try CommandLimits.checkedMove(word.text))
    },
    json: { fields throws(CommandError) in
      .play(try fields.reference(), move: try CommandLimits.checkedMove(fields.string("move")))
    }
  )

  private static let gameRules = [
    "wordle: guess an English word of five letters; each player has six guesses. The marks of a guess:",
    "= for a letter in the right place, ~ for a letter elsewhere in the word, - for a letter that is not in",
    "the word, or not as often as in the guess.",
    "connect-four: without opponent=, the first two members that move are the players. R moves first, then Y.",
    "`undo` does not take back moves.",
  ]

  static let duplicate = CommandEntry(
    .duplicate,
    arguments: "ID … [by=DX,DY] [as=ALIAS]",
    summary: "copy objects; the copies are moved by DX,DY (default: 20,20) from the originals",
    notes: ["A copy of a whole group is a new group. Copies of only some of its objects are in no group."],
    keys: ["id", "ids", "by", "as"],
    words: { arguments throws(CommandError) in
      let alias = try arguments.removeAlias()
      let distance = try arguments.removeDistance("by") ?? .duplicate
      return .duplicate(try arguments.references(), by: distance, alias: alias)
    },
    json: { fields throws(CommandError) in
      .duplicate(try fields.references(), by: try fields.pointIfAny("by") ?? .duplicate, alias: try fields.alias())
    }
  )
}
