import PeerCore
import PeerTestKit
import Testing

@testable import WhiteboardRendering

@Suite("Writing the changes of a screen") struct ScreenWriterTests {
  private let writer = ScreenWriter(depth: .full)

  private static let texts = [
    "a", "hello", "漢字", "é", "e\u{301}", "👩‍👩‍👧", "🇩🇪!", "⣿⡇", "x漢", "│─┐", "\u{1B}[2J", "a\nb", "\u{202E}abc",
  ]

  /// Writes random texts at random positions, and removes some.
  private func scribble(_ screen: inout Screen, _ random: inout SeededGenerator, times: Int) {
    let colors = [CellColor.terminal, CellColor(rgb: 0xFF0000), CellColor(rgb: 0x00FF80)]
    for _ in 0..<times {
      let style = CellStyle(
        colors[random.below(3)],
        on: colors[random.below(3)],
        CellStyle.Attributes(rawValue: UInt8(random.below(16)))
      )
      let (x, y) = (random.below(screen.width + 4) - 2, random.below(screen.height))
      if random.chance(20) {
        screen.fill(CellArea(x: x, y: y, width: 5, height: 2), with: ScreenCell(.space, style))
      } else {
        let text = Self.texts[random.below(Self.texts.count)]
        let end = screen.put(text, x: x, y: y, style)
        guard random.chance(20) else { continue }
        // Only `https` addresses without control characters become links.
        let addresses = [
          "https://a.example/x?y", "https://b.example", "http://a.example", "https://a\u{1B}\\b", "https://ä",
        ]
        let area = CellArea(x: max(x, 0), y: y, width: end - max(x, 0), height: 1)
        screen.link(area, to: addresses[random.below(addresses.count)])
      }
    }
  }

  @Test("the bytes turn a terminal from any screen to any other", arguments: 1...60) func anyToAny(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var screen = Screen(width: 1 + random.below(50), height: 1 + random.below(12))
    var terminal = Terminal(
      Screen(
        width: screen.width,
        height: screen.height,
        fill: ScreenCell(.space, CellStyle(.terminal, on: .terminal, .reversed))
      )
    )
    var shown: Screen?
    for _ in 0..<12 {
      scribble(&screen, &random, times: 1 + random.below(30))
      terminal.write(writer.bytes(from: shown, to: screen))
      #expect(terminal.complaints == [], "seed \(seed)")
      #expect(difference(terminal.screen, screen) == nil, "seed \(seed)")
      shown = screen
    }
  }

  @Test("a changed address is written, and no link continues after the last glyph") func links() {
    let area = CellArea(x: 1, y: 0, width: 1, height: 1)
    var (old, new) = (Screen(width: 8, height: 1), Screen(width: 8, height: 1))
    old.put("x", x: 1, y: 0)
    new.put("x", x: 1, y: 0)
    old.link(area, to: "https://a.example")
    new.link(area, to: "https://b.example")
    let text = String(decoding: writer.bytes(from: old, to: new), as: UTF8.self)
    #expect(text.hasSuffix("\u{1B}]8;;https://b.example\u{1B}\\x\u{1B}]8;;\u{1B}\\"), "\(text.debugDescription)")
    #expect(writer.bytes(from: new, to: new) == [])
  }

  @Test("a cluster replaces one that had the same number on the earlier screen") func otherCluster() {
    var (old, new) = (Screen(width: 8, height: 1), Screen(width: 8, height: 1))
    old.put("👩‍👩‍👧", x: 1, y: 0)
    new.put("🇩🇪", x: 1, y: 0)
    var terminal = Terminal(Screen(width: 8, height: 1))
    terminal.write(writer.bytes(from: nil, to: old))
    terminal.write(writer.bytes(from: old, to: new))
    #expect(terminal.complaints == [])
    #expect(difference(terminal.screen, new) == nil)
  }

  @Test("a screen without changes costs no bytes") func nothing() {
    var screen = Screen(width: 40, height: 10)
    screen.put("hello 漢字", x: 3, y: 2)
    #expect(writer.bytes(from: screen, to: screen) == [])
  }

  @Test("no text can control the terminal") func hostile() {
    var screen = Screen(width: 60, height: 2)
    for code in 0..<0x300 as Range<UInt32> {
      guard let scalar = Unicode.Scalar(code) else { continue }
      screen.put("\(scalar)", x: Int(code) % 60, y: 0)
    }
    screen.put("\u{1B}]0;title\u{7}\u{9B}31m\u{2028}\u{202E}\u{200B}", x: 0, y: 1)
    let bytes = writer.bytes(from: Screen(width: 60, height: 2), to: screen)
    var terminal = Terminal(Screen(width: 60, height: 2))
    terminal.write(bytes)
    #expect(terminal.complaints == [])
    let text = String(decoding: bytes, as: UTF8.self)
    for scalar in text.unicodeScalars where scalar != "\u{1B}" { #expect(scalar.isSafe, "\(scalar.value)") }
    #expect(!text.contains("\u{1B}]"))
  }

  @Test("a cursor with a name that moved costs at most 100 bytes") func movedCursor() {
    var board = Screen(width: 200, height: 60)
    for y in 0..<60 { board.put(String(repeating: "⣿ ⠁⡇", count: 50), x: 0, y: y) }
    let style = CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x3355AA))
    var (old, new) = (board, board)
    old.put("▲ bob", x: 90, y: 30, style)
    new.put("▲ bob", x: 93, y: 31, style)
    let bytes = writer.bytes(from: old, to: new)
    #expect(!bytes.isEmpty && bytes.count <= 100, "\(bytes.count)")
  }

  @Test("colors are encoded for the terminal's color depth") func depths() {
    var screen = Screen(width: 3, height: 1)
    screen.put("x", x: 0, y: 0, CellStyle(CellColor(rgb: 0xFF0000), on: CellColor(rgb: 0x00CD00)))
    func text(_ depth: ColorDepth) -> String {
      let empty = Screen(width: 3, height: 1)
      return String(decoding: ScreenWriter(depth: depth).bytes(from: empty, to: screen), as: UTF8.self).replacing(
        "\u{1B}",
        with: "^"
      )
    }
    #expect(text(.none) == "^[1;1Hx")
    #expect(text(.sixteen) == "^[1;1H^[91;42mx^[m")
    #expect(text(.palette) == "^[1;1H^[38;5;196;48;5;40mx^[m")
    #expect(text(.full) == "^[1;1H^[38;2;255;0;0;48;2;0;205;0mx^[m")
  }

  /// Returns the bytes that change one row of text to another, with ^ for Escape.
  private func bytes(from old: String, to new: String) -> String {
    func screen(_ text: String) -> Screen {
      var screen = Screen(width: 12, height: 1)
      screen.put(text, x: 0, y: 0)
      return screen
    }
    let bytes = writer.bytes(from: screen(old), to: screen(new))
    return String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "^")
  }

  @Test("after characters of an uncertain width, the cursor is positioned again") func trust() {
    #expect(bytes(from: "", to: "漢字x") == "^[1;1H漢字^[1;5Hx")
    #expect(bytes(from: "", to: "éèx") == "^[1;1Héè^[1;3Hx")
    #expect(bytes(from: "", to: "⣿│x") == "^[1;1H⣿│x")
    #expect(bytes(from: "", to: "שx") == "^[1;1Hש^[1;2Hx")
  }

  @Test("characters that a terminal may overwrite with a cluster are written again") func clusters() {
    #expect(bytes(from: "abcdefgh", to: "👩‍👩‍👧cdefgh") == "^[1;1H  ^[1;1H👩‍👩‍👧^[1;3Hcdef")
  }

  @Test("the cursor moves with the fewest bytes, and a style is sent once") func ways() {
    var (old, new) = (Screen(width: 90, height: 40), Screen(width: 90, height: 40))
    old.put("x", x: 50, y: 20)
    new.put("y", x: 51, y: 21)
    let text = String(decoding: writer.bytes(from: old, to: new), as: UTF8.self)
    #expect(text.replacing("\u{1B}", with: "^") == "^[21;51H ^[By")
    let red = CellStyle(CellColor(rgb: 0xFF0000))
    let blue = CellStyle(CellColor(rgb: 0x0000FF))
    for row in 0..<3 {
      new.put("r", x: 3, y: row, red)
      new.put("b", x: 4, y: row, blue)
    }
    let mixed = String(decoding: writer.bytes(from: old, to: new), as: UTF8.self)
    #expect(mixed.split(separator: "38;2;255;0;0").count == 2, "\(mixed)")
    #expect(mixed.split(separator: "38;2;0;0;255").count == 2, "\(mixed)")
  }
}
