import PeerTestKit
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
      do { try receive(create(next..<next + 4096, of: author)) } catch BoardError.shareUsed { return next }
      next += 4096
    }
  }

  @Test("[BRD-38] the used part of the local member's limit depends on whether others write too") func usedShare()
    throws
  {
    board.authors[flooder] = board.member
    let count = UInt64(BoardLimits.objects) * 9 / 10
    for first in stride(from: 1, through: count, by: 4096) {
      try board.receive(create(first..<min(first + 4096, count + 1), of: flooder))
    }
    #expect(board.state.objectCount == Int(count))
    #expect(abs(board.usedOwnShare() - 0.9) < 0.001)
    #expect(board.state.usedStorage < 0.2)
    board.authors[other] = Self.bo
    try board.receive(create(1..<2, of: other))
    #expect(abs(board.usedOwnShare() - 1.8) < 0.001, "the limit of an author is lower on a shared board")
  }

  @Test("[BRD-38] on a shared board, an author has at most half of the objects; others can continue") func share()
    throws
  {
    board.authors[flooder] = Self.mallory
    board.authors[other] = Self.bo
    _ = try board.createText("first", at: Point(x: 0, y: 0))
    let end = try fill(from: 1, by: flooder)
    #expect(board.state.objectCount > BoardLimits.objectsPerAuthor - 4096)
    #expect(board.state.objectCount <= BoardLimits.objectsPerAuthor + 1)
    // Other authors, including the local author, have room.
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

  @Test("[BRD-38] an author who is alone may write more, but others always have room", .enabled(if: isOptimized))
  func alone() throws {
    board.authors[flooder] = Self.mallory
    let next = try fill(from: 1, by: flooder)
    #expect(board.state.objectCount > BoardLimits.objects - 4096)
    #expect(board.state.objectCount <= BoardLimits.objects)
    _ = try board.createText("room", at: Point(x: 0, y: 0))
    // From now on, Mallory may create nothing, but may still change what he wrote.
    #expect(throws: BoardError.shareUsed) { try receive(create(next..<next + 1, of: flooder)) }
    let move = Operation(ObjectID(Dot(flooder, 1)), .position, .pair(1, 1))
    try receive(Batch(author: flooder, firstSequence: next, time: HybridTime(next), operations: [move]))
    while try board.purge(madeBy: Self.mallory, atMost: 4000) == 4000 {}
    #expect(board.state.objectCount == 1)
  }

  @Test("the usage of each author is counted over all cells", arguments: 0..<10) func counts(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let boards = TwoBoards()
    for _ in 0..<100 {
      RandomEditing.edit(random.below(2) == 0 ? boards.anna : boards.bob, &random)
      if random.below(5) == 0 { try boards.share() }
    }
    try boards.share()
    let (state, authors) = (boards.anna.state, boards.anna.authors)
    var expected: [MemberID: [Int]] = [:]
    func add(_ more: [Int], by incarnation: Incarnation) {
      guard let author = authors[incarnation] else { return }
      expected[author] = zip(expected[author] ?? [0, 0, 0], more).map { $0 + $1 }
    }
    for (id, record) in state.records {
      add([1, 0, 0], by: id.dot.incarnation)
      for entry in record.entries { add([0, 1, entry.cell.value.length], by: entry.cell.dot.incarnation) }
    }
    #expect(expected.count == 2)
    #expect(AuthorShares.count(in: state, authors).mapValues { [$0.objects, $0.cells, $0.bytes] } == expected)
  }

  private func answer(_ counts: [(Incarnation, UInt64)]) -> Difference {
    var difference = Difference(context: Context())
    for (author, count) in counts {
      difference.context.insert(1...count, of: author)
      difference.living.insert(1...count, of: author)
      difference.entries += (1...count).map { sequence in
        let dot = Dot(author, sequence)
        let cell = Cell(value: .unsigned(1), time: HybridTime(sequence), dot: dot)
        return .init(object: ObjectID(dot), cells: [PropertyCell(.kind, cell)])
      }
    }
    return difference
  }

  @Test(
    "[BRD-38] an answer brings an author only up to its limit; the rest of the answer counts",
    .enabled(if: isOptimized)
  ) func answers() throws {
    board.authors[flooder] = Self.mallory
    _ = try board.createText("first", at: Point(x: 0, y: 0))
    let claimed = answer([(flooder, 99_000), (other, 5), (Incarnation(4), 2000)])
    let more = [other: Self.bo, Incarnation(4): Self.mallory]
    let accepted = board.withinShares(claimed, comparesAll: false, and: more)
    #expect(accepted.context[flooder].last == 99_000 && accepted.context[other].last == 5)
    #expect(accepted.context[Incarnation(4)].last == 1000)
    try board.receive(accepted)
    #expect(board.state.objectCount == 100_000 + 5 + 1)
    // A part of the same operations leads to the same result, and nothing more is accepted.
    let again = board.withinShares(claimed, comparesAll: false, and: more)
    #expect(again.context == accepted.context)
    let rest = board.withinShares(
      answer([(Incarnation(5), 1)]),
      comparesAll: false,
      and: more.merging([Incarnation(5): Self.mallory]) { known, _ in known }
    )
    #expect(rest.context.isEmpty && rest.entries.isEmpty)
    // Other authors, including the local author, have room.
    let others = board.withinShares(answer([(other, 40_000)]), comparesAll: false, and: more)
    #expect(others.context[other].last == 40_000)
    board.authors[other] = Self.bo
    try board.receive(others)
    _ = try board.createText("still here", at: Point(x: 0, y: 0))
  }

  @Test("[BRD-38] a whole board that one author wrote alone is accepted in one answer") func whole() throws {
    let claimed = answer([(flooder, 100_000), (other, 3)])
    let accepted = board.withinShares(claimed, comparesAll: false, and: [flooder: Self.mallory, other: Self.bo])
    #expect(accepted == claimed)
  }

  @Test("all objects of an author are removed, and no others") func purge() throws {
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
