import Testing
import WhiteboardRendering
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The areas around and above the board") struct AroundBoardTests {
  /// Returns the column and row of a text on the screen, counted from 1 as terminals do.
  private func place(of text: String, _ desk: inout Desk) throws -> (x: Int, y: Int) {
    let lines = desk.lines()
    let row = try #require(lines.firstIndex { $0.contains(text) }, "\(text)")
    let range = try #require(lines[row].firstRange(of: text))
    return (lines[row].distance(from: lines[row].startIndex, to: range.lowerBound) + 1, row + 1)
  }

  @Test("a large terminal has a row of tools and colors, and a click selects one") func toolRow() throws {
    var desk = try Desk()
    desk.client.resize(columns: 120, rows: 40)
    let row = desk.lines()[1]
    for words in ["p pen", "r rect", "o oval", "t text", "v select", "k laser", "0123456789"] {
      #expect(row.contains(words), "\(words)")
    }
    #expect(desk.client.layout.board.rows == 2..<39)
    let oval = try place(of: "o oval", &desk)
    #expect(desk.type("^[<0;\(oval.x + 3);\(oval.y)M^[<0;\(oval.x + 3);\(oval.y)m") == [])
    #expect(desk.client.workspace.toolbox.tool == .ellipse)
    let colors = try place(of: "0123456789", &desk)
    #expect(desk.type("^[<0;\(colors.x + 6);\(colors.y)M") == [])
    #expect(desk.client.workspace.toolbox.ink == Pens.colors[6].rgb)
    let style = desk.client.frame().screen[colors.x + 5, 1].style
    #expect(style.attributes.contains(.reversed), "the chosen color stands out")
    // A stroke begins at the mouse, although the row moves the board down.
    let place = desk.client.layout.place(atColumn: 47.5, row: 20.5, in: desk.client.workspace.scene.viewport)
    #expect(desk.type("p^[<0;48;21M").first?.hasPrefix("pen \(CommandLine.text(place))") == true)
    #expect(abs(place.x) < 8 && abs(place.y) < 16, "the center of the board is in the middle of its area")
  }

  @Test("a small terminal has tools and colors in the title if there is room") func toolsInTitle() throws {
    var desk = try Desk()
    desk.client.resize(columns: 80, rows: 24)
    #expect(desk.client.layout.board.rows == 1..<23)
    #expect(desk.lines()[0].contains("plroDnateEivhk 0123456789"))
    let colors = try place(of: "0123456789", &desk)
    #expect(desk.type("^[<0;\(colors.x + 2);1M") == [])
    #expect(desk.client.workspace.toolbox.ink == Pens.colors[2].rgb)
    let tool = try #require(desk.client.titleBar.toolButtons.buttons.first { $0.command == .tool(.line) })
    #expect(desk.type("^[<0;\(tool.x + 1);1M") == [])
    #expect(desk.client.workspace.toolbox.tool == .line)
    desk.client.resize(columns: 40, rows: 12)
    #expect(desk.client.titleBar.toolButtons.buttons.isEmpty)
    #expect(desk.lines()[0].contains("2 people") && desk.lines()[0].contains("  ● line"))
  }

  @Test("a resting pointer loses its name, covers nothing, and disappears") func restingPointer() throws {
    var desk = try Desk()
    let bob = try Desk.memberID(2)
    try desk.board.createText("hello", at: Point(x: -100, y: -96))
    desk.sync()
    _ = desk.tick()
    desk.client.applyChange(
      .presence(try Presence(cursor: Point(x: -100, y: -96)), of: Desk.member(bob)),
      now: desk.now
    )
    func board() -> [String] { desk.lines().map { String($0.prefix(74)) } }
    #expect(board().contains { $0.contains("▲") } && board().contains { $0.contains("Bob") })
    #expect(!board().contains { $0.contains("hello") })
    #expect(desk.client.isTicking)
    desk.now += .seconds(4)
    _ = desk.tick()
    #expect(board().contains { $0.contains("hello") }, "\(board())")
    #expect(!board().contains { $0.contains("Bob") })
    desk.client.applyChange(.presence(try Presence(cursor: Point(x: 100, y: 100)), of: Desk.member(bob)), now: desk.now)
    #expect(board().contains { $0.contains("Bob") }, "a pointer that moves again is visible")
    desk.now += .seconds(4)
    _ = desk.tick()
    // Presence is sent again without any movement.
    desk.client.applyChange(.presence(try Presence(cursor: Point(x: 100, y: 100)), of: Desk.member(bob)), now: desk.now)
    #expect(board().contains { $0.contains("▲") } && !board().contains { $0.contains("Bob") })
    desk.now += .seconds(20)
    _ = desk.tick()
    #expect(!board().contains { $0.contains("▲") })
    #expect(!desk.client.isTicking, "nothing is drawn again while nothing happens")
  }

  @Test("a game shows that it is the user's turn, and its key asks for the move", arguments: [(100, 24), (40, 12)])
  func ourTurn(_ columns: Int, _ rows: Int) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    let bob = try Desk.memberID(2)
    let other = Board(incarnation: Incarnation(2), member: bob, wallClock: 1_700_000_000_000)
    other.authors[Incarnation(1)] = desk.board.member
    desk.board.authors[Incarnation(2)] = bob
    func share() throws {
      for batch in desk.board.takeBatches() { try other.receive(batch) }
      for batch in other.takeBatches() { try desk.board.receive(batch) }
      desk.sync()
    }
    let id = try desk.board.createConnectFour(at: Point(x: 0, y: 0))
    try share()
    try desk.board.game(id).play(.drop(column: 1))
    try share()
    #expect(!desk.lines().contains { $0.contains("Your turn") })
    try other.game(id).play(.drop(column: 2))
    try share()
    #expect(desk.client.messages.notice?.text == "Your turn in Connect Four: W plays")
    desk.client.messages.notice = nil
    #expect(desk.lines()[0].contains("Your turn: W"))
    #expect(!desk.lines().contains { $0.contains("you's turn") })
    if rows > 12 { #expect(desk.lines()[2...].contains { $0.contains("Your turn") }) }
    // A second game of the same kind does not matter.
    try desk.board.createConnectFour(at: Point(x: 900, y: 0))
    desk.sync()
    #expect(desk.type("W3\r") == [#"play \#(id) "3""#])
    try desk.board.game(id).play(.drop(column: 3))
    try share()
    #expect(!desk.lines()[0].contains("Your turn"))
  }
}
