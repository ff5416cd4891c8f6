/// Games: objects whose state is computed from the moves on the board (`Protocol/games.md`).
extension Board {
  /// Creates a Wordle in front of all objects.
  ///
  /// `random` chooses the answer.
  /// - Throws: `gameRefused(.unknownLanguage)`, `outOfRange`, `boardFull`.
  public func createWordle(
    at center: Point,
    language: String = "en",
    using random: inout some RandomNumberGenerator
  ) throws(BoardError) -> ObjectID {
    guard language.lowercased().split(separator: "-").first == "en" else {
      throw .gameRefused(.unknownLanguage(language))
    }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, Wordle.name, at: center, size: Wordle.size)
      try stage(id, .setup, .bytes(Wordle.setup(of: id, using: &random)))
      return id
    }
  }

  /// Creates a Connect Four in front of all objects.
  ///
  /// - Parameters:
  ///   - center: The center of the game.
  ///   - opponent: The member that plays against the local member; nil if the first two members who
  ///     make a move play.
  /// - Returns: The id of the game.
  /// - Throws: `gameRefused(.malformedSetup)` if the opponent is the local member, `outOfRange`,
  ///   `boardFull`.
  @discardableResult
  public func createConnectFour(
    at center: Point,
    opponent: MemberID? = nil
  ) throws(BoardError) -> ObjectID {
    guard opponent != member else { throw .gameRefused(.malformedSetup) }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, ConnectFour.name, at: center, size: ConnectFour.size)
      let setup = ConnectFour.setup(between: opponent.map { (member, $0) })
      try stage(id, .setup, .bytes(setup))
      return id
    }
  }

  private func stageGame(
    _ id: ObjectID,
    _ name: String,
    at center: Point,
    size: Size
  ) throws(BoardError) {
    try stage(id, .position, try FixedPoint.position(center))
    try stage(id, .size, try FixedPoint.size(size))
    try stageZIndex(id)
    try stage(id, .game, .text(name))
  }

  /// Makes a move in a game.
  ///
  /// A move does not change the object's appearance: a member can make one while another member
  /// holds the object, but not while the object is locked. A move cannot be undone. A gesture
  /// contains at most one move of each game.
  ///
  /// - Throws: `unknownObject`, `wrongKind`, `locked`, `gameRefused`, `boardFull`,
  ///   `clockExhausted`.
  public func play(_ id: ObjectID, _ move: GameMove) throws(BoardError) {
    guard state.isVisible(id), let record = state.record(id) else { throw .unknownObject(id) }
    guard record.kind == .game else { throw .wrongKind(id) }
    guard !record.isLocked else { throw .locked(id) }
    try requireNoMove(of: id)
    try gesture { () throws(BoardError) in
      let game = try judged { () throws(GameError) in
        let game = try GameFold(id, record, authors: authors).game
        try record.requireRoomForMove(by: incarnation)
        return game
      }
      // The move must follow every move that its author has seen, even if another clock runs ahead
      // (GAM-4).
      let floor = game.lastTime(before: member)
      if let floor, !floor.canBeFollowed { throw .clockExhausted }
      let dot = nextDot()
      let bytes = try judged { () throws(GameError) in
        try game.bytes(of: move, by: member, as: dot)
      }
      try stage(id, .move(dot), .bytes(bytes), after: floor)
    }
  }

  private func judged<Value>(_ body: () throws(GameError) -> Value) throws(BoardError) -> Value {
    do throws(GameError) { return try body() } catch { throw .gameRefused(error) }
  }

  /// Makes the move that `text` describes: a word, a column number, or `resign`.
  /// - Throws: The same errors as `play(_:_:)`.
  public func play(_ id: ObjectID, _ text: String) throws(BoardError) {
    guard state.isVisible(id), let record = state.record(id) else { throw .unknownObject(id) }
    guard record.kind == .game else { throw .wrongKind(id) }
    guard let move = GameMove(text, in: record.gameName ?? "") else {
      let isKnown = GameRegistry.games.contains { $0.name == record.gameName }
      throw .gameRefused(isKnown ? .malformedMove : .unknownGame)
    }
    try play(id, move)
  }
}

extension GameObject {
  /// The name of the game; nil if the object has no valid name.
  ///
  /// The name is unchecked text from a peer.
  public var game: String? { record.gameName }
  /// The winners of the game, the best first.
  public var winners: [GameWinner] { view(for: board.member)?.winners ?? [] }

  /// Returns the game as `member` sees it; see `Board.gameView(_:for:isRevealing:)`.
  public func view(for member: MemberID, isRevealing: Bool = false) -> GameView? {
    board.gameView(id, for: member, isRevealing: isRevealing)
  }

  /// Makes a move in this game; see `Board.play(_:_:)`.
  public func play(_ move: GameMove) throws(BoardError) { try board.play(id, move) }
}
