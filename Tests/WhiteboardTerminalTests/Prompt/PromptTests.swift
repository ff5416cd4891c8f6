import Testing

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The prompt") struct PromptTests {
  private static let names = Prompt.Names(members: ["Bob", "Bobby"], objects: [])

  private func press(_ keys: [InputEvent.Key], _ prompt: inout Prompt) -> Prompt.Outcome {
    var outcome = Prompt.Outcome.none
    for key in keys { outcome = prompt.handle(key, [], Self.names) }
    return outcome
  }

  @Test("the delete key removes the character after the cursor, which stays") func delete() {
    var editor = LineEditor(label: "", text: "abc")
    for key in [.left, .delete, .character("x")] as [InputEvent.Key] { _ = editor.handle(key, []) }
    #expect(editor.text == "abx")
  }

  private func enter(_ text: String, _ prompt: inout Prompt, for purpose: Prompt.Purpose) -> Prompt.Outcome {
    prompt.open(purpose)
    return press(text.map { .character($0) } + [.enter], &prompt)
  }

  /// Returns the command for the board; nil for any other outcome.
  private func command(_ outcome: Prompt.Outcome) -> Command? {
    if case .command(.board(let command)) = outcome { command } else { nil }
  }

  @Test("the purpose of the prompt decides which command a text becomes") func purposes() throws {
    var prompt = Prompt()
    prompt.home = "/home/anna"
    let id = try Desk().board.createText("text", at: Point(x: 0, y: 0))
    let place = Point(x: 1, y: 2)
    for (purpose, text, expected) in [
      (Prompt.Purpose.chat, "hi", "say \"hi\""), (.command, "undo", "undo"),
      (.export, "~/a.pdf ", "export \"/home/anna/a.pdf\""),
      (.export, "~/my plan.pdf force", "export \"/home/anna/my plan.pdf\" force"),
      (.photo(at: place), "~/a.png", "photo 1,2 \"/home/anna/a.png\""),
      (.move(.id(id), isWordle: false), "4", "play \(id) \"4\""),
    ] {
      let entered = enter(text, &prompt, for: purpose)
      #expect(command(entered).map { CommandLine.text($0) } == expected)
      #expect(!prompt.isOpen)
    }
  }

  @Test("the prompt for guesses stays open until Escape, and no letter is a key when the game ends") func guesses()
    throws
  {
    var prompt = Prompt()
    let id = try Desk().board.createText("text", at: Point(x: 0, y: 0))
    let entered = enter("crane", &prompt, for: .move(.id(id), isWordle: true))
    #expect(command(entered).map { CommandLine.text($0) } == "play \(id) \"crane\"")
    #expect(prompt.editor?.text == "")
    _ = press([.enter, .backspace], &prompt)
    #expect(prompt.isOpen)
    prompt.endGame(id)
    _ = press([.character("c"), .backspace], &prompt)
    #expect(prompt.purpose == .over && prompt.editor?.text == "")
    _ = press([.enter], &prompt)
    #expect(!prompt.isOpen)
    prompt.open(.move(.id(id), isWordle: true))
    _ = press([.escape], &prompt)
    #expect(!prompt.isOpen)
  }

  @Test("an empty text is not a command, and a place outside the board is a failure") func failures() {
    var prompt = Prompt()
    for (text, purpose) in [("", Prompt.Purpose.chat), (" ", .command)] {
      guard case .none = enter(text, &prompt, for: purpose) else {
        Issue.record("\(purpose)")
        return
      }
    }
    let far = Point(x: 1e12, y: 0)
    guard case .failure(.parser) = enter("a.png", &prompt, for: .photo(at: far)) else {
      Issue.record("photo")
      return
    }
  }

  @Test("Tab completes the name of a member, and lists the names if there are several") func completion() {
    var prompt = Prompt()
    prompt.open(.command, text: "follow B")
    guard case .completions("Bob  Bobby") = press([.tab], &prompt) else {
      Issue.record("no completions")
      return
    }
    #expect(prompt.editor?.text == "follow Bob")
  }

  @Test(
    "Tab completes an argument with the words of its kind",
    arguments: [
      ("ungroup ", "ungroup 12 "), ("color 1", "color 12 "), ("order 12 forw", "order 12 forward "),
      ("order 12 ab", "order 12 above="), ("order 12 above=", "order 12 above=12 "),
      ("color 12 de", "color 12 default "),
      ("color 12 #e6", "color 12 #e69f00 "), ("text 0,0 hi color=#9a", "text 0,0 hi color=#9a7be0 "),
      ("scale 12 2 li", "scale 12 2 line=keep "), ("role Bobb", "role Bobby "), ("role Bobby vi", "role Bobby viewer "),
      ("kick Bobby --w", "kick Bobby --with-admitted "), ("web re", "web revoke "), ("invite on", "invite once "),
      ("set gr", "set grid "), ("game wo", "game wordle "), ("profile icon=", "profile icon="),
      ("profile icon=non", "profile icon=none "), ("send hi --to Bobb", "send hi --to Bobby "),
      ("purge --", "purge --author "), ("help ungr", "help ungroup "), ("ungroup 12 ", "ungroup 12 "),
      ("say un", "say un"), ("zoom 1", "zoom 1"),
    ]
  ) func arguments(typed: String, completed: String) throws {
    var prompt = Prompt()
    prompt.open(.command, text: typed)
    let id = try #require(ObjectID("12-klujcqpgt2pla"))
    _ = prompt.handle(.tab, [], Prompt.Names(members: ["Bob", "Bobby"], objects: [id]))
    #expect(prompt.editor?.text == completed)
  }

  @Test(
    "Tab finds files where a command has the name of a file",
    arguments: [
      ("export pic", "pic"), ("photo 0,0 ", ""), ("resource a b", "b"), ("stream name a", "a"), ("photo 0", nil),
      ("accept a", nil), ("export pic fo", nil), ("resource a --na", nil),
    ]
  ) func files(typed: String, path: String?) {
    var prompt = Prompt()
    prompt.open(.command, text: typed)
    let found: String? = if case .findFiles(let path) = press([.tab], &prompt) { path } else { nil }
    #expect(found == path)
  }
}
