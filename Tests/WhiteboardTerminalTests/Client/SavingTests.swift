import Testing
import WhiteboardDocument
import WhiteboardRendering

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Unsaved work, on a terminal") struct SavingTests {
  private static let full = SaveState.notSaved(SaveProblem(DocumentError(.full, "FILE: full")))

  private func isRed(_ screen: Screen, row: Int) -> Bool { screen[0, row].style == CellStyle.problem.bold }

  @Test(
    "the problem is first and in red on every screen of the board, at every size",
    arguments: [(120, 40), (80, 24), (40, 12), (30, 3), (24, 1)]
  ) func everywhere(_ columns: Int, _ rows: Int) throws {
    var desk = try Desk()
    desk.client.resize(columns: columns, rows: rows)
    desk.client.applyChange(.saving(Self.full))
    // The board, the menu, all keys, how others join, a prompt, a text, the question, a message.
    for keys in ["", " ", "^?", "^J", "^:move", "^^q", "^" + "q", "^:undo\r"] {
      _ = desk.type(keys)
      desk.client.say("a message")
      let screen = desk.client.frame().screen
      #expect(screen.lines[0].hasPrefix(" NOT SAVED: disk full"), "\(keys)")
      #expect(isRed(screen, row: 0), "\(keys)")
      desk.client.messages.notice = nil
      #expect(!desk.lines().contains { $0.contains("aved;") || $0.contains("Everything is saved") })
    }
  }

  @Test("the bottom line shows the save state, and shows `saved` only if everything is saved") func status() throws {
    var desk = try Desk()
    func bottom() -> String { desk.lines().last ?? "" }
    #expect(bottom().contains(" saved; synced with 1"))
    desk.client.applyChange(.saving(.saving))
    #expect(bottom().contains(" saving; synced with 1"))
    desk.client.applyChange(.saving(Self.full))
    #expect(bottom().contains(" NOT SAVED: disk full; synced with 1"))
    // A failed command must not clear the warning.
    #expect(desk.type("u") == ["undo"])
    _ = desk.client.receive(
      .answer(.error(CommandError(.notSaved, "no").answering(verb: "undo", request: .number(1), line: nil)))
    )
    desk.now += .seconds(60)
    _ = desk.tick()
    #expect(bottom().contains(" NOT SAVED: disk full"))
    desk.client.applyChange(.saving(.off))
    #expect(bottom().contains(" not stored; synced with 1"))
    desk.client.applyChange(.saving(.saved))
    #expect(bottom().contains(" saved; synced with 1"))
    #expect(!desk.lines()[0].contains("NOT SAVED"))
  }

  @Test(
    "each command that leaves the board asks first if work would be lost",
    arguments: ["q", ":q\r", ":quit\r", "\u{3}\u{3}"]
  ) func asks(_ keys: String) throws {
    var desk = try Desk()
    desk.client.applyChange(.saving(Self.full))
    #expect(desk.type(keys) == [])
    let lines = desk.lines()
    for words in ["Quitting now loses", "r try again", "s save a copy elsewhere", "x quit anyway", "Esc stay"] {
      #expect(lines.contains { $0.contains(words) }, "\(words)")
    }
    #expect(desk.type("qy") == [], "no key quits that a user may press twice by mistake")
    #expect(desk.type("r") == ["save"])
    #expect(desk.type("^") == [])
    #expect(!desk.lines().contains { $0.contains("Quitting now") })
    _ = desk.type(keys)
    #expect(desk.type("s/tmp/b.whiteboard\r") == [#"save-as "/tmp/b.whiteboard""#])
    _ = desk.type(keys)
    #expect(desk.type("x") == ["QUIT"])
  }

  @Test("the question before quitting ends when everything is saved or in a copy") func leavesWhenSaved() throws {
    for end in [SaveState.saved, .notSaved(SaveProblem(DocumentError(.full, ""), copy: "copy"))] {
      var desk = try Desk()
      desk.client.applyChange(.saving(Self.full))
      #expect(desk.type("q") == [])
      desk.client.applyChange(.saving(.saving))
      #expect(!desk.tick().contains("QUIT"))
      desk.client.applyChange(.saving(end))
      #expect(desk.tick() == ["QUIT"])
      // Quitting again asks no question.
      #expect(desk.type("q") == ["QUIT"])
    }
  }

  @Test("a request to end the program asks once, and a second request ends it") func requestToEnd() throws {
    var desk = try Desk()
    desk.client.applyChange(.saving(Self.full))
    #expect(desk.client.leaveAtRequest() == [])
    #expect(desk.client.leaveAtRequest() == [.quit])
    desk = try Desk()
    #expect(desk.client.leaveAtRequest() == [.quit])
    #expect(desk.type(":quit anyway\r") == ["QUIT"])
  }

  @Test("the lobby reports the unsaved work of the board that was left", arguments: [(120, 40), (40, 12)]) func lobby(
    _ columns: Int,
    _ rows: Int
  ) {
    var lobby = LobbyClient(columns: columns, rows: rows, suggestion: "board")
    lobby.problem = Self.full.problem
    _ = lobby.handleInput(.key(.down, []), now: .seconds(9))
    let screen = lobby.frame().screen
    #expect(screen.lines[0].hasPrefix(" NOT SAVED: disk full"))
    #expect(isRed(screen, row: 0))
  }
}
