import Testing

@testable import Whiteboard

@Suite struct UndoPlanTests {
  private let boards = TwoBoards()

  /// Returns the plan that undoes the latest step, without writing anything.
  private func plan(_ board: Board) throws -> UndoPlan {
    var history = board.history
    let entry = try #require(history.done.last)
    return UndoPlan(entry, .undo, on: board.state, as: board.incarnation, isOwn: board.isOwn, &history)
  }

  @Test("the plan has one write for each cell that the step changed") func writes() throws {
    let board = boards.anna
    let id = try board.createText("a", at: Point(x: 0, y: 0))
    let created = try plan(board)
    #expect(created.writes.map(\.to.value) == [.unsigned(1)])
    try board.object(id)?.move(to: Point(x: 1, y: 0))
    let moved = try plan(board)
    #expect(moved.outcome.label == "move" && moved.outcome.changed == 1)
    #expect(moved.writes.map(\.to.value) == [.pair(0, 0)] && moved.outcome.isComplete)
    #expect(board.object(id)?.centerPosition == Point(x: 1, y: 0))
  }

  @Test("cells that another member wrote since are not restored") func overwritten() throws {
    let board = boards.anna
    let id = try board.createText("a", at: Point(x: 0, y: 0))
    try board.gesture {
      try board.object(id)?.move(to: Point(x: 1, y: 0))
      try board.object(id)?.scale(to: 2)
    }
    try boards.share()
    try boards.bob.object(id)?.scale(to: 3)
    try boards.share()
    let plan = try plan(board)
    #expect(plan.outcome.overwritten == 1 && plan.outcome.changed == 1)
    #expect(plan.writes.map(\.to.value) == [.pair(0, 0)])
  }

  @Test("the run of another incarnation is undone by a new cell") func fresh() throws {
    let board = boards.anna
    let id = try board.createText("a", at: Point(x: 0, y: 0))
    try board.text(id).edit(replacing: 1..<1, with: "b")
    board.beginIncarnation()
    let plan = try plan(board)
    #expect(plan.writes.map(\.isFresh) == [true])
    try board.undo()
    #expect(try board.text(id).text == "a")
  }
}
