import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct RestoreTests {
  private let origin = Point(x: 0, y: 0)

  private func board(_ number: UInt64) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1_700_000_000_000)
  }

  private func share(_ from: Board, _ to: Board) throws { for batch in from.takeBatches() { try to.receive(batch) } }

  /// Returns the differences of two states except the chat and the moves of games.
  private func changes(_ earlier: BoardState, _ later: BoardState) -> [BoardDiff.Change] {
    BoardDiff.between(earlier, later).changes.filter { $0.kind != .chat }
  }

  @Test("a restore changes, undeletes and deletes objects, in one undo step") func restore() throws {
    let board = board(1)
    let moved = try board.createText("moved", at: origin)
    let deleted = try board.createText("deleted", at: origin)
    let typed = try board.createText("one two three", at: origin)
    let checkpoint = board.state
    try board.object(moved)?.move(to: Point(x: 5, y: 5))
    try board.object(moved)?.scale(to: 3)
    try board.delete(deleted)
    try board.text(typed).update(text: "one 2 three")
    let new = try board.createText("new", at: origin)
    try board.say("stays")
    let later = board.state
    _ = board.takeBatches()
    let outcome = try board.restore(checkpoint)
    #expect(outcome.changed == [moved, deleted, typed])
    #expect(outcome.deleted == [new])
    #expect(outcome.replaced.isEmpty)
    #expect(board.takeBatches().count == 1)
    #expect(changes(checkpoint, board.state).isEmpty)
    #expect(board.chat.map(\.text) == ["stays"])
    #expect(board.undoLabel == "restore")
    try board.undo()
    #expect(BoardDiff.between(later, board.state).isEmpty)
    try board.redo()
    #expect(changes(checkpoint, board.state).isEmpty)
    #expect(try board.restore(checkpoint) == RestoreOutcome())
    #expect(board.takeBatches().count == 2)
  }

  @Test("[SYN-8] a purged object is created again once, and names its original") func purged() throws {
    let board = board(1)
    let group = try board.gesture { () throws(BoardError) in try board.create(.group) }
    let text = try board.createText("words", at: Point(x: 1, y: 2))
    let stroke = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 9, y: 9)])
    let photo = try board.createPhoto(RandomEditing.asset(3), at: origin)
    for id in [text, stroke] { try board.write(id, .group, .dot(group.dot)) }
    let all = [group, text, stroke, photo]
    let checkpoint = board.state
    let snapshots = board.snapshots
    for id in all {
      try board.write(id, .deleted, .unsigned(1))
      try board.purge(id)
    }
    let outcome = try board.restore(checkpoint)
    #expect(Set(outcome.replaced.keys) == Set(all))
    #expect(board.snapshots.map(\.text) == snapshots.map(\.text))
    #expect(board.snapshots.map(\.ink) == snapshots.map(\.ink))
    #expect(board.snapshots.map(\.asset) == snapshots.map(\.asset))
    #expect(board.snapshots.map(\.centerPosition) == snapshots.map(\.centerPosition))
    for (old, new) in outcome.replaced { #expect(board.state.record(new)?[.replaces]?.value == .dot(old.dot)) }
    let stand = try #require(outcome.replaced[text])
    let newGroup = try #require(outcome.replaced[group])
    #expect(board.state.record(stand)?[.group]?.value == .dot(newGroup.dot))
    // A second restore finds the objects that the first restore created.
    try board.object(stand)?.scale(to: 4)
    try board.text(stand).update(text: "other")
    let again = try board.restore(checkpoint)
    #expect(again.replaced.isEmpty)
    #expect(again.changed == [stand])
    #expect(board.snapshot(stand)?.text == "words")
    #expect(board.snapshot(stand)?.scale == 1)
  }

  @Test("[GAM-13] a purged Wordle that is created again has the same answer, and can be played")
  func purgedGame() throws {
    let board = board(1)
    var random = SeededGenerator(seed: 3)
    let game = try board.createWordle(at: origin, using: &random)
    func answer(_ id: ObjectID) -> String? {
      let detail = board.gameView(id, for: board.member, isRevealing: true)?.detail
      return if case .wordle(let view)? = detail { view.answer } else { nil }
    }
    let (checkpoint, known) = (board.state, answer(game))
    try board.delete(game)
    try board.purge(game)
    let outcome = try board.restore(checkpoint)
    let new = try #require(outcome.replaced[game])
    #expect(known != nil && answer(new) == known)
    board.authors[Incarnation(1)] = board.member
    try board.game(new).play("crane")
    #expect(board.gameView(new, for: board.member)?.moveCount == 1)
    // A second restore finds the game that the first restore created.
    #expect(try board.restore(checkpoint).replaced.isEmpty)
  }

  @Test("[BRD-29] a restore reverts own erasures; strokes with others' erasures are created again") func erasures()
    throws
  {
    let (anna, bob) = (board(1), board(2))
    let ours = try anna.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 9, y: 9)])
    let theirs = try anna.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 7, y: 7)])
    let checkpoint = anna.state
    try share(anna, bob)
    try anna.gesture { () throws(BoardError) in try anna.stage(ours, .erasure(anna.nextDot()), .bytes([0, 3])) }
    try bob.gesture { () throws(BoardError) in try bob.stage(theirs, .erasure(bob.nextDot()), .bytes([0, 3])) }
    try share(bob, anna)
    let erased = anna.state
    let outcome = try anna.restore(checkpoint)
    #expect(outcome.changed == [ours])
    #expect(outcome.deleted == [theirs])
    let stand = try #require(outcome.replaced[theirs])
    #expect(anna.snapshot(stand)?.ink == bob.snapshot(theirs)?.ink)
    #expect(anna.objectIDs == [ours, stand])
    #expect(try anna.restore(checkpoint) == RestoreOutcome())
    // Restore the later state: the stroke with the erasure still exists.
    try anna.restore(erased)
    #expect(BoardDiff.between(erased, anna.state).isEmpty)
  }

  @Test("[BRD-22] [BRD-27] a selected or locked object makes the whole restore fail") func refused() throws {
    let board = board(1)
    let other = RandomEditing.member(2)
    let first = try board.createText("x", at: origin)
    let second = try board.createText("y", at: origin)
    let checkpoint = board.state
    for id in [first, second] { try board.object(id)?.move(to: Point(x: 5, y: 5)) }
    let bob = self.board(2)
    try bob.receive(board.state.difference(since: Context(), buckets: 0))
    try bob.object(second)?.select()
    board.authors[bob.incarnation] = other
    for batch in bob.takeBatches() { try board.receive(batch) }
    board.presentMembers = [other]
    let before = board.state.dump
    #expect(throws: BoardError.held(second, by: other)) { try board.restore(checkpoint) }
    board.presentMembers = []
    #expect(board.state.dump == before)
    try board.write(second, .lock, .unsigned(1))
    #expect(throws: BoardError.locked(second)) { try board.restore(checkpoint) }
    #expect(board.undoLabel == "lock")
  }

  @Test("a restore larger than a batch has several batches and one undo step") func large() throws {
    let board = board(1)
    // Eight values of this length fill half of a batch's bytes.
    let long = Array(repeating: UInt8(1), count: BoardLimits.valueBytes)
    let ids = try (0..<20).map { _ in try board.createText("", at: origin) }
    for id in ids { try board.write(id, Property(60), .bytes(long)) }
    let checkpoint = board.state
    for id in ids { try board.write(id, Property(60), .bytes(long.dropLast() + [2])) }
    let later = board.state
    _ = board.takeBatches()
    try board.restore(checkpoint)
    #expect(board.takeBatches().map(\.operations.count) == [8, 8, 4])
    #expect(BoardDiff.between(checkpoint, board.state).isEmpty)
    try board.undo()
    #expect(board.takeBatches().map(\.operations.count) == [8, 8, 4])
    #expect(BoardDiff.between(later, board.state).isEmpty)
  }

  @Test("a text longer than one run is written in several runs, and is not cut") func longText() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("", at: origin)
    try share(anna, bob)
    // Both members write a long text at the same time. Together, the texts exceed one value.
    let long = String(repeating: "🙂", count: 10_000)
    for board in [anna, bob] {
      try board.gesture { () throws(BoardError) in
        let run = TextTree.encodeRun(long, at: .root)
        try board.stage(id, .run(board.nextDot()), run)
      }
    }
    try share(bob, anna)
    let checkpoint = anna.state
    try anna.delete(id)
    try anna.purge(id)
    let outcome = try anna.restore(checkpoint)
    let copy = try #require(outcome.replaced[id])
    #expect(anna.state.record(copy)?.text == long + long)
    try share(anna, bob)
    #expect(bob.state.record(copy)?.text == long + long)
  }

  @Test(
    "a restore during others' edits gives the old state, and its undo the later one",
    arguments: 0..<repetitions(30, optimized: 100)
  )
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let boards = [self.board(1), self.board(2)]
    var checkpoint = BoardState()
    for step in 0..<60 {
      let index = random.below(2)
      RandomEditing.edit(boards[index], &random)
      try share(boards[index], boards[1 - index])
      if step == 30 { checkpoint = boards[0].state }
    }
    let board = boards[0]
    for id in board.objectIDs { try boards[1].setLocked(id, false) }
    try share(boards[1], board)
    let later = board.state
    let outcome = try board.restore(checkpoint)
    let left = changes(checkpoint, board.state)
    // Recreated objects have another id.
    let renamed = Set(outcome.replaced.keys).union(outcome.replaced.values)
    let naming: Set = ["group", "startBinding", "endBinding"]
    #expect(
      left.allSatisfy { renamed.contains($0.id) || $0.fields.allSatisfy { naming.contains($0.name) } },
      "seed \(seed)"
    )
    for (old, new) in outcome.replaced {
      #expect(checkpoint.record(old)?.text == board.state.record(new)?.text, "seed \(seed)")
      #expect(checkpoint.record(old)?.points == board.state.record(new)?.points, "seed \(seed)")
    }
    try share(board, boards[1])
    #expect(boards[1].state.dump == board.state.dump, "seed \(seed)")
    if board.undoLabel == "restore" {
      try board.undo()
      #expect(BoardDiff.between(later, board.state).isEmpty, "seed \(seed)")
    }
  }
}
