import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("The board as cells") struct BoardCanvasTests {
  @Test(
    "painting only the changed parts gives the same as painting everything",
    arguments: 1...repetitions(6, optimized: 30)
  ) func incremental(
    seed: UInt64
  ) throws {
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

  @Test("painting over parts of long strokes gives the same as painting everything", arguments: 1...20)
  func longStrokes(seed: UInt64) throws {
    let style = DotStyle.allCases[Int(seed % 3)]
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    /// Returns points that are close to each other, or far from each other as in a fast line.
    func walk(_ count: Int) -> [InkPoint] {
      let step = [3, 12, 50][random.below(3)]
      var place = Scenes.point(&random)
      let hasPressure = random.chance(50)
      return (0..<count).map { _ in
        place.x = min(max(place.x + Double(random.below(2 * step + 1) - step), -180), 180)
        place.y = min(max(place.y + Double(random.below(2 * step + 1) - step), -120), 120)
        let pressure = hasPressure ? UInt8(random.below(256)) : 0
        return InkPoint(x: Int32(place.x * 16), y: Int32(place.y * 16), pressure: pressure)
      }
    }
    for _ in 0..<4 {
      let id = try board.createDrawing(walk(20 + random.below(150)), lineWidth: Double(1 + random.below(24)))
      if random.chance(40) { try board.object(id)?.rotate(to: .radians(Double(random.below(7)))) }
      if random.chance(40) { try board.object(id)?.scale(to: 0.5 + Double(random.below(10)) / 10) }
    }
    let live = try Scenes.begin(board, walk(1))
    let small = try board.createDrawing(walk(3), lineWidth: 2)
    var canvas = Scenes.canvas(board, Scenes.viewport, style)
    for step in 0..<30 {
      try board.object(small)?.move(to: Scenes.point(&random))
      if random.chance(30) {
        try board.appendInk(walk(1 + random.below(60)), to: live, first: board.snapshot(live)?.ink?.count ?? 0)
      }
      for id in [small, live] { canvas.set(BoardCanvas.Item(try #require(board.snapshot(id)))) }
      canvas.paint()
      #expect(difference(canvas.screen, Scenes.canvas(board, Scenes.viewport, style).screen) == nil, "step \(step)")
    }
  }

  @Test("a change costs no work for the distant parts of a long stroke") func workOfLongStroke() throws {
    let board = try Scenes.board()
    let zigzag = (0..<8_000).map { index -> (Double, Double) in
      let (row, column) = index.quotientAndRemainder(dividingBy: 200)
      return (Double(column) * 1.5 - 150, Double(row) * 3 - 60)
    }
    try board.createDrawing(try Scenes.ink(zigzag), lineWidth: 1)
    let dot = try board.createDrawing(try Scenes.ink([(-150, -60)]))
    var canvas = Scenes.canvas(board)
    try board.object(dot)?.move(to: Point(x: -140, y: -55))
    canvas.set(BoardCanvas.Item(try #require(board.snapshot(dot))))
    canvas.paint(8_000)
    #expect(canvas.isPainted, "drawing the whole stroke once takes more work")
    #expect(difference(canvas.screen, Scenes.canvas(board).screen) == nil)
  }

  @Test("[SYN-32] a preview of a stroke never shrinks") func previews() throws {
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

  @Test("a growing stroke is painted only where it grew") func growth() throws {
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

  @Test("points that are not committed are painted only where the stroke grew, and once", arguments: 1...8)
  func livePoints(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    for _ in 0..<30 { Scenes.edit(board, &random) }
    let id = try Scenes.begin(board, try Scenes.ink([(-150, 0)]))
    var canvas = Scenes.canvas(board)
    var (points, committed) = ([try InkPoint(Point(x: -150, y: 0))], 1)
    for step in 1...60 {
      let place = Point(x: -150 + Double(step * 5), y: Double(random.below(40)) - 20)
      points.append(try InkPoint(place))
      // A preview starts anywhere after the committed points of the sender.
      canvas.preview(Array(points[committed...]), from: committed, of: id)
      let painted = canvas.paint().reduce(0) { $0 + $1.width * $1.height }
      #expect(painted < 80, "seed \(seed), step \(step): \(painted) cells")
      if step.isMultiple(of: 7) {
        try board.appendInk(Array(points[committed...]), to: id, first: committed)
        canvas.set(BoardCanvas.Item(try #require(board.snapshot(id))))
        committed = points.count
        #expect(canvas.paint().isEmpty, "the commit of points that are shown changes nothing")
      }
      var whole = Scenes.canvas(board)
      whole.preview(Array(points[committed...]), from: committed, of: id)
      whole.paint()
      #expect(difference(canvas.screen, whole.screen) == nil, "seed \(seed), step \(step)")
    }
  }

  @Test("the work for a live stroke does not grow with the strokes under its earlier points") func workOfLiveStroke()
    throws
  {
    let board = try Scenes.board()
    for column in 0..<30 {
      try board.createDrawing(try Scenes.ink((0..<200).map { (-150 + Double(column * 10), Double($0 % 20) - 10) }))
    }
    let id = try Scenes.begin(board, try Scenes.ink([(-150, 0)]))
    var canvas = Scenes.canvas(board)
    /// Returns the amount of work that the canvas needs to show the points, rounded up to a power of two.
    func work(_ count: Int) throws -> Int {
      canvas.preview(try Scenes.ink((1...count).map { (-150 + Double($0) * 3, 0) }), from: 1, of: id)
      let before = canvas
      var budget = 16
      canvas.paint(budget)
      while !canvas.isPainted {
        (canvas, budget) = (before, budget * 2)
        canvas.paint(budget)
      }
      return budget
    }
    for count in 1..<10 { _ = try work(count) }
    let first = try work(10)
    for count in 11..<98 { _ = try work(count) }
    #expect(try work(98) <= 2 * first)
    #expect(try work(98) == 16, "nothing is new")
  }

  @Test("the work for a live stroke does not grow with the strokes behind its new points") func workOverStrokes() throws
  {
    /// Returns the amount of work for the 20th preview of a stroke over others, rounded up to a power of two.
    func work(_ others: Int) throws -> Int {
      let board = try Scenes.board()
      for row in 0..<others {
        let y = Double(row % 20) - 10
        try board.createDrawing(try Scenes.ink((0..<100).map { (-150 + Double($0 * 3), y) }))
      }
      let id = try Scenes.begin(board, try Scenes.ink([(-150, 0)]))
      var canvas = Scenes.canvas(board)
      for count in 1..<20 {
        canvas.preview(try Scenes.ink((1...count).map { (-150 + Double($0) * 5, 0) }), from: 1, of: id)
        canvas.paint()
      }
      canvas.preview(try Scenes.ink((1...20).map { (-150 + Double($0) * 5, 0) }), from: 1, of: id)
      var (next, budget) = (canvas, 16)
      next.paint(budget)
      while !next.isPainted {
        (next, budget) = (canvas, budget * 2)
        next.paint(budget)
      }
      return budget
    }
    let alone = try work(0)
    #expect(try work(400) == alone)
  }

  @Test("strokes of several members that grow over others give the same as painting everything", arguments: 1...20)
  func liveStrokes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    for _ in 0..<25 { Scenes.edit(board, &random) }
    var canvas = Scenes.canvas(board)
    var live: [ObjectID: [InkPoint]] = [:]
    for step in 0..<80 {
      if live.count < 3, random.chance(15) {
        let start = try InkPoint(Scenes.point(&random))
        let id = try Scenes.begin(board, [start])
        live[id] = [start]
      }
      if random.chance(25) { Scenes.edit(board, &random) }
      for id in live.keys.sorted() {
        guard let ink = board.snapshot(id)?.ink, let points = live[id], ink.elementsEqual(points.prefix(ink.count))
        else {
          live[id] = nil
          canvas.remove(id)
          continue
        }
        if points.count > ink.count, random.chance(20) {
          try? board.appendInk(Array(points[ink.count...]), to: id, first: ink.count)
        }
        if random.chance(80) { live[id]?.append(try InkPoint(Scenes.point(&random))) }
      }
      let snapshots = board.snapshots
      for id in canvas.objects where !snapshots.contains(where: { $0.id == id }) { canvas.remove(id) }
      var whole = BoardCanvas(Scenes.viewport)
      for snapshot in snapshots {
        let item = BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member))
        if canvas.item(snapshot.id)?.snapshot != snapshot { canvas.set(item) }
        whole.set(item)
        guard let points = live[snapshot.id], let count = snapshot.ink?.count, points.count > count else { continue }
        canvas.preview(Array(points[count...]), from: count, of: snapshot.id)
        whole.preview(Array(points[count...]), from: count, of: snapshot.id)
      }
      // Some growth is painted in several steps.
      canvas.paint(random.chance(50) ? 500 : .max)
      guard canvas.isPainted else { continue }
      whole.paint()
      #expect(difference(canvas.screen, whole.screen) == nil, "seed \(seed), step \(step)")
    }
  }

  @Test("work in steps gives the same as painting everything at once", arguments: 1...5) func steps(seed: UInt64) throws
  {
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    var (canvas, steps) = (BoardCanvas(Scenes.viewport), 0)
    for round in 0..<40 {
      Scenes.edit(board, &random)
      let ids = Set(board.snapshots.map(\.id))
      for id in canvas.objects where !ids.contains(id) { canvas.remove(id) }
      for snapshot in board.snapshots where canvas.item(snapshot.id)?.snapshot != snapshot {
        canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(snapshot.id, for: board.member)))
      }
      if round == 20 {
        var viewport = canvas.viewport
        viewport.zoom(by: 2, around: Scenes.point(&random))
        canvas.show(viewport)
      }
      // Changes arrive while an area is painted.
      canvas.paint(50)
      steps += 1
    }
    while !canvas.isPainted {
      canvas.paint(50)
      steps += 1
    }
    #expect(difference(canvas.screen, Scenes.canvas(board, canvas.viewport).screen) == nil)
    #expect(steps >= 40)
  }

  @Test("a stroke that crosses itself thousands of times takes little work") func dense() throws {
    var random = SeededGenerator(seed: 1)
    let board = try Scenes.board()
    for _ in 0..<3 {
      let id = try board.beginDrawing()
      for first in stride(from: 0, to: 65_536, by: 128) {
        let points = (0..<128).map { _ in
          InkPoint(x: Int32(random.below(4_800)) - 2_400, y: Int32(random.below(2_800)) - 1_400)
        }
        try board.appendInk(points, to: id, first: first)
      }
    }
    let viewport = Viewport(center: Point(x: 0, y: 0), columns: 200, rows: 60)
    var canvas = BoardCanvas(viewport)
    var shown = 0
    for snapshot in board.snapshots {
      let item = BoardCanvas.Item(snapshot)
      shown += item.parts?.reduce(0) { $0 + $1.points.count } ?? 65_536
      canvas.set(item)
    }
    #expect(shown < 3 * 4_096, "\(shown)")
    canvas.paint(BoardCanvas.frameWork)
    #expect(canvas.isPainted)
    // The ink still covers its box.
    let center = CellArea(x: 92, y: 27, width: 16, height: 6)
    let isFull = center.rows.allSatisfy { y in
      center.columns.allSatisfy { canvas.screen[$0, y].glyph == .braille(0xFF) }
    }
    #expect(isFull)
  }

  @Test("a grid marks the crossings of its lines, and never too many") func grid() throws {
    var canvas = Scenes.canvas(try Scenes.board())
    for (grid, count) in [(80.0, 4 * 3), (0.01, 7 * 5), (65_536, 1)] {
      canvas.grid = grid
      canvas.paint()
      #expect(canvas.screen.cells.count { $0.glyph != .space } == count, "\(grid)")
    }
    canvas.grid = nil
    canvas.paint()
    #expect(canvas.screen.cells.allSatisfy { $0.glyph == .space })
  }

  @Test("the background of a board replaces the terminal's colors") func background() throws {
    let board = try Scenes.board()
    try board.createText("dark on light", at: Point(x: 0, y: 0))
    try board.createDrawing(try Scenes.ink([(-150, 60), (150, 60)]), color: 0xFFFF_F0FF)
    var canvas = Scenes.canvas(board)
    canvas.paper = .dark
    canvas.background = 0xFFFFF0
    canvas.paint()
    var screen = canvas.screen
    canvas.setBackground(of: &screen, in: screen.area)
    #expect(screen.cells.allSatisfy { $0.style.background == CellColor(rgb: 0xFFFFF0) })
    #expect(screen.cells.allSatisfy { $0.style.foreground == CellColor(rgb: 0) })
    canvas.isMonochrome = true
    canvas.paint()
    screen = canvas.screen
    canvas.setBackground(of: &screen, in: screen.area)
    #expect(screen.cells.allSatisfy { $0.style.background == .terminal })
  }

  @Test("letters and lines can be seen on the fills of other objects") func contrast() throws {
    for (fill, paper) in [(0xFFEC_99FF, Paper.dark), (0xFFFF_FFFF, .dark), (0x1E1E_1EFF, .light)] as [(UInt32, Paper)] {
      let board = try Scenes.board()
      var style = ObjectStyle()
      style.fill = fill
      try board.createForm(.rectangle, at: Point(x: 0, y: 0), size: Size(width: 300, height: 160), style: style)
      try board.createText("plain letters", at: Point(x: 0, y: -30))
      try board.createText("same color", at: Point(x: 0, y: 10), color: fill)
      try board.createDrawing(try Scenes.ink([(-100, 50), (100, 50)]), color: 0xFFFF_FFFF)
      var canvas = Scenes.canvas(board)
      canvas.paper = paper
      canvas.paint()
      let cells = canvas.screen.cells.filter { $0.style.background != .terminal && $0.glyph != .space }
      #expect(cells.count > 40)
      for cell in cells {
        let (letter, ground) = (try #require(cell.style.foreground.rgb), try #require(cell.style.background.rgb))
        #expect(abs(PerceivedColor(letter).lightness - PerceivedColor(ground).lightness) >= 0.25)
      }
    }
  }

  @Test("a frame is a thin, dim line that hides neither lines nor letters", arguments: DotStyle.allCases)
  func frames(style: DotStyle) throws {
    let board = try Scenes.board()
    try board.createDrawing(try Scenes.ink([(-150, 0), (150, 0)]))
    try board.createForm(.frame, at: Point(x: 0, y: 10), size: Size(width: 200, height: 120), label: "Plan")
    let canvas = Scenes.canvas(board, Scenes.viewport, style)
    let frame = CellArea(x: 7, y: 2, width: 26, height: 9)
    let dim = canvas.screen.cells.filter { $0.style.attributes.contains(.dim) }
    #expect(dim.count > 50 && dim.allSatisfy { FrameSigns.ofFrames.contains($0.glyph) })
    #expect(canvas.screen.lines.contains { $0.contains("Plan") })
    for x in [frame.columns.lowerBound, frame.columns.upperBound - 1] {
      #expect(!canvas.screen[x, 6].style.attributes.contains(.dim), "the line crosses the frame at \(x)")
    }
  }

  @Test("every dot style shows lines", arguments: DotStyle.allCases) func styles(style: DotStyle) throws {
    let board = try Scenes.board()
    try board.createDrawing(try Scenes.ink([(-150, -80), (150, 80)]))
    try board.createDrawing(try Scenes.ink([(-150, 20), (150, 20)]))
    var canvas = Scenes.canvas(board)
    canvas.show(style)
    canvas.paint()
    let filled = canvas.screen.cells.count { $0.glyph != .space }
    #expect(filled >= 40)
    if style == .ascii { #expect(canvas.screen.lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }) }
  }

  @Test("below 100 %, texts are cut or become bars, and never print over each other", arguments: [25, 50, 75])
  func smallTexts(percent: Int) throws {
    let board = try Scenes.board()
    for row in 0..<10 {
      for column in 0..<3 {
        let words = "idea \(row)\(column) is good"
        let text = try board.createText(words, at: Point(x: 0, y: 0), isAutoWidth: true)
        let bounds = try #require(board.bounds(of: [text]))
        let shift = row.isMultiple(of: 2) ? 0 : 48.0
        let corner = Point(x: Double(column) * 200 + shift - bounds.least.x, y: Double(row) * 16 - bounds.least.y)
        try board.move([text], by: corner)
      }
    }
    var viewport = Viewport(center: Point(x: 140, y: 80), columns: 80, rows: 24)
    viewport.zoom = Double(percent) / 100
    let lines = Scenes.canvas(board, viewport).screen.lines
    let texts = (0..<100).map { "idea \($0 / 10)\($0 % 10) is good" }
    for piece in lines.flatMap({ $0.split { "…─".contains($0) } }) {
      let words = piece.split(separator: " ").joined(separator: " ")
      #expect(words.isEmpty || texts.contains { $0.hasPrefix(words) }, "\(lines)")
    }
    #expect(lines.contains { $0.contains("…") })
    #expect(percent != 50 || lines.contains { $0.contains("─") }, "\(lines)")
  }

  @Test("zooming keeps the point under the pointer in place") func zoom() {
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

  @Test("a curve that was drawn fast is round, and a corner stays a corner") func curves() throws {
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
    try board.createDrawing(try Scenes.ink([(20, -60), (140, -60), (140, 60), (20, 60), (20, -60)]), lineWidth: 1)
    let screen = Scenes.canvas(board).screen
    for corner in [Point(x: 20, y: -60), Point(x: 140, y: 60)] {
      let cell = Scenes.viewport.cell(of: corner)
      #expect(screen[cell.x, cell.y].glyph != .space)
    }
  }

  @Test(
    "the width of a line in dots",
    arguments: [
      (5.0, 1.0, DotStyle.braille, 2), (5, 0.5, .braille, 1), (5, 0.1, .braille, 1), (2, 1, .braille, 1),
      (8, 1, .braille, 2), (12, 1, .braille, 3), (32, 1, .braille, 8), (5, 4, .braille, 5), (5, 1, .half, 1),
      (16, 1, .half, 2), (5, 1, .ascii, 1), (20, 1, .ascii, 5), (1e6, 16, .braille, 256),
    ] as [(Double, Double, DotStyle, Int)]
  ) func breadths(width: Double, zoom: Double, style: DotStyle, dots: Int) {
    let breadth = PenBreadth(dots: width * zoom * Viewport.unitScale, style: style)
    #expect(breadth[0] == dots)
    #expect(breadth[255] == dots)
    #expect(breadth[1] <= dots && breadth[1] >= 1)
  }

  @Test("an ellipse is symmetric, and no dot sticks out", arguments: [1.0, 5, 12, 16]) func ellipses(width: Double)
    throws
  {
    let board = try Scenes.board()
    try board.createDrawing(try Scenes.ellipse((0, 0), 160, 96), lineWidth: width)
    let lines = Scenes.canvas(board).screen.lines
    let rows = lines.map { line in line.map { UInt8(($0.unicodeScalars.first?.value ?? 0) & 0xFF) } }
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

  @Test("names in games and color styles are updated") func restyled() throws {
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
