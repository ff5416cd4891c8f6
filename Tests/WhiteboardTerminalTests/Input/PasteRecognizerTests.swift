import Testing

@testable import WhiteboardTerminal

@Suite("Pastes in terminals that do not mark them") struct PasteRecognizerTests {
  private func keys(_ text: String) -> [InputEvent] {
    var parser = InputParser()
    return parser.feed(text.utf8)
  }

  /// Returns the events after a read and a pause; `c` and `:` open a line.
  private func events(_ text: String, in context: PasteRecognizer.Context = .commands) -> [InputEvent] {
    var recognizer = PasteRecognizer()
    let first = recognizer.feed(keys(text), in: context) {
      [.key(.character("c"), []), .key(.character(":"), [])].contains($0)
    }
    return first + recognizer.finish()
  }

  @Test(
    "several letters at once are a paste where keys run commands",
    arguments: ["quit", "see you\r", "one\rtwo", "can you\rcome?", "c\rq\rq", ":text 0,0 a\rquit\r", "    q"]
  ) func pasted(_ text: String) { #expect(events(text) == [.paste(text.replacing("\r", with: "\n"))]) }

  @Test(
    "a few keys, a key that repeats, and a line that a key opens are typed",
    arguments: [
      "q", "pl3", "uuuuuu", "chello there", ":set grid 20\r", ":text 0,0 a\r:undo\r",
      "\u{1B}[A\u{1B}[A\u{1B}[A\u{1B}[A",
    ]
  ) func typed(_ text: String) { #expect(events(text) == keys(text)) }

  @Test("in a line, only text after the end of the line is pasted") func inText() {
    for text in ["hello", "hello\r"] { #expect(events(text, in: .text) == keys(text)) }
    #expect(events("hello\rq", in: .text) == [.paste("hello\nq")])
    let commands = "text 0,0 a\r:undo\r"
    #expect(events(commands, in: .text) == keys(commands))
  }

  @Test("a paste in several reads is one paste, and any other event ends it") func continued() {
    var recognizer = PasteRecognizer()
    let start = recognizer.feed(keys("the first part and"), in: .commands) { _ in false }
    #expect(start == [] && recognizer.isWaiting)
    let rest = recognizer.feed(keys(" q"), in: .commands) { _ in false }
    #expect(rest == [])
    let up = recognizer.feed(keys("\u{1B}[A"), in: .commands) { _ in false }
    #expect(up == [.paste("the first part and q"), .key(.up, [])])
    #expect(!recognizer.isWaiting && recognizer.finish() == [])
  }
}
