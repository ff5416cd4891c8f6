import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardRendering

@Suite("Objects on a page") struct PageObjectTests {
  private func marks(_ board: Board, paper: UInt32? = 0xFFFFFF) -> [[PageMark]] {
    let items = board.snapshots.map { BoardCanvas.Item($0, game: board.gameView($0.id, for: board.member)) }
    let picture = BoardPicture(
      items: items,
      region: BoardPicture.region(around: items) ?? Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1)),
      background: paper
    )
    return picture.objects(pixelsPerUnit: 1).map(\.marks)
  }

  @Test("text becomes rows of letters, without control characters") func words() throws {
    let board = try Scenes.board()
    let id = try board.createText("", at: Point(x: 50, y: 60), color: 0xFF_00FF)
    try board.gesture { () throws(BoardError) in try board.stageText("a\u{1B}[2J\u{202E}b\n\n cd", of: id) }
    let green = PageColor(rgb: 0x00FF00)
    #expect(
      marks(board) == [
        [PageWords("a\u{1B}[2Jb", Point(x: -24, y: -24), green), PageWords(" cd", Point(x: -24, y: 8), green)]
          .compactMap { $0.map { .words($0) } }
      ]
    )
    #expect(PageWords("a\u{1B}\u{202E}\tb", Point(x: 0, y: 0), green)?.text == "a\u{FFFD} b")
    #expect(PageWords(" \u{202E} ", Point(x: 0, y: 0), green) == nil)
  }

  @Test("a stroke is as wide as its pressure, in few lines, and never too thin to see") func strokes() throws {
    let board = try Scenes.board()
    let points = (0..<8).map { step in InkPoint(x: Int32(step * 1_600), y: 0, pressure: step < 5 ? 121 : 250) }
    try board.createDrawing(points, lineWidth: 10)
    try board.createDrawing([InkPoint(x: 0, y: 1_600)], lineWidth: 0.1)
    let marks = marks(board)
    guard case .ink(let lines, PageColor(rgb: 0))? = marks.first?.first, case .ink(let dot, _)? = marks.last?.first
    else {
      Issue.record("\(marks)")
      return
    }
    #expect(lines.map(\.width) == [120, 240].map { 10 * InkCurve.breadth(atPressure: $0) })
    #expect(lines[1].start == lines[0].pieces.last?.end)
    #expect(dot == [PageLine(width: 0.7, start: Point(x: 0, y: 0), pieces: [])])
  }

  @Test("ink of the paper's color becomes plain ink") func contrast() throws {
    let board = try Scenes.board()
    try board.createText("x", at: Point(x: 0, y: 0), color: 0xFEFE_FE80)
    for (paper, rgb) in [(0xFFFFFF, 0), (nil, 0), (0x101010, 0xFEFEFE)] as [(UInt32?, UInt32)] {
      guard case .words(let words)? = marks(board, paper: paper).first?.first else {
        Issue.record("there are no words")
        return
      }
      #expect(words.color == PageColor(rgb: rgb, opacity: Double(0x80) / 255))
    }
  }

  @Test("a photo lies in the orientation of its file", arguments: PhotoOrientation.allCases) func orientation(
    _ orientation: PhotoOrientation
  ) throws {
    let photo = PagePhoto(
      asset: try Scenes.photo(1),
      file: [],
      orientation: orientation,
      box: Rectangle(Point(x: -4, y: -3), Point(x: 4, y: 3)),
      view: PhotoView()
    )
    let place = photo.transform(orientation)
    let corners = [(0.0, 0.0), (1, 0), (0, 1), (1, 1)].map { right, down in
      Point(
        x: place.corner.x + right * place.right.x + down * place.down.x,
        y: place.corner.y + right * place.right.y + down * place.down.y
      )
    }
    #expect(Set(corners) == Set([-4.0, 4].flatMap { x in [-3.0, 3].map { Point(x: x, y: $0) } }))
    #expect((place.right.x == 0) == orientation.isSideways)
  }

  /// Returns whether the line bends at each point between its ends, given the steps between its points.
  private func bends(_ steps: (Double, Double)...) -> [Bool] {
    let points = steps.reduce(into: [Point(x: 0.5, y: -3)]) { points, step in
      points.append(Point(x: points[points.count - 1].x + step.0, y: points[points.count - 1].y + step.1))
    }
    return (1..<steps.count).map { InkTurn.isBend(at: $0, of: points.count) { points[$0] } }
  }

  @Test("a corner that was drawn stays, at every size") func corners() {
    for side in [1.0, 4, 10, 16, 18, 30, 400] {
      #expect(bends((side, 0), (0, side), (-side, 0), (0, -side)) == [false, false, false])
      #expect(bends((side, 0), (0, side)) == [false])
      #expect(bends((side, side), (side, -side), (side, side)) == [false, false])
      // The outline of an L, a pentagon and a triangle.
      #expect(
        bends((side, 0), (0, side), (side, 0), (0, side), (-2 * side, 0), (0, -2 * side)) == [
          false, false, false, false, false,
        ]
      )
      #expect(bends((side, 0), (0.31 * side, 0.95 * side), (-0.81 * side, 0.59 * side)) == [false, false])
      #expect(bends((side, 0), (-side / 2, 0.87 * side), (-side / 2, -0.87 * side)) == [false, false])
    }
    #expect(bends((100, 0), (50, 100)) == [false])
    #expect(bends((10, 0), (-10, 5)) == [false])
    #expect(bends((10, 0), (0, 0)) == [false])
  }

  @Test("a line drawn by hand is smooth") func bends() {
    #expect(bends((100, 0), (100, 50)) == [true])
    // The steps of a mouse in cells: a slanted line, and a loop.
    #expect(bends((8, 0), (8, 0), (0, 16), (8, 0), (8, 0)) == [true, true, true, true])
    #expect(bends((8, 0), (0, 16), (8, 0), (0, 16), (8, 0)) == [true, true, true, true])
    #expect(bends((8, 0), (8, 16), (0, 16), (-8, 16), (-8, 0)) == [true, true, true, true])
  }
}
