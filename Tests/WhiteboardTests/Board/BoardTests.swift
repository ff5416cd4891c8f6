import Testing

@testable import Whiteboard

@Suite struct BoardTests {
  private func board(_ number: UInt64) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1_700_000_000_000)
  }

  private func share(_ from: Board, _ to: Board) throws {
    to.authors[from.incarnation] = from.member
    for batch in from.takeBatches() { try to.receive(batch) }
  }

  @Test func `each operation writes one cell and is visible immediately`() throws {
    let board = board(1)
    let id = try board.createText("hi", at: Point(x: 10, y: -20))
    _ = board.takeBatches()
    let object = try #require(board.object(id) as? TextObject)
    #expect(object.centerPosition == Point(x: 10, y: -20))
    #expect(object.size == Size(width: 200, height: 50))
    try object.select()
    try object.move(to: Point(x: 1.5, y: 2))
    try object.scale(to: 2)
    try object.rotate(to: .degrees(90))
    try object.deselect()
    let batches = board.takeBatches()
    #expect(batches.map(\.operations.count) == [1, 1, 1, 1, 1])
    #expect(object.centerPosition == Point(x: 1.5, y: 2))
    #expect(object.scale == 2)
    #expect(object.angle == .pi / 2)
    #expect(object.selectedBy == nil)
    #expect(object.text == "hi")
  }

  @Test("[BRD-11] a gesture is one batch, and none if it throws") func gestures() throws {
    let (board, bob) = (board(1), board(2))
    let other = bob.member
    let ids = try (0..<50).map { try board.createText("\($0)", at: Point(x: Double($0), y: 0)) }
    _ = board.takeBatches()
    try board.gesture { for id in ids { try board.object(id)?.move(to: Point(x: 7, y: 7)) } }
    let batches = board.takeBatches()
    #expect(batches.map(\.operations.count) == [50])
    try bob.receive(board.state.difference(since: Context(), buckets: 0))
    try bob.object(ids[49])?.select()
    try share(bob, board)
    board.presentMembers = [other]
    let before = board.state.dump
    #expect(throws: BoardError.held(ids[49], by: other)) {
      try board.gesture { for id in ids { try board.object(id)?.move(to: Point(x: 9, y: 9)) } }
    }
    #expect(board.state.dump == before)
    #expect(board.takeBatches().isEmpty)
  }

  @Test("a change to the values that a new stroke has is not an undo step") func nothingChanged() throws {
    let board = board(1)
    let id = try board.createDrawing([try InkPoint(Point(x: 5, y: 5)), try InkPoint(Point(x: 9, y: 9))], lineWidth: 2)
    _ = board.takeBatches()
    try board.object(id)?.rotate(to: .degrees(0))
    try board.object(id)?.scale(to: 1)
    try board.move([id], by: Point(x: 0, y: 0))
    try board.rotate([id], by: .degrees(0), about: Point(x: 1, y: 1))
    #expect(board.takeBatches().isEmpty)
    try board.undo()
    #expect(board.objectIDs.isEmpty)
  }

  @Test func `a gesture that does not fit in one batch makes several batches, and one undo step`() throws {
    let (board, other) = (board(1), board(2))
    let ids = try board.gesture {
      try (0..<BoardLimits.operationsPerBatch).map { _ in try board.createText("", at: Point(x: 0, y: 0)) }
    }
    try board.delete(ids)
    #expect(board.objectIDs.isEmpty)
    let outcome = try board.undo()
    #expect(outcome.label == "delete" && board.objectIDs.count == ids.count)
    let batches = board.takeBatches()
    #expect(batches.count > 3 && batches.allSatisfy { $0.operations.count <= BoardLimits.operationsPerBatch })
    for batch in batches { try other.receive(batch) }
    #expect(other.state.dump == board.state.dump)
    try board.undo()
    #expect(board.objectIDs.isEmpty)
  }

  // The bugs of AirplaIN, by their numbers.

  @Test("[BRD-22] AirplaIN 1.6: if two users select at once, one wins on both boards") func race() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("mine", at: Point(x: 0, y: 0))
    try share(anna, bob)
    anna.presentMembers = [bob.member]
    bob.presentMembers = [anna.member]
    try anna.object(id)?.select()
    try bob.object(id)?.select()
    try share(anna, bob)
    try share(bob, anna)
    let holder = anna.holder(of: id)
    #expect(holder != nil)
    #expect(bob.holder(of: id) == holder)
    let loser = holder == anna.member ? bob : anna
    #expect(throws: BoardError.held(id, by: holder ?? loser.member)) {
      try loser.object(id)?.move(to: Point(x: 1, y: 1))
    }
  }

  @Test("[BRD-22] a selection by another member, or by an unknown one, is ignored") func selectionByAnother() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: Point(x: 0, y: 0))
    try share(anna, bob)
    anna.presentMembers = [bob.member]
    try bob.write(id, .selection, .bytes(anna.member.bytes))
    try share(bob, anna)
    #expect(anna.holder(of: id) == nil && anna.selection(of: id) == nil)
    // The ignored selection does not keep Anna from selecting the object.
    try anna.object(id)?.select()
    #expect(anna.holder(of: id) == anna.member)
    try anna.object(id)?.deselect()
    try share(anna, bob)
    try bob.object(id)?.select()
    try share(bob, anna)
    #expect(anna.holder(of: id) == bob.member)
    anna.authors[bob.incarnation] = nil
    #expect(anna.holder(of: id) == nil)
  }

  @Test("[AUT-4] a viewer writes nothing") func viewer() throws {
    let board = board(1)
    board.isReadOnly = true
    #expect(throws: BoardError.viewer) { try board.createText("x", at: Point(x: 0, y: 0)) }
    try board.deselectAll()
    #expect(board.takeBatches().isEmpty)
  }

  @Test("[BRD-22] AirplaIN 1.6: a member that disappeared has no selection") func vanished() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("free", at: Point(x: 0, y: 0))
    try anna.object(id)?.select()
    try share(anna, bob)
    bob.presentMembers = [anna.member]
    #expect(bob.snapshot(id)?.selectedBy == anna.member)
    #expect(throws: BoardError.held(id, by: anna.member)) { try bob.delete(id) }
    bob.presentMembers = []
    #expect(bob.snapshot(id)?.selectedBy == nil)
    try bob.object(id)?.select()
    try bob.delete(id)
  }

  @Test("AirplaIN bug 1: received operations are not forwarded") func noEcho() throws {
    let (anna, bob) = (board(1), board(2))
    try anna.createText("once", at: Point(x: 0, y: 0))
    try share(anna, bob)
    #expect(bob.takeBatches().isEmpty)
  }

  @Test("AirplaIN bug 3: a photo stays a photo and keeps all its fields when moved") func photo() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createPhoto(RandomEditing.asset(3), at: Point(x: 0, y: 0))
    try anna.object(id)?.move(to: Point(x: 50, y: 60))
    try share(anna, bob)
    let photo = try #require(bob.object(id) as? PhotoObject)
    #expect(photo.asset == RandomEditing.asset(3))
    #expect(photo.size == Size(width: 200, height: 133.328125))
    #expect(bob.snapshot(id)?.updatedAt == anna.snapshot(id)?.updatedAt)
    #expect(!photo.isAssetAvailable)
  }

  @Test("AirplaIN bug 4: the selection is checked before an object is deleted") func lockedDelete() throws {
    let (board, bob) = (board(1), board(2))
    let other = bob.member
    let id = try board.createText("kept", at: Point(x: 0, y: 0))
    try share(board, bob)
    try bob.object(id)?.select()
    try share(bob, board)
    board.presentMembers = [other]
    #expect(throws: BoardError.held(id, by: other)) { try board.delete(id) }
    #expect(board.object(id) != nil)
  }

  @Test("AirplaIN bug 5: an older write that arrives late does not overwrite a newer one") func late() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: Point(x: 0, y: 0))
    try share(anna, bob)
    try anna.object(id)?.move(to: Point(x: 1, y: 1))
    let older = anna.takeBatches()
    try anna.object(id)?.move(to: Point(x: 2, y: 2))
    try share(anna, bob)
    for batch in older { try bob.receive(batch) }
    #expect(bob.object(id)?.centerPosition == Point(x: 2, y: 2))
  }

  @Test("AirplaIN 1.8: a late update does not bring a deleted object back") func resurrection() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: Point(x: 0, y: 0))
    try share(anna, bob)
    try bob.object(id)?.move(to: Point(x: 5, y: 5))
    try anna.delete(id)
    try share(anna, bob)
    try share(bob, anna)
    #expect(anna.object(id) == nil && bob.object(id) == nil)
    #expect(anna.objectIDs.isEmpty)
  }

  @Test("AirplaIN bug 8: other members see an edited text at once") func edit() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("old", at: Point(x: 0, y: 0))
    try share(anna, bob)
    let before = bob.snapshot(id)?.updatedAt ?? 0
    anna.wallClock += 10
    try (anna.object(id) as? TextObject)?.update(text: "new")
    try share(anna, bob)
    #expect(bob.snapshot(id)?.text == "new")
    #expect((bob.snapshot(id)?.updatedAt ?? 0) == before + 10)
  }

  @Test("[BRD-21] two equal chat lines are two lines, in one order everywhere") func chat() throws {
    let (anna, bob) = (board(1), board(2))
    try anna.say("hello", as: "Anna")
    try anna.say("hello", as: "Anna")
    try bob.say("hello")
    let (fromAnna, fromBob) = (anna.takeBatches(), bob.takeBatches())
    for batch in fromBob { try anna.receive(batch) }
    for batch in fromAnna.reversed() { try bob.receive(batch) }
    #expect(anna.chat == bob.chat)
    #expect(anna.chat.count == 3)
    #expect(anna.objects.isEmpty)
    #expect(anna.object(anna.chat[0].id) == nil)
    #expect(throws: BoardError.unknownObject(anna.chat[0].id)) { try anna.delete(anna.chat[0].id) }
  }

  @Test("[AUT-3] a chat line in another member's name is ignored") func chatInAnothersName() throws {
    let (anna, bob) = (board(1), board(2))
    try bob.gesture { () throws(BoardError) in
      let id = try bob.create(.chat)
      try bob.stage(id, .chatAuthor, .bytes(anna.member.bytes))
      try bob.stage(id, .chatText, .text("I am Anna"))
      try bob.stage(id, .chatTime, .unsigned(1))
    }
    try bob.say("I am Bob")
    anna.authors[bob.incarnation] = bob.member
    for batch in bob.takeBatches() { try anna.receive(batch) }
    #expect(anna.chat.map(\.text) == ["I am Bob"])
  }

  @Test("[BRD-6] an edit overwrites one whose clock is a year ahead") func ahead() throws {
    let (anna, bob) = (board(1), board(2))
    bob.wallClock += 31_536_000_000
    let id = try bob.createText("x", at: Point(x: 0, y: 0))
    try bob.object(id)?.move(to: Point(x: 1, y: 1))
    try share(bob, anna)
    try anna.object(id)?.move(to: Point(x: 2, y: 2))
    try share(anna, bob)
    #expect(bob.object(id)?.centerPosition == Point(x: 2, y: 2))
    // The times of Anna's unrelated writes do not change.
    let mine = try anna.createText("y", at: Point(x: 0, y: 0))
    #expect((anna.snapshot(mine)?.updatedAt ?? 0) <= anna.wallClock + BoardLimits.drift)
  }

  @Test("[BRD-5] a cell with the greatest time cannot be overwritten; the edit is an error") func exhausted() throws {
    let board = board(1)
    let id = try board.createText("x", at: Point(x: 0, y: 0))
    try board.receive(
      try Batch(
        author: Incarnation(9),
        firstSequence: 1,
        time: HybridTime(BoardLimits.time),
        operations: [Operation(id, .scale, .unsigned(65_536))]
      )
    )
    #expect(throws: BoardError.clockExhausted) { try board.object(id)?.scale(to: 2) }
    try board.object(id)?.move(to: Point(x: 1, y: 1))
  }

  @Test(
    "[BRD-12] numbers beyond the board are refused",
    arguments: [Double.nan, .infinity, -.infinity, 33_554_432, -33_554_432.5, 1e300]
  ) func range(number: Double) throws {
    let board = board(1)
    let id = try board.createText("x", at: Point(x: -33_554_432, y: 33_554_431.9))
    let object = try #require(board.object(id))
    #expect(throws: BoardError.outOfRange("position")) { try object.move(to: Point(x: number, y: 0)) }
    #expect(throws: BoardError.outOfRange("scale")) { try object.scale(to: number) }
    #expect(throws: BoardError.outOfRange("point")) { try InkPoint(Point(x: 0, y: number)) }
    if !number.isFinite || number == 1e300 {
      #expect(throws: BoardError.outOfRange("angle")) { try object.rotate(to: .radians(number)) }
    }
    #expect(object.centerPosition == Point(x: -33_554_432, y: 33_554_431.90625))
  }

  @Test("[BRD-10] a stroke that a connected member is drawing cannot be moved by others") func unfinished() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.beginDrawing()
    try anna.appendInk([InkPoint(x: 0, y: 0)], to: id, first: 0)
    try share(anna, bob)
    bob.presentIncarnations = [anna.incarnation]
    #expect(throws: BoardError.unfinished(id)) { try bob.object(id)?.move(to: Point(x: 1, y: 1)) }
    #expect(throws: BoardError.wrongKind(id)) { try bob.appendInk([InkPoint(x: 0, y: 0)], to: id, first: 1) }
    bob.presentIncarnations = []
    try bob.object(id)?.move(to: Point(x: 1, y: 1))
  }

  @Test func `a drawing's center and size follow from its points and its line width until it is moved`() throws {
    let board = board(1)
    let id = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 1600, y: 800)], lineWidth: 4)
    let object = try #require(board.object(id) as? DrawingObject)
    #expect(object.centerPosition == Point(x: 50, y: 25))
    #expect(object.size == Size(width: 104, height: 54))
    try object.move(to: Point(x: 0, y: 0))
    let snapshot = try #require(object.snapshot)
    #expect(snapshot.centerPosition == Point(x: 0, y: 0))
    #expect(snapshot.points == [Point(x: -50, y: -25), Point(x: 50, y: 25)])
  }

  @Test("[BRD-13] a new object is in front of all others") func stack() throws {
    let (anna, bob) = (board(1), board(2))
    var ids: [ObjectID] = []
    for round in 0..<20 {
      let board = round.isMultiple(of: 2) ? anna : bob
      ids.append(try board.createText("\(round)", at: Point(x: 0, y: 0)))
      try share(anna, bob)
      try share(bob, anna)
    }
    #expect(anna.objectIDs == ids)
    #expect(bob.objectIDs == ids)
    #expect(anna.snapshots.allSatisfy { $0.zIndex.count == 5 })
  }

  @Test func `each change of an object is reported once`() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: Point(x: 0, y: 0))
    #expect(anna.takeChanges() == [.added(id)])
    try anna.object(id)?.scale(to: 2)
    try anna.object(id)?.select()
    #expect(anna.takeChanges() == [.changed(id), .selected(id)])
    try share(anna, bob)
    #expect(bob.takeChanges() == [.added(id), .selected(id)])
    try anna.delete(id)
    try share(anna, bob)
    #expect(bob.takeChanges() == [.removed(id)])
    try anna.purge(id)
    try share(anna, bob)
    #expect(bob.takeChanges().isEmpty)
    #expect(bob.state.objectCount == 0)
  }

  @Test(
    "[BRD-25] after others claim sequences that were never written, a member can still write",
    arguments: [5, 6, 1 << 40, BoardLimits.sequence] as [UInt64]
  ) func claimedIncarnation(last: UInt64) throws {
    let board = board(1)
    let other = self.board(2)
    let first = try board.createText("before", at: Point(x: 0, y: 0))
    try share(board, other)
    // Every board receives the claim, as if in an answer.
    var claim = Difference(context: board.state.context)
    claim.context.insert(5...last, of: Incarnation(1))
    claim.living.insert(first.dot)
    try board.receive(claim)
    try other.receive(claim)
    let second = try board.createText("after", at: Point(x: 0, y: 0))
    #expect(board.incarnation != Incarnation(1))
    #expect(second.dot == Dot(board.incarnation, 1))
    let third = try board.createText("more", at: Point(x: 0, y: 0))
    #expect(third.dot == Dot(board.incarnation, 5))
    try share(board, other)
    #expect(other.state.dump == board.state.dump)
    #expect(other.snapshot(second)?.text == "after")
    #expect(other.snapshot(third)?.text == "more")
    // Earlier objects can still be edited.
    try board.text(first).update(text: "changed")
    try share(board, other)
    #expect(other.snapshot(first)?.text == "changed")
  }
}
