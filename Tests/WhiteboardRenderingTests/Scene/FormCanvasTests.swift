import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardRendering

@Suite("Forms in cells") struct FormCanvasTests {
  private static let viewport = Viewport(center: Point(x: 0, y: 0), columns: 80, rows: 24)

  /// Returns a board with each form in each line style, filled forms with labels, and a note.
  private func gallery() throws -> Board {
    let board = try Scenes.board()
    for (row, line) in LineStyle.allCases.enumerated() {
      for (column, form) in DrawingForm.allCases.enumerated() {
        var style = ObjectStyle(form: form)
        style.lineStyle = line
        if row == 1, !form.hasPoints { style.fill = 0xFFEC_99FF }
        if row == 2, !form.hasPoints { style.fill = 0x3060_C040 }
        style.alignment = TextAlignment.allCases[row]
        try board.createForm(
          form,
          at: Point(x: Double(column) * 88 - 264, y: Double(row) * 112 - 112),
          size: Size(width: 76, height: 90),
          points: form.hasPoints ? [Point(x: -38, y: -40), Point(x: 38, y: 30)] : [],
          label: form.hasPoints ? ["", "yes", "no"][row] : "\(form.name) 漢字 ok",
          color: [nil, 0x3060_C0FF, 0xE548_4DFF][row],
          style: style
        )
      }
    }
    return board
  }

  @Test("each form in each line style", arguments: DotStyle.allCases) func goldens(style: DotStyle) throws {
    Golden.check(Scenes.canvas(try gallery(), Self.viewport, style).screen, "forms-\(style)")
  }

  @Test("forms without colors") func monochrome() throws {
    var canvas = Scenes.canvas(try gallery(), Self.viewport)
    canvas.isMonochrome = true
    canvas.paint()
    Golden.check(canvas.screen, "forms-monochrome")
    #expect(canvas.screen.cells.allSatisfy { $0.style.background == .terminal })
  }

  @Test("zoomed out, labels are cut and stay in their forms") func zoomedOut() throws {
    var viewport = Self.viewport
    viewport.zoom = 0.5
    Golden.check(Scenes.canvas(try gallery(), viewport).screen, "forms-50")
  }

  @Test("a label never touches the outline of its form", arguments: 1...20) func labels(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let board = try Scenes.board()
    let form = [DrawingForm.rectangle, .roundedRectangle, .ellipse, .diamond][random.below(4)]
    let id = try board.createForm(
      form,
      at: Point(x: Double(random.below(40)), y: Double(random.below(40))),
      size: Size(width: Double(40 + random.below(200)), height: Double(40 + random.below(100)))
    )
    if random.chance(30) { try board.object(id)?.rotate(to: .radians(Double(random.below(7)))) }
    var viewport = Self.viewport
    viewport.zoom = [0.25, 0.5, 1, 1.5][random.below(4)]
    try board.object(id)?.update(text: "one two three four five six seven")
    let grown = try #require(board.snapshot(id))
    let canvas = Scenes.canvas(board, viewport)
    guard let label = canvas.place(of: id)?.label?.area else { return }
    // The same outline without its label.
    let bare = try Scenes.board()
    let box = try #require(grown.outline?.box)
    let copy = try bare.createForm(
      form,
      at: grown.centerPosition,
      size: Size(width: box.greatest.x * 2, height: box.greatest.y * 2)
    )
    try bare.object(copy)?.rotate(to: .radians(grown.angle))
    let outline = Scenes.canvas(bare, viewport).screen
    for y in label.rows {
      for x in label.columns where outline.area.contains(x: x, y: y) {
        #expect(outline[x, y].glyph == .space, "\(form) \(x), \(y)\n\(outline.lines.joined(separator: "\n"))")
      }
    }
  }

  @Test("the label of a short line covers neither of its ends", arguments: DotStyle.allCases) func shortLines(
    style: DotStyle
  ) throws {
    for length in [16.0, 30, 60, 100] {
      for turn in 0..<8 {
        let rotation = Rotation(steps: UInt64(turn * 512))
        let board = try Scenes.board()
        let to = Point(x: length * rotation.cosine, y: length * rotation.sine)
        let id = try board.createForm(.arrow, at: Point(x: 4, y: 8), points: [Point(x: 0, y: 0), to])
        let snapshot = try #require(board.snapshot(id))
        let ends = try #require(snapshot.points).map { Self.viewport.cell(of: snapshot.shown($0, sine: 0, cosine: 1)) }
        #expect(ends.count == 2)
        let bare = Scenes.canvas(board, Self.viewport, style)
        try board.object(id)?.update(text: "calls")
        let canvas = Scenes.canvas(board, Self.viewport, style)
        #expect(canvas.screen.lines.contains { $0.contains("calls") }, "length \(length), turn \(turn)")
        for (x, y) in ends {
          #expect(canvas.screen[x, y] == bare.screen[x, y], "length \(length), turn \(turn)")
        }
      }
    }
  }

  @Test("below 100 %, the label of a short arrow is complete if there is room for it", arguments: DotStyle.allCases)
  func wholeLabels(style: DotStyle) throws {
    for (dx, dy) in [(60.0, 0.0), (0, 100), (40, 40)] {
      let board = try Scenes.board()
      for y in dx == 0 ? [-80.0, 80] : [] {
        let size = Size(width: 240, height: 60)
        try board.createForm(.rectangle, at: Point(x: 0, y: y), size: size, label: "box")
      }
      let points = [Point(x: -dx / 2, y: -dy / 2), Point(x: dx / 2, y: dy / 2)]
      try board.createForm(.arrow, at: Point(x: 0, y: 0), points: points, label: "asynchronous")
      var viewport = Self.viewport
      viewport.zoom = 0.44
      var canvas = Scenes.canvas(board, viewport, style)
      let free = canvas.screen
      #expect(
        free.lines.contains { $0.contains("asynchronous") },
        "\(dx), \(dy)\n\(free.lines.joined(separator: "\n"))"
      )
      // No label covers a text, and after the text is deleted, the label is complete again.
      let row = try #require(free.lines.firstIndex { $0.contains("asynchronous") })
      let start = try #require(free.lines[row].firstIndex(of: "y"))
      let x = free.lines[row].distance(from: free.lines[row].startIndex, to: start)
      let place = viewport.place(atColumn: Double(x) + 8.5, row: Double(row) + 0.5)
      let text = try board.createText("!", at: place, isAutoWidth: true)
      try canvas.set(BoardCanvas.Item(#require(board.snapshot(text))))
      canvas.paint()
      #expect(canvas.screen.lines[row].contains("!"), "\(dx), \(dy)\n\(canvas.screen.lines.joined(separator: "\n"))")
      #expect(!canvas.screen.lines[row].contains("asynchronous"))
      #expect(
        canvas.screen.cells == Scenes.canvas(board, viewport, style).screen.cells,
        "as if everything were painted"
      )
      canvas.remove(text)
      canvas.paint()
      #expect(canvas.screen.cells == free.cells)
    }
  }

  @Test("below 100 %, each word of a label is whole or cut, never on two rows", arguments: DotStyle.allCases)
  func wholeWords(style: DotStyle) throws {
    let words = ["asynchronous", "projects", "it", "deadline", "retrospective", "we", "shipped"]
    for form in [DrawingForm.rectangle, .roundedRectangle, .ellipse, .diamond, .note, .arrow] {
      for zoom in [0.9, 0.75, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15] {
        let board = try Scenes.board()
        let id = try board.createForm(
          form,
          at: Point(x: 3, y: 5),
          size: Size(width: 200, height: 200),
          points: form.hasPoints ? [Point(x: -100, y: -10), Point(x: 100, y: 10)] : [],
          label: words.joined(separator: " ")
        )
        var viewport = Self.viewport
        viewport.zoom = zoom
        let canvas = Scenes.canvas(board, viewport, style)
        guard let label = canvas.place(of: id)?.shownLabel?.label else { continue }
        let lines = label.lines.map { $0.map(\.text).joined() }
        for word in lines.flatMap({ $0.split(separator: " ") }) {
          let isCut = word.last == "…" && (words + [""]).contains { $0.hasPrefix(word.dropLast()) }
          #expect(words.contains(String(word)) || isCut, "\(form), \(zoom): \(lines)")
        }
        // A word that fits in the room of the label is not cut, except the last word shown.
        let cut = lines.dropLast().flatMap { $0.split(separator: " ") }.filter { $0.last == "…" }
        #expect(cut.allSatisfy { $0.count == label.width }, "\(form), \(zoom): \(lines)")
      }
    }
  }

  @Test("below 100 %, the caret is at its letter, or at the end of the cut word that hides the letter") func caret()
    throws
  {
    let board = try Scenes.board()
    let text = "the asynchronous names"
    let id = try board.createForm(.note, at: Point(x: 0, y: 0), size: Size(width: 160, height: 160), label: text)
    var viewport = Self.viewport
    viewport.zoom = 0.4
    let canvas = Scenes.canvas(board, viewport)
    let label = try #require(canvas.place(of: id)?.label)
    #expect(label.label.lines.map { $0.map(\.text).joined() } == ["the", "asynchr…", "names"])
    let places = (0...text.count).compactMap { canvas.caret(in: id, after: $0) }
    let (left, top) = (label.area.columns.lowerBound, label.area.rows.lowerBound)
    #expect(
      places.map { $0.y - top } == Array(repeating: 0, count: 4) + Array(repeating: 1, count: 13)
        + Array(repeating: 2, count: 6)
    )
    #expect(places[4...16].map { $0.x - left } == [0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8])
    #expect(places[17...22].map { $0.x - left } == (0...5).map { $0 + label.label.indent(ofRow: 2) })
  }

  @Test("a fill hides what is behind it, and a very transparent one does not") func fills() throws {
    let board = try Scenes.board()
    try board.createText("behind", at: Point(x: 0, y: 0))
    let note = try board.createForm(.note, at: Point(x: 0, y: 0))
    #expect(!Scenes.canvas(board).screen.lines.joined().contains("behind"))
    try board.restyle([note], [.fill(0xFF00_0040)])
    let screen = Scenes.canvas(board).screen
    #expect(screen.lines.joined().contains("behind"))
    #expect(screen[20, 6].style.background == CellColor(rgb: 0x400000))
    try board.restyle([note], [.fill(0xFFEC_99FF), .opacity(0)])
    #expect(Scenes.canvas(board).screen[20, 6].style.background == .terminal)
  }

  @Test("a text object has a background and an alignment") func texts() throws {
    let board = try Scenes.board()
    let id = try board.createText("longer\nx", at: Point(x: 0, y: 0))
    try board.restyle([id], [.alignment(.right), .fill(0xFFEC_99FF)])
    let screen = Scenes.canvas(board).screen
    #expect(screen.lines.contains { $0.hasSuffix("     x") })
    #expect(screen.cells.count { $0.style.background == CellColor(rgb: 0xFFEC99) } == 12)
  }
}
