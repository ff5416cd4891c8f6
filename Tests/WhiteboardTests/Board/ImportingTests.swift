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
