import Testing

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Lines of the prompt") struct PromptCommandTests {
  @Test("a line is a command of the terminal or of the board") func commands() throws {
    guard case .zoom(0.5)? = try PromptCommand("zoom 50") else {
      Issue.record("zoom")
      return
    }
    guard case .quit(isAnyway: true)? = try PromptCommand("quit anyway") else {
      Issue.record("quit")
      return
    }
    for line in ["undo request=7", #"{"verb":"undo"}"#] {
      guard case .board(.undo)? = try PromptCommand(line) else {
        Issue.record("\(line)")
        return
      }
    }
    let empty = try PromptCommand("")
    #expect(empty == nil)
  }

  @Test(
    "a line that is not a command has a message",
    arguments: ["zoom", "zoom x", "pen-style dots", "flit", "text 0,0 \"a", "move", "follow"]
  ) func failures(_ line: String) { #expect(throws: PromptCommand.Failure.self) { try PromptCommand(line) } }
}
