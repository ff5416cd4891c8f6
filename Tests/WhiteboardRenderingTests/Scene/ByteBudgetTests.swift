import Testing
import Whiteboard

@testable import WhiteboardRendering

/// The bytes of typical changes, which matter over SSH; a test fails if their number grows.
@Suite("Bytes for each kind of change") struct ByteBudgetTests {
  private static let viewport = Viewport(center: Point(x: 0, y: 0), columns: 100, rows: 30)

  /// Returns a board of strokes in pen colors, in which about every second cell has dots.
  private func busyBoard() throws -> Board {
    let board = try Scenes.board()
    let colors: [UInt32?] = [nil, 0xE69F_00FF, 0x56B4_E9FF, 0x1FAE_84FF, 0xCC79_A7FF]
    for number in 0..<40 {
      let (x, y) = (Double(number % 8) * 96 - 352, Double(number / 8) * 88 - 176)
      let arc = (0...16).map { step in
        let turn = Rotation(steps: UInt64(step * 256))
        return (x + 44 * turn.cosine, y + 40 * turn.sine)
      }
      try board.createDrawing(try Scenes.ink(arc), color: colors[number % colors.count])
    }
    return board
  }

  /// Returns the bytes that update a canvas after a change.
  private func bytes(_ depth: ColorDepth, _ canvas: inout BoardCanvas, _ change: (inout BoardCanvas) throws -> Void)
    rethrows -> Int
  {
    let before = canvas.screen
    try change(&canvas)
    canvas.paint()
    let bytes = ScreenWriter(depth: depth).bytes(from: before, to: canvas.screen)
    var terminal = Terminal(before)
    if depth == .full {
      terminal.write(bytes)
      #expect(terminal.complaints == [] && difference(terminal.screen, canvas.screen) == nil)
    }
    return bytes.count
  }

  @Test(
    "a whole screen",
    arguments: [(.none, 6_700), (.sixteen, 8_000), (.palette, 9_000), (.full, 11_000)] as [(ColorDepth, Int)]
  ) func all(depth: ColorDepth, budget: Int) throws {
    let canvas = Scenes.canvas(try busyBoard(), Self.viewport)
    let count = ScreenWriter(depth: depth).bytes(from: nil, to: canvas.screen).count
    #expect(count > budget / 2 && count <= budget, "\(count)")
  }

  @Test(
    "the board moves by one cell",
    arguments: [(.none, 9_000), (.sixteen, 11_000), (.palette, 12_000), (.full, 14_000)] as [(ColorDepth, Int)]
  ) func pan(depth: ColorDepth, budget: Int) throws {
    var canvas = Scenes.canvas(try busyBoard(), Self.viewport)
    for (x, y) in [(2.0, 0.0), (0, 4)] {
      let count = bytes(depth, &canvas) { canvas in
        var viewport = canvas.viewport
        viewport.pan(byDots: x, y)
        canvas.show(viewport)
      }
      #expect(count > budget / 4 && count <= budget, "\(count)")
    }
  }

  @Test("a stroke grows", arguments: [(.none, 30), (.full, 50)] as [(ColorDepth, Int)]) func growth(
    depth: ColorDepth,
    budget: Int
  ) throws {
    let board = try busyBoard()
    let id = try board.beginDrawing(color: 0xE69F_00FF)
    try board.appendInk(try Scenes.ink([(0, 0), (8, 2)]), to: id, first: 0)
    var canvas = Scenes.canvas(board, Self.viewport)
    for step in 2..<12 {
      let next = try Scenes.ink([(Double(step) * 8, Double(step) * 2)])
      try board.appendInk(next, to: id, first: step)
      let snapshot = try #require(board.snapshot(id))
      let count = bytes(depth, &canvas) { $0.set(BoardCanvas.Item(snapshot)) }
      #expect(count <= budget, "\(count)")
    }
  }

  @Test("an object moves", arguments: [(.none, 400), (.full, 600)] as [(ColorDepth, Int)]) func moved(
    depth: ColorDepth,
    budget: Int
  ) throws {
    let board = try busyBoard()
    var canvas = Scenes.canvas(board, Self.viewport)
    let id = board.objectIDs[19]
    try board.move([id], by: Point(x: 8, y: 16))
    let snapshot = try #require(board.snapshot(id))
    let count = bytes(depth, &canvas) { $0.set(BoardCanvas.Item(snapshot)) }
    #expect(count > 20 && count <= budget, "\(count)")
  }

  @Test(
    "a cursor with a name moves over a drawing",
    arguments: [(.none, 60), (.sixteen, 75), (.palette, 85), (.full, 100)] as [(ColorDepth, Int)]
  ) func cursor(depth: ColorDepth, budget: Int) throws {
    let canvas = Scenes.canvas(try busyBoard(), Self.viewport)
    let style = CellStyle(CellColor(rgb: 0x56B4E9), on: .terminal, .reversed)
    func screen(_ x: Int, _ y: Int) -> Screen {
      var screen = canvas.screen
      screen.put("▲", x: x, y: y, style)
      screen.put("bob", x: x + 1, y: y + 1, style)
      return screen
    }
    for step in 0..<20 {
      let (x, y) = (10 + step * 3, 4 + step)
      let bytes = ScreenWriter(depth: depth).bytes(from: screen(x, y), to: screen(x + 1, y + 1))
      let count = bytes.count
      #expect(count > 20 && count <= budget, "\(count)")
    }
  }

  @Test("a line is added to the chat, and those above move up") func chat() {
    func screen(_ first: Int) -> Screen {
      var screen = Screen(width: 100, height: 30)
      for row in 0..<10 { screen.put("anna: line \(first + row)", x: 76, y: 18 + row) }
      return screen
    }
    let bytes = ScreenWriter(depth: .full).bytes(from: screen(11), to: screen(12))
    #expect(!bytes.isEmpty && bytes.count <= 10 * 9, "\(bytes.count)")
  }
}
