import Testing

@testable import WhiteboardRendering

@Suite("A screen of cells") struct ScreenTests {
  @Test("wide characters take two cells, and disappear if one of them is overwritten") func wide() {
    var screen = Screen(width: 6, height: 1)
    #expect(screen.put("漢字", x: 1, y: 0) == 5)
    #expect(screen.line(0) == " 漢字")
    screen.put("x", x: 2, y: 0)
    #expect(screen.line(0) == "  x字")
    screen.put("語", x: 5, y: 0)
    #expect(screen.line(0) == "  x字", "a character that would be cut is left out")
  }

  @Test("a tab shows as a space, and other control characters as a replacement") func tab() {
    var screen = Screen(width: 8, height: 1)
    screen.put("a\tb\u{7}", x: 0, y: 0)
    #expect(screen.line(0) == "a b\u{FFFD}")
  }

  @Test("a text stays in its area") func areas() {
    var screen = Screen(width: 10, height: 3)
    let area = CellArea(x: 2, y: 1, width: 4, height: 1)
    screen.put("abcdefgh", x: 0, y: 1, in: area)
    screen.put("above", x: 2, y: 0, in: area)
    #expect(screen.lines == ["", "  cdef", ""])
  }

  @Test("text keeps the background of the cells under it") func background() {
    var screen = Screen(width: 2, height: 1)
    let red = CellColor(rgb: 0xFF0000)
    screen.fill(screen.area, with: ScreenCell(.space, CellStyle(.terminal, on: red)))
    screen.put("x", x: 0, y: 0, CellStyle(CellColor(rgb: 1)))
    #expect(screen[0, 0].style == CellStyle(CellColor(rgb: 1), on: red))
  }

  @Test(
    "the width of characters in columns",
    arguments: [
      ("a", 1), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("⣿", 1), ("█", 1), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("1️⃣", 2),
      ("👍🏽", 2), ("का", 2), ("क", 1), ("한", 2), ("ש", 1), ("\u{200B}", 0), ("\u{301}", 0), ("ｶ", 1), ("Ａ", 2),
    ]
  ) func columns(text: String, columns: Int) { #expect(CharacterWidth.columns(text) == columns) }

  @Test(
    "text is wrapped at spaces, and inside of long words",
    arguments: [
      ("hello there world", 11, ["hello there", "world"]), ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
      ("a\n\nb", 9, ["a", "", "b"]), ("漢字漢字", 5, ["漢字", "漢字"]), ("", 5, [""]),
    ]
  ) func wrapping(text: String, columns: Int, lines: [String]) {
    #expect(TextLines.wrapped(text, columns: columns, limit: 9) == lines)
  }

  @Test(
    "words that are too long are cut, and other text is broken where no word is split",
    arguments: [
      ("hello there world", 11, ["hello there", "world"]), ("abcdefghij", 4, ["abc…"]),
      ("the asynchronous call", 6, ["the", "async…", "call"]), ("asynchronous  x", 6, ["async…", " x"]),
      ("auto-complete it", 9, ["auto-", "complete", "it"]), ("auto-completion it", 6, ["auto-", "compl…", "it"]),
      ("漢字漢字", 5, ["漢字", "漢字"]), ("API接口", 5, ["API接", "口"]), ("asynchronous接口", 6, ["async…", "接口"]),
      ("สวัสดีครับ", 4, ["สวัสดี", "ครับ"]), ("asynchronous-ly", 6, ["async…", "ly"]), ("a\nbcdef\ng", 3, ["a", "bc…", "g"]),
    ]
  ) func cuttingWords(text: String, columns: Int, lines: [String]) {
    #expect(TextLines.wrapped(text, columns: columns, limit: 9, cutsWords: true) == lines)
  }

  @Test("text beyond the last line is replaced by an ellipsis") func cutting() {
    #expect(TextLines.wrapped("a b c d", columns: 1, limit: 2) == ["a", "…"])
    #expect(TextLines.wrapped("abcdef g h", columns: 4, limit: 1, cutsWords: true) == ["abc…"])
    #expect(TextLines.cut("hello", columns: 4) == "hel…")
    #expect(TextLines.cut("漢字", columns: 3) == "漢…")
    #expect(TextLines.cut("hello", columns: 5) == "hello")
  }

  @Test("a screen that is copied into another brings its characters") func copies() {
    var inner = Screen(width: 4, height: 1)
    inner.put("e\u{301}👩‍👩‍👧", x: 0, y: 0)
    var outer = Screen(width: 8, height: 2)
    outer.put("🇩🇪", x: 0, y: 0)
    outer.copy(inner, to: (x: 3, y: 1))
    #expect(outer.lines == ["🇩🇪", "   e\u{301}👩‍👩‍👧"])
  }
}
