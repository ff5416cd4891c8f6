import CommandLines
import PeerCore
import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Panels on a terminal") struct PanelTests {
  static let sizes = [(120, 40), (80, 24), (40, 12)]

  /// Returns the answer to `checkpoints`, with or without a request id.
  private static func answer(_ count: Int, isRequested: Bool = true) -> SharedBoard.Output {
    .answer(.checkpoints((0..<count).map { ("v\($0 + 1)", 0) }), to: isRequested ? .number(1) : nil)
  }

  private static func chat(_ text: String, _ desk: inout Desk) throws {
    _ = desk.client.receive(Desk.chat(try Desk.memberID(2), text), now: desk.now)
  }

  @Test("an answer of many lines opens a panel that scrolls, at every size", arguments: sizes) func scrolling(
    _ columns: Int,
    _ rows: Int
  ) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    _ = desk.client.receive(Self.answer(60))
    let room = rows - 4
    func shown() -> String { desk.lines().joined(separator: "\n") }
    #expect(shown().contains("Checkpoints") && shown().contains("1–\(room) of 61"))
    #expect(shown().contains("60 checkpoints") && !shown().contains("\"v60\""))
    #expect(desk.lines().last?.contains("saved") == true, "the panel does not cover the last line")
    #expect(desk.type("^[4~").isEmpty)
    #expect(shown().contains("\(62 - room)–61 of 61") && shown().contains("\"v60\""))
    #expect(desk.type("^[A").isEmpty)
    #expect(shown().contains("\(61 - room)–60 of 61"))
    #expect(desk.type("^[1~").isEmpty)
    #expect(shown().contains("1–\(room) of 61"))
    #expect(desk.type("^[6~^[B").isEmpty)
    #expect(shown().contains("\(room + 1)–\(2 * room) of 61") || shown().contains("of 61"))
    #expect(desk.type("^[5~^[5~").isEmpty)
    #expect(shown().contains("1–\(room) of 61"))
    #expect(desk.type("^[<65;5;5M").isEmpty, "the mouse wheel")
    #expect(shown().contains("4–\(room + 3) of 61"))
    #expect(desk.type("^[<64;5;5M").isEmpty)
    #expect(shown().contains("1–\(room) of 61"))
    #expect(desk.type("x^[<0;5;5M").isEmpty && desk.client.overlay != nil, "nothing is deleted or drawn")
    #expect(desk.type("^").isEmpty && desk.client.overlay == nil, "Escape closes")
    _ = desk.client.receive(Self.answer(3))
    #expect(desk.type("q").isEmpty && desk.client.overlay == nil, "q closes, and does not leave")
  }

  @Test("an unrequested answer opens no panel, and an answer of one line is a message") func answers() throws {
    var desk = try Desk()
    _ = desk.client.receive(Self.answer(3, isRequested: false))
    #expect(desk.client.overlay == nil)
    _ = desk.client.receive(.answer(.digest("abc", objects: 2), to: .number(1)))
    #expect(desk.client.overlay == nil)
    #expect(desk.client.messages.notice?.text == "digest abc, 2 objects")
    _ = desk.client.receive(Self.answer(0))
    #expect(desk.client.overlay != nil, "an empty list opens a panel too")
  }

  @Test("a command at the prompt shows its answer as text") func words() throws {
    var desk = try Desk()
    _ = desk.client.receive(.answer(.saving(.saved), to: .number(1)))
    #expect(desk.client.messages.notice?.text == "saved: everything is on disk")
    desk.client.messages.notice = nil
    _ = desk.client.receive(.change(.saving(.saved), .init()))
    #expect(desk.client.messages.notice == nil)
    let done = SharedBoard.Answer.done(.import, CommandOutcome(file: "/a.json", count: 3))
    _ = desk.client.receive(.answer(done, to: .number(1)))
    #expect(desk.client.messages.notice?.text == #"import 3 objects from "/a.json""#)
    let invited = SharedBoard.News.Invited(
      code: "river-maple-candy-frost",
      role: nil,
      link: "whiteboard://h:1/b?peer=p#river-maple-candy-frost",
      expires: nil
    )
    _ = desk.client.receive(.answer(.news(.invited(invited)), to: .number(1)))
    desk.now += .seconds(60)
    _ = desk.tick()
    #expect(desk.lines().contains { $0.contains("river-maple-candy-frost") }, "the panel stays open")
  }

  @Test("help is shown in several lines") func help() throws {
    var desk = try Desk()
    #expect(desk.type(":help\r") == ["help"])
    _ = desk.client.receive(.answer(.help(CommandTable.text)))
    let lines = desk.lines()
    #expect(!lines.contains { $0.contains(#"one per line:\n"#) })
    #expect(lines[1].contains("Commands") && desk.client.messages.notice == nil)
    #expect(lines.contains { $0.contains(CommandTable.text.lines[2]) })
  }

  @Test("the keys are listed under headings, and all of them can be reached", arguments: sizes) func keys(
    _ columns: Int,
    _ rows: Int
  ) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    #expect(desk.type("?") == [])
    var seen: [String] = []
    for _ in 0..<200 {
      seen += desk.lines()
      _ = desk.type("^[B")
    }
    for section in KeyMap.Section.allCases { #expect(seen.contains { $0.contains(section.rawValue) }, "\(section)") }
    for entry in KeyMap.standard.help {
      let first = entry.text.split(separator: " ").prefix(2).joined(separator: " ")
      #expect(seen.contains { $0.contains(entry.keys) && $0.contains(first) }, "\(entry)")
    }
    #expect(desk.type("?") == [] && desk.client.overlay == nil)
  }

  @Test("typing in the list of keys shows only the lines with these words") func filter() throws {
    var desk = try Desk()
    #expect(desk.type("?undo") == [])
    var lines = desk.lines().joined()
    #expect(lines.contains("Keys: undo") && lines.contains("undo your last step") && !lines.contains("thinner"))
    #expect(desk.type("\u{7F}\u{7F}\u{7F}\u{7F}zzz") == [])
    #expect(desk.lines().joined().contains("No key does this"))
    #expect(desk.type("\u{7F}\u{7F}\u{7F}") == [])
    lines = desk.lines().joined()
    #expect(lines.contains("Draw"))
    #expect(desk.type("q") == [] && desk.client.overlay == nil)
  }

  @Test("the chat can be read at any size, is updated while it is open, and can be answered", arguments: sizes)
  func chat(_ columns: Int, _ rows: Int) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    try Self.chat("shall we begin?", &desk)
    #expect(desk.lines().contains { $0.contains("Bob: shall we begin?") })
    desk.now += .seconds(60)
    _ = desk.tick()
    if !desk.client.layout.hasSidePanel {
      #expect(!desk.lines().contains { $0.contains("Bob: shall we begin?") })
      #expect(desk.lines()[0].contains("1 new in chat: C"))
    }
    #expect(desk.type("C") == [])
    #expect(desk.lines().contains { $0.contains("Bob: shall we begin?") })
    #expect(desk.lines()[rows >= 8 ? 1 : 0].contains("Chat"))
    for number in 1...50 { try Self.chat("line \(number)\nand more", &desk) }
    #expect(desk.lines().contains { $0.contains("and more") })
    #expect(desk.lines().contains { $0.contains("line 50") }, "the end stays visible")
    #expect(desk.type("^[1~") == [])
    try Self.chat("line 51", &desk)
    #expect(!desk.lines().contains { $0.contains("line 51") }, "the visible lines stay")
    #expect(desk.type("chi\r") == [#"say "hi""#])
    #expect(desk.client.isChatOpen)
    #expect(desk.type("^") == [])
    #expect(desk.client.overlay == nil && !desk.lines()[0].contains("new in chat"))
  }

  @Test("the `chat` command opens the same panel") func chatCommand() throws {
    var desk = try Desk()
    try Self.chat("hello", &desk)
    #expect(desk.type(":chat\r") == ["chat"])
    _ = desk.client.receive(.answer(.chat([]), to: .number(1)))
    #expect(desk.client.isChatOpen)
    #expect(desk.lines().contains { $0.contains("Bob: hello") })
  }

  @Test("every item of the menu can be reached, at every size", arguments: sizes) func menu(_ columns: Int, _ rows: Int)
    throws
  {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    #expect(desk.type(" ") == [])
    var seen = desk.lines()
    if rows >= 24 { #expect(Menu.ofBoard.allSatisfy { item in seen.contains { $0.contains(item.words) } }) }
    for _ in Menu.ofBoard {
      _ = desk.type("^[B")
      seen += desk.lines()
    }
    for words in [
      "line", "rectangle", "ellipse", "arrow", "undo", "redo", "export", "Wordle", "Connect Four", "read the chat",
    ] { #expect(seen.contains { $0.contains(words) }, "\(words)") }
    #expect(desk.type("^[4~\r") == ["QUIT"])
    // A click selects the visible item.
    #expect(desk.type(" ^[4~") == [])
    let lines = desk.lines()
    let row = try #require(lines.firstIndex { $0.contains("leave") })
    let column = try #require(lines[row].firstRange(of: "leave"))
    let x = lines[row].distance(from: lines[row].startIndex, to: column.lowerBound)
    #expect(desk.type("^[<0;\(x + 1);\(row + 1)M") == ["QUIT"])
  }

  @Test("the whole link can be read even if the invitation does not fit", arguments: sizes) func invitation(
    _ columns: Int,
    _ rows: Int
  ) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    desk.client.layout.isASCII = true
    desk.client.session.board.link =
      "whiteboard://192.0.2.7:26273/" + String(repeating: "b", count: 26) + "?peer=" + String(repeating: "p", count: 52)
      + "#river-maple-candy-frost"
    desk.client.session.board.joinCode = "river-maple-candy-frost"
    #expect(desk.type("J") == [])
    var seen = ""
    for _ in 0..<12 {
      seen += desk.lines().joined().filter { $0 != " " && $0 != "|" }
      _ = desk.type("^[B")
    }
    #expect(seen.contains("pppp#river-maple-candy-frost'") || seen.contains("candy-frost'"))
    #expect(desk.type("^") == [] && desk.client.overlay == nil)
  }

  @Test("a link to the pictures of a broadcast is shown as text and as a QR code, with the fingerprint") func pictures()
    throws
  {
    var desk = try Desk()
    desk.client.resize(columns: 100, rows: 40)
    let link = "https://192.0.2.7:8080/" + String(repeating: "s", count: 26) + "/"
    let fingerprint = [String](repeating: "4F", count: 32).joined(separator: ":")
    _ = desk.client.receive(
      .news(.note(.init(code: "broadcast", message: "pictures: \(link)", links: [link], fingerprint: fingerprint)))
    )
    let lines = desk.lines()
    #expect(lines.contains { $0.contains("▀▀▀▀▀▀▀") })
    let seen = lines.joined().filter { !" │█▀▄".contains($0) }
    #expect(seen.contains(link))
    #expect(seen.contains(fingerprint.prefix(23)))
    #expect(desk.type("^") == [] && desk.client.overlay == nil)
    _ = desk.client.receive(.news(.note(.init(code: "broadcast", message: "a", links: ["http://127.0.0.1:8080/"]))))
    #expect(desk.client.overlay == nil)
  }

  @Test("beside the QR code, no line of the invitation is cut off", arguments: [24, 40]) func invitationWithCode(
    _ rows: Int
  ) throws {
    var desk = try Desk()
    desk.client.resize(columns: 80, rows: rows)
    let fingerprint = [String](repeating: "4F", count: 32).joined(separator: ":")
    let webLink =
      "https://192.0.2.7:26443/#" + String(repeating: "b", count: 26) + "." + String(repeating: "s", count: 26)
    desk.client.session.board.webLink = webLink
    desk.client.session.board.webFingerprint = fingerprint
    desk.client.session.board.link =
      "whiteboard://192.0.2.7:26273/" + String(repeating: "b", count: 26) + "?peer=" + String(repeating: "p", count: 52)
      + "#river-maple-candy-frost"
    desk.client.session.board.joinCode = "river-maple-candy-frost"
    #expect(desk.type("J") == [])
    let lines = desk.lines()
    #expect(lines.contains { $0.contains("▀▀▀▀▀▀▀") })
    let seen = lines.joined().filter { !" │█▀▄".contains($0) }
    #expect(seen.contains(webLink))
    #expect(seen.contains(fingerprint.prefix(23)) && seen.contains("isthisone:"))
    #expect(seen.contains("candy-frost"))
    // The other link is shown as a whole or left out as a whole.
    let isShown = seen.contains("whiteboard-peerjoin")
    #expect(isShown == seen.contains("pppp#river-maple-candy-frost'"))
    #expect(isShown == (rows == 40))
  }

  @Test("a member that cannot admit people shows no link and no QR code, but whom to ask") func noInvitation() throws {
    var desk = try Desk()
    desk.client.session.board.link = ""
    let ada = SharedBoard.News.Admitter(peer: String(repeating: "a", count: 52), name: UntrustedText("Ada"))
    let cases: [([SharedBoard.News.Admitter], String)] = [
      ([ada], "Ask Ada (aaaaaaaa) to admit them."), ([], "is connected."),
    ]
    for (admitters, words) in cases {
      desk.client.session.board.admitters = admitters
      #expect(desk.type("J") == [])
      let seen = desk.lines().joined(separator: " ")
      #expect(seen.contains("You cannot admit people") && !seen.contains("▀▀▀▀▀▀▀"))
      #expect(!seen.contains("whiteboard-peer join") && !seen.contains("browser"))
      let text = seen.split { " │|".contains($0) }.joined(separator: " ")
      #expect(text.contains(words), "\(text)")
      #expect(desk.type("^") == [])
      #expect(!desk.lines().joined().contains("shows how others join"))
    }
  }

  @Test("the menu exports the board to a named file") func export() throws {
    var desk = try Desk()
    desk.client.setHome("/home/anna")
    #expect(desk.type("X~/plan.pdf\r") == [#"export "/home/anna/plan.pdf""#])
    _ = desk.client.receive(.answer(.done(.export, CommandOutcome(file: "/a.pdf", count: 1)), to: .number(1)))
    #expect(desk.client.messages.notice?.text == "Exported 1 object: /a.pdf")
  }
}
