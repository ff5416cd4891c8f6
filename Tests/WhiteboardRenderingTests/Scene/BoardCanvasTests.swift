import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("The board as cells")
struct BoardCanvasTests {
  private static let viewport = Viewport(center: Point(x: 0, y: 0), columns: 40, rows: 12)

  private static func board(_ number: UInt64 = 1) throws -> Board {
    let member = try #require(MemberID(Array(repeating: UInt8(number), count: 32)))
    return Board(incarnation: Incarnation(number), member: member, wallClock: 1_700_000_000_000)
  }

  private static func canvas(_ board: Board, _ viewport: Viewport = viewport) -> BoardCanvas {
    var canvas = BoardCanvas(viewport)
    for snapshot in board.snapshots {
      canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member)))
    }
    canvas.paint()
    return canvas
  }

  private static func ink(_ points: [(Double, Double)]) throws -> [InkPoint] {
    try points.map { (point) throws(BoardError) in try InkPoint(Point(x: point.0, y: point.1)) }
  }

  /// A stroke that is not finished.
  private static func begin(_ board: Board, _ ink: [InkPoint]) throws -> ObjectID {
    let id = try board.beginDrawing()
    try board.appendInk(ink, to: id, first: 0)
    return id
  }

  @Test("lines, words and their order are as they were drawn")
  func golden() throws {
    let board = try Self.board()
    try board.createDrawing(
      try Self.ink([(-150, -80), (150, -80), (150, 80), (-150, 80), (-150, -80)])
    )
    try board.createDrawing(try Self.ink([(-150, 80), (150, -80)]))
    try board.createText("hello 漢字", at: Point(x: 0, y: 0))
    let canvas = Self.canvas(board)
    #expect(
      canvas.screen.lines == [
        "",
        " ⡏⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⣉⠭⠛⢹",
        " ⡇                             ⢀⠤⠒⠉   ⢸",
        " ⡇                         ⢀⡠⠔⠊⠁      ⢸",
        " ⡇                      ⡠⠔⠊⠁          ⢸",
        " ⡇                  ⣀⠤⠒⠉              ⢸",
        " ⡇             hello 漢字             ⢸",
        " ⡇          ⢀⡠⠔⠊⠁                     ⢸",
        " ⡇       ⡠⠔⠊⠁                         ⢸",
        " ⡇   ⣀⠤⠒⠉                             ⢸",
        " ⣇⠤⠒⠉                                 ⢸",
        " ⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉",
      ]
    )
  }

  @Test("what is painted where something changed is what would be painted anew", arguments: 1...40)
  func incremental(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let board = try Self.board()
    var canvas = BoardCanvas(Self.viewport)
    var names: Set<ObjectID> = []
    for step in 0..<60 {
      Self.edit(board, &random)
      let snapshots = board.snapshots
      let ids = Set(snapshots.map(\.id))
      for id in names.subtracting(ids) { canvas.remove(id) }
      for snapshot in snapshots where canvas.item(snapshot.id)?.snapshot != snapshot {
        canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member)))
      }
      names = ids
      if random.chance(10) {
        var viewport = canvas.viewport
        viewport.zoom(by: [0.5, 2, 1.25][random.below(3)], around: Self.point(&random))
        viewport.pan(byDots: Double(random.below(9)) - 4, Double(random.below(9)) - 4)
        if random.chance(20) { viewport.columns = 20 + random.below(40) }
        canvas.show(viewport)
      }
      canvas.paint()
      let whole = Self.canvas(board, canvas.viewport)
      #expect(difference(canvas.screen, whole.screen) == nil, "seed \(seed), step \(step)")
      #expect(canvas.objects == board.objectIDs, "seed \(seed), step \(step)")
    }
    #expect(canvas.count > 3, "seed \(seed)")
  }

  private static func point(_ random: inout SeededGenerator) -> Point {
    Point(x: Double(random.below(360)) - 180, y: Double(random.below(240)) - 120)
  }

  /// One edit; what the board refuses is no failure.
  private static func edit(_ board: Board, _ random: inout SeededGenerator) {
    let ids = board.objectIDs
    let id = ids.isEmpty ? nil : ids[random.below(ids.count)]
    let place = point(&random)
    do {
      switch (random.below(10), id) {
      case (0, _), (1, nil):
        try board.createText(["hello", "漢字\nx", "👩‍👩‍👧 é"][random.below(3)], at: place)
      case (1, let id?): try board.object(id)?.changePosition(to: place)
      case (2, let id?): try board.object(id)?.changeAngle(to: Double(random.below(7)))
      case (3, let id?): try board.object(id)?.changeScale(to: Double(1 + random.below(30)) / 10)
      case (4, let id?): try board.delete(id)
      case (5, let id?): try board.reorder([id], random.chance(50) ? .front : .back)
      case (6, _): try board.createConnectFour(at: place)
      case (7, let id?) where board.object(id)?.kind == .drawing:
        let count = board.snapshot(id)?.ink?.count ?? 0
        try board.appendInk([InkPoint(place)], to: id, first: count)
      default:
        let points = (0..<1 + random.below(6)).map { _ in point(&random) }
        try board.createDrawing(points.map { (point) throws(BoardError) in try InkPoint(point) })
      }
    } catch {}
  }

  @Test("[SYN-32] a stroke that is being drawn never shows less than it did")
  func previews() throws {
    let board = try Self.board()
    let id = try Self.begin(board, try Self.ink([(-100, 0), (-80, 0)]))
    var canvas = Self.canvas(board)
    let before = canvas.screen
    canvas.preview(try Self.ink([(0, 0), (60, 20)]), from: 2, of: id)
    canvas.paint()
    let drawn = canvas.screen
    #expect(difference(before, drawn) != nil)
    // Late ones, and ones that leave a gap, change nothing.
    canvas.preview(try Self.ink([(0, 0)]), from: 2, of: id)
    canvas.preview(try Self.ink([(90, 90)]), from: 9, of: id)
    canvas.paint()
    #expect(difference(canvas.screen, drawn) == nil)
    try board.appendInk(try Self.ink([(0, 0), (60, 20)]), to: id, first: 2)
    canvas.set(BoardCanvas.Item(try #require(board.snapshot(id))))
    #expect(canvas.item(id)?.preview.isEmpty == true)
    canvas.paint()
    #expect(difference(canvas.screen, drawn) == nil)
    #expect(difference(canvas.screen, Self.canvas(board).screen) == nil)
  }

  @Test("a stroke that grew is painted where it grew")
  func growth() throws {
    let board = try Self.board()
    let points = (0..<100).map { (Double($0) - 150, $0 % 2 == 0 ? -80.0 : 80.0) }
    let id = try Self.begin(board, try Self.ink(points))
    var canvas = Self.canvas(board)
    try board.appendInk(try Self.ink([(-45, 75)]), to: id, first: 100)
    canvas.set(BoardCanvas.Item(try #require(board.snapshot(id))))
    let painted = canvas.paint()
    #expect(painted.reduce(0) { $0 + $1.width * $1.height } < 20, "\(painted)")
    #expect(difference(canvas.screen, Self.canvas(board).screen) == nil)
  }

  @Test("every way to show lines shows them", arguments: DotStyle.allCases)
  func styles(style: DotStyle) throws {
    let board = try Self.board()
    try board.createDrawing(try Self.ink([(-150, -80), (150, 80)]))
    try board.createDrawing(try Self.ink([(-150, 20), (150, 20)]))
    var canvas = Self.canvas(board)
    canvas.show(style)
    canvas.paint()
    let filled = canvas.screen.cells.count { $0.glyph != .space }
    #expect(filled >= 40)
    if style == .ascii {
      #expect(canvas.screen.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }
  }

  @Test("zooming keeps what is under the pointer")
  func zoom() {
    var viewport = Self.viewport
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
}
