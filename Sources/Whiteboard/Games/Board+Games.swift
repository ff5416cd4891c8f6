/// Games: objects whose state is a fold of the moves that lie on the board (`Protocol/games.md`).
extension Board {
  /// Begins a Wordle in front of everything; `random` draws the answer.
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

  /// Begins a Connect Four in front of everything: for the first two who play, or for us and
  /// `opponent`.
  /// - Throws: `gameRefused(.malformedSetup)` where the opponent is ourselves, `outOfRange`,
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

  /// Makes a move.
  ///
  /// A move is no change of the object's form: it can be made while another member holds the
  /// object, but not while the object is locked. It cannot be undone. A gesture has at most one move
  /// of a game.
  ///
  /// - Throws: `unknownObject`, `wrongKind`, `locked`, `gameRefused`, `boardFull`, `clockExhausted`.
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
          // It is tried where it will count: after what it follows.
          var next = game
          let time = after ?? HybridTime(0)
          try next.apply(PlacedMove(dot: dot, time: time, member: member, bytes: bytes))
          return bytes
        }
      }
    }
  }

  /// The state that a move of ours would be folded into.
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

  /// Makes the move that `text` says: a word, or a column's number or `resign`.
  /// - Throws: as `play(_:_:)`.
  public func play(_ id: ObjectID, _ text: String) throws(BoardError) {
    guard state.isVisible(id), let record = state.record(id) else { throw .unknownObject(id) }
    guard record.kind == .game else { throw .wrongKind(id) }
    guard let move = GameMove(text, in: record.gameName ?? "") else {
      let isKnown = GameRegistry.games.contains { $0.name == record.gameName }
      throw .gameRefused(isKnown ? .malformedMove : .unknownGame)
    }
    try play(id, move)
  }

  /// The game as `member` is shown it, or nil where there is none.
  ///
  /// With `isRevealing` it shows what others' play would give away before the member is done, too.
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
  /// Which game it is.
  package var gameName: String? {
    guard case .text(let name)? = self[.game]?.value,
      name.utf8.count <= BoardLimits.gameNameBytes
    else { return nil }
    return name
  }

  /// How the game begins.
  package var setup: [UInt8]? {
    guard case .bytes(let bytes)? = self[.setup]?.value, bytes.count <= BoardLimits.setupBytes
    else { return nil }
    return bytes
  }

  /// The moves that are looked at (GAM-3), in no order; those of incarnations that are nobody's yet
  /// are left out.
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
      // A value of another shape is a move that makes no sense.
      var bytes: [UInt8] = []
      if case .bytes(let value) = cell.value { bytes = value }
      result.append(PlacedMove(dot: cell.dot, time: cell.time, member: member, bytes: bytes))
    }
    return result
  }
}

extension GameObject {
  /// Which game it is, or nil where no cell says; text from a peer.
  public var game: String? { record.gameName }
  /// Who won, the best first.
  public var winners: [GameWinner] { view(for: board.member)?.winners ?? [] }

  /// The game as `member` is shown it; see `Board.gameView(_:for:isRevealing:)`.
  public func view(for member: MemberID, isRevealing: Bool = false) -> GameView? {
    board.gameView(id, for: member, isRevealing: isRevealing)
  }

  /// Makes a move; see `Board.play(_:_:)`.
  public func play(_ move: GameMove) throws(BoardError) { try board.play(id, move) }
}
