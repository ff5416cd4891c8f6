import CommandLines
import PeerCore
import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Messages on a terminal") struct NoticeTests {
  @Test(
    "the cause comes first, and the path last",
    arguments: [
      ("/a/b.whiteboard: it is damaged", "it is damaged (/a/b.whiteboard)"),
      ("\"/a b.png\" cannot be read: no such file", "the file cannot be read: no such file (/a b.png)"),
      ("\"plan.svg\": it breaks off", "it breaks off (plan.svg)"), ("\"Ada\" is not here", "\"Ada\" is not here"),
      ("/only/a/path", "/only/a/path"), ("nothing to undo", "nothing to undo"),
    ]
  ) func causeFirst(_ message: String, _ shown: String) { #expect(Notice.causeFirst(message) == shown) }

  private static let path = "/home/anna/" + String(repeating: "deep/", count: 12) + "plan.png"

  /// Joins rows of a box, whose text may be wrapped.
  private func joined(_ lines: [String]) -> String { lines.joined().filter { !" │┌┐└┘─".contains($0) } }

  @Test("a message that does not fit into the line is shown in a box", arguments: [(120, 40), (80, 24), (40, 12)])
  func boxed(_ columns: Int, _ rows: Int) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    let failure = CommandError(.fileUnreadable, "\"\(Self.path)\" cannot be read: there is no such file").answering(
      verb: "photo",
      request: .number(1),
      line: nil
    )
    _ = desk.client.receive(.answer(.error(failure)))
    let isBoxed = "the file cannot be read: there is no such file ()".count + Self.path.count >= columns
    #expect(desk.client.messages.isBoxed(in: desk.client.layout) == isBoxed)
    #expect(joined(desk.lines()).contains("thefilecannotberead:thereisnosuchfile(\(Self.path))"))
    desk.now += .seconds(9)
    _ = desk.tick()
    #expect(desk.lines().contains { $0.contains("Esc closes") } == isBoxed)
    #expect(desk.type("^") == [])
    #expect(desk.client.messages.notice == nil)
  }

  @Test("a click or a timeout closes a box") func closing() throws {
    var desk = try Desk()
    desk.client.say(String(repeating: "long ", count: 40), isBad: true)
    #expect(desk.type("^[<0;5;22M") == [] && desk.client.messages.notice == nil)
    desk.client.say(String(repeating: "long ", count: 40), isBad: true)
    desk.now += .seconds(30)
    _ = desk.tick()
    #expect(desk.client.messages.notice == nil)
  }

  @Test("Escape closes a box and the menu below it, but not the selection") func escaping() throws {
    var desk = try Desk()
    let id = try desk.board.createText("hello", at: Point(x: 4, y: 8))
    try desk.board.select([id])
    desk.sync()
    for keys in ["", " ", "?"] {
      _ = desk.type(keys)
      desk.client.say(String(repeating: "long ", count: 40), isBad: true)
      #expect(desk.type("^") == [], "\(keys)")
      #expect(desk.client.messages.notice == nil && desk.client.overlay == nil, "\(keys)")
    }
    #expect(desk.type("^") == ["deselect"])
  }

  @Test("an earlier message does not cover a panel that the user opens", arguments: [" ", "J"]) func covering(
    _ keys: String
  ) throws {
    var desk = try Desk()
    desk.client.resize(columns: 40, rows: 12)
    desk.client.say(String(repeating: "long ", count: 20), isBad: true)
    #expect(desk.lines().contains { $0.contains("long long") })
    _ = desk.type(keys)
    #expect(!desk.lines().contains { $0.contains("long long") })
  }

  @Test("messages that arrive together are all shown") func together() throws {
    var desk = try Desk()
    for words in ["one is damaged", "two is damaged", "two is damaged"] {
      _ = desk.client.receive(.news(.warning(.init(code: "document-damaged", message: "/a/b: \(words)"))))
    }
    #expect(desk.client.messages.notice?.text == "one is damaged (/a/b)\ntwo is damaged (/a/b)")
    #expect(desk.lines().contains { $0.contains("one is damaged") })
    #expect(desk.lines().contains { $0.contains("two is damaged") })
    desk.now += .seconds(2)
    _ = desk.tick()
    _ = desk.client.receive(.news(.warning(.init(code: "other", message: "three"))))
    #expect(desk.client.messages.notice?.text == "three")
  }

  @Test("a problem with discovery is one line, which any key closes", arguments: [(120, 40), (80, 24), (40, 12)])
  func discovery(_ columns: Int, _ rows: Int) throws {
    let text =
      "The system D-Bus is not running, so Avahi cannot be reached. "
      + "Start D-Bus (systemctl start dbus), or connect with HOST:PORT or a join link."
    for keys in ["^", "r", "?", "^[C"] {
      var desk = try Desk()
      desk.client.resize(columns: columns, rows: rows)
      let before = desk.lines()
      for message in [text, text, "The Avahi daemon is not running."] {
        _ = desk.client.receive(.news(.warning(.init(code: "discovery-unavailable", message: message))))
      }
      let lines = desk.lines()
      #expect(lines.dropLast() == before.dropLast(), "the board is not covered: \(lines)")
      #expect(lines.last?.hasPrefix(" The Avahi daemon is not") == true, "\(lines)")
      _ = desk.type(keys)
      #expect(desk.client.messages.notice?.text.contains("Avahi") != true, "\(keys)")
      _ = desk.type("^")
      _ = desk.type("J")
      #expect(desk.lines().joined().contains("Avahi daemon is not"), "the invitation says it too")
    }
    var desk = try Desk()
    desk.client.resize(columns: 80, rows: 24)
    _ = desk.client.receive(.news(.warning(.init(code: "discovery-unavailable", message: text))))
    #expect(desk.lines().last == " The system D-Bus is not running, so Avahi cannot be reached.  J says more")
    #expect(desk.type("r") == [] && desk.client.workspace.toolbox.tool == .rectangle, "the key keeps its meaning")
  }

  @Test("a message is shown for its whole time even after an idle period") func afterIdling() throws {
    var desk = try Desk()
    desk.now += .seconds(600)
    _ = desk.client.receive(.news(.note(.init(code: "x", message: "the copy is complete"))), now: desk.now)
    _ = desk.tick()
    #expect(desk.lines().last?.contains("the copy is complete") == true)
  }

  @Test("completions are shown while the user types") func whileTyping() throws {
    var desk = try Desk()
    #expect(desk.type(":un\t") == [])
    let lines = desk.lines()
    #expect(lines[22].contains("undo  ungroup  unlock") || lines[22].contains("undelete"))
    #expect(lines[23].contains(":un"))
  }

  @Test("a long chat message opens no box, and shows how to read it") func longChat() throws {
    var desk = try Desk()
    desk.client.resize(columns: 60, rows: 24)
    let text = UntrustedText(String(repeating: "blah ", count: 30))
    _ = desk.client.receive(
      Desk.chat(try Desk.memberID(2), text.raw)
    )
    #expect(!desk.client.messages.isBoxed(in: desk.client.layout))
    #expect(desk.lines()[23].hasPrefix(" Bob: blah") && desk.lines()[23].hasSuffix("C reads all"))
  }

  @Test(
    "Ctrl+Z suspends in every panel, and no typed letter does",
    arguments: ["", "?", "C", "J", " ", "c", ":", "t^[<0;38;13Mword", "; ", "l^[<0;38;13M^[<32;39;13M"]
  ) func suspending(_ keys: String) throws {
    var desk = try Desk()
    _ = desk.type(keys)
    #expect(desk.type("\u{1A}") == ["SUSPEND"])
    var connecting = try Desk()
    connecting.client.connect(to: "x", now: .zero)
    #expect(connecting.type("\u{1A}") == ["SUSPEND"])
    let map = try KeyMap([KeyBinding(command: "suspend", keys: ["Z"], place: "config:1")])
    var client = BoardClient(columns: 80, rows: 24, dotStyle: .braille, keys: map)
    #expect(client.handleInput(.key(.character("Z"), []), now: .zero) == [.suspend])
    _ = client.handleInput(.key(.character("c"), []), now: .zero)
    #expect(client.handleInput(.key(.character("Z"), []), now: .zero) == [])
  }
}
