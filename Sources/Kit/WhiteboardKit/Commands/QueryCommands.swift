enum QueryCommands {
  static let objects = CommandSpec(.objects, rules: .reading, "list the objects on the board") {
    (runner, request) async throws(CommandError) in
    runner.answer(try runner.board.queries.objects, to: request)
  }

  static let show = CommandSpec(
    .show,
    rules: .reading,
    "show all properties of an object or group, and the state of a game as you see it",
    .object
  ) { (runner, request, object) async throws(CommandError) in
    runner.answer(try runner.board.queries.object(object), to: request)
  }

  static let find = CommandSpec(
    .find,
    rules: .reading,
    "list the objects at a point, touching a rectangle (with `inside`: completely inside it), or with the given words",
    notes: [
      "`find text` also searches the chat and the names of members. Upper and lower case and accents do not matter."
    ],
    .area
  ) { (runner, request, area) async throws(CommandError) in
    runner.answer(try runner.board.queries.found(area), to: request)
  }

  static let chat = CommandSpec(.chat, rules: .reading, "show the chat") {
    (runner, request) async throws(CommandError) in
    runner.answer(.chat(try runner.board.reports.chat), to: request)
  }

  static let settings = CommandSpec(.settings, rules: .reading, "show the settings of the board") {
    (runner, request) async throws(CommandError) in
    runner.answer(.settings(try runner.board.replica.board.settings), to: request)
  }

  static let peers = CommandSpec(
    .peers,
    rules: CommandRules(requires: .nothing, .changesNothing),
    "list the peers of the session"
  ) { (runner, request) async throws(CommandError) in
    // A user can ask for the peers while the program still joins the board.
    runner.answer(runner.hasBoard ? try await runner.board.queries.peers() : .peers([], connected: 0), to: request)
  }

  static let digest = CommandSpec(.digest, rules: .reading, "show the digest of the board") {
    (runner, request) async throws(CommandError) in
    runner.answer(try runner.board.queries.digest, to: request)
  }
}

extension Command {
  /// Lists the objects on the board.
  public static let objects = QueryCommands.objects()

  /// Reports all properties of an object; reports a game as the local user sees it.
  public static func show(_ object: ObjectReference) -> Command { QueryCommands.show(object) }

  /// Lists the objects in an area, from front to back, or the objects with the given words, in reading order.
  public static func find(_ area: BoardArea) -> Command { QueryCommands.find(area) }

  /// Lists the lines of the chat.
  public static let chat = QueryCommands.chat()

  /// Reports the settings of the board.
  public static let settings = QueryCommands.settings()

  /// Lists the peers of the session.
  public static let peers = QueryCommands.peers()

  /// Reports the digest of the board.
  public static let digest = QueryCommands.digest()
}
