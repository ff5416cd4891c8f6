/// Reading the cells of a game.
extension ObjectRecord {
  /// The name of the game, such as `wordle`; nil if the cell is missing or malformed.
  package var gameName: String? {
    guard case .text(let name)? = self[.game]?.value, name.utf8.count <= BoardLimits.gameNameBytes else { return nil }
    return name
  }

  /// The encoded setup of the game; nil if the cell is missing or malformed.
  package var setup: [UInt8]? {
    guard case .bytes(let bytes)? = self[.setup]?.value, bytes.count <= BoardLimits.setupBytes else { return nil }
    return bytes
  }

  /// Throws an error if an incarnation cannot make another move in the game.
  func requireRoomForMove(by incarnation: Incarnation) throws(GameError) {
    let moves = entries(of: Property.moveNumber, upTo: BoardLimits.gameMoves)
    let own = moves.reduce(0) { $0 + ($1.cell.dot.incarnation == incarnation ? 1 : 0) }
    guard moves.count < BoardLimits.gameMoves, own < BoardLimits.gameMovesPerIncarnation else { throw .tooManyMoves }
  }

  /// Returns the moves of the game within the limits of GAM-3, in no particular order.
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
      guard let author, let member = author.member, author.count <= BoardLimits.gameMovesPerIncarnation else {
        continue
      }
      // A value that is not bytes is treated as a malformed move.
      var bytes: [UInt8] = []
      if case .bytes(let value) = cell.value { bytes = value }
      result.append(PlacedMove(dot: cell.dot, time: cell.time, member: member, bytes: bytes))
    }
    return result
  }
}
