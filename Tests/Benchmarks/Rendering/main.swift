// Measures the time and the bytes for drawing a board on a terminal of 200 by 60 cells.
//
//     render-bench [ROUNDS]
//
// Each line has the action, the number of strokes of 100 points, the median and worst milliseconds, and the bytes.

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

func report(_ what: String, _ count: Int, _ times: [Duration], _ bytes: [Int]) {
  func text(_ duration: Duration) -> String {
    let micros = duration / .microseconds(1)
    return "\((micros / 10).rounded() / 100)"
  }
  let (sorted, sizes) = (times.sorted(), bytes.sorted())
  print(
    "\(what), \(count) strokes: p50 \(text(sorted[sorted.count / 2])) ms, "
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
  _ = client.receive(.joined(.init(peer: member(2).description, name: "bob")))
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
}
