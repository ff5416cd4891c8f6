import PeerCore
import Testing
import WhiteboardRendering

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The lobby on a terminal") struct LobbyClientTests {
  private static func lobby() -> LobbyClient { LobbyClient(columns: 90, rows: 16, suggestion: "ada board") }

  private static func found(
    _ name: UntrustedText,
    _ board: String,
    by host: UntrustedText = "Ben",
    _ peer: String = "abcdefghijk"
  ) -> SharedBoard.News.FoundBoard {
    SharedBoard.News.FoundBoard(
      peer: peer,
      name: host,
      board: board,
      boardName: name,
      addresses: ["192.0.2.7:26273"],
      participants: 3,
      role: nil
    )
  }

  private static func type(_ text: String, _ lobby: inout LobbyClient) -> [LobbyClient.Choice] {
    var parser = InputParser()
    let events = parser.feed(text.replacing("^", with: "\u{1B}").utf8) + parser.finish()
    return events.compactMap { lobby.handleInput($0, now: .seconds(1)) }
  }

  @Test("Enter in an empty lobby creates a board") func empty() {
    var lobby = Self.lobby()
    #expect(lobby.frame().screen.lines.contains { $0.contains("looking") })
    #expect(Self.type("\r", &lobby) == [.host("ada board")])
    lobby.beginFrame(now: .seconds(7))
    let lines = lobby.frame().screen.lines
    #expect(lines.contains { $0.contains("no board was found on this network in 7 s") })
    #expect(lines.contains { $0.contains("doctor") })
    lobby.discoveryFailed("The system D-Bus is not running.")
    #expect(lobby.frame().screen.lines.contains { $0.contains("D-Bus is not running") })
  }

  @Test("nearby boards are listed above the user's own; keys and the mouse open them") func boards() {
    var lobby = Self.lobby()
    lobby.setBoards([.init(name: "mine", path: "/boards/mine.whiteboard", about: "3 objects")])
    lobby.found(Self.found("Team", "teamid"))
    lobby.found(Self.found("Art\u{1B}[2J", "artid"))
    let lines = lobby.frame().screen.lines
    #expect(lines[3].contains("Art[2J") && lines[3].contains("3 people"))
    #expect(lines[4].contains("Team") && lines[4].contains("Team  Ben  3 people"))
    #expect(lines[7].contains("mine  3 objects"))
    #expect(Self.type("\r", &lobby) == [.join(target: "artid", code: nil)])
    #expect(Self.type("^[B\r", &lobby) == [.join(target: "teamid", code: nil)])
    #expect(Self.type("^[B^[B^[B\r", &lobby) == [.host("/boards/mine.whiteboard")])
    #expect(Self.type("^[<0;5;5M", &lobby) == [.join(target: "teamid", code: nil)])
    #expect(Self.type("^[<0;5;3M", &lobby) == [], "a heading opens nothing")
    lobby.lost(.init(peer: "abcdefghijk", name: "Ben", board: "artid"))
    #expect(!lobby.frame().screen.lines.contains { $0.contains("Art") })
  }

  @Test("Enter on a board that requires a code asks for the code, unless the settings contain one") func requiredCode()
  {
    for hasCode in [false, true] {
      var lobby = LobbyClient(columns: 90, rows: 16, suggestion: "ada board", hasCode: hasCode)
      var board = Self.found("Team", "teamid")
      board.admit = "code"
      lobby.found(board)
      let choices = Self.type("\r", &lobby)
      #expect(choices == (hasCode ? [.join(target: "teamid", code: nil)] : []))
      guard !hasCode else { continue }
      #expect(lobby.frame().screen.lines.contains { $0.contains("join code (four words):") })
      #expect(Self.type("a b\r", &lobby) == [.join(target: "teamid", code: "a b")])
      // Some members admit without a code.
      lobby.found(Self.found("Team", "teamid", by: "Cy", "cyid"))
      #expect(Self.type("\r", &lobby) == [.join(target: "teamid", code: nil)])
    }
  }

  @Test("at 80 columns, the cause of a problem is shown completely") func causes() {
    var lobby = LobbyClient(columns: 80, rows: 24, suggestion: "board")
    let cause =
      "The system D-Bus is not running, so Avahi cannot be reached. Start D-Bus (systemctl start dbus), or connect "
      + "with HOST:PORT or a join link."
    let about = "another user owns the file, so it cannot be opened; run: sudo chown 1000 /boards/plans.whiteboard"
    lobby.discoveryFailed(cause)
    lobby.setBoards([.init(name: "plans", path: "/boards/plans.whiteboard", about: about)])
    let text = lobby.frame().screen.lines.map(\.trimmed).joined(separator: " ")
    #expect(text.contains(cause))
    #expect(text.contains(about))
  }

  @Test("a board has one entry, even if it is the user's own and several members announce it") func groups() {
    var lobby = Self.lobby()
    lobby.setBoards([
      .init(name: "Team", path: "/boards/team.whiteboard", about: "3 objects", board: "teamid"),
      .init(name: "mine", path: "/boards/mine.whiteboard", about: "1 object", board: "mineid"),
    ])
    lobby.found(Self.found("Team", "teamid", by: "Ada", "adaid"))
    lobby.found(Self.found("Art", "artid", by: "Ada", "adaid"))
    lobby.found(Self.found("Art", "artid", by: "Ben", "benid"))
    var lines = lobby.frame().screen.lines
    #expect(lines[3].contains("Art  Ada and Ben  3 people"))
    #expect(lines[4].contains("Team  yours, Ada is on it  3 people"))
    #expect(lines[7].contains("mine"))
    #expect(lines.count { $0.contains("Team") } == 1)
    lobby.found(Self.found("Team", "teamid", by: "Ben", "benid"))
    lines = lobby.frame().screen.lines
    #expect(lines[4].contains("Team  yours, Ada and Ben are on it"))
    // The title of the copy replaces the announced name, but the copy's own name does not.
    func setCopy(title: String?) {
      lobby.setBoards([
        .init(name: "old", path: "/boards/team.whiteboard", about: "3 objects", board: "teamid", title: title)
      ])
    }
    setCopy(title: nil)
    #expect(lobby.frame().screen.lines[4].contains("Team  yours, Ada and Ben are on it"))
    setCopy(title: "Plan B")
    #expect(lobby.frame().screen.lines[4].contains("Plan B  yours, Ada and Ben are on it"))
    // Opening the entry joins the running board with the local copy.
    #expect(Self.type("^[B\r", &lobby) == [.rejoin(board: "teamid", path: "/boards/team.whiteboard")])
    #expect(lobby.frame().screen.lines.last?.contains("o own copy") == true)
    #expect(Self.type("o", &lobby) == [.host("/boards/team.whiteboard")])
    lobby.lost(.init(peer: "adaid", name: "Ada", board: "teamid"))
    lobby.lost(.init(peer: "benid", name: "Ben", board: "teamid"))
    #expect(lobby.frame().screen.lines.contains { $0.contains("Plan B  3 objects") })
    lobby.found(Self.found("Art", "artid", by: "Ada", "otherid"))
    #expect(lobby.frame().screen.lines[3].contains("Ada (adaid), Ada (otherid) and Ben"))
  }

  @Test("the user can type a link or a name, and is asked for a join code if it is required") func prompts() {
    var lobby = Self.lobby()
    #expect(Self.type("N\u{15}plans\r", &lobby) == [.host("plans")])
    #expect(Self.type("a192.0.2.1:26273\r", &lobby) == [.join(target: "192.0.2.1:26273", code: nil)])
    lobby.fail("This board requires a join code: add --code WORDS", wantsCodeFor: "teamid")
    #expect(lobby.frame().screen.lines.contains { $0.contains("This board requires a join code.") })
    #expect(!lobby.frame().screen.lines.contains { $0.contains("--code") })
    #expect(lobby.frame().cursor?.y == 15)
    #expect(lobby.frame().screen.lines.last == "join code (four words):")
    #expect(Self.type("a-b-c-d\r", &lobby) == [.join(target: "teamid", code: "a-b-c-d")])
    lobby.clearError()
    #expect(!lobby.frame().screen.lines.contains { $0.contains("requires a join code") })
    lobby.fail("no", wantsCodeFor: "teamid")
    #expect(Self.type("^", &lobby) == [], "Escape leaves the prompt")
    #expect(Self.type("q", &lobby) == [.quit])
  }

  @Test("a long list scrolls by keys and the wheel", arguments: [(120, 40), (80, 24), (40, 12)]) func scrolling(
    columns: Int,
    rows: Int
  ) {
    var lobby = Self.lobby()
    lobby.resize(columns: columns, rows: rows)
    lobby.setBoards((1...60).map { .init(name: "board \($0).", path: "/\($0)", about: "1 object") })
    func shown(_ lobby: LobbyClient) -> String { lobby.frame().screen.lines.dropFirst().joined(separator: "\n") }
    #expect(shown(lobby).contains("board 1.") && !shown(lobby).contains("board 60."))
    #expect(lobby.frame().screen.lines[0].hasSuffix("1 of 60"))
    #expect(Self.type("^[4~", &lobby) == [])
    #expect(shown(lobby).contains("board 60.") && !shown(lobby).contains("board 1."))
    #expect(lobby.frame().screen.lines[0].hasSuffix("60 of 60"))
    #expect(Self.type("\r", &lobby) == [.host("/60")])
    #expect(Self.type("^[5~", &lobby) == [] && !shown(lobby).contains("board 1."))
    #expect(Self.type("^[1~\r", &lobby) == [.host("/1")])
    #expect(Self.type("^[6~^[6~^[5~^[5~\r", &lobby) == [.host("/1")])
    #expect(Self.type("^[<65;5;5M^[<65;5;5M\r", &lobby) == [.host("/3")])
    #expect(Self.type("^[H^[F\r", &lobby) == [.host("/60")], "Home and End with other codes")
    // A click opens the entry under the pointer.
    let lines = lobby.frame().screen.lines
    guard let row = lines.firstIndex(where: { $0.contains("board 59.") }) else {
      Issue.record("\(lines)")
      return
    }
    #expect(Self.type("^[<0;5;\(row + 1)M", &lobby) == [.host("/59")])
  }

  @Test("an error can be read completely, with its cause first", arguments: [(120, 40), (40, 12)]) func failure(
    columns: Int,
    rows: Int
  ) {
    var lobby = Self.lobby()
    lobby.resize(columns: columns, rows: rows)
    lobby.fail("/home/ada/boards/plan.whiteboard: it is damaged and cannot be opened", wantsCodeFor: nil)
    let lines = lobby.frame().screen.lines
    #expect(lines.contains { $0.hasPrefix(" it is damaged and cannot be") })
    #expect(lines.joined().contains("plan.whiteboard)"))
    #expect(lines.last?.contains("Enter open") == true)
  }

  @Test("a damaged board is marked in the list, with the command that recovers it") func damaged() {
    var lobby = Self.lobby()
    lobby.setBoards([.init(name: "plan", path: "/p", about: "DAMAGED: run whiteboard-peer boards recover /p")])
    let lines = lobby.frame().screen.lines
    #expect(lines.contains { $0.contains("plan  DAMAGED: run whiteboard-peer boards recover /p") })
  }

  @Test("the lobby is drawn at every size", arguments: [(1, 1), (5, 2), (20, 4), (200, 70)]) func sizes(
    columns: Int,
    rows: Int
  ) {
    var lobby = Self.lobby()
    lobby.found(Self.found("Team", "teamid"))
    lobby.resize(columns: columns, rows: rows)
    for keys in ["", "n漢字", "^"] {
      _ = Self.type(keys, &lobby)
      #expect(lobby.frame().screen.width == columns && lobby.frame().screen.height == rows)
    }
  }
}
