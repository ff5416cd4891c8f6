import PeerCore
import PeerTestKit
import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardRendering

@Suite("A page as SVG") struct SVGPageTests {
  private func page(_ board: Board, region: Rectangle? = nil) -> String {
    SVGPage.svg(BoardExport(of: board, id: "", name: "", region: region) { _ in nil }.picture)
  }

  @Test("one image and one text; words are text, and untrusted text is escaped") func words() throws {
    let sample = try SampleBoard()
    let text = SVGPage.svg(sample.export.picture)
    #expect(text == SVGPage.svg(sample.export.picture))
    #expect(text.contains(">Über &lt;b&gt;&quot;Größe&quot; &amp;</text>"))
    #expect(text.contains(">lines  here</text>"))
    #expect(text.contains("href=\"data:image/png;base64,\(Base64.encode(SampleBoard.png))\""))
    #expect(text.contains("WORDLE"))
    #expect(text.hasSuffix("</svg>\n"))
    let board = try SampleBoard.empty()
    let id = try board.createText("", at: Point(x: 0, y: 0))
    try board.gesture { () throws(BoardError) in try board.stageText("a\u{1B}[2Jb\u{7}\u{9B}\u{FFFE}", of: id) }
    #expect(page(board).contains(">a\u{FFFD}[2Jb\u{FFFD}\u{FFFD}\u{FFFD}</text>"))
  }

  @Test("a row has the direction and the side of its first letter; alignment overrides the side") func direction()
    throws
  {
    let board = try SampleBoard.empty()
    let id = try board.createText("12 שלום abc\nabcdefghijkl", at: Point(x: 0, y: 0))
    func row() throws -> String {
      try String(#require(page(board).split(separator: "\n").first { $0.contains("שלום") }))
    }
    // The start of a row from right to left is its right side, here the right side of the longest row.
    var text = try row()
    #expect(text.contains("x=\"48\"") && text.contains("direction=\"rtl\" unicode-bidi=\"embed\""))
    #expect(!text.contains("text-anchor"))
    try board.restyle([id], [.alignment(.center)])
    text = try row()
    #expect(text.contains("text-anchor=\"middle\" direction=\"rtl\""))
    try board.restyle([id], [.alignment(.right)])
    #expect(try !row().contains("text-anchor"))
    #expect(!page(board).contains("direction=\"ltr\""))
    #expect("مرحبا".isRightToLeft && !"a مرحبا".isRightToLeft && !"12".isRightToLeft)
  }

  @Test("[BRD-55] a linked object is a link in SVG: to an address, or to an object on the page") func links() throws {
    let board = try SampleBoard.empty()
    let ids = try (0..<3).map { try board.createText("\($0)", at: Point(x: Double($0) * 500, y: 0)) }
    try board.setLink("https://example.org/?a=1&b=2", of: [ids[0]])
    try board.setLink("#\(ids[0])", of: [ids[1]])
    try board.setLink("#99-aaaaaaaaaaaac", of: [ids[2]])
    let text = page(board)
    #expect(
      text.contains(
        "<a href=\"https://example.org/?a=1&amp;b=2\" target=\"_blank\" rel=\"noopener noreferrer\">"
          + "<title>https://example.org/?a=1&amp;b=2</title>\n<g id=\"object-\(ids[0])\" "
      )
    )
    #expect(text.contains("<a href=\"#object-\(ids[0])\">\n<g transform"))
    #expect(text.ranges(of: "<a ").count == 2 && text.ranges(of: "</g>\n</a>\n").count == 2)
    let part = page(board, region: Rectangle(Point(x: 400, y: -50), Point(x: 1_600, y: 50)))
    #expect(!part.contains("<a "))
  }

  @Test("[BRD-54] the line of a frame is outside its area") func frameLine() throws {
    let board = try SampleBoard.empty()
    let frame = try board.createForm(.frame, at: Point(x: 0, y: 0), size: Size(width: 400, height: 300))
    try board.setLineWidth(20, of: frame)
    #expect(page(board).contains("stroke-width=\"20\" d=\"M-210 -160L210 -160L210 160L-210 160L-210 -160Z\""))
    let item = BoardCanvas.Item(try #require(board.snapshot(frame)), game: nil)
    #expect(item.pageBounds.contains(Rectangle(Point(x: -220, y: -170), Point(x: 220, y: 170))))
  }

  @Test("numbers are rounded to the nearest hundredth") func hundredths() {
    let numbers = [1.239, -0.999, 0.004, -2.006, 12.5, 1e15].map(DecimalText.hundredths)
    #expect(numbers == ["1.24", "-1", "0", "-2.01", "12.5", "1000000000000"])
  }

  /// Texts with invisible characters, and the texts that a page shows.
  private static let hidden = "a\u{200B}b\u{E0041}\u{202E}c\u{2060}\u{FEFF}d\u{3164}\u{180E}e"
  /// A family, a heart that is red in emoji style, and a word that a joiner splits in Persian.
  private static let joined = "👩\u{200D}👧 ❤\u{FE0F} می\u{200C}خواهم"

  @Test("invisible characters are in no export; those that join emoji and letters stay") func invisibleCharacters()
    throws
  {
    let board = try SampleBoard.empty()
    let words = Self.hidden + Self.joined
    try board.createText(words, at: Point(x: 0, y: 0))
    // Cells show a sign for each invisible character, and so need more room than the layout has.
    try board.createText("end", at: Point(x: 600, y: 0))
    try board.setTitle(words)
    try board.say(words, as: words)
    let export = BoardExport(of: board, id: "", name: words) { _ in nil }
    #expect(page(board).contains(">abcde\(Self.joined)</text>"))
    #expect(XML.escaped(words) == "abcde" + Self.joined)
    for format in [ExportFormat.svg, .json, .excalidraw, .text] {
      let text = String(decoding: try export.file(as: format, pages: nil).bytes, as: UTF8.self)
      let isHidden = text.unicodeScalars.contains {
        $0 != "\u{200C}" && $0 != "\u{200D}" && $0 != "\u{FE0F}" && $0.properties.isDefaultIgnorableCodePoint
      }
      #expect(!isHidden, "\(format)")
      #expect(text.contains("👩\u{200D}👧"), "\(format)")
      #expect(text.contains("می\u{200C}خواهم"), "\(format)")
    }
  }

  @Test("JSON and Excalidraw escape invisible characters and decode them again") func escapesInvisibleCharacters()
    throws
  {
    let board = try SampleBoard.empty()
    let words = Self.hidden + Self.joined
    try board.createText(words, at: Point(x: 0, y: 0))
    let export = BoardExport(of: board, id: "", name: "") { _ in nil }
    for text in [BoardJSON.text(export), ExcalidrawFile.text(export)] {
      #expect(text.contains(#"a\u200bb\udb40\udc41\u202ec\u2060\ufeffd\u3164\u180ee"#))
      let read = try ImportedBoard(reading: Array(text.utf8), hash: SampleBoard.hash)
      let copy = try SampleBoard.empty(2)
      try copy.add(read.objects, groups: read.groups)
      #expect(copy.snapshots.map(\.text) == [words])
    }
  }

  @Test("freehand strokes become curves, and sharp corners stay") func curves() throws {
    let board = try SampleBoard.empty()
    try board.createDrawing(try SampleBoard.ink([(0, 0), (100, 0), (100, 100), (0, 100), (0, 0)]))
    #expect(page(board).contains("d=\"M-50 -50L50 -50L50 50L-50 50L-50 -50\""))
    let hand = try SampleBoard.empty()
    try hand.createDrawing(try SampleBoard.ink([(0, 0), (10, 0), (20, 4), (30, 4)]))
    #expect(page(hand).contains("d=\"M-15 -2L-10 -2Q-5 -2 0 0Q5 2 10 2L15 2\""))
    let dot = try SampleBoard.empty()
    try dot.createDrawing(try SampleBoard.ink([(7, 7)]))
    #expect(page(dot).contains("d=\"M0 0h0\""))
  }

  @Test("erased parts are not drawn, and a lighter pressure is thinner") func parts() throws {
    let board = try SampleBoard.empty()
    let id = try board.createDrawing(try SampleBoard.ink([(0, 0), (100, 0), (200, 0)]))
    try board.erase(id, spans: [8...24])
    let text = page(board)
    #expect(text.contains("d=\"M-100 0L-50 0\""))
    #expect(text.contains("d=\"M50 0L100 0\""))
    let pressed = try SampleBoard.empty()
    try pressed.createDrawing(try SampleBoard.ink([(0, 0), (100, 0), (200, 0)]) { [40, 40, 255][$0] }, lineWidth: 10)
    let widths = page(pressed).split(separator: "\n").filter { $0.hasPrefix("<path") }
    #expect(widths.count == 2)
    #expect(widths[0] < widths[1])
  }

  @Test("a region shows the objects that it touches, at their positions") func region() throws {
    let board = try SampleBoard.empty()
    try board.createText("near", at: Point(x: 0, y: 0))
    try board.createText("far", at: Point(x: 5_000, y: 0))
    let text = page(board, region: Rectangle(Point(x: -50, y: -40), Point(x: 50, y: 40)))
    #expect(text.contains("viewBox=\"-50 -40 100 80\""))
    #expect(text.contains(">near<") && !text.contains(">far<"))
    #expect(page(try SampleBoard.empty()).contains("viewBox=\"-200 -150 400 300\""))
  }

  @Test("a region shows text that reaches into it from outside") func wordsOutOfTheirBox() throws {
    let board = try SampleBoard.empty()
    try board.createText("a\nb\nc\nd\ne\nlast", at: Point(x: 0, y: 0))
    #expect(page(board, region: Rectangle(Point(x: -20, y: 35), Point(x: 20, y: 60))).contains("last"))
    #expect(!page(board, region: Rectangle(Point(x: -20, y: 50), Point(x: 20, y: 60))).contains("last"))
  }

  @Test("on dark paper, objects without their own color are light") func dark() throws {
    let board = try SampleBoard.empty()
    try board.createText("words", at: Point(x: 0, y: 0))
    try board.setBackground(0x1020_30FF)
    let text = page(board)
    #expect(text.contains("fill=\"#102030\""))
    #expect(text.contains("fill=\"#ffffff\""))
  }

  @Test("a grid is on pages and in characters, with a limited number of lines") func grid() throws {
    let board = try SampleBoard.empty()
    try board.createText("words", at: Point(x: 0, y: 0))
    let region = Rectangle(Point(x: -100, y: -100), Point(x: 100, y: 100))
    func lines(_ region: Rectangle) -> Int {
      let grid = page(board, region: region).split(separator: "\n").filter { $0.contains("opacity=\"0.15\"") }
      return grid.joined().count { $0 == "M" }
    }
    #expect(lines(region) == 0)
    try board.setGrid(50)
    #expect(lines(region) == 5 + 5)
    #expect(page(board, region: region).contains("M-50 -100V100"))
    let export = BoardExport(of: board, id: "", name: "", region: region) { _ in nil }
    #expect(TextPage.text(export.picture).contains("·"))
    try board.setGrid(1.0 / 64)
    #expect((20...60).contains(lines(region)))
    let wide = Rectangle(Point(x: -1e6, y: -1e6), Point(x: 1e6, y: 1e6))
    #expect((500...2_002).contains(lines(wide)))
  }

  @Test("a stroke that crosses itself thousands of times makes a small page") func dense() throws {
    var random = SeededGenerator(seed: 1)
    let board = try SampleBoard.empty()
    let id = try board.beginDrawing()
    for first in stride(from: 0, to: 16_384, by: 128) {
      let points = (0..<128).map { _ in InkPoint(x: Int32(random.below(16_000)), y: Int32(random.below(9_600))) }
      try board.appendInk(points, to: id, first: first)
    }
    #expect(page(board).utf8.count < 300_000)
  }

  @Test("the text page shows what a terminal shows") func characters() throws {
    let board = try SampleBoard.empty()
    try board.createText("hello", at: Point(x: 0, y: 0))
    let export = BoardExport(of: board, id: "", name: "") { _ in nil }
    let text = TextPage.text(export.picture)
    #expect(text.split(separator: "\n").contains { $0.hasSuffix("hello") })
    try board.createText("far away", at: Point(x: 9_000, y: 9_000))
    let wide = TextPage.text(BoardExport(of: board, id: "", name: "") { _ in nil }.picture)
    #expect(wide.split(separator: "\n").allSatisfy { $0.count <= TextPage.columnLimit })
  }

  @Test("the file name extension selects the format; an unsupported format is an error") func formats() throws {
    #expect(ExportFormat(fileName: "a/b.SVG") == .svg)
    #expect(ExportFormat(fileName: "board.txt") == .text)
    #expect(ExportFormat(fileName: "board") == nil)
    let export = try SampleBoard().export
    for format in ExportFormat.allCases {
      switch format {
      case .png, .pdf: #expect(throws: ExportError.noPages(format)) { try export.file(as: format, pages: nil) }
      default:
        #expect(try export.file(as: format, pages: nil).bytes.isEmpty == false)
        #expect(throws: ExportError.noPaper(format)) { try export.file(as: format, paper: .a4, pages: nil) }
      }
    }
  }

  @Test("Base64 is decoded with and without padding") func base64() {
    for count in 0..<40 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
      let text = Base64.encode(bytes)
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.decode(text.replacing("=", with: "")) == bytes)
    }
    for text in ["A", "AA=", "A===", "AA==A", "A\u{0}AA", "AA-_", "===="] {
      #expect(Base64.decode(text) == nil, "\(text)")
    }
  }
}
