import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("The board as cells")
struct BoardCanvasTests {
  @Test("painting only the changed parts gives the same as painting everything", arguments: 1...30)
  func incremental(seed: UInt64) throws {
    let style = DotStyle.allCases[Int(seed % 3)]
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    var canvas = BoardCanvas(Scenes.viewport, dotStyle: style)
    var names: Set<ObjectID> = []
    for step in 0..<60 {
      Scenes.edit(board, &random)
      let snapshots = board.snapshots
      let ids = Set(snapshots.map(\.id))
      for id in names.subtracting(ids) { canvas.remove(id) }
      for snapshot in snapshots where canvas.item(snapshot.id)?.snapshot != snapshot {
        canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member)))
      }
      names = ids
      if random.chance(10) {
        var viewport = canvas.viewport
        viewport.zoom(by: [0.5, 2, 1.25][random.below(3)], around: Scenes.point(&random))
        viewport.pan(byDots: Double(random.below(9)) - 4, Double(random.below(9)) - 4)
        if random.chance(20) { viewport.columns = 20 + random.below(40) }
        canvas.show(viewport)
      }
      canvas.paint()
      let whole = Scenes.canvas(board, canvas.viewport, style)
      #expect(difference(canvas.screen, whole.screen) == nil, "seed \(seed), step \(step)")
      #expect(canvas.objects == board.objectIDs, "seed \(seed), step \(step)")
    }
    #expect(canvas.count > 3, "seed \(seed)")
  }

  @Test("[SYN-32] a preview of a stroke never shrinks")
  func previews() throws {
    let board = try Scenes.board()
    let id = try Scenes.begin(board, try Scenes.ink([(-100, 0), (-80, 0)]))
    var canvas = Scenes.canvas(board)
    let before = canvas.screen
    canvas.preview(try Scenes.ink([(0, 0), (60, 20)]), from: 2, of: id)
    canvas.paint()
    let drawn = canvas.screen
    #expect(difference(before, drawn) != nil)
    // Late pieces, and pieces after a gap, change nothing.
    canvas.preview(try Scenes.ink([(0, 0)]), from: 2, of: id)
    canvas.preview(try Scenes.ink([(90, 90)]), from: 9, of: id)
    canvas.paint()
    #expect(difference(canvas.screen, drawn) == nil)
    try board.appendInk(try Scenes.ink([(0, 0), (60, 20)]), to: id, first: 2)
    canvas.set(BoardCanvas.Item(try #require(board.snapshot(id))))
    #expect(canvas.item(id)?.preview.isEmpty == true)
    canvas.paint()
    #expect(difference(canvas.screen, drawn) == nil)
    #expect(difference(canvas.screen, Scenes.canvas(board).screen) == nil)
  }

  @Test("a growing stroke is painted only where it grew")
  func growth() throws {
    let board = try Scenes.board()
    let points = (0..<100).map { (Double($0) - 150, $0 % 2 == 0 ? -20.0 : 20.0) }
    let id = try Scenes.begin(board, try Scenes.ink(points))
    var canvas = Scenes.canvas(board)
    try board.appendInk(try Scenes.ink([(-45, 18)]), to: id, first: 100)
    canvas.set(BoardCanvas.Item(try #require(board.snapshot(id))))
    let painted = canvas.paint()
    #expect(painted.reduce(0) { $0 + $1.width * $1.height } < 40, "\(painted)")
    #expect(difference(canvas.screen, Scenes.canvas(board).screen) == nil)
  }

  @Test("every dot style shows lines", arguments: DotStyle.allCases)
  func styles(style: DotStyle) throws {
    let board = try Scenes.board()
    try board.createDrawing(try Scenes.ink([(-150, -80), (150, 80)]))
    try board.createDrawing(try Scenes.ink([(-150, 20), (150, 20)]))
    var canvas = Scenes.canvas(board)
    canvas.show(style)
    canvas.paint()
    let filled = canvas.screen.cells.count { $0.glyph != .space }
    #expect(filled >= 40)
    if style == .ascii {
      #expect(canvas.screen.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }
  }

  @Test("zooming keeps the point under the pointer in place")
  func zoom() {
    var viewport = Scenes.viewport
    let place = Point(x: 40, y: -17)
    let dot = viewport.dot(of: place)
    viewport.zoom(by: 3, around: place)
    let after = viewport.dot(of: place)
    #expect(abs(dot.x - after.x) < 1e-9 && abs(dot.y - after.y) < 1e-9)
    viewport.zoom(by: 1e9, around: place)
    #expect(viewport.zoom == Viewport.zooms.upperBound)
    viewport.fit(Rectangle(Point(x: -1000, y: 0), Point(x: 1000, y: 10)))
    #expect(viewport.area(of: Rectangle(Point(x: -1000, y: 0), Point(x: 1000, y: 10))).width < 40)
  }

  @Test("a curve that was drawn fast is round, and a corner stays a corner")
  func curves() throws {
    let board = try Scenes.board()
    // A circle of sixteen points, and a square.
    let circle = (0...16).map { step in
      let turn = Rotation(steps: UInt64(step * 256))
      return (-80 + 72 * turn.cosine, 72 * turn.sine)
    }
    let id = try board.createDrawing(try Scenes.ink(circle), lineWidth: 1)
    let round = Scenes.canvas(board).screen
    try board.delete(id)
    // The same shape with sharp corners between the points: a stroke for each segment.
    for (from, to) in zip(circle, circle.dropFirst()) {
      try board.createDrawing(try Scenes.ink([from, to]), lineWidth: 1)
    }
    #expect(difference(round, Scenes.canvas(board).screen) != nil, "the curve cuts its corners")
    try board.createDrawing(
      try Scenes.ink([(20, -60), (140, -60), (140, 60), (20, 60), (20, -60)]),
      lineWidth: 1
    )
    let screen = Scenes.canvas(board).screen
    for corner in [Point(x: 20, y: -60), Point(x: 140, y: 60)] {
      let cell = Scenes.viewport.cell(of: corner)
      #expect(screen[cell.x, cell.y].glyph != .space)
    }
  }

  @Test(
    "the width of a line in dots",
    arguments: [
      (5.0, 1.0, DotStyle.braille, 2), (5, 0.5, .braille, 1), (5, 0.1, .braille, 1),
      (2, 1, .braille, 1), (8, 1, .braille, 2), (12, 1, .braille, 3), (32, 1, .braille, 8),
      (5, 4, .braille, 5), (5, 1, .half, 1), (16, 1, .half, 2), (5, 1, .ascii, 1),
      (20, 1, .ascii, 5), (1e6, 16, .braille, 256),
    ] as [(Double, Double, DotStyle, Int)]
  )
  func breadths(width: Double, zoom: Double, style: DotStyle, dots: Int) {
    let breadth = PenBreadth(dots: width * zoom * Viewport.unitScale, style: style)
    #expect(breadth[0] == dots)
    #expect(breadth[255] == dots)
    #expect(breadth[1] <= dots && breadth[1] >= 1)
  }

  @Test("an ellipse is symmetric, and no dot sticks out", arguments: [1.0, 5, 12, 16])
  func ellipses(width: Double) throws {
    let board = try Scenes.board()
    try board.createDrawing(try Scenes.ellipse((0, 0), 160, 96), lineWidth: width)
    let lines = Scenes.canvas(board).screen.lines
    let rows = lines.map { line in line.map { UInt8(($0.unicodeScalars.first?.value ?? 0) & 0xFF) }
    }
    func dots(_ x: Int) -> Int {
      rows.reduce(0) { sum, row in
        let cell = x / 2
        guard cell < row.count, row[cell] != 0x20 else { return sum }
        return sum + (row[cell] & (x % 2 == 0 ? 0x47 : 0xB8)).nonzeroBitCount
      }
    }
    let columns = (0..<80).filter { dots($0) > 0 }
    let (left, right) = (try #require(columns.first), try #require(columns.last))
    #expect(dots(left) >= 3 && dots(right) >= 3, "\(lines)")
  }

  @Test("names in games and color styles are updated")
  func restyled() throws {
    let board = try Scenes.board()
    let game = try board.createConnectFour(at: Point(x: 0, y: 0))
    try board.game(game).play(.drop(column: 2))
    try board.createDrawing(try Scenes.ink([(-100, 80), (100, 80)]), color: 0xFFFF_00FF)
    var canvas = Scenes.canvas(board)
    let before = canvas.screen
    canvas.paper = .light
    canvas.paint()
    #expect(difference(canvas.screen, before) != nil)
    canvas.paper = .unknown
    canvas.isMonochrome = true
    canvas.paint()
    #expect(difference(canvas.screen, before) != nil)
    canvas.isMonochrome = false
    canvas.paint()
    #expect(difference(canvas.screen, before) == nil)
    let names = [try Scenes.member(1): "anna", try Scenes.member(2): "bob"]
    canvas.names = names
    #expect(canvas.paint().isEmpty == false)
    canvas.names = names
    #expect(canvas.paint().isEmpty)
  }
}
