import Testing

@testable import Whiteboard

private func member(_ number: UInt8) -> MemberID {
  guard let member = MemberID(bytes: [UInt8](repeating: number, count: 32)) else {
    preconditionFailure("32 bytes are an id")
  }
  return member
}

@Suite struct AuthorSharesTests {
  private let board = TwoBoards.board(1)
  private let flooder = Incarnation(2)
  private let other = Incarnation(3)
  private static let mallory = member(7)
  private static let bo = member(8)

  private func create(_ range: Range<UInt64>, of author: Incarnation) throws -> Batch {
    try Batch(
      author: author,
      firstSequence: range.lowerBound,
      time: HybridTime(range.lowerBound),
      operations: range.map { Operation(ObjectID(Dot(author, $0)), .kind, .unsigned(1)) }
    )
  }

  private func receive(_ batch: Batch) throws {
    guard let author = board.member(of: batch.author) else { return }
    try board.requireShare(for: batch, of: author)
    try board.receive(batch)
  }

  /// Fills the board with objects of an author until a batch is refused.
  private func fill(from first: UInt64, by author: Incarnation) throws -> UInt64 {
    var next = first
    while true {
      do {
        try receive(create(next..<next + 4096, of: author))
      } catch BoardError.shareUsed {
        return next
      }
      next += 4096
    }
  }

  @Test(
    "[BRD-38] on a shared board, an author has at most half of the objects; others can continue"
  )
  func share() throws {
    board.authors[flooder] = Self.mallory
    board.authors[other] = Self.bo
    _ = try board.createText("first", at: Point(x: 0, y: 0))
    let end = try fill(from: 1, by: flooder)
    #expect(board.state.objectCount > BoardLimits.objectsPerAuthor - 4096)
    #expect(board.state.objectCount <= BoardLimits.objectsPerAuthor + 1)
    // Others, including us, have room.
    try receive(create(1..<4096, of: other))
    _ = try board.createText("still here", at: Point(x: 0, y: 0))
    // Another incarnation of the same key has no room.
    let again = Incarnation(4)
    board.authors[again] = Self.mallory
    #expect(throws: BoardError.shareUsed) { try receive(create(1..<4096, of: again)) }
    // Purges are accepted, and make room again.
    let purges = try Batch(
      author: flooder,
      firstSequence: end,
      time: HybridTime(end),
      operations: (1...4000).map { Operation(ObjectID(Dot(flooder, $0)), .purge, .none) }
    )
    try receive(purges)
    try receive(create(1..<3000, of: again))
  }

  @Test("[BRD-38] an author who is alone may fill a board, and is refused when others join")
  func alone() throws {
    board.authors[flooder] = Self.mallory
    var next: UInt64 = 1
    while board.state.objectCount < BoardLimits.objects {
      try receive(create(next..<next + 4096, of: flooder))
      next += 4096
    }
    #expect(throws: BoardError.boardFull) {
      try board.createText("no room", at: Point(x: 0, y: 0))
    }
    // A user can make room, even on a full board.
    while try board.purge(madeBy: Self.mallory, atMost: 4000) == 4000 {}
    _ = try board.createText("room", at: Point(x: 0, y: 0))
    #expect(board.state.objectCount == 1)
  }

  @Test("all objects of an author are removed, and no others")
  func purge() throws {
    board.authors[flooder] = Self.mallory
    board.authors[Incarnation(4)] = Self.mallory
    board.authors[other] = Self.bo
    let mine = try board.createText("mine", at: Point(x: 0, y: 0))
    try receive(create(1..<11, of: flooder))
    try receive(create(1..<11, of: Incarnation(4)))
    try receive(create(1..<3, of: other))
    let locked = ObjectID(Dot(flooder, 3))
    try board.setLocked(locked, true)
    try board.delete(ObjectID(Dot(flooder, 5)))
    #expect(try board.purge(madeBy: Self.mallory, atMost: 15) == 15)
    #expect(try board.purge(madeBy: Self.mallory, atMost: 15) == 5)
    #expect(try board.purge(madeBy: Self.mallory, atMost: 15) == 0)
    #expect(Set(board.objectIDs) == [mine, ObjectID(Dot(other, 1)), ObjectID(Dot(other, 2))])
    #expect(board.state.objectCount == 3)
  }
}
