import PeerTestKit
import Testing
import WhiteboardKit

@testable import Whiteboard
@testable import WhiteboardTerminal

@Suite("Typing in a text on the board") struct TextTypingTests {
  private func typing(_ words: String) throws -> TextTyping {
    let board = Board(
      incarnation: Incarnation(1),
      member: try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32))),
      wallClock: 1
    )
    let id = try board.createText(words, at: Point(x: 0, y: 0))
    return TextTyping(try #require(board.snapshot(id)))
  }

  @Test("a letter is inserted at the caret, and only that edit is reported") func letters() throws {
    var typed = try typing("held")
    _ = typed.handle(.left, [])
    #expect(typed.handle(.character("l"), []) == false)
    let change = typed.nextChange()
    let first = try #require(change)
    #expect(first.difference.range == 3..<3 && first.difference.words == "l" && first.before == "held")
    #expect(typed.nextChange() == nil)
    _ = typed.handle(.backspace, [])
    let next = typed.nextChange()
    let second = try #require(next)
    #expect(second.difference.range == 3..<4 && second.difference.words.isEmpty)
    #expect(typed.text == "held" && typed.caret == 3)
  }

  @Test("a character of several scalars is inserted and deleted as one") func clusters() throws {
    var typed = try typing("e\u{301}👨‍👩‍👧x")
    _ = typed.handle(.left, [])
    _ = typed.handle(.backspace, [])
    #expect(typed.text == "e\u{301}x")
    _ = typed.handle(.backspace, [])
    #expect(typed.text == "x" && typed.caret == 0)
    _ = typed.handle(.delete, [])
    #expect(typed.text.isEmpty)
    _ = typed.handle(.delete, [])
    _ = typed.handle(.backspace, [])
    #expect(typed.text.isEmpty && typed.caret == 0)
  }

  @Test("lines can be started, navigated and joined") func lines() throws {
    var typed = try typing("first")
    #expect(typed.handle(.enter, .alt) == false)
    typed.insert("2nd")
    _ = typed.handle(.character("j"), .control)
    typed.insert("third")
    #expect(typed.text == "first\n2nd\nthird")
    _ = typed.handle(.up, [])
    #expect(typed.caret == 9, "the end of the shorter line")
    _ = typed.handle(.home, [])
    _ = typed.handle(.up, [])
    #expect(typed.caret == 0)
    _ = typed.handle(.down, [])
    _ = typed.handle(.end, [])
    _ = typed.handle(.delete, [])
    #expect(typed.text == "first\n2ndthird")
    _ = typed.handle(.character("u"), .control)
    #expect(typed.text == "first\nthird")
    #expect(typed.handle(.enter, []) && typed.handle(.escape, []))
  }

  @Test("[BRD-33] pasted text has line feeds as line ends, and the caret is after it") func pasted() throws {
    var typed = try typing("")
    typed.insert("one\r\ntwo\rthree\u{1B}[2J")
    #expect(Array(typed.text.unicodeScalars) == Array("one\ntwo\nthree[2J".unicodeScalars))
    #expect(typed.caret == typed.scalars.count)
  }

  @Test("text that others type stays, and the caret moves with the text") func others() throws {
    var typed = try typing("middle")
    typed.insert("!")
    #expect(try typed.command(color: nil, request: 1) != nil)
    typed.settle("left middle")
    #expect(typed.text == "middle!", "the typed letter has not arrived yet")
    typed.finish(1)
    typed.settle("left middle!")
    #expect(typed.text == "left middle!" && typed.caret == 12)
    _ = typed.handle(.home, [])
    typed.settle("left middle! right")
    #expect(typed.caret == 0)
    typed.settle("right")
    #expect(typed.caret == 0)
    #expect(typed.nextChange() == nil, "changes of others are not sent")
  }

  @Test("the caret stays inside the text for all input", arguments: 0..<50) func anything(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var typed = try typing("some words\nof several lines")
    var board = Array(typed.text.unicodeScalars)
    let keys: [InputEvent.Key] = [.left, .right, .up, .down, .home, .end, .backspace, .delete, .enter, .character("é")]
    for _ in 0..<200 {
      let key = keys[Int.random(in: 0..<keys.count, using: &random)]
      _ = typed.handle(key, key == .enter ? .alt : [])
      if let (change, _) = typed.nextChange() { board.replaceSubrange(change.range, with: change.words.unicodeScalars) }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let at = Int.random(in: 0...board.count, using: &random)
        board.insert("x", at: at)
      }
      typed.settle(String(String.UnicodeScalarView(board)))
      #expect((0...typed.scalars.count).contains(typed.caret))
      #expect(typed.scalars == board)
    }
  }
}
