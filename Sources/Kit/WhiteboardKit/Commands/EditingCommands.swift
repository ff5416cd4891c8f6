import Whiteboard

enum EditingCommands {
  static let edit = CommandSpec(.edit, "replace the words of a text", .object, .text()) {
    (editor, object, words) throws(CommandError) in try replaceWords(editor, object, words)
  }

  static func replaceWords(_ editor: BoardEditor, _ object: ObjectReference, _ words: String) throws(CommandError)
    -> CommandOutcome
  {
    let id = try editor.resolve(object)
    try editor.edit { (board) throws(BoardError) in try board.text(id).update(text: words) }
    return CommandOutcome(id: id)
  }

  static let insert = CommandSpec(
    .insert,
    "insert words into a text after AT characters, replacing N characters",
    notes: [
      "was= is the text in which you counted AT. If others have changed the text since, the position is adjusted.",
      "Inserts into the same text within a second of each other are one step for `undo`.",
    ],
    .object,
    .position,
    .text(),
    .replacedCount,
    .baseText
  ) { (editor, object, position, words, count, base) throws(CommandError) in
    let id = try editor.resolve(object)
    let range = try editor.range(position, count, in: base, of: id)
    try editor.editInSteps { (board) throws(BoardError) in try board.text(id).type(replacing: range, with: words) }
    return CommandOutcome(id: id)
  }

  static let erase = CommandSpec(
    .erase,
    "erase the parts of lines that are at most R board units (default: 8) from the path",
    notes: ["A line is deleted if no part of it is left. Locked lines, and lines that others have selected, stay."],
    .points(
      "the path of the eraser, as X,Y X,Y …",
      limit: CommandLimits.maximumErasePoints,
      of: "the path of an eraser"
    ),
    .radius
  ) { (editor, points, radius) throws(CommandError) in
    CommandOutcome(
      ids: try editor.edit { (board) throws(BoardError) in
        try board.erase(along: points.map { Point($0) }, radius: radius)
      }
    )
  }

  static let delete = CommandSpec(.delete, "delete objects", .objects) { (editor, objects) throws(CommandError) in
    try editor.editAll(objects) { (board, ids) throws(BoardError) in try board.delete(ids) }
  }

  static let clear = CommandSpec(
    .clear,
    usage: "board sure",
    "delete all objects on the board, in one step of `undo`",
    notes: ["Locked objects, and objects that others have selected, stay. The chat stays too."],
    .flag("board"),
    .flag("sure"),
    check: { (isBoard, isSure) throws(CommandError) in
      guard isBoard else { throw CommandError(.missingArgument, "write `clear board sure` to delete all objects") }
      guard isSure else {
        throw CommandError(
          .missingArgument,
          "this deletes all objects on the board; to do it, write `clear board sure`"
        )
      }
    },
    run: { (runner, _, _, _) async throws(CommandError) in
      try await runner.withEditor { (editor) throws(CommandError) in
        CommandOutcome(ids: try editor.edit { (board) throws(BoardError) in try board.clear() })
      }
    }
  )

  static let undelete = CommandSpec(.undelete, "restore a deleted object", .object) {
    (editor, object) throws(CommandError) in
    let id = try editor.resolve(object, among: .deleted)
    return try editor.editAll([id], asOne: true) { (board) throws(BoardError) in try board.undelete(id) }
  }

  static let purge = CommandSpec(
    .purge,
    "permanently remove a deleted object, or all objects that a member created, for everyone",
    notes: ["This cannot be undone. If you type the command with `--author`, add the word `sure`."],
    .purgedObjects,
    .flag("sure")
  ) { (runner, _, objects, isSure) async throws(CommandError) in
    try await runner.withEditor { (editor) async throws(CommandError) in
      switch objects {
      case .object(let object):
        let id = try editor.resolve(object, among: .deleted)
        try editor.edit { (board) throws(BoardError) in try board.purge(id) }
        return CommandOutcome(id: id)
      case .author(let target):
        let author = try runner.board.authors.find(target)
        try runner.requireConsent(isSure, toPurge: author)
        return try await runner.purge(author: author, editor)
      }
    }
  }

  static let play = CommandSpec(
    .play,
    "make a move in a game: a word, a column from 1 to 7, or resign",
    notes: DrawingCommands.gameRules,
    .object,
    .gameMove
  ) { (editor, game, move) throws(CommandError) in
    let id = try editor.resolve(game)
    try editor.edit { (board) throws(BoardError) in try board.game(id).play(move) }
    return CommandOutcome(id: id)
  }

  static let undo = CommandSpec(
    .undo,
    "undo your last step, except moves in games",
    notes: [
      "Later changes by others stay, so `undo` does not remove an object that others have changed since you added it.",
      "A step is skipped if none of its changes can be undone. The answer names each change and step that was skipped.",
      "Moves in games, chat lines and purges cannot be undone. To remove a game that has moves, use `delete`.",
    ]
  ) { (editor) throws(CommandError) in
    CommandOutcome(try editor.editInSteps { (board) throws(BoardError) in try board.undo() })
  }

  static let redo = CommandSpec(.redo, "redo the step that you undid last") { (editor) throws(CommandError) in
    CommandOutcome(try editor.editInSteps { (board) throws(BoardError) in try board.redo() })
  }

  static let set = CommandSpec(
    .set,
    "set the board's title, background (#RRGGBB or default), grid, or language for games",
    notes: [
      "grid is the distance between grid lines in board units; 0 hides the grid. An empty title removes the title.",
      "language is a tag like en. Games have words only in English.",
    ],
    .setting
  ) { (editor, setting) throws(CommandError) in
    .done(
      try editor.edit { (board) throws(BoardError) in
        switch setting {
        case .title(let title): try board.setTitle(title.isEmpty ? nil : title)
        // A transparent background shows the color behind the board.
        case .background(let color): try board.setBackground(color ?? 0)
        case .grid(let spacing): try board.setGrid(spacing == 0 ? nil : spacing)
        case .language(let tag): try board.setLanguage(tag)
        }
      }
    )
  }
}

extension Command {
  /// Replaces the text of a text object.
  public static func edit(_ object: ObjectReference, words: String) -> Command { EditingCommands.edit(object, words) }

  /// Replaces a range of characters in a text object.
  ///
  /// The position and the length of the range are measured in Unicode scalars of `was`, or of the current text if `was`
  /// is nil. If the text was changed since `was`, the position is adjusted.
  public static func insert(
    _ object: ObjectReference,
    at position: Int,
    words: String,
    replacing count: Int,
    was base: String? = nil
  ) -> Command { EditingCommands.insert(object, position, words, count, base) }

  /// Erases the parts of strokes that are within a distance of a path, in board units.
  public static func erase(points: [BoardPoint], radius: Double) -> Command { EditingCommands.erase(points, radius) }

  /// Deletes objects.
  public static func delete(_ objects: [ObjectReference]) -> Command { EditingCommands.delete(objects) }

  /// Deletes all objects that can be changed now.
  public static let clearBoard = EditingCommands.clear(true, true)

  /// Restores a deleted object.
  public static func undelete(_ object: ObjectReference) -> Command { EditingCommands.undelete(object) }

  /// Permanently removes a deleted object.
  public static func purge(_ object: ObjectReference) -> Command { EditingCommands.purge(.object(object), false) }

  /// Permanently removes all objects that a member created, including deleted objects.
  public static func purgeAuthor(target: String) -> Command { EditingCommands.purge(.author(target), false) }

  /// Makes a move in a game.
  public static func play(_ game: ObjectReference, move: String) -> Command { EditingCommands.play(game, move) }

  /// Undoes the last step of the local user.
  public static let undo = EditingCommands.undo()

  /// Redoes the step that was undone last.
  public static let redo = EditingCommands.redo()

  /// Changes a setting of the board.
  public static func set(_ setting: Setting) -> Command { EditingCommands.set(setting) }
}

extension BoardEditor {
  /// Returns the range to replace, adjusted for the changes made since `base`. The offset counts Unicode scalars of
  /// `base`, or of the current text if `base` is nil.
  fileprivate func range(_ offset: Int, _ count: Int, in base: String?, of id: ObjectID) throws(CommandError) -> Range<
    Int
  > {
    // The board refuses the edit if the object is not a text object.
    guard let text = board.object(id) as? TextObject else { return offset..<offset + count }
    let present = Array(text.text.unicodeScalars)
    let before = base.map { Array($0.unicodeScalars) } ?? present
    guard offset + count <= before.count else {
      throw CommandError(.badArgument, "the position is outside the text, which has \(before.count) characters")
    }
    let changes = TextDifference(from: before, to: present)
    let start = changes.moved(offset)
    return start..<max(start, changes.moved(offset + count))
  }
}

extension CommandOutcome {
  fileprivate init(_ outcome: UndoOutcome) {
    let left = [
      "overwritten": outcome.overwritten, "purged": outcome.purged, "unwritable": outcome.unwritable,
      "played": outcome.played, "kept": outcome.kept, "deleted": outcome.deleted,
    ].filter { $0.value > 0 }
    self.init(
      step: outcome.label,
      skipped: left.values.reduce(0, +),
      left: left.isEmpty ? nil : left,
      skippedSteps: outcome.skipped.isEmpty ? nil : outcome.skipped
    )
  }
}
