// Measures the time and the bytes for drawing a board on a terminal of 200 by 60 cells.
//
//     render-bench [ROUNDS]
//
// Each line has the action, the objects (a stroke has 100 points), the median and worst milliseconds, and the bytes.

import PeerTestKit
import Whiteboard
import WhiteboardKit
import WhiteboardRendering
import WhiteboardSync
import WhiteboardTerminal

let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 50
let clock = ContinuousClock()
let writer = ScreenWriter(depth: .full)

func member(_ number: UInt8) -> MemberID {
  guard let member = MemberID(bytes: Array(repeating: number, count: 32)) else { preconditionFailure("32 bytes") }
  return member
}

/// Returns a board with strokes in a field of 1,600 by 960 units, which is the visible part.
func board(strokes: Int, _ random: inout SeededGenerator) throws -> Board {
  let board = Board(incarnation: Incarnation(1), member: member(1), wallClock: 1_700_000_000_000)
  for _ in 0..<strokes {
    var x = Int32(random.below(25_600)) - 12_800
    var y = Int32(random.below(15_360)) - 7_680
    var ink: [InkPoint] = []
    for _ in 0..<100 {
      x += Int32(random.below(65)) - 32
      y += Int32(random.below(65)) - 32
      ink.append(InkPoint(x: x, y: y))
    }
    let rgb = UInt32(random.below(1 << 24))
    try board.createDrawing(ink, lineWidth: 5, color: rgb << 8 | 0xFF)
  }
  return board
}

/// Returns a board with shapes in rows, a label in each, and connectors between neighbors.
func diagram(shapes: Int, connectors: Int) throws -> Board {
  let board = Board(incarnation: Incarnation(1), member: member(1), wallClock: 1_700_000_000_000)
  let forms: [DrawingForm] = [.rectangle, .roundedRectangle, .ellipse, .diamond]
  let columns = Int(Double(shapes).squareRoot())
  var style = ObjectStyle()
  style.fill = 0xFFEC_99FF
  let ids = try (0..<shapes).map { index in
    try board.createForm(
      forms[index % forms.count],
      at: Point(x: Double(index % columns) * 260, y: Double(index / columns) * 160),
      size: Size(width: 180, height: 80),
      label: "Server \(index)",
      style: style
    )
  }
  for index in 0..<connectors {
    let (from, to) = (ids[index * 2 % (shapes - 1)], ids[index * 2 % (shapes - 1) + 1])
    try connect(from, to, on: board)
  }
  return board
}

func connect(_ from: ObjectID, _ to: ObjectID, on board: Board) throws {
  let ends = [from, to].map { board.snapshot($0)?.centerPosition ?? Point(x: 0, y: 0) }
  try board.createForm(
    .arrow,
    at: ends[0],
    points: ends,
    from: board.binding(to: from, at: ends[0]),
    to: board.binding(to: to, at: ends[1])
  )
}

func report(_ what: String, _ count: Int, of kind: String = "strokes", _ times: [Duration], _ bytes: [Int]) {
  func text(_ duration: Duration) -> String {
    let micros = duration / .microseconds(1)
    return "\((micros / 10).rounded() / 100)"
  }
  let (sorted, sizes) = (times.sorted(), bytes.sorted())
  print(
    "\(what), \(count) \(kind): p50 \(text(sorted[sorted.count / 2])) ms, "
      + "max \(text(sorted[sorted.count - 1])) ms, \(sizes[sizes.count / 2]) bytes"
  )
}

for count in [500, 5_000] {
  var random = SeededGenerator(seed: 7)
  let board = try board(strokes: count, &random)
  let viewport = Viewport(center: Point(x: 0, y: 0), columns: 200, rows: 60)
  var canvas = BoardCanvas(viewport)
  for snapshot in board.snapshots { canvas.set(BoardCanvas.Item(snapshot)) }
  canvas.paint()

  var (times, bytes): ([Duration], [Int]) = ([], [])
  for _ in 0..<rounds {
    canvas.show(.braille)
    var size = 0
    times.append(
      clock.measure {
        canvas.paint()
        size = writer.bytes(from: nil, to: canvas.screen).count
      }
    )
    bytes.append(size)
  }
  report("full repaint", count, times, bytes)

  /// Shows the current state of an object, and updates the terminal.
  func redraw(_ id: ObjectID) {
    guard let snapshot = board.snapshot(id) else { return }
    let before = canvas.screen
    var size = 0
    times.append(
      clock.measure {
        canvas.set(BoardCanvas.Item(snapshot))
        canvas.paint()
        size = writer.bytes(from: before, to: canvas.screen).count
      }
    )
    bytes.append(size)
  }

  // One stroke in front of the others grows point by point.
  let live = try board.beginDrawing(lineWidth: 5, color: 0xFF00_00FF)
  try board.appendInk([InkPoint(x: 0, y: 0)], to: live, first: 0)
  (times, bytes) = ([], [])
  for round in 1...rounds {
    try board.appendInk([InkPoint(x: Int32(round * 30), y: Int32(round % 7) * 40)], to: live, first: round)
    redraw(live)
  }
  report("a stroke grew", count, times, bytes)

  let ids = board.objectIDs
  (times, bytes) = ([], [])
  for round in 0..<rounds {
    let id = ids[round * 7 % ids.count]
    try board.move([id], by: Point(x: 9, y: -5))
    redraw(id)
  }
  report("an object moved", count, times, bytes)

  // The whole client, from a key or a cursor to the bytes for the terminal.
  var client = BoardClient(columns: 200, rows: 60, dotStyle: .braille)
  let bob = SharedBoard.Member(id: .init(member(2)), name: "bob")
  _ = client.receive(.change(.joined(bob), .init(of: member(2), bob.name)))
  for snapshot in board.snapshots { client.applyChange(.added(snapshot, by: .me)) }
  var shown = client.frame().screen
  (times, bytes) = ([], [])
  for round in 0..<rounds {
    var size = 0
    let place = Point(x: Double(round * 8), y: Double(round % 9) * 16)
    let presence = try Presence(cursor: place)
    times.append(
      clock.measure {
        client.applyChange(.presence(presence, of: .init(id: .init(member(2)), name: "bob")))
        let screen = client.frame().screen
        size = writer.bytes(from: shown, to: screen).count
        shown = screen
      }
    )
    bytes.append(size)
  }
  report("a cursor moved, whole client", count, times, bytes)

  // The points of a member's stroke, which are not committed yet.
  let far = try board.beginDrawing(lineWidth: 5, color: 0xFF00_00FF)
  try board.appendInk([InkPoint(x: 0, y: 0)], to: far, first: 0)
  if let snapshot = board.snapshot(far) { client.applyChange(.added(snapshot, by: .me)) }
  shown = client.frame().screen
  var points: [InkPoint] = []
  (times, bytes) = ([], [])
  for round in 1...max(rounds, 120) {
    points.append(InkPoint(x: Int32(round * 80), y: Int32(round * 37 % 200) * 16))
    var size = 0
    times.append(
      clock.measure {
        client.applyChange(.preview(StrokePreview(stroke: far, member: member(2), first: 1, points: points)))
        let screen = client.frame().screen
        size = writer.bytes(from: shown, to: screen).count
        shown = screen
      }
    )
    bytes.append(size)
  }
  report("a member's live stroke grew, whole client", count, times, bytes)
}

do {
  let (shapes, connectors) = (10_000, 5_000)
  let kind = "shapes with labels and \(connectors) connectors"
  let board = try diagram(shapes: shapes, connectors: connectors)
  let hub = board.objectIDs[shapes / 2 + 50]
  for target in board.objectIDs[0..<500] { try connect(hub, target, on: board) }
  var canvas = BoardCanvas(Viewport(center: Point(x: 13_000, y: 8_000), columns: 200, rows: 60))
  for snapshot in board.snapshots { canvas.set(BoardCanvas.Item(snapshot)) }
  canvas.paint()

  /// Measures a change of the view until the bytes for the terminal are ready.
  func measure(_ what: String, _ change: (inout BoardCanvas, Int) -> Void) {
    var (times, bytes): ([Duration], [Int]) = ([], [])
    for round in 0..<rounds {
      let before = canvas.screen
      let start = clock.now
      change(&canvas, round)
      canvas.paint()
      bytes.append(writer.bytes(from: before, to: canvas.screen).count)
      times.append(clock.now - start)
    }
    report(what, shapes, of: kind, times, bytes)
  }
  measure("full repaint") { canvas, _ in canvas.show(.braille) }
  measure("the view moved") { canvas, round in
    var viewport = canvas.viewport
    viewport.pan(byDots: round % 2 == 0 ? 8 : -8, 0)
    canvas.show(viewport)
  }
  let near = canvas.viewport
  measure("the view shows a thousandth or all, and is painted") { canvas, round in
    var viewport = near
    if round % 2 == 0, let bounds = canvas.bounds { viewport.fit(bounds) }
    canvas.show(viewport)
  }
  if let bounds = canvas.bounds {
    var viewport = near
    viewport.fit(bounds)
    canvas.show(viewport)
    canvas.paint()
  }
  measure("full repaint of the whole board") { canvas, _ in canvas.show(.braille) }
  canvas.show(near)
  canvas.paint()
  let lines = board.snapshots.filter { $0.start?.target == hub }.map(\.id)
  measure("an object with \(lines.count) connectors moved") { canvas, round in
    try? board.move([hub], by: Point(x: round % 2 == 0 ? 16 : -16, y: 0))
    for id in [hub] + lines { if let snapshot = board.snapshot(id) { canvas.set(BoardCanvas.Item(snapshot)) } }
  }
}
