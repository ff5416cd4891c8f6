import Testing
import Whiteboard

@Suite("Objects of a file on a board") struct ImportingTests {
  private let stroke = ObjectDraft(
    .drawing((0..<3_000).map { InkPoint(x: $0 * 16, y: $0 % 50) }, lineWidth: 3, erased: StrokeSpans([16...40]))
  )

  private func board() throws -> Board {
    let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    return Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
  }

  @Test("an import larger than a batch is one undo step, and the same on every replica") func big() throws {
    let board = try board()
    let made = try board.add(Array(repeating: stroke, count: 400))
    #expect(made.count == 400 && board.objectIDs == made)
    let batches = board.takeBatches()
    #expect(batches.count > 1)
    let other = try self.board()
    for batch in batches.reversed() { try other.receive(batch) }
    #expect(other.snapshots == board.snapshots)
    #expect(board.snapshots.allSatisfy { $0.points?.count == 3_000 && $0.isFinished == true })
    #expect(board.snapshots[399].erasedSpans == [16...40])
    #expect(board.undoLabel == "import")
    try board.undo()
    #expect(board.objectIDs.isEmpty && !board.canUndo)
    try board.redo()
    #expect(board.objectIDs == made)
  }

  @Test("edits between the parts of an import are steps of their own") func partByPart() throws {
    let board = try board()
    var addition = try board.beginImport(Array(repeating: stroke, count: 400))
    var texts: [ObjectID] = []
    while !addition.isComplete {
      let before = board.written
      try board.writePart(of: &addition)
      // A part is at most one batch.
      #expect(board.takeBatches().count <= 1 && (board.written != before || addition.isComplete))
      texts.append(try board.createText("between", at: Point(x: 0, y: 0)))
      _ = board.takeBatches()
    }
    #expect(texts.count > 2 && board.undoLabel == "text")
    let made = board.endImport(addition)
    #expect(made.count == 400 && board.undoLabel == "import")
    try board.undo()
    #expect(board.objectIDs == texts)
    try board.undo()
    #expect(board.objectIDs == texts.dropLast())
    try board.redo()
    try board.redo()
    #expect(Set(board.objectIDs) == Set(made + texts))
  }

  @Test("an import inside a step of another kind, such as a stroke in progress, is a step of its own") func inStep()
    throws
  {
    let board = try board()
    board.beginStep("drawing")
    let first = try board.createText("first", at: Point(x: 0, y: 0))
    var addition = try board.beginImport([stroke])
    while !addition.isComplete { try board.writePart(of: &addition) }
    let second = try board.createText("second", at: Point(x: 0, y: 0))
    board.endImport(addition)
    board.endStep()
    #expect(board.undoLabel == "drawing")
    try board.undo()
    #expect(board.objectIDs == addition.objects && ![first, second].contains(addition.objects[0]))
    try board.undo()
    #expect(board.objectIDs.isEmpty && !board.canUndo)
  }

  @Test("a canceled import leaves nothing but what other members have changed") func cancellation() throws {
    let boards = TwoBoards()
    let earlier = try boards.anna.createText("earlier", at: Point(x: 0, y: 0))
    var addition = try boards.anna.beginImport(
      Array(repeating: stroke, count: 400),
      groups: [nil],
      settings: BoardSettings(title: "theirs")
    )
    #expect(boards.anna.cancelImport(addition) == 0)
    try boards.anna.writePart(of: &addition)
    try boards.anna.writePart(of: &addition)
    let some = addition.objects
    #expect(!addition.isComplete && some.count > 1 && some.count < 400)
    try boards.share()
    try boards.bob.move([some[0]], by: Point(x: 5, y: 5))
    try boards.share()
    #expect(boards.anna.cancelImport(addition) == 1)
    #expect(boards.anna.objectIDs == [earlier, some[0]] && boards.anna.settings == BoardSettings())
    #expect(boards.anna.undoLabel == "text" && !boards.anna.canRedo)
    try boards.share()
    #expect(boards.bob.snapshots == boards.anna.snapshots)
  }

  @Test("if a canceled import cannot be deleted, it is an undo step") func cancellationByViewer() throws {
    let board = try board()
    var addition = try board.beginImport(Array(repeating: stroke, count: 400))
    try board.writePart(of: &addition)
    board.isReadOnly = true
    #expect(throws: BoardError.viewer) { try board.writePart(of: &addition) }
    #expect(board.cancelImport(addition) == addition.objects.count)
    #expect(board.objectIDs == addition.objects && !addition.objects.isEmpty)
    board.isReadOnly = false
    try board.undo()
    #expect(board.objectIDs.isEmpty)
  }

  @Test("an error in one object rejects all of them") func refusals() throws {
    let board = try board()
    var far = stroke
    far.center = Point(x: 1e9, y: 0)
    let long = ObjectDraft(.text(String(repeating: "a", count: 8_193), size: nil))
    let empty = ObjectDraft(.drawing([], lineWidth: 1, erased: StrokeSpans()))
    #expect(throws: BoardError.outOfRange("position")) { try board.add([stroke, far]) }
    #expect(throws: BoardError.tooLong("text")) { try board.add([stroke, long]) }
    #expect(throws: BoardError.empty) { try board.add([stroke, empty]) }
    board.isReadOnly = true
    #expect(throws: BoardError.viewer) { try board.add([stroke]) }
    #expect(board.objectIDs.isEmpty && board.takeBatches().isEmpty && !board.canUndo)
  }

  @Test("groups can be nested, and imported settings apply where none are set") func groups() throws {
    let board = try board()
    try board.setTitle("mine")
    var inner = ObjectDraft(.text("a", size: nil), at: Point(x: 1, y: 2))
    inner.group = 1
    var outer = ObjectDraft(.text("b", size: Size(width: 40, height: 20)), at: Point(x: 3, y: 4))
    outer.group = 0
    outer.isLocked = true
    let made = try board.add(
      [inner, outer],
      groups: [nil, 0],
      settings: BoardSettings(title: "theirs", grid: 25, language: "no tag!")
    )
    #expect(board.groups(of: made[0]).count == 2)
    #expect(board.groups(of: made[1]) == [board.groups(of: made[0])[1]])
    #expect(board.snapshot(made[1])?.isLocked == true)
    #expect(board.snapshot(made[1])?.size == Size(width: 40, height: 20))
    #expect(board.settings == BoardSettings(title: "mine", grid: 25))
    // An object that was imported as locked does not prevent the undo of the import.
    try board.undo()
    #expect(board.objectIDs.isEmpty)
    #expect(board.settings == BoardSettings(title: "mine"))
  }
}
