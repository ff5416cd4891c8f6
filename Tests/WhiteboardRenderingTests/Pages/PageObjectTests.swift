import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardRendering

@Suite("Objects on a page")
struct PageObjectTests {
  private func marks(_ board: Board, paper: UInt32? = 0xFFFFFF) -> [[PageMark]] {
    let items = board.snapshots.map {
      BoardCanvas.Item($0, game: board.gameView($0.id, for: board.member))
    }
    let picture = BoardPicture(
      items: items,
      region: BoardPicture.region(around: items) ?? Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1)),
      background: paper
    )
    return picture.objects(pixelsPerUnit: 1).map(\.marks)
  }

  @Test("text becomes rows of letters, without control characters")
  func words() throws {
    let board = try Scenes.board()
    let id = try board.createText("", at: Point(x: 50, y: 60), color: 0xFF_00FF)
    try board.gesture { () throws(BoardError) in
      try board.stageText("a\u{1B}[2J\u{202E}b\n\n cd", of: id)
    }
    let green = PageColor(rgb: 0x00FF00)
    #expect(
      marks(board) == [
        [
          PageWords("a\u{1B}[2Jb", Point(x: -20, y: -24), green),
          PageWords(" cd", Point(x: -20, y: 8), green),
        ].compactMap { $0.map { .words($0) } }
      ]
    )
    #expect(PageWords("a\u{1B}\u{202E}\tb", Point(x: 0, y: 0), green)?.text == "a\u{FFFD} b")
    #expect(PageWords(" \u{202E} ", Point(x: 0, y: 0), green) == nil)
  }

  @Test("a stroke is as wide as its pressure, in few lines, and never too thin to see")
  func strokes() throws {
    let board = try Scenes.board()
    let points = (0..<8).map { step in
      InkPoint(x: Int32(step * 1_600), y: 0, pressure: step < 5 ? 121 : 250)
    }
    try board.createDrawing(points, lineWidth: 10)
    try board.createDrawing([InkPoint(x: 0, y: 1_600)], lineWidth: 0.1)
    let marks = marks(board)
    guard case .ink(let lines, PageColor(rgb: 0))? = marks.first?.first,
      case .ink(let dot, _)? = marks.last?.first
    else {
      Issue.record("\(marks)")
      return
    }
    #expect(lines.map(\.width) == [120, 240].map { 10 * InkCurve.breadth(atPressure: $0) })
    #expect(lines[1].start == lines[0].pieces.last?.end)
    #expect(dot == [PageLine(width: 0.7, start: Point(x: 0, y: 0), pieces: [])])
  }

  @Test("ink of the paper's color becomes plain ink")
  func contrast() throws {
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

  @Test("a photo lies in the orientation of its file", arguments: PhotoOrientation.allCases)
  func orientation(_ orientation: PhotoOrientation) throws {
    let photo = PagePhoto(
      asset: try Scenes.photo(1),
      file: [],
      orientation: orientation,
      box: Rectangle(Point(x: -4, y: -3), Point(x: 4, y: 3))
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

  @Test("a corner is a corner at every size")
  func corners() {
    for scale in [0.01, 0.25, 1, 40] {
      func isBend(_ x: Double, _ y: Double, _ nextX: Double, _ nextY: Double) -> Bool {
        InkCurve.isBend(
          x * scale,
          y * scale,
          nextX * scale,
          nextY * scale,
          stretch: InkCurve.stretch * scale
        )
      }
      #expect(isBend(100, 0, 100, 50))
      #expect(!isBend(100, 0, 50, 100))
      #expect(isBend(10, 0, 0, 10))
      #expect(!isBend(10, 0, -10, 5))
      #expect(!isBend(10, 0, 0, 0))
    }
  }
}
