import PeerTestKit
import Testing

@testable import Whiteboard

@Suite("The difference of two texts") struct TextDifferenceTests {
  private func difference(_ old: String, _ new: String) -> TextDifference {
    TextDifference(from: Array(old.unicodeScalars), to: Array(new.unicodeScalars))
  }

  @Test("only the middle part that differs is reported") func middle() {
    let one = difference("left right", "left or right")
    #expect(one.range == 5..<5 && one.words == "or ")
    let other = difference("aaa", "aa")
    #expect(other.range == 2..<3 && other.words.isEmpty)
    #expect(difference("same", "same").range.isEmpty)
    #expect(difference("", "é").words == "é")
  }

  @Test("positions before and after a change move with their characters") func places() {
    let grown = difference("middle", "left middle")
    #expect(grown.moved(0) == 0 && grown.moved(1) == 6 && grown.moved(6) == 11)
    let gone = difference("one two three", "one three")
    #expect(gone.moved(4) == 4 && gone.moved(6) == 5 && gone.moved(13) == 9)
  }

  @Test("the difference turns the first text into the second", arguments: 0..<200) func whole(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func text() -> [Unicode.Scalar] {
      (0..<Int.random(in: 0...8, using: &random)).map { _ in Bool.random(using: &random) ? "a" : "b" }
    }
    let (old, new) = (text(), text())
    let difference = TextDifference(from: old, to: new)
    var made = old
    made.replaceSubrange(difference.range, with: difference.words.unicodeScalars)
    #expect(made == new)
    for place in 0...old.count { #expect((0...new.count).contains(difference.moved(place))) }
  }
}
