import Testing

@testable import WhiteboardTerminal

@Suite("Input while the board is covered") struct OverlayTests {
  private static let layout = ScreenLayout(columns: 80, rows: 24, isASCII: false)

  private func press(_ key: InputEvent.Key, _ overlay: inout Overlay) -> Overlay.Outcome {
    overlay.handle(key, [], .standard, in: Self.layout)
  }

  @Test("every key closes the invitation, and a click does too") func invitation() {
    var overlay = Overlay.invitation(nil)
    for key in [InputEvent.Key.escape, .character("x"), .up] {
      let outcome = press(key, &overlay)
      #expect(outcome == .close)
    }
    #expect(overlay.press(atX: 40, y: 12, in: Self.layout) == .close)
  }

  @Test("a panel scrolls and closes by keys, and ignores clicks on it") func panel() {
    var overlay = Overlay.panel(Panel("Objects", .lines(["text"])))
    for (key, expected) in [
      (InputEvent.Key.down, Overlay.Outcome.none), (.character("x"), .none), (.enter, .close),
      (.character("q"), .close), (.escape, .close),
    ] {
      let outcome = press(key, &overlay)
      #expect(outcome == expected, "\(key)")
    }
    #expect(overlay.press(atX: 40, y: 12, in: Self.layout) == .none)
    #expect(overlay.press(atX: 40, y: 0, in: Self.layout) == .close)
    #expect(overlay.isInformation && !overlay.isChat)
  }

  @Test("Enter in the chat opens the prompt for an answer") func chat() {
    var overlay = Overlay.panel(Panel("Chat", .chat))
    let outcome = press(.enter, &overlay)
    #expect(outcome == .writeChat && overlay.isChat)
  }

  @Test("Enter picks an item of a menu, the key of a command runs it, and Escape closes the menu") func menu() {
    var overlay = Overlay.menu(Menu(Menu.ofBoard, at: nil))
    let first = press(.enter, &overlay)
    let moved = press(.down, &overlay)
    let second = press(.enter, &overlay)
    #expect(first == .perform(.tool(.pen)) && moved == .none && second == .perform(.tool(.text)))
    overlay.scroll(1)
    let third = press(.enter, &overlay)
    #expect(third == .perform(.tool(.select)))
    let key = press(.character("u"), &overlay)
    let escape = press(.escape, &overlay)
    #expect(key == .perform(.undo) && escape == .close)
    #expect(overlay.press(atX: 79, y: 23, in: Self.layout) == .close)
  }

  @Test("only listed keys answer the question about unsaved work, and no question closes it") func unsavedQuestion() {
    var overlay = Overlay.unsavedQuestion
    let other = press(.character("y"), &overlay)
    let leave = press(.character("x"), &overlay)
    #expect(other == .answered(.none) && leave == .answered(.leave))
    #expect(!overlay.isInformation)
  }
}
