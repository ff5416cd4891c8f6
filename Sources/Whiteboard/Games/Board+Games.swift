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
      let game = try judged { () throws(GameError) in try nextState(id, record) }
      let after = game.lastTime(before: member)
      try stageMove(id, after: after) { dot throws(BoardError) in
        try judged { () throws(GameError) in
          let bytes = try game.encode(move, by: member, as: dot)
          // Try the move at the position that it will have: after the move that it follows.
          var next = game
          let time = after ?? HybridTime(0)
          try next.apply(PlacedMove(dot: dot, time: time, member: member, bytes: bytes))
          return bytes
        }
      }
    }
  }

  /// Returns the state of the game to which the next move of the local member applies.
  private func nextState(
    _ id: ObjectID,
    _ record: ObjectRecord
  ) throws(GameError) -> any Game {
    let game = try fold(id, record).game
    let moves = record.entries(of: Property.moveNumber, upTo: BoardLimits.gameMoves)
    let own = moves.reduce(0) { $0 + ($1.cell.dot.incarnation == incarnation ? 1 : 0) }
    guard moves.count < BoardLimits.gameMoves, own < BoardLimits.gameMovesPerIncarnation else {
      throw .tooManyMoves
    }
    return game
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

  /// Returns the game as `member` sees it; nil if `id` is not a game.
  ///
  /// If `isRevealing` is true, the view includes spoilers about other members' play even before
  /// `member` has finished.
  ///
  /// - Complexity: O(*n* log *n*) in the number of moves.
  public func gameView(
    _ id: ObjectID,
    for member: MemberID,
    isRevealing: Bool = false
  ) -> GameView? {
    guard state.isVisible(id), let record = state.record(id), record.kind == .game else {
      return nil
    }
    let name = record.gameName ?? ""
    do throws(GameError) {
      let fold = try fold(id, record)
      return GameView(
        id: id,
        name: name,
        detail: fold.game.detail(for: member, isRevealing: isRevealing),
        winners: fold.game.winners,
        moveCount: fold.acceptedCount,
        ignoredMoves: fold.ignored
      )
    } catch {
      return GameView(
        id: id,
        name: name,
        detail: .notJudged(error),
        winners: [],
        moveCount: 0,
        ignoredMoves: []
      )
    }
  }

  private func fold(_ id: ObjectID, _ record: ObjectRecord) throws(GameError) -> GameFold {
    let start = try GameRegistry.start(record.gameName ?? "", setup: record.setup ?? [], of: id)
    return GameFold(start, moves: record.moves { member(of: $0) })
  }
}

extension ObjectRecord {
  /// The name of the game, such as `wordle`; nil if the cell is missing or malformed.
  package var gameName: String? {
    guard case .text(let name)? = self[.game]?.value,
      name.utf8.count <= BoardLimits.gameNameBytes
    else { return nil }
    return name
  }

  /// The encoded setup of the game; nil if the cell is missing or malformed.
  package var setup: [UInt8]? {
    guard case .bytes(let bytes)? = self[.setup]?.value, bytes.count <= BoardLimits.setupBytes
    else { return nil }
    return bytes
  }

  /// Returns the moves of the game that are read (GAM-3), in no particular order.
  ///
  /// Moves of incarnations without a known member are left out.
  package func moves(by member: (Incarnation) -> MemberID?) -> [PlacedMove] {
    var result: [PlacedMove] = []
    var author: (incarnation: Incarnation, member: MemberID?, count: Int)?
    for entry in entries(of: Property.moveNumber, upTo: BoardLimits.gameMoves) {
      let cell = entry.cell
      if author?.incarnation != cell.dot.incarnation {
        author = (cell.dot.incarnation, member(cell.dot.incarnation), 0)
      }
      author?.count += 1
      guard let author, let member = author.member,
        author.count <= BoardLimits.gameMovesPerIncarnation
      else { continue }
      // A value that is not bytes counts as a malformed move.
      var bytes: [UInt8] = []
      if case .bytes(let value) = cell.value { bytes = value }
      result.append(PlacedMove(dot: cell.dot, time: cell.time, member: member, bytes: bytes))
    }
    return result
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
