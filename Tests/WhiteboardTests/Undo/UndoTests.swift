import Testing

@testable import Whiteboard

@Suite struct UndoTests {
  private let origin = Point(x: 0, y: 0)

  private func board(_ number: UInt64) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1_700_000_000_000)
  }

  private func share(_ from: Board, _ to: Board) throws { for batch in from.takeBatches() { try to.receive(batch) } }

  private func text(_ id: ObjectID, on board: Board) -> String? { board.snapshot(id)?.text }

  @Test("[I9] a creation is undone by deletion and redone by undeletion") func creation() throws {
    let board = board(1)
    let id = try board.createText("hi", at: Point(x: 3, y: 4))
    let before = board.content
    #expect(board.undoLabel == "text")
    #expect(board.objectsInUndo == [id])
    #expect(try board.undo() == UndoOutcome(label: "text", changed: 1))
    #expect(board.objectIDs.isEmpty)
    #expect(!board.canUndo)
    #expect(board.redoLabel == "text")
    try board.redo()
    #expect(board.content == before)
    #expect(throws: BoardError.nothingToRedo()) { try board.redo() }
    try board.undo()
    #expect(throws: BoardError.nothingToUndo()) { try board.undo() }
  }

  @Test("[I9] moving 50 objects is one step, and so is a drag of several gestures") func many() throws {
    let board = board(1)
    let ids = try (0..<50).map { try board.createText("\($0)", at: Point(x: Double($0), y: 0)) }
    let before = board.content
    board.beginStep()
    for step in 1...20 {
      try board.gesture { for id in ids { try board.object(id)?.move(to: Point(x: Double(step), y: 9)) } }
    }
    board.endStep()
    let after = board.content
    #expect(board.undoLabel == "move")
    _ = board.takeBatches()
    #expect(try board.undo().changed == 50)
    #expect(board.takeBatches().map(\.operations.count) == [50])
    #expect(board.content == before)
    try board.redo()
    #expect(board.content == after)
  }

  @Test("[I9] a step that changed an object before it deleted it is undone completely") func changedAndDeleted() throws
  {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    try board.object(id)?.setColor(0xFF)
    for _ in 0..<2 {
      board.beginStep()
      try board.gesture { try board.write(id, .deleted, .unsigned(1)) }
      try board.undelete(id)
      try board.object(id)?.setColor(0xAAFF)
      try board.delete(id)
      board.endStep()
      try board.undo()
      #expect(board.snapshot(id)?.color == 0xFF)
    }
    try board.undo()
    #expect(board.snapshot(id)?.color == nil)
  }

  @Test("[GAM-2] an undo removes a game without moves, but not one with moves") func games() throws {
    let world = GameWorld(2)
    let (anna, bob) = (world.boards[0], world.boards[1])
    let text = try anna.createText("x", at: origin)
    let idle = try anna.createConnectFour(at: origin)
    let played = try anna.createConnectFour(at: origin)
    try world.share()
    try bob.game(played).play("1")
    try world.share()
    try anna.game(played).play("2")
    let skipped = [SkippedStep(label: "game", reason: .played)]
    #expect(try anna.undo() == UndoOutcome(label: "game", changed: 1, skipped: skipped))
    #expect(anna.object(played)?.kind == .game)
    #expect(anna.gameView(played, for: anna.member)?.moveCount == 2)
    #expect(anna.objectIDs == [text, played])
    try anna.undo()
    #expect(anna.objectIDs == [played])
    try anna.redo()
    #expect(try anna.redo() == UndoOutcome(label: "game", changed: 1))
    #expect(anna.objectIDs.contains(idle))
    // The game with moves exists already.
    let there = [SkippedStep(label: "game", reason: .unchanged)]
    #expect(throws: BoardError.nothingToRedo(skipped: there)) { try anna.redo() }
    // A user who deleted the game may delete it again.
    try anna.delete(played)
    try anna.undo()
    try anna.redo()
    #expect(anna.object(played) == nil)
    try anna.undelete(played)
    #expect(try anna.undo() == UndoOutcome(label: "undelete", changed: 1))
    #expect(anna.object(played) == nil)
  }

  @Test("[I9] a step has the name of its command, also inside of another gesture") func labels() throws {
    let board = board(1)
    let ids = try (0..<2).map { try board.createText("\($0)", at: Point(x: Double($0), y: 0)) }
    let group = try board.gesture { try board.group(ids) }
    #expect(board.undoLabel == "group")
    _ = try board.gesture { try board.duplicate(ids) }
    #expect(board.undoLabel == "duplicate")
    try board.step { try board.gesture { try board.ungroup(group) } }
    #expect(board.undoLabel == "ungroup")
    try board.gesture("mine") { try board.move(ids, by: Point(x: 1, y: 1)) }
    #expect(board.undoLabel == "mine")
    try board.gesture {
      try board.move(ids, by: Point(x: 1, y: 1))
      try board.duplicate(ids)
    }
    #expect(board.undoLabel == "move")
  }

  @Test("[I9] typing without a pause is one step, including corrections") func typedWithoutPause() throws {
    let board = board(1)
    let id = try board.createText("ab", at: origin)
    for (index, letter) in "hello".enumerated() {
      board.wallClock += 1000
      try board.text(id).type(replacing: (1 + index)..<(1 + index), with: String(letter))
    }
    try board.text(id).type(replacing: 5..<6, with: "")
    // Edits without an effect, selections and chat lines are not undo steps.
    try board.text(id).type(replacing: 0..<0, with: "")
    try board.say("hi", as: "Anna")
    try board.select([id])
    try board.text(id).type(replacing: 5..<5, with: "p")
    #expect(text(id, on: board) == "ahellpb")
    #expect(try board.undo().label == "text")
    #expect(text(id, on: board) == "ab")
    try board.redo()
    #expect(text(id, on: board) == "ahellpb")
    // After an undo or a redo, typing begins another step.
    try board.text(id).type(replacing: 0..<0, with: "x")
    try board.undo()
    #expect(text(id, on: board) == "ahellpb")
    try board.undo()
    #expect(text(id, on: board) == "ab")
    try board.undo()
    #expect(!board.canUndo)
  }

  @Test("[I9] typing after a pause, in another text or after another step is a new step") func typedWithBreaks() throws
  {
    let board = board(1)
    let ids = try ["ab", "cd"].map { try board.createText($0, at: origin) }
    func type(_ letter: String, _ number: Int = 0) throws {
      try board.text(ids[number]).type(replacing: 0..<0, with: letter)
    }
    let breaks: [(String, () throws -> Void)] = [
      ("a pause", { board.wallClock += 1001 }), ("a clock that was set back", { board.wallClock -= 1 }),
      ("another text", { try type("o", 1) }),
      ("an edit without typing", { try board.text(ids[0]).edit(replacing: 0..<0, with: "e") }),
      ("a move", { try board.object(ids[1])?.move(to: Point(x: 1, y: 1)) }),
      ("a step of its own", { try board.step { try type("s") } }),
    ]
    for (name, body) in breaks {
      try type("1")
      try type("2")
      let before = text(ids[0], on: board)
      try body()
      let between = text(ids[0], on: board)
      try type("3")
      try type("4")
      try board.undo()
      #expect(text(ids[0], on: board) == between, "\(name)")
      if between != before { try board.undo() }
      #expect(text(ids[0], on: board) == before, "\(name)")
    }
  }

  @Test("[I9] an undo of typing keeps what others typed meanwhile") func typedTogether() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("", at: origin)
    try share(anna, bob)
    for (index, letter) in "hi".enumerated() {
      try anna.text(id).type(replacing: (2 * index)..<(2 * index), with: String(letter))
      try share(anna, bob)
      let end = try #require(text(id, on: bob)).count
      try bob.text(id).type(replacing: end..<end, with: String(letter).uppercased())
      try share(bob, anna)
    }
    #expect(text(id, on: anna) == "hHiI")
    try anna.undo()
    #expect(text(id, on: anna) == "HI")
    try anna.redo()
    #expect(text(id, on: anna) == "hHiI")
    try share(anna, bob)
    try bob.undo()
    #expect(text(id, on: bob) == "hi")
  }

  @Test("[I9] a stroke that was drawn live is one step") func liveStroke() throws {
    let board = board(1)
    let id = try board.step("draw") { () throws(BoardError) in
      let id = try board.beginDrawing()
      for piece in 0..<5 { try board.appendInk([InkPoint(x: Int32(piece), y: 0)], to: id, first: piece) }
      try board.endDrawing(id, count: 5)
      return id
    }
    let before = board.content
    #expect(board.undoLabel == "draw")
    try board.undo()
    #expect(board.objectIDs.isEmpty)
    #expect(!board.canUndo)
    try board.redo()
    #expect(board.content == before)
    #expect(board.object(id) is DrawingObject)
  }

  @Test("[I9] an undo skips a value that another user wrote, even if an earlier undo restored it") func overwritten()
    throws
  {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: origin)
    try anna.object(id)?.move(to: Point(x: 1, y: 1))
    try share(anna, bob)
    try bob.object(id)?.move(to: Point(x: 2, y: 2))
    try share(bob, anna)
    try anna.object(id)?.move(to: Point(x: 3, y: 3))
    try anna.undo()
    #expect(anna.object(id)?.centerPosition == Point(x: 2, y: 2))
    // The value counts as Bob's again, although Anna's undo restored it. So a further undo, which skips her move, does
    // not delete the object either.
    let skipped = [SkippedStep(label: "move", reason: .overwritten), SkippedStep(label: "text", reason: .kept)]
    #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() }
    #expect(anna.object(id)?.centerPosition == Point(x: 2, y: 2))
    #expect(try anna.redo() == UndoOutcome(label: "move", changed: 1))
    #expect(anna.object(id)?.centerPosition == Point(x: 3, y: 3))
  }

  @Test("[I9] undo and redo skip the steps that others changed since, and lose none") func skipping() throws {
    let (anna, bob) = (board(1), board(2))
    let ids = try (0..<3).map { try anna.createText("\($0)", at: origin) }
    let away = Point(x: 9, y: 9)
    try anna.object(ids[0])?.scale(to: 2)
    for id in ids[1...] { try anna.object(id)?.move(to: Point(x: 1, y: 1)) }
    try share(anna, bob)
    for id in ids[1...] { try bob.object(id)?.move(to: away) }
    try share(bob, anna)
    let moves = Array(repeating: SkippedStep(label: "move", reason: .overwritten), count: 2)
    #expect(try anna.undo() == UndoOutcome(label: "scale", changed: 1, skipped: moves))
    #expect(anna.object(ids[0])?.scale == 1)
    #expect(ids[1...].allSatisfy { anna.object($0)?.centerPosition == away })
    #expect(try anna.redo() == UndoOutcome(label: "scale", changed: 1))
    // No step can be redone, and the error names the skipped steps.
    #expect(throws: BoardError.nothingToRedo(skipped: moves)) { try anna.redo() }
    #expect(try anna.undo().label == "scale")
    #expect(anna.object(ids[0])?.scale == 1)
  }

  @Test("[BRD-40] a creation that others have changed since is not undone, and the user learns why") func keptCreation()
    throws
  {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("Risks:", at: origin)
    try share(anna, bob)
    try bob.text(id).edit(replacing: 6..<6, with: " budget")
    try share(bob, anna)
    let skipped = [SkippedStep(label: "text", reason: .kept)]
    #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() }
    #expect(text(id, on: anna) == "Risks: budget" && anna.takeBatches().isEmpty)
    // Bob's own undo has an effect that everybody sees.
    try bob.undo()
    try share(bob, anna)
    #expect(text(id, on: anna) == "Risks:")
  }

  @Test(
    "[BRD-40] every change by others keeps an object, except a selection",
    arguments: ["move", "delete text", "lock", "group", "select"]
  ) func keeping(_ change: String) throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("ab", at: origin)
    try share(anna, bob)
    switch change {
    case "move": try bob.object(id)?.move(to: Point(x: 1, y: 1))
    case "delete text": try bob.text(id).edit(replacing: 0..<1, with: "")
    case "lock":
      try bob.setLocked(id, true)
      try bob.setLocked(id, false)
    case "group": try bob.group([id])
    default: try bob.object(id)?.select()
    }
    try share(bob, anna)
    if change == "select" { try anna.undo() } else { #expect(throws: BoardError.self) { try anna.undo() } }
    #expect((anna.object(id) == nil) == (change == "select"))
  }

  @Test("[BRD-40] of several new objects, an undo keeps those that others changed") func keptCopies() throws {
    let (anna, bob) = (board(1), board(2))
    let ids = try (0..<2).map { try bob.createText("\($0)", at: origin) }
    try share(bob, anna)
    let copies = try anna.duplicate(ids, by: Point(x: 9, y: 9))
    let (first, second) = (try #require(copies[ids[0]]), try #require(copies[ids[1]]))
    try share(anna, bob)
    try bob.text(second).edit(replacing: 1..<1, with: " and more")
    try share(bob, anna)
    let outcome = try anna.undo()
    #expect(outcome.changed == 1 && outcome.kept == 1 && !outcome.isComplete)
    #expect(anna.object(first) == nil && text(second, on: anna) == "1 and more")
    // The redo restores what the undo removed.
    #expect(try anna.redo().isComplete)
    #expect(text(first, on: anna) == "0")
  }

  @Test("[BRD-40] neither the redo of a deletion nor the undo of an undeletion removes words") func keptUndeletion()
    throws
  {
    let (anna, bob) = (board(1), board(2))
    let id = try bob.createText("a", at: origin)
    try share(bob, anna)
    try anna.delete(id)
    try anna.undo()
    try share(anna, bob)
    try bob.text(id).edit(replacing: 1..<1, with: "b")
    try share(bob, anna)
    let redo = [SkippedStep(label: "delete", reason: .kept)]
    #expect(throws: BoardError.nothingToRedo(skipped: redo)) { try anna.redo() }
    // Anna may still delete the object herself, and undo and redo the deletion.
    try anna.delete(id)
    try anna.undo()
    #expect(try anna.redo().isComplete)
    try share(anna, bob)
    try bob.undelete(id)
    try share(bob, anna)
    try anna.text(id).edit(replacing: 2..<2, with: "c")
    try share(anna, bob)
    let undo = [SkippedStep(label: "undelete", reason: .kept)]
    // Bob's step before the undeletion is undone instead.
    #expect(try bob.undo() == UndoOutcome(label: "text", changed: 1, skipped: undo))
    #expect(text(id, on: bob) == "ac")
  }

  @Test("[BRD-40] a group that others have grouped further is kept with its objects") func keptGroup() throws {
    let (anna, bob) = (board(1), board(2))
    let ids = try (0..<3).map { try bob.createText("\($0)", at: origin) }
    try share(bob, anna)
    let group = try anna.group(Array(ids[0...1]))
    try share(anna, bob)
    let outer = try bob.group([group, ids[2]])
    try share(bob, anna)
    let skipped = [SkippedStep(label: "group", reason: .kept)]
    #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() }
    #expect(anna.groups(of: ids[0]) == [group, outer])
  }

  @Test("[BRD-40] a value that an undo restored still counts as the other member's") func keptAfterUndo() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("a", at: origin)
    try share(anna, bob)
    try bob.object(id)?.scale(to: 2)
    try share(bob, anna)
    try anna.object(id)?.scale(to: 3)
    try anna.undo()
    let skipped = [SkippedStep(label: "text", reason: .kept)]
    #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() }
    #expect(anna.object(id)?.scale == 2)
  }

  @Test("[BRD-40] steps on an object that another member deleted are skipped") func deletedByOthers() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("a", at: origin)
    try share(anna, bob)
    let other = try bob.createText("b", at: origin)
    try bob.text(id).edit(replacing: 1..<1, with: "b")
    try share(bob, anna)
    try anna.delete(id)
    try share(anna, bob)
    let skipped = [SkippedStep(label: "text", reason: .deleted)]
    #expect(try bob.undo() == UndoOutcome(label: "text", changed: 1, skipped: skipped))
    #expect(bob.object(other) == nil)
    try share(bob, anna)
    try anna.undo()
    #expect(text(id, on: anna) == "ab")
  }

  @Test("[I9] an undo that finds no step keeps the redo steps") func redoAfterRefusal() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try bob.createText("x", at: origin)
    try share(bob, anna)
    // A step that changes nothing in the end, and another step after it.
    try anna.step {
      try anna.object(id)?.move(to: Point(x: 1, y: 1))
      try anna.object(id)?.move(to: origin)
    }
    try anna.object(id)?.move(to: Point(x: 2, y: 2))
    try anna.undo()
    let unchanged = [SkippedStep(label: "move", reason: .unchanged)]
    for _ in 0..<2 { #expect(throws: BoardError.nothingToUndo(skipped: unchanged)) { try anna.undo() } }
    #expect(try anna.redo() == UndoOutcome(label: "move", changed: 1))
    #expect(anna.object(id)?.centerPosition == Point(x: 2, y: 2))
  }

  @Test("[I9] if others changed every step, undo is refused with the reason and keeps the steps") func allSkipped()
    throws
  {
    let (anna, bob) = (board(1), board(2))
    let id = try bob.createText("x", at: origin)
    try share(bob, anna)
    try anna.object(id)?.move(to: Point(x: 1, y: 1))
    try share(anna, bob)
    try bob.object(id)?.move(to: Point(x: 2, y: 2))
    try share(bob, anna)
    let skipped = [SkippedStep(label: "move", reason: .overwritten)]
    for _ in 0..<2 { #expect(throws: BoardError.nothingToUndo(skipped: skipped)) { try anna.undo() } }
    #expect(anna.undoLabel == "move" && !anna.canRedo)
    #expect(anna.object(id)?.centerPosition == Point(x: 2, y: 2))
  }

  @Test("[I9] a new edit clears the redo steps; a selection or a chat line does not") func newEdit() throws {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    try board.object(id)?.scale(to: 2)
    try board.undo()
    try board.object(id)?.select()
    try board.say("hello")
    #expect(board.canRedo)
    try board.object(id)?.rotate(to: .radians(1))
    #expect(!board.canRedo)
    #expect(board.undoLabel == "rotate")
  }

  @Test("[I9] an undo makes absent values absent again, so that the default is shown") func defaults() throws {
    let board = board(1)
    let id = try board.createPhoto(RandomEditing.asset(1), at: origin)
    let before = board.content
    let snapshot = board.snapshot(id)
    try board.gesture { () throws(BoardError) in
      try board.object(id)?.scale(to: 2)
      try board.object(id)?.rotate(to: .radians(2))
      for property: Property in [.color, .lineWidth, .lock, .title, .grid] {
        try board.stage(id, property, .unsigned(1))
      }
      try board.stage(id, .group, .dot(id.dot))
    }
    try board.undo()
    #expect(board.content == before)
    #expect(board.snapshot(id)?.scale == snapshot?.scale)
    #expect(board.snapshot(id)?.angle == snapshot?.angle)
    #expect(board.snapshot(id)?.color == nil)
    #expect(board.state.record(id)?.isLocked == false)
    #expect(board.state.record(id)?.lineWidth == ObjectDefaults.lineWidth)
  }

  @Test("[BRD-14] an undo of typing removes only the user's own characters") func typing() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("", at: origin)
    try anna.text(id).edit(replacing: 0..<0, with: "hello")
    try share(anna, bob)
    try bob.text(id).edit(replacing: 2..<2, with: "XY")
    try share(bob, anna)
    #expect(text(id, on: anna) == "heXYllo")
    try anna.undo()
    #expect(text(id, on: anna) == "XY")
    try anna.redo()
    #expect(text(id, on: anna) == "heXYllo")
    try anna.undo()
    try anna.redo()
    #expect(anna.state.record(id)?.entries(of: 129, upTo: 9).count == 1)
    try share(anna, bob)
    #expect(text(id, on: bob) == "heXYllo")
  }

  @Test("[BRD-14] an undo of a deletion restores only what the user deleted") func deletion() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("abcdef", at: origin)
    try share(anna, bob)
    try anna.text(id).edit(replacing: 1..<4, with: "")
    try bob.text(id).edit(replacing: 3..<5, with: "")
    try share(bob, anna)
    #expect(text(id, on: anna) == "af")
    try anna.undo()
    #expect(text(id, on: anna) == "abcf")
    try anna.redo()
    #expect(text(id, on: anna) == "af")
    try anna.undo()
    try share(anna, bob)
    #expect(text(id, on: bob) == "abcf")
  }

  @Test("[BRD-29] an erasure is undone and redone in its own cell") func erasure() throws {
    let board = board(1)
    let id = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 50, y: 0)])
    let before = board.content
    try board.gesture { () throws(BoardError) in try board.stage(id, .erasure(board.nextDot()), .bytes([0, 3])) }
    let after = board.content
    #expect(board.undoLabel == "erase")
    try board.undo()
    #expect(board.content == before)
    try board.redo()
    #expect(board.content == after)
  }

  @Test("[BRD-22] an undo of an object that another user selected is refused and stays") func held() throws {
    let board = board(1)
    let other = RandomEditing.member(2)
    let ids = try (0..<3).map { _ in try board.createText("x", at: origin) }
    try board.gesture { for id in ids { try board.object(id)?.move(to: Point(x: 7, y: 7)) } }
    let bob = self.board(2)
    try bob.receive(board.state.difference(since: Context(), buckets: 0))
    try bob.object(ids[1])?.select()
    board.authors[bob.incarnation] = other
    for batch in bob.takeBatches() { try board.receive(batch) }
    board.presentMembers = [other]
    let before = board.state.dump
    #expect(throws: BoardError.held(ids[1], by: other)) { try board.undo() }
    #expect(board.state.dump == before)
    board.presentMembers = []
    #expect(try board.undo().changed == 3)
  }

  @Test("[BRD-27] an undo on a locked object is refused; the undo of the lock is not") func locked() throws {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    try board.object(id)?.move(to: Point(x: 7, y: 7))
    try board.write(id, .lock, .unsigned(1))
    #expect(board.undoLabel == "lock")
    try board.undo()
    let other = self.board(2)
    try share(board, other)
    try other.write(id, .lock, .unsigned(1))
    try share(other, board)
    #expect(throws: BoardError.locked(id)) { try board.undo() }
    #expect(board.undoLabel == "move")
    #expect(board.object(id)?.centerPosition == Point(x: 7, y: 7))
  }

  @Test("[SYN-8] an undo after a purge changes nothing and reports that") func purged() throws {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    let kept = try board.createText("y", at: origin)
    try board.gesture { for id in [id, kept] { try board.object(id)?.move(to: Point(x: 7, y: 7)) } }
    let other = self.board(2)
    try share(board, other)
    try other.delete(id)
    try other.purge(id)
    try share(other, board)
    let outcome = try board.undo()
    #expect(outcome == UndoOutcome(label: "move", changed: 1, purged: 1))
    #expect(!outcome.isComplete)
    #expect(board.object(kept)?.centerPosition == origin)
    #expect(board.state.record(id) == nil)
  }

  @Test("the history is limited, and the oldest steps are dropped") func bounded() throws {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    for step in 0..<(UndoHistory.steps + 10) { try board.object(id)?.move(to: Point(x: Double(step + 1), y: 0)) }
    var count = 0
    while board.canUndo {
      try board.undo()
      count += 1
    }
    #expect(count == UndoHistory.steps)
    #expect(board.object(id)?.centerPosition == Point(x: 10, y: 0))
  }

  @Test("the history is limited in bytes, and always keeps the latest step") func boundedBytes() throws {
    let board = board(1)
    let id = try board.createText("x", at: origin)
    let large = BoardLimits.valueBytes
    for step in 0..<200 { try board.write(id, Property(60), .bytes(Array(repeating: UInt8(step % 251), count: large))) }
    var count = 0
    while board.canUndo {
      try board.undo()
      count += 1
    }
    #expect(count > 100)
    #expect(count * 2 * large <= UndoHistory.bytes)
  }

  @Test("[BRD-25] a new incarnation undoes the steps of an earlier one if it may") func newIncarnation() throws {
    let board = board(1)
    let id = try board.createText("abc", at: origin)
    try board.text(id).edit(replacing: 3..<3, with: "def")
    try board.text(id).edit(replacing: 0..<1, with: "")
    try board.object(id)?.move(to: Point(x: 7, y: 7))
    let old = board.incarnation
    var claim = Difference(context: Context())
    claim.context.insert(1000...1000, of: old)
    try board.receive(claim)
    try board.undo()
    #expect(board.incarnation != old)
    #expect(board.object(id)?.centerPosition == origin)
    // Only the incarnation that deleted text can revert the deletion.
    let skipped = [SkippedStep(label: "text", reason: .unwritable)]
    #expect(try board.undo() == UndoOutcome(label: "text", changed: 1, skipped: skipped))
    #expect(text(id, on: board) == "bc")
    try board.redo()
    #expect(text(id, on: board) == "bcdef")
  }
}
