/// A game on the board.
public final class GameObject: WhiteboardObject {
  /// The name of the game; nil if the object has no valid name.
  ///
  /// The name is unchecked text from a peer.
  public var game: String? { record.gameName }
  /// The winners of the game, the best first.
  public var winners: [GameWinner] { view(for: board.member)?.winners ?? [] }

  /// Returns the game as `member` sees it; see `BoardReplica.gameView(_:for:isRevealing:)`.
  public func view(for member: MemberID, isRevealing: Bool = false) -> GameView? {
    board.gameView(id, for: member, isRevealing: isRevealing)
  }

  /// Makes a move in the game.
  ///
  /// A member can make a move while another member holds the object, because a move does not change the object's
  /// appearance. It is not possible while the object is locked. A move cannot be undone. A gesture contains at most one
  /// move of each game.
  ///
  /// - Throws: `unknownObject`, `locked`, `gameRefused`, `boardFull`, `clockExhausted`.
  public func play(_ move: GameMove) throws(BoardError) {
    guard board.state.isVisible(id) else { throw .unknownObject(id) }
    let record = record
    guard !record.isLocked else { throw .locked(id) }
    try board.requireNoMove(of: id)
    try board.gesture { () throws(BoardError) in
      let game = try judged { () throws(GameError) in
        let game = try GameFold(id, record, authors: board.authors).game
        try record.requireRoomForMove(by: board.incarnation)
        return game
      }
      // The move must come after every move that its author has seen, even if the clock of another member is ahead
      // (GAM-4).
      let floor = game.lastTime(before: board.member)
      if let floor, !floor.canBeFollowed { throw .clockExhausted }
      let dot = board.nextDot()
      let bytes = try judged { () throws(GameError) in try game.bytes(of: move, by: board.member, as: dot) }
      try board.stage(id, .move(dot), .bytes(bytes), after: floor)
    }
  }

  /// Makes the move that `text` describes: a word, a column number, or `resign`.
  /// - Throws: The same errors as `play(_:)`.
  public func play(_ text: String) throws(BoardError) {
    guard board.state.isVisible(id) else { throw .unknownObject(id) }
    guard let move = GameMove(text, in: game ?? "") else {
      let isKnown = SupportedGame.names.contains(game ?? "")
      throw .gameRefused(isKnown ? .malformedMove : .unknownGame)
    }
    try play(move)
  }

  private func judged<Value>(_ body: () throws(GameError) -> Value) throws(BoardError) -> Value {
    do throws(GameError) { return try body() } catch { throw .gameRefused(error) }
  }
}
