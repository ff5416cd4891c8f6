@testable import Whiteboard

/// The boards of Anna and Bob, which exchange batches on request.
struct TwoBoards {
  let anna = Self.board(1)
  let bob = Self.board(2)

  static func board(_ number: UInt64) -> Board {
    let board = Board(
      incarnation: Incarnation(number),
      member: RandomEditing.member(UInt8(number)),
      wallClock: 1_700_000_000_000
    )
    for other: UInt8 in 1...2 { board.authors[Incarnation(UInt64(other))] = RandomEditing.member(other) }
    return board
  }

  func share() throws {
    let (fromAnna, fromBob) = (anna.takeBatches(), bob.takeBatches())
    for batch in fromAnna { try bob.receive(batch) }
    for batch in fromBob { try anna.receive(batch) }
  }

  /// Creates and shares texts on Anna's board.
  func texts(_ count: Int) throws -> [ObjectID] {
    let ids = try (0..<count).map { try anna.createText("\($0)", at: Point(x: Double($0) * 10, y: 0)) }
    try share()
    return ids
  }
}
