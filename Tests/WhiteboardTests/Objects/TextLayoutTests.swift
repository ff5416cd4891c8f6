import PeerTestKit
import Testing

@testable import Whiteboard

@Suite("The layout of texts") struct TextLayoutTests {
  private let zero = Point(x: 0, y: 0)

  private let board = TwoBoards().anna

  @Test(
    "[BRD-53] a character has the columns of its class",
    arguments: [
      ("abc", 3), ("äé", 2), ("e\u{301}", 1), ("日本", 4), ("👨‍👩‍👧", 2), ("🇩🇪🇫🇷", 4), ("👍🏽", 2), ("❤️", 2), ("1️⃣", 2),
      ("א", 1), ("กำ", 2), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2), ("a\u{AD}b", 2),
    ]
  ) func columns(text: String, columns: Int) throws {
    let layout = try #require(TextLayout(text, ObjectStyle(form: nil), nil, Size(width: 800, height: 50), nil))
    #expect(layout.columns == columns)
  }

  @Test("[BRD-53] rows are broken at spaces, and never inside a character") func rows() throws {
    func lines(_ text: String, _ columns: Double) throws -> [String] {
      let size = Size(width: columns * 8, height: 0)
      return try #require(TextLayout(text, ObjectStyle(form: nil), nil, size, nil)).lines
    }
    #expect(try lines("one two three", 8) == ["one two", "three"])
    #expect(try lines("abcdefghij", 4) == ["abcd", "efgh", "ij"])
    #expect(try lines("a\n\nb", 4) == ["a", "", "b"])
    #expect(try lines("abcd efgh", 4) == ["abcd", "efgh"])
    #expect(try lines("abce\u{301}fg", 4) == ["abce\u{301}", "fg"])
    #expect(try lines("日本語", 5) == ["日本", "語"])
    #expect(try lines("a bcd語", 5) == ["a", "bcd語"])
    #expect(try lines("a bcde語", 6) == ["a", "bcde語"])
    #expect(try lines("a bcde語", 5) == ["a", "bcde", "語"])
    let long = try lines(String(repeating: "x\n", count: 3_000), 4)
    #expect(long.count == 2_000 && long.last == "x…")
  }

  @Test("[BRD-53] a text is hit where its letters are, and nowhere else") func hits() throws {
    let id = try board.createText("A", at: zero)
    #expect(board.objects(at: Point(x: 3, y: 7)) == [id])
    #expect(board.objects(at: Point(x: 12, y: 0)).isEmpty)
    let snapshot = try #require(board.snapshot(id))
    #expect(snapshot.size == Size(width: 200, height: 50) && snapshot.shownSize == Size(width: 8, height: 16))
    #expect(snapshot.bounds == Rectangle(Point(x: -4, y: -8), Point(x: 4, y: 8)))
    #expect(snapshot.isNear(Point(x: 3, y: 7), within: 0) && !snapshot.isNear(Point(x: 12, y: 0), within: 0))
  }

  @Test("[BRD-53] a text with an automatic width grows from where it begins") func growth() throws {
    let id = try board.createText("A", at: Point(x: 10, y: 20), isAutoWidth: true)
    func box() throws -> Rectangle { try #require(board.snapshot(id)).bounds }
    #expect(try box() == Rectangle(Point(x: 10, y: 20), Point(x: 18, y: 36)))
    try board.object(id)?.update(text: "ABC\nD")
    #expect(try box() == Rectangle(Point(x: 10, y: 20), Point(x: 34, y: 52)))
    // Another alignment changes the point from which the text grows, but does not move the text.
    for alignment in [TextAlignment.right, .center, .left, .right] {
      try board.restyle([id], [.alignment(alignment)])
      #expect(try box() == Rectangle(Point(x: 10, y: 20), Point(x: 34, y: 52)))
    }
    try board.object(id)?.update(text: "ABCDE")
    #expect(try box() == Rectangle(Point(x: -6, y: 20), Point(x: 34, y: 36)))
    try board.restyle([id], [.isAutoWidth(false)])
    #expect(try box() == Rectangle(Point(x: -6, y: 20), Point(x: 34, y: 36)))
    try board.restyle([id], [.isAutoWidth(true)])
    #expect(try box() == Rectangle(Point(x: -6, y: 20), Point(x: 34, y: 36)))
  }

  @Test("[BRD-53] a text with an automatic width moves, scales and turns as it is shown") func transforms() throws {
    let id = try board.createText("ABCD", at: zero, isAutoWidth: true)
    func center() throws -> Point { try #require(board.snapshot(id)).centerPosition }
    #expect(try center() == Point(x: 16, y: 8))
    try board.object(id)?.move(to: Point(x: 100, y: 100))
    #expect(try center() == Point(x: 100, y: 100))
    try board.scale([id], by: 2, about: Point(x: 100, y: 100))
    #expect(try center() == Point(x: 100, y: 100))
    try board.rotate([id], by: .degrees(90), about: Point(x: 100, y: 100))
    let turned = try center()
    #expect(abs(turned.x - 100) < 0.05 && abs(turned.y - 100) < 0.05)
    try board.resize(id, to: Size(width: 16, height: 10))
    let snapshot = try #require(board.snapshot(id))
    #expect(!snapshot.style.isAutoWidth && snapshot.shownSize == Size(width: 32, height: 16))
    #expect(abs(snapshot.centerPosition.x - 100) < 0.05 && abs(snapshot.centerPosition.y - 100) < 0.05)
  }

  @Test("[BRD-53] a label that does not fit makes its form higher, for hits and bound lines too") func labels() throws {
    let id = try board.createForm(.rectangle, at: zero, size: Size(width: 56, height: 20), label: "one two three")
    let snapshot = try #require(board.snapshot(id))
    #expect(snapshot.size == Size(width: 56, height: 20) && snapshot.shownSize == Size(width: 56, height: 64))
    #expect(board.objects(at: Point(x: 0, y: 30)) == [id])
    let line = try board.createForm(.arrow, at: zero, points: [Point(x: 0, y: 200), Point(x: 0, y: 100)])
    try board.bind(.end, of: line, to: board.binding(to: id, at: zero))
    let end = try #require(board.snapshot(line)?.points?.last)
    let center = try #require(board.snapshot(line)?.centerPosition)
    // The gap is 4 units and half of both lines.
    #expect(center.y + end.y == 32 + 4 + 1 + 1)
  }

  @Test("[BRD-53] the label of a short line touches neither its ends nor their marks", arguments: LineEnd.allCases)
  func shortLines(mark: LineEnd) throws {
    var besideCount = 0
    for (length, width) in [(0.0, 1.0), (16, 2), (30, 2), (60, 4), (90, 2), (140, 6), (300, 2)] {
      for turn in 0..<16 {
        let rotation = Rotation(steps: UInt64(turn * 256))
        let points = [zero, Point(x: length * rotation.cosine, y: length * rotation.sine)]
        let id = try board.createForm(.line, at: zero, points: points, label: "calls", lineWidth: width)
        try board.restyle([id], [.start(mark), .end(mark)])
        let snapshot = try #require(board.snapshot(id))
        let layout = try #require(TextLayout(snapshot))
        let ends = try #require(snapshot.points).map { Rectangle($0, $0) } + snapshot.endMarks.map(\.box)
        #expect(!ends.contains { $0.touches(layout.box) }, "\(length), \(width), \(turn)")
        if layout.center != layout.middle { besideCount += 1 }
        // The label is hit where it is shown.
        let center = snapshot.centerPosition + layout.center
        #expect(board.objects(at: center).contains(id) && snapshot.isNear(center, within: 0))
        try board.delete([id])
      }
    }
    #expect((16..<7 * 16).contains(besideCount))
  }
}
