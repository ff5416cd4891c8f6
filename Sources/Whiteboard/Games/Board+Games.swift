import PeerCore

/// Games: objects whose state is computed from the moves on the board (`Protocol/games.md`).
extension Board {
  /// Creates a Wordle game in front of all objects.
  ///
  /// `random` chooses the answer.
  /// - Throws: `gameRefused(.unknownLanguage)`, `outOfRange`, `boardFull`.
  public func createWordle(at center: Point, language: String = "en", using random: inout some RandomNumberGenerator)
    throws(BoardError) -> ObjectID
  {
    let subtag = language.utf8.prefix { $0 != UInt8(ascii: "-") }
    guard ASCII.lowercase(subtag) == Array("en".utf8) else { throw .gameRefused(.unknownLanguage(language)) }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, Wordle.name, at: center, size: Wordle.size)
      try stage(id, .setup, .bytes(Wordle.setup(of: id, using: &random)))
      return id
    }
  }

  /// Creates a Connect Four game in front of all objects.
  ///
  /// - Parameters:
  ///   - center: The center of the game.
  ///   - opponent: The member that plays against the local member; nil if the first two members who make a move are the
  ///     players.
  /// - Returns: The id of the game.
  /// - Throws: `gameRefused(.malformedSetup)` if the opponent is the local member, `outOfRange`, `boardFull`.
  @discardableResult public func createConnectFour(at center: Point, opponent: MemberID? = nil) throws(BoardError)
    -> ObjectID
  {
    guard opponent != member else { throw .gameRefused(.malformedSetup) }
    return try gesture { () throws(BoardError) in
      let id = try create(.game)
      try stageGame(id, ConnectFour.name, at: center, size: ConnectFour.size)
      let setup = ConnectFour.setup(between: opponent.map { (member, $0) })
      try stage(id, .setup, .bytes(setup))
      return id
    }
  }

  private func stageGame(_ id: ObjectID, _ name: String, at center: Point, size: Size) throws(BoardError) {
    try stage(id, .position, try FixedPoint.position(center))
    try stage(id, .size, try FixedPoint.size(size))
    try stageZIndex(id)
    try stage(id, .game, .text(name))
  }
}
