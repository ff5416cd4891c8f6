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

  /// Returns the color of the last mark of the last object.
  private func lastColor(_ board: Board, background: UInt32? = 0xFFFFFF) throws -> UInt32 {
    switch try #require(marks(board, background: background).last) {
    case .words(let words): return words.color.rgb
    case .line(let line): return line.color.rgb
    case .ink(_, let color): return color.rgb
    case let other: throw Unexpected(mark: other)
    }
  }

  private struct Unexpected: Error { let mark: PageMark }

  private static let white: UInt32 = 0xFFFF_FFFF

  private func filledBoard(_ fill: UInt32, form: DrawingForm = .rectangle) throws -> Board {
    let board = try Scenes.board()
    let id = try board.createForm(form, at: Point(x: 0, y: 0), size: Size(width: 300, height: 300))
    try board.restyle([id], [.fill(fill)])
    return board
  }

  @Test("a white line around a fill that can be seen stays white") func outlineColors() throws {
    for (fill, color) in [(0x1971_C2FF, 0xFFFFFF), (0xFFFF_FFFF, 0)] as [(UInt32, UInt32)] {
      let board = try filledBoard(fill)
      for id in board.objectIDs { try board.setColor(Self.white, of: id) }
      #expect(try lastColor(board) == color)
      #expect(try lastColor(board, background: 0x101010) == 0xFFFFFF)
    }
  }

  @Test("texts and lines on a fill are compared with the fill") func colorsOnFills() throws {
    for (fill, white, own) in [
      (0x1971_C2FF, 0xFFFFFF, 0), (0x0000_00FF, 0xFFFFFF, 0xFFFFFF), (0xFFFF_FFFF, 0, 0), (0xFF, 0xFFFFFF, 0xFFFFFF),
      (0x0000_0010, 0, 0),
    ] as [(UInt32, UInt32, UInt32)] {
      for (color, expected) in [(Self.white, white), (nil, own)] {
        let board = try filledBoard(fill)
        let text = try board.createText("on it", at: Point(x: 40, y: 40))
        try board.setColor(color, of: text)
        #expect(try lastColor(board) == expected)
        let line = [Point(x: -100, y: 0), Point(x: 100, y: 50)]
        let arrow = try board.createForm(.arrow, at: Point(x: 0, y: 0), points: line)
        try board.setColor(color, of: arrow)
        #expect(try lastColor(board) == expected)
      }
    }
  }

  @Test("a line that leaves a fill is compared with the background, and so is one outside a diamond")
  func colorsBesideFills() throws {
    let board = try filledBoard(0xFF, form: .diamond)
    let away = [Point(x: -200, y: 0), Point(x: 200, y: 0)]
    let arrow = try board.createForm(.arrow, at: Point(x: 0, y: 0), points: away)
    try board.setColor(Self.white, of: arrow)
    #expect(try lastColor(board) == 0)
    let text = try board.createText("x", at: Point(x: 130, y: 130))
    try board.setColor(Self.white, of: text)
    #expect(try lastColor(board) == 0)
    try board.move([text], by: Point(x: -80, y: -80))
    #expect(try lastColor(board) == 0xFFFFFF)
    let front = try board.createForm(.rectangle, at: Point(x: 50, y: 50), size: Size(width: 300, height: 300))
    try board.restyle([front], [.fill(0xFFEC_99FF)])
    // The text is behind the fill.
    let words = marks(board).compactMap { if case .words(let words) = $0 { words.color.rgb } else { nil } }
    #expect(words == [0xFFFFFF])
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

  @Test("[BRD-53] the label of a short arrow is beside it, and covers no head") func shortArrow() throws {
    for (form, length, isBeside) in [(DrawingForm.arrow, 70.0, true), (.arrow, 200, false), (.line, 70, false)] {
      let board = try Scenes.board()
      try board.createForm(
        form,
        at: Point(x: 0, y: 0),
        points: [Point(x: 0, y: 0), Point(x: length, y: 0)],
        label: "request"
      )
      let marks = marks(board)
      guard case .line(let line)? = marks.first, case .box(let box, _, _) = marks[1], marks.count == 3 else {
        Issue.record("\(marks)")
        return
      }
      #expect(box.center == (isBeside ? Point(x: 0, y: -20) : Point(x: 0, y: 0)))
      #expect(!line.ends.contains { $0.box.touches(box) })
    }
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
