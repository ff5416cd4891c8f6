import PeerCore
import Testing

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The lobby in lines") struct LineLobbyTests {
  private var lobby = LineLobby(suggestion: "Ada board")

  private func announced(_ board: String, _ name: String, by host: String) -> SharedBoard.News.FoundBoard {
    .init(
      peer: "peer-\(host)",
      name: UntrustedText(host),
      board: board,
      boardName: UntrustedText(name),
      addresses: ["192.0.2.7:26273"],
      participants: 1,
      admit: "code"
    )
  }

  @Test("the boards are numbered, and a number opens one") mutating func numbers() {
    lobby.setBoards([.init(name: "plans", path: "/b/plans.whiteboard", about: "2 objects")])
    let empty = lobby.list()
    #expect(
      empty.prefix(4) == [
        "Boards nearby:", "  no boards yet; a line appears for each new board", "Your boards:", "  1  plans  2 objects",
      ]
    )
    #expect(
      lobby.found(announced("b1", "standup", by: "Ben")) == [
        "nearby: 2  standup  Ben  1 person  192.0.2.7:26273  join code required"
      ]
    )
    #expect(lobby.found(announced("b1", "standup", by: "Ben")) == [], "the board is listed already")
    #expect(lobby.enter("1") == .choice(.host("/b/plans.whiteboard")))
    #expect(lobby.enter(" 2 ") == .choice(.join(target: "b1", code: nil)))
    #expect(lobby.list().contains("  1  standup  Ben  1 person  192.0.2.7:26273  join code required"))
    #expect(lobby.enter("1") == .choice(.join(target: "b1", code: nil)))
    #expect(
      lobby.lost(.init(peer: "peer-Ben", name: "Ben", board: "b1")).first?.hasPrefix("no longer nearby: standup")
        == true
    )
  }

  @Test("a command opens, joins, lists, explains or quits") mutating func commands() {
    #expect(lobby.enter("new") == .choice(.host("Ada board")))
    #expect(lobby.enter("new Team plan") == .choice(.host("Team plan")))
    #expect(lobby.enter("join 192.0.2.7:1") == .choice(.join(target: "192.0.2.7:1", code: nil)))
    #expect(lobby.enter("quit") == .choice(.quit))
    #expect(lobby.enter("") == .lines([]))
    for wrong in ["7", "join", "own 1", "fly me to the moon"] {
      guard case .lines(let lines) = lobby.enter(wrong) else {
        Issue.record("\(wrong) is a choice")
        return
      }
      #expect(lines.first?.hasPrefix("! ") == true, "\(wrong)")
    }
  }

  @Test("one's own copy of a board nearby is opened by number, online or alone") mutating func ownCopy() {
    lobby.setBoards([.init(name: "plans", path: "/b/plans.whiteboard", about: "", board: "b1")])
    _ = lobby.found(announced("b1", "plans", by: "Ben"))
    _ = lobby.list()
    #expect(lobby.enter("1") == .choice(.rejoin(board: "b1", path: "/b/plans.whiteboard")))
    #expect(lobby.enter("own 1") == .choice(.host("/b/plans.whiteboard")))
  }

  @Test("after a refusal without a code, the next line is the code") mutating func code() {
    let error = WhiteboardError(.notAllowed, "This board requires a join code\(WhiteboardError.codeAdvice)")
    let asked = lobby.fail(error, .join(target: "b1", code: nil))
    #expect(asked == ["! This board requires a join code.", "Type the join code (four words), or cancel:"])
    #expect(lobby.enter("river maple candy frost") == .choice(.join(target: "b1", code: "river maple candy frost")))
    _ = lobby.fail(error, .join(target: "b1", code: nil))
    guard case .lines = lobby.enter("cancel") else {
      Issue.record("not canceled")
      return
    }
    #expect(lobby.enter("quit") == .choice(.quit))
  }

  @Test("a code is asked for only if it would help") func wantsCode() {
    let choice = LobbyClient.Choice.join(target: "b1", code: nil)
    let wrong = WhiteboardError(.notAllowed, "The join code is wrong.", isAboutCode: true)
    #expect(choice.targetThatNeedsCode(after: wrong) == "b1")
    let differing = WhiteboardError(.notAllowed, "The words are not the same on both screens.")
    #expect(choice.targetThatNeedsCode(after: differing) == nil)
    #expect(LobbyClient.Choice.join(target: "b1", code: "x").targetThatNeedsCode(after: differing) == "b1")
  }
}
