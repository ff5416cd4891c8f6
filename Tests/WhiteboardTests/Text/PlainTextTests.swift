import Testing

@testable import Whiteboard

@Suite("[BRD-33] text that this program writes into a board") struct PlainTextTests {
  private func board() throws -> Board {
    let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    return Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
  }

  @Test(
    "every line end becomes a line feed, and other controls but tab are removed",
    arguments: [
      ("a\rb", "a\nb"), ("a\r\nb", "a\nb"), ("a\n\rb", "a\n\nb"), ("a\r\r\nb", "a\n\nb"), ("\r", "\n"),
      ("a\u{B}b\u{C}c\u{85}d\u{2028}e\u{2029}f", "a\nb\nc\nd\ne\nf"), ("a\tb", "a\tb"),
      ("a\u{0}\u{1B}[31mb\u{7F}\u{9B}c", "a[31mbc"), ("é🙂\u{200D}", "é🙂\u{200D}"), ("", ""),
    ]
  ) func lines(_ text: String, _ expected: String) {
    let result = PlainText.lines(text)
    #expect(Array(result.unicodeScalars) == Array(expected.unicodeScalars))
    #expect(PlainText.lines(result) == result)
  }

  @Test("a name has one line", arguments: [("a\r\nb\tc", "a b c"), ("a\u{7}b", "ab"), ("Ada", "Ada"), ("\u{1}", "")])
  func line(_ text: String, _ expected: String) {
    #expect(PlainText.line(text) == expected)
    #expect(PlainText.line(expected) == expected)
  }

  @Test("every function that writes text into a board normalizes it") func waysIn() throws {
    let board = try board()
    let here = Point(x: 0, y: 0)
    let id = try board.createText("a\r\nb", at: here)
    #expect(board.snapshot(id)?.text == "a\nb")
    try board.text(id).edit(replacing: 0..<1, with: "\r")
    #expect(board.snapshot(id)?.text == "\n\nb")
    try board.text(id).type(replacing: 0..<0, with: "x\u{1B}")
    #expect(board.snapshot(id)?.text == "x\n\nb")
    try board.text(id).update(text: "one\rtwo")
    #expect(board.snapshot(id)?.text == "one\ntwo")
    try board.say("hello\r\nthere", as: "Ada\r")
    #expect(board.chat.map(\.text) == ["hello\nthere"])
    #expect(board.chat.map(\.name) == ["Ada "])
    #expect(throws: BoardError.empty) { try board.say("\u{0}") }
    try board.setTitle("our\r\nplan\u{7}")
    #expect(board.settings.title == "our plan")
    let imported = try board.add([ObjectDraft(.text("from\ra file", size: nil), at: here)])
    #expect(imported.compactMap { board.snapshot($0)?.text } == ["from\na file"])
  }

  @Test("the text of another member stays unchanged, also in a copy") func others() throws {
    let boards = TwoBoards()
    let (anna, bob) = (boards.anna, boards.bob)
    var id: ObjectID?
    try anna.gesture { () throws(BoardError) in
      let text = try anna.create(.text)
      try anna.stageRun("a\r\nb\u{1}", at: .root, of: text)
      id = text
    }
    try boards.share()
    let text = try #require(id)
    #expect(bob.snapshot(text)?.text == "a\r\nb\u{1}")
    let copy = try #require(try bob.duplicate([text])[text])
    #expect(bob.snapshot(copy)?.text == "a\r\nb\u{1}")
  }
}
