import PeerTestKit
import Testing
import WhiteboardNode

@testable import Whiteboard
@testable import WhiteboardTerminal

@Suite("Typing in a text on the board")
struct TextTypingTests {
  private func typing(_ words: String) throws -> TextTyping {
    let board = Board(
      incarnation: Incarnation(1),
      member: try #require(MemberID([UInt8](repeating: 1, count: 32))),
      wallClock: 1
    )
    let id = try board.createText(words, at: Point(x: 0, y: 0))
    return TextTyping(try #require(board.snapshot(id)))
  }

  @Test("a letter is inserted at the caret, and only that edit is reported")
  func letters() throws {
    var words = try typing("held")
    _ = words.handle(.left, [])
    #expect(words.handle(.character("l"), []) == false)
    let change = words.nextChange()
    let first = try #require(change)
    #expect(
      first.difference.range == 3..<3 && first.difference.words == "l" && first.before == "held"
    )
    #expect(words.nextChange() == nil)
    _ = words.handle(.backspace, [])
    let next = words.nextChange()
    let second = try #require(next)
    #expect(second.difference.range == 3..<4 && second.difference.words.isEmpty)
    #expect(words.words == "held" && words.caret == 3)
  }

  @Test("a character of several scalars is inserted and deleted as one")
  func clusters() throws {
    var words = try typing("e\u{301}👨‍👩‍👧x")
    _ = words.handle(.left, [])
    _ = words.handle(.backspace, [])
    #expect(words.words == "e\u{301}x")
    _ = words.handle(.backspace, [])
    #expect(words.words == "x" && words.caret == 0)
    _ = words.handle(.delete, [])
    #expect(words.words.isEmpty)
    _ = words.handle(.delete, [])
    _ = words.handle(.backspace, [])
    #expect(words.words.isEmpty && words.caret == 0)
  }

  @Test("lines can be started, navigated and joined")
  func lines() throws {
    var words = try typing("first")
    #expect(words.handle(.enter, .alt) == false)
    words.insert("2nd")
    _ = words.handle(.character("j"), .control)
    words.insert("third")
    #expect(words.words == "first\n2nd\nthird")
    _ = words.handle(.up, [])
    #expect(words.caret == 9, "the end of the shorter line")
    _ = words.handle(.home, [])
    _ = words.handle(.up, [])
    #expect(words.caret == 0)
    _ = words.handle(.down, [])
    _ = words.handle(.end, [])
    _ = words.handle(.delete, [])
    #expect(words.words == "first\n2ndthird")
    _ = words.handle(.character("u"), .control)
    #expect(words.words == "first\nthird")
    #expect(words.handle(.enter, []) && words.handle(.escape, []))
  }

  @Test("[BRD-33] pasted text has line feeds as line ends, and the caret is after it")
  func pasted() throws {
    var words = try typing("")
    words.insert("one\r\ntwo\rthree\u{1B}[2J")
    #expect(Array(words.words.unicodeScalars) == Array("one\ntwo\nthree[2J".unicodeScalars))
    #expect(words.caret == words.scalars.count)
  }

  @Test("text that others type stays, and the caret moves with its text")
  func others() throws {
    var words = try typing("middle")
    words.insert("!")
    #expect(try words.command(color: nil, request: 1) != nil)
    words.settle("left middle")
    #expect(words.words == "middle!", "not before our letter is there")
    words.finish(1)
    words.settle("left middle!")
    #expect(words.words == "left middle!" && words.caret == 12)
    _ = words.handle(.home, [])
    words.settle("left middle! right")
    #expect(words.caret == 0)
    words.settle("right")
    #expect(words.caret == 0)
    #expect(words.nextChange() == nil, "what others did is not told again")
  }

  @Test("the caret stays inside of the text, whatever all users type", arguments: 0..<50)
  func anything(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var words = try typing("some words\nof several lines")
    var board = Array(words.words.unicodeScalars)
    let keys: [InputEvent.Key] = [
      .left, .right, .up, .down, .home, .end, .backspace, .delete, .enter, .character("é"),
    ]
    for _ in 0..<200 {
      let key = keys[Int.random(in: 0..<keys.count, using: &random)]
      _ = words.handle(key, key == .enter ? .alt : [])
      if let (change, _) = words.nextChange() {
        board.replaceSubrange(change.range, with: change.words.unicodeScalars)
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let at = Int.random(in: 0...board.count, using: &random)
        board.insert("x", at: at)
      }
      words.settle(String(String.UnicodeScalarView(board)))
      #expect((0...words.scalars.count).contains(words.caret))
      #expect(words.scalars == board)
    }
  }
}
