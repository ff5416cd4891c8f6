import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("The contents of a page") struct BoardPictureTests {
  private static func board() throws -> Board {
    let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    return Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
  }

  private static func region(_ board: Board) throws -> Rectangle {
    let items = board.snapshots.map { BoardCanvas.Item($0, game: board.gameView($0.id, for: board.member)) }
    return try #require(BoardPicture.region(around: items, margin: 0))
  }

  @Test("the letters of a text are on the page, rotated and scaled") func words() throws {
    let board = try Self.board()
    let id = try board.createText("a\nb\nc\nd\ne", at: Point(x: 0, y: 0))
    let region = try Self.region(board)
    #expect(region == Rectangle(Point(x: -4, y: -40), Point(x: 4, y: 40)))
    try board.scale([id], by: 2, about: Point(x: 0, y: 0))
    try board.rotate([id], by: .degrees(90), about: Point(x: 0, y: 0))
    let turned = try Self.region(board)
    #expect(abs(turned.least.x + 80) < 0.01 && abs(turned.greatest.y - 8) < 0.01)
  }

  @Test("a game's whole panel is on the page") func panel() throws {
    let board = try Self.board()
    var random = SeededGenerator(seed: 1)
    let id = try board.createWordle(at: Point(x: 0, y: 0), using: &random)
    try board.object(id)?.scale(to: 0.5)
    #expect(try Self.region(board).greatest.y == 32, "the box is as high as eight rows")
    // A player who has finished sees the answer, too.
    for word in ["speed", "eerie", "level", "llama", "abbey", "crane"] { try? board.game(id).play(.guess(word)) }
    let region = try Self.region(board)
    // Half of eight rows of 16 units, plus the margin.
    #expect(region.greatest.y == 35 && region.least.y == -35)
    #expect(region.greatest.x == 33)
  }

  @Test("an empty board has no region, and a text's lines are as wide as its box") func lines() throws {
    #expect(BoardPicture.region(around: []) == nil)
    let board = try Self.board()
    let id = try board.createText("one two three four five six", at: Point(x: 0, y: 0))
    let snapshot = try #require(board.snapshot(id))
    #expect(BoardPicture.lines(of: snapshot) == ["one two three four five", "six"])
  }
}
