import Testing

@testable import Whiteboard

/// Frozen cells, which a member wrote with the greatest possible time.
@Suite struct ThawingTests {
  private let boards = TwoBoards()

  /// Writes Mallory's cells with the greatest possible time, and delivers them to both boards.
  private func freeze(_ operations: [Operation], first: UInt64 = 1) throws {
    try boards.share()
    let batch = try Batch(
      author: Incarnation(99),
      firstSequence: first,
      time: HybridTime(BoardLimits.time - UInt64(operations.count - 1)),
      operations: operations
    )
    for board in [boards.anna, boards.bob] { try board.receive(batch) }
  }

  private func expectEqual() throws {
    try boards.share()
    let (anna, bob) = (boards.anna, boards.bob)
    #expect(anna.state.context == bob.state.context)
    #expect(anna.snapshots == bob.snapshots)
    #expect(anna.settings == bob.settings)
  }

  @Test("[BRD-36] unlocking a frozen object replaces it by a copy that can be changed") func unlock() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let id = try anna.createText("words", at: Point(x: 3, y: 4))
    try anna.setColor(0x1122_33FF, of: id)
    try freeze([Operation(id, .lock, .unsigned(1)), Operation(id, .position, .pair(0, 64))])
    #expect(throws: BoardError.locked(id)) { try anna.move([id], by: Point(x: 1, y: 1)) }
    try anna.setLocked(id, false)
    let copy = try #require(anna.objectIDs.first)
    #expect(anna.objectIDs == [copy] && copy != id)
    #expect(anna.state.record(copy)?[.replaces]?.value == .dot(id.dot))
    #expect(anna.snapshot(copy)?.text == "words")
    #expect(anna.snapshot(copy)?.color == 0x1122_33FF)
    try anna.move([copy], by: Point(x: 1, y: 1))
    try expectEqual()
    #expect(bob.objectIDs == [copy])
    // An undo reverts the move, and does not remove the only copy.
    try anna.undo()
    _ = try? anna.undo()
    _ = try? anna.undo()
    #expect(anna.objectIDs == [copy])
  }

  @Test("[BRD-22] [BRD-36] a frozen selection holds nothing; taking the object replaces it") func selection() throws {
    let anna = boards.anna
    let id = try anna.createText("words", at: Point(x: 3, y: 4))
    let member = RandomEditing.member(2)
    anna.presentMembers = [member]
    // A selection counts if its member wrote it.
    anna.authors[Incarnation(99)] = member
    try freeze([Operation(id, .selection, .bytes(member.bytes))])
    #expect(anna.holder(of: id) == nil)
    try anna.move([id], by: Point(x: 1, y: 1))
    #expect(throws: BoardError.clockExhausted) { try anna.select([id]) }
    let copies = try anna.select([id], taking: true)
    #expect(anna.objectIDs == copies && copies != [id] && anna.selectedIDs == copies)
    #expect(anna.snapshots.first?.text == "words")
    try anna.delete(copies)
    try expectEqual()
    #expect(anna.objectIDs.isEmpty)
  }

  @Test("[BRD-36] objects that cannot be deleted are purged; those that cannot be restored are replaced")
  func deletion() throws {
    let anna = boards.anna
    let ids = try boards.texts(3)
    try freeze([
      Operation(ids[0], .deleted, .unsigned(0)), Operation(ids[1], .deleted, .unsigned(1)),
      Operation(ids[2], .position, .pair(0, 0)),
    ])
    try anna.delete(ids[0])
    #expect(anna.state.record(ids[0]) == nil)
    try anna.undelete(ids[1])
    #expect(anna.snapshots.contains { $0.text == "1" })
    try anna.purge(ids[2])
    #expect(anna.objectIDs.count == 1)
    try expectEqual()
  }

  @Test("[BRD-36] a frozen setting is replaced, and the other settings stay") func settings() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    try anna.setTitle("first")
    try anna.setGrid(8)
    try anna.setLanguage("de")
    let id = try #require(anna.state.settingsIDs.first)
    try freeze([Operation(id, .title, .text("frozen")), Operation(id, .background, .unsigned(7))])
    #expect(anna.settings.title == "frozen")
    try anna.setTitle("second")
    try expectEqual()
    #expect(bob.settings == BoardSettings(title: "second", background: 7, grid: 8, language: "de"))
    try bob.setBackground(9)
    try expectEqual()
    #expect(anna.settings.background == 9 && anna.settings.title == "second")
  }

  @Test("[BRD-36] replicas that replace the same objects at once agree afterwards") func concurrent() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    bob.wallClock += 5
    let id = try anna.createText("words", at: Point(x: 3, y: 4))
    try anna.setTitle("first")
    let settings = try #require(anna.state.settingsIDs.first)
    try freeze([Operation(id, .lock, .unsigned(1)), Operation(settings, .title, .text("frozen"))])
    for (board, title) in [(anna, "Anna's"), (bob, "Bob's")] {
      try board.setLocked(id, false)
      try board.setTitle(title)
    }
    try expectEqual()
    #expect(anna.settings.title == "Bob's")
    #expect(anna.snapshots.map(\.text) == ["words", "words"])
  }
}
