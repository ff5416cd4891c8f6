import PeerCore

enum EditingCommands {
  static let color = CommandEntry(
    .color,
    arguments: "ID … #RRGGBB[AA]|default",
    summary: "set the color of texts and lines",
    keys: ["id", "ids", "color"],
    acceptsColor: true,
    words: { arguments throws(CommandError) in
      let (references, word) = try arguments.references(before: "the color, like #3060C0")
      return .color(references, try CommandParser.color(word.text))
    },
    json: { fields throws(CommandError) in
      .color(try fields.references(), try CommandParser.color(fields.string("color")))
    }
  )

  static let width = CommandEntry(
    .width,
    arguments: "ID … WIDTH",
    summary: "set the width of lines",
    keys: ["id", "ids", "width"],
    words: { arguments throws(CommandError) in
      let (references, word) = try arguments.references(before: "the width, like 5")
      let width = TextCommandParser.number(word.text) ?? .nan
      return .width(references, try CommandLimits.checkedWidth(width, key: "the width"))
    },
    json: { fields throws(CommandError) in
      let width = try CommandLimits.checkedWidth(fields.number("width"), key: "width")
      return .width(try fields.references(), width)
    }
  )

  static let edit = CommandEntry(
    .edit,
    arguments: #"ID "WORDS""#,
    summary: "replace the words of a text",
    keys: ["id", "text"],
    words: { arguments throws(CommandError) in .edit(try arguments.reference(), words: try arguments.words("the text"))
    },
    json: { fields throws(CommandError) in .edit(try fields.reference(), words: try fields.words()) }
  )

  static let insert = CommandEntry(
    .insert,
    arguments: #"ID AT "WORDS" [replacing=N] [was="WORDS"]"#,
    summary: "insert words into a text after AT characters, replacing N characters",
    notes: [
      "was= is the text in which you counted AT. If others have changed the text since, the position is adjusted.",
      "Inserts into the same text within a second of each other are one step for `undo`.",
    ],
    keys: ["id", "at", "text", "replacing", "was"],
    words: { arguments throws(CommandError) in
      let replacing = try arguments.removePosition("replacing") ?? 0
      let was = try arguments.removeValue("was")
      let reference = try arguments.reference()
      let position = try arguments.position("the position, as the number of characters before it")
      let words = try arguments.words("the text")
      return .insert(reference, at: position, words: words, replacing: replacing, was: was)
    },
    json: { fields throws(CommandError) in
      let replacing = try fields.positionIfAny("replacing") ?? 0
      guard let position = try fields.positionIfAny("at") else { throw JSONFields.missing("at") }
      return .insert(
        try fields.reference(),
        at: position,
        words: try fields.words(),
        replacing: replacing,
        was: fields.stringIfAny("was")
      )
    }
  )

  static let erase = CommandEntry(
    .erase,
    arguments: "X,Y X,Y … [radius=R]",
    summary: "erase the parts of lines that are at most R board units (default: 8) from the path",
    notes: ["A line is deleted if no part of it is left. Locked lines, and lines that others have selected, stay."],
    keys: ["points", "radius"],
    words: { arguments throws(CommandError) in
      let radius = try arguments.removeNumber("radius") ?? Command.eraserRadius
      let points = try arguments.points(
        "the path of the eraser, as X,Y X,Y …",
        limit: CommandLimits.maximumErasePoints,
        of: "the path of an eraser"
      )
      return .erase(points: points, radius: try CommandLimits.checkedWidth(radius, key: "radius"))
    },
    json: { fields throws(CommandError) in
      let radius = fields.numberIfAny("radius") ?? Command.eraserRadius
      return .erase(
        points: try fields.points(limit: CommandLimits.maximumErasePoints, of: "the path of an eraser"),
        radius: try CommandLimits.checkedWidth(radius, key: "radius")
      )
    }
  )

  static let delete = CommandEntry(.delete, summary: "delete objects", objects: { .delete($0) })

  static let undelete = CommandEntry(.undelete, summary: "restore a deleted object", object: { .undelete($0) })

  static let purge = CommandEntry(
    .purge,
    arguments: "ID | --author PEER",
    summary: "permanently remove a deleted object, or all objects that a member created, for everyone",
    keys: ["id", "author"],
    words: { arguments throws(CommandError) in
      guard arguments.removeFlag("--author") else { return .purge(try arguments.reference()) }
      return .purgeAuthor(target: try arguments.target("the author"))
    },
    json: { fields throws(CommandError) in
      guard let author = fields.stringIfAny("author") else { return .purge(try fields.reference()) }
      guard !fields.has("id") else { throw CommandError(.badArgument, #"give either "id" or "author", not both"#) }
      return .purgeAuthor(target: author)
    }
  )

  static let undo = CommandEntry(
    .undo,
    summary: "undo your last step, except moves in games",
    notes: [
      "Later changes by others stay, so `undo` does not remove an object that others have changed since you added it.",
      "A step is skipped if none of its changes can be undone. The answer names each change and step that was skipped.",
      "Moves in games, chat lines and purges cannot be undone. To remove a game that has moves, use `delete`.",
    ]
  )

  static let redo = CommandEntry(.redo, summary: "redo the step that you undid last")

  static let set = CommandEntry(
    .set,
    arguments: "title|background|grid|language VALUE",
    summary: "set the board's title, background (#RRGGBB or default), grid, or language for games",
    notes: [
      "grid is the distance between grid lines in board units; 0 hides the grid. An empty title removes the title.",
      "language is a tag like en. Games have words only in English.",
    ],
    keys: ["title", "background", "grid", "language"],
    acceptsColor: true,
    words: { arguments throws(CommandError) in
      let word = try arguments.next("the setting").text
      guard let name = Setting.Name(rawValue: word) else {
        throw CommandError(
          .badArgument,
          "no setting is called \(UntrustedText(word).quoted()); the settings are \(Setting.Name.list)"
        )
      }
      let value = try arguments.words("the value of \(word)")
      switch name {
      case .title: return .set(.title(try CommandLimits.checkedTitle(value)))
      case .background: return .set(.background(try CommandParser.color(value)))
      case .grid:
        let spacing = TextCommandParser.number(value) ?? .nan
        return .set(.grid(try CommandLimits.checkedGrid(spacing)))
      case .language: return .set(.language(try CommandLimits.checkedLanguage(value)))
      }
    },
    json: { fields throws(CommandError) in
      let names = Setting.Name.allCases.filter { fields.has($0.rawValue) }
      guard names.count == 1, let name = names.first else {
        throw CommandError(names.isEmpty ? .missingArgument : .badArgument, "give one setting: \(Setting.Name.list)")
      }
      switch name {
      case .title: return .set(.title(try CommandLimits.checkedTitle(fields.string("title"))))
      case .background: return .set(.background(try CommandParser.color(fields.string("background"))))
      case .grid: return .set(.grid(try CommandLimits.checkedGrid(fields.number("grid"))))
      case .language: return .set(.language(try CommandLimits.checkedLanguage(fields.string("language"))))
      }
    }
  )
}

extension Setting {
  enum Name: String, CaseIterable {
    case title, background, grid, language

    static let list = allCases.map(\.rawValue).joined(separator: ", ")
  }
}
