import PeerTestKit
import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The frame around the selection") struct SelectionFrameTests {
  /// Returns the points of a shape of lines with two given corners.
  private func outline(_ from: Point, _ to: Point) throws -> [InkPoint] {
    try Tool.rectangle.outline(from: from, to: to).map { try InkPoint($0) }
  }

  /// A view of 80 by 24 cells; a cell is 8 by 16 units.
  private let viewport = Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 24)

  private func frame(_ snapshots: [ObjectSnapshot]) throws -> SelectionFrame {
    try #require(SelectionFrame(snapshots, in: viewport) { _ in nil })
  }

  /// Returns the position of a corner or side of the lines of a snapshot, without their width.
  private func inkPlace(_ snapshot: ObjectSnapshot, _ grip: SelectionFrame.Grip) -> Point {
    let line = snapshot.lineWidth ?? 0
    let half = Size(
      width: (snapshot.size.width - line) / 2 * snapshot.scale * Double(grip.x),
      height: (snapshot.size.height - line) / 2 * snapshot.scale * Double(grip.y)
    )
    let turn = snapshot.rotation
    return Point(
      x: snapshot.centerPosition.x + half.width * turn.cosine - half.height * turn.sine,
      y: snapshot.centerPosition.y + half.width * turn.sine + half.height * turn.cosine
    )
  }

  @Test("a resize keeps the opposite corner or side and the line width, seeds 0 to 99") func opposite() throws {
    for seed in 0..<UInt64(100) {
      var random = SeededGenerator(seed: seed)
      var desk = try Desk()
      let center = Point(x: Double(random.below(300)) - 150, y: Double(random.below(200)) - 100)
      let half = Point(x: Double(20 + random.below(150)), y: Double(20 + random.below(100)))
      let ink = try outline(
        Point(x: center.x - half.x, y: center.y - half.y),
        Point(x: center.x + half.x, y: center.y + half.y)
      )
      let id = try desk.board.createDrawing(ink, lineWidth: Double(1 + random.below(20)))
      try desk.board.object(id)?.rotate(to: .radians(Double(random.below(628)) / 100))
      try desk.board.select([id])
      desk.sync()
      let before = try #require(desk.board.snapshot(id))
      let frame = try #require(desk.client.workspace.scene.selectionFrame)
      let grips = frame.grips.map(\.value)
      let grip = grips[random.below(grips.count)]
      let isCentered = random.chance(30)
      let from = try #require(frame.grips.first { $0.value == grip }).point
      let by = Point(x: Double(random.below(200)) - 100, y: Double(random.below(200)) - 100)
      let resize = SelectionFrame.Resize(
        frame: frame,
        grip: grip,
        from: from,
        to: Point(x: from.x + by.x, y: from.y + by.y),
        isCentered: isCentered
      )
      try desk.board.scale([id], by: resize.factor, about: resize.pivot, keepingLineWidth: true)
      let after = try #require(desk.board.snapshot(id))
      let fixed = isCentered ? SelectionFrame.Grip(x: 0, y: 0) : SelectionFrame.Grip(x: -grip.x, y: -grip.y)
      let (old, new) = (inkPlace(before, fixed), inkPlace(after, fixed))
      // The limit is the precision of the stored positions, sizes and widths.
      let distance = max((old.x - new.x).magnitude, (old.y - new.y).magnitude)
      #expect(distance < 0.1, "seed \(seed), \(grip), \(distance)")
      let widths = [before, after].map { ($0.lineWidth ?? 0) * $0.scale }
      // A very small object would need a wider line than the maximum.
      let isWidest = after.lineWidth == BoardLimits.lineWidth
      #expect(isWidest || (widths[0] - widths[1]).magnitude <= 0.01 * max(1, after.scale), "seed \(seed), \(widths)")
    }
  }

  @Test("the mouse resizes a stroke: lines keep their width unless Ctrl, and Alt keeps the center") func mouse() throws
  {
    var desk = try Desk()
    let id = try desk.board.createDrawing(try outline(Point(x: -80, y: -80), Point(x: 80, y: 80)), lineWidth: 4)
    try desk.board.select([id])
    desk.sync()
    // The right side of the frame is one cell outside, at 90,0. It is dragged 10 cells to the right.
    let side = "v^[<0;49;12M^[<32;59;12M^[<0;59;12m"
    #expect(desk.type(side) == ["scale \(id) 1.5 about=-80,0 line=keep"])
    let centered = "^[<8;49;12M^[<40;59;12M^[<8;59;12m"
    #expect(desk.type(centered) == ["scale \(id) 2 about=0,0 line=keep"])
    let wider = "^[<16;49;12M^[<48;59;12M^[<16;59;12m"
    #expect(desk.type(wider) == ["scale \(id) 1.487805 about=-82,0"])
    // 1.1 times the scale after the drag.
    #expect(desk.type("S") == ["scale \(id) 1.64 line=keep"])
    // A drag inside the frame moves the object, even directly beside the handles.
    #expect(desk.type("^[<0;47;12M^[<32;48;12M^[<0;48;12m").first?.hasPrefix("move") == true)
  }

  @Test("the frame is one cell away from its object, at every size and angle") func outside() throws {
    for seed in 0..<UInt64(100) {
      var random = SeededGenerator(seed: seed)
      var desk = try Desk()
      let center = Point(x: Double(random.below(200)) - 100, y: Double(random.below(100)) - 50)
      let half = Point(x: Double(random.below(80)), y: Double(random.below(50)))
      let id = try desk.board.createDrawing(
        try outline(
          Point(x: center.x - half.x, y: center.y - half.y),
          Point(x: center.x + half.x, y: center.y + half.y)
        )
      )
      if seed % 2 == 0 { try desk.board.object(id)?.rotate(to: .degrees(90)) }
      try desk.board.select([id])
      desk.sync()
      let frame = try #require(desk.client.workspace.scene.selectionFrame)
      let bounds = try #require(desk.board.snapshot(id)).bounds
      let view = desk.client.workspace.scene.canvas.viewport
      let (least, greatest) = (view.cell(of: bounds.least), view.cell(of: bounds.greatest))
      for corner in frame.corners.map(view.cell) {
        #expect(corner.x == least.x - 1 || corner.x == greatest.x + 1, "seed \(seed)")
        #expect(corner.y == least.y - 1 || corner.y == greatest.y + 1, "seed \(seed)")
      }
      // The object can be dragged at every point.
      for _ in 0..<10 {
        let place = Point(
          x: Double.random(in: bounds.least.x...bounds.greatest.x, using: &random),
          y: Double.random(in: bounds.least.y...bounds.greatest.y, using: &random)
        )
        #expect(frame.handle(at: place) == nil, "seed \(seed)")
      }
    }
  }

  @Test("the rotate handle is visible at every position, and covers no other handle") func knob() throws {
    let board = Board(incarnation: Incarnation(1), member: try Desk.memberID(1), wallClock: 1)
    for (x, y) in [(0, 0), (0, -190), (0, 190), (-315, -190), (315, 190), (-318, 0), (318, -100)] {
      for half in [0.0, 3, 40, 170, 1000] {
        for angle in [0, 0.5, 1.6, 3.2, 4.8] {
          let center = Point(x: Double(x), y: Double(y))
          let id = try board.createDrawing(
            try outline(Point(x: center.x - half, y: center.y - half), Point(x: center.x + half, y: center.y + half))
          )
          try board.object(id)?.rotate(to: .radians(angle))
          let frame = try frame([try #require(board.snapshot(id))])
          let cell = viewport.cell(of: frame.knob)
          #expect((0..<80).contains(cell.x) && (0..<24).contains(cell.y), "\(x),\(y) \(half)")
          #expect(frame.handle(at: frame.knob) == .knob, "\(x),\(y) \(half) \(angle)")
          #expect(frame.grips.allSatisfy { viewport.cell(of: $0.point) != cell })
          #expect(frame.degrees(to: frame.knob) == 0)
        }
      }
    }
  }

  @Test("a long side has a handle in its middle, and a short one does not") func sides() throws {
    let board = Board(incarnation: Incarnation(1), member: try Desk.memberID(1), wallClock: 1)
    let dot = try board.createDrawing([InkPoint(x: 0, y: 0)])
    let line = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 1600, y: 0)])
    #expect(try frame([try #require(board.snapshot(dot))]).grips.count == 4)
    let grips = try frame([try #require(board.snapshot(line))]).grips.map(\.value)
    #expect(grips.count == 6 && grips.contains(SelectionFrame.Grip(x: 0, y: 1)))
  }

  @Test("the frame of a game surrounds all of its rows, at every size") func games() throws {
    for zoom in [0.1, 0.5, 1, 2, 4] {
      for scale in [0.2, 1, 3] {
        var desk = try Desk()
        var viewport = desk.client.workspace.scene.canvas.viewport
        viewport.zoom = zoom
        desk.client.workspace.scene.canvas.show(viewport)
        var random = SeededGenerator(seed: 1)
        let games = [
          try desk.board.createWordle(at: Point(x: 0, y: 0), using: &random),
          try desk.board.createConnectFour(at: Point(x: 0, y: 0)),
        ]
        try desk.board.game(games[0]).play(.guess("crane"))
        for id in games {
          try desk.board.object(id)?.scale(to: scale)
          try desk.board.deselectAll()
          try desk.board.select([id])
          desk.sync()
          let view = desk.client.workspace.scene.canvas.viewport
          let frame = try #require(desk.client.workspace.scene.selectionFrame)
          let words = try #require(desk.client.workspace.scene.canvas.words(of: id))
          let (first, last) = (view.cell(of: words.least), view.cell(of: words.greatest))
          let corners = frame.corners.map(view.cell)
          #expect(corners[0].x < first.x && corners[0].y < first.y, "\(zoom) \(scale)")
          #expect(corners[2].x > last.x && corners[2].y > last.y, "\(zoom) \(scale)")
        }
      }
    }
  }
}
