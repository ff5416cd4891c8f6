import Testing

@testable import Whiteboard
@testable import WhiteboardRendering

@Suite("Forms on a page") struct FormPageTests {
  private func page(_ board: Board, background: UInt32? = 0xFFFFFF) -> BoardPicture {
    let items = board.snapshots.map { BoardCanvas.Item($0) }
    return BoardPicture(
      items: items,
      region: BoardPicture.region(around: items) ?? Rectangle(Point(x: 0, y: 0), Point(x: 1, y: 1)),
      background: background
    )
  }

  private func marks(_ board: Board, background: UInt32? = 0xFFFFFF) -> [PageMark] {
    page(board, background: background).objects(pixelsPerUnit: 1).flatMap(\.marks)
  }

  @Test("each form in each line style, as SVG") func goldens() throws {
    let board = try Scenes.board()
    for (column, line) in LineStyle.allCases.enumerated() {
      for (row, form) in DrawingForm.allCases.enumerated() {
        var style = ObjectStyle(form: form)
        style.lineStyle = line
        if line == .dotted { (style.fill, style.opacity) = (0x3060_C080, 0.5) }
        try board.createForm(
          form,
          at: Point(x: Double(column) * 100, y: Double(row) * 60),
          size: Size(width: 80, height: 40),
          points: form.hasPoints ? [Point(x: -40, y: -20), Point(x: 40, y: 20)] : [],
          color: 0xE548_4DFF,
          style: style
        )
      }
    }
    Golden.check(SVGPage.svg(page(board)), "forms-svg")
  }

  @Test("a label is wrapped and aligned in its form, which grows around it") func labels() throws {
    let board = try Scenes.board()
    let id = try board.createForm(
      .rectangle,
      at: Point(x: 0, y: 0),
      size: Size(width: 80, height: 40),
      label: "one two three"
    )
    func words() -> [PageWords] {
      marks(board).compactMap { if case .words(let words) = $0 { words } else { nil } }
    }
    #expect(words().map(\.text) == ["one two", "three"])
    #expect(words().map(\.corner) == [Point(x: -28, y: -16), Point(x: -20, y: 0)])
    #expect(board.snapshot(id)?.outline?.box == Rectangle(Point(x: -40, y: -24), Point(x: 40, y: 24)))
    try board.restyle([id], [.alignment(.right), .textSize(32), .isItalic(true)])
    #expect(words().map(\.text) == ["one", "two", "thre", "e"])
    #expect(words().map(\.corner.x) == [-16, -16, -32, 16])
    #expect(words().allSatisfy { $0.face == PageFace(factor: 2, isItalic: true) })
    #expect(board.snapshot(id)?.outline?.box == Rectangle(Point(x: -40, y: -72), Point(x: 40, y: 72)))
    try board.restyle([id], [.form(.diamond), .textSize(16)])
    #expect(words().map(\.text) == ["one", "two", "three"])
    #expect(board.snapshot(id)?.outline?.box == Rectangle(Point(x: -40, y: -48), Point(x: 40, y: 48)))
    try board.restyle([id], [.form(.ellipse)])
    #expect(words().map(\.text) == ["one two", "three"])
  }

  @Test("a label is black or white, whichever can be read on the fill", arguments: [0xFFFFFF, 0x101010] as [UInt32])
  func colors(paper: UInt32) throws {
    for (fill, color) in [(0x1E1E_1EFF, 0xFFFFFF), (0xFFEC_99FF, 0), (0xFF, 0xFFFFFF)] as [(UInt32, UInt32)] {
      let board = try Scenes.board()
      let id = try board.createForm(.note, at: Point(x: 0, y: 0), label: "x")
      try board.restyle([id], [.fill(fill)])
      guard case .area(_, PageColor(rgb: fill >> 8))? = marks(board, background: paper).first,
        case .words(let words)? = marks(board, background: paper).last
      else {
        Issue.record("\(marks(board, background: paper))")
        return
      }
      #expect(words.color.rgb == color)
    }
    let board = try Scenes.board()
    let id = try board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "x")
    try board.restyle([id], [.fill(0x0000_0010)])
    guard case .words(let words)? = marks(board, background: paper).last else { return }
    #expect(words.color.rgb == PageInk(paper: paper).plain)
  }

  @Test("the label of a line is at the middle of its length, on the background") func lineLabels() throws {
    let board = try Scenes.board()
    let points = [Point(x: 0, y: 0), Point(x: 100, y: 0), Point(x: 100, y: 300)]
    try board.createForm(.arrow, at: Point(x: 0, y: 0), points: points, label: "yes")
    let marks = marks(board, background: 0xEEEEEE)
    guard case .line? = marks.first, case .box(let box, PageColor(rgb: 0xEEEEEE), nil) = marks[1] else {
      Issue.record("\(marks)")
      return
    }
    // The center of the box around the line is at (50, 150).
    #expect(box == Rectangle(Point(x: 50 - 12, y: -50 - 8), Point(x: 50 + 12, y: -50 + 8)))
  }

  @Test("the bounds on a page contain the line, its ends and its label") func bounds() throws {
    let board = try Scenes.board()
    let box = try board.createForm(.rectangle, at: Point(x: 0, y: 0), size: Size(width: 8, height: 8), lineWidth: 4)
    let shown = BoardCanvas.Item(try #require(board.snapshot(box))).pageBounds
    #expect(shown == Rectangle(Point(x: -6, y: -6), Point(x: 6, y: 6)))
    let points = [Point(x: -50, y: 0), Point(x: 50, y: 0)]
    let arrow = try board.createForm(.arrow, at: Point(x: 0, y: 0), points: points)
    let end = BoardCanvas.Item(try #require(board.snapshot(arrow))).pageBounds
    #expect(end == Rectangle(Point(x: -51, y: -9), Point(x: 51, y: 9)))
  }

  @Test("a text has a size, a fill, an alignment and a width of its own") func texts() throws {
    let board = try Scenes.board()
    let long = "a line that is longer than twenty-five columns"
    let id = try board.createText(long + "\nb", at: Point(x: 0, y: 0))
    let changes: [StyleChange] = [.isAutoWidth(true), .alignment(.center), .textSize(8), .fill(0xFFEC_99FF)]
    try board.restyle([id], changes)
    let width = Double(long.count) * 4
    guard case .box(let box, PageColor(rgb: 0xFFEC99), nil)? = marks(board).first,
      case .words(let last)? = marks(board).last
    else {
      Issue.record("\(marks(board))")
      return
    }
    #expect(box == Rectangle(Point(x: -width / 2, y: -8), Point(x: width / 2, y: 8)))
    #expect(last.corner == Point(x: -2, y: 0))
  }
}
