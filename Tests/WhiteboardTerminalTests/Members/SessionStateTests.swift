import Testing
import Whiteboard

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The session as the board reports it") struct SessionStateTests {
  @Test("a new chat line is announced, and the history is not") func chat() throws {
    let bob = try Desk.memberID(2)
    var session = SessionState()
    let line = session.receive(Desk.chat(bob, "hi"), now: .zero)
    #expect(line == [.chatReceived(author: "Bob", text: "hi")])
    let history = session.receive(.answer(.chat([Desk.chatLine(bob, "hi")])), now: .zero)
    #expect(history.isEmpty && session.chat.lines.count == 1, "the history replaces the lines")
  }

  @Test("a question and a removal have effects on the rest of the screen") func effects() throws {
    let bob = try Desk.memberID(2).description
    var session = SessionState()
    _ = session.receive(Desk.joined(try Desk.memberID(2), "Bob"), now: .zero)
    let question = session.receive(
      .news(.invitation(.init(id: "i1", peer: "eve", name: "Eve", direction: .incoming, mustAnswer: true))),
      now: .zero
    )
    #expect(question == [.questionReceived] && !session.questions.isEmpty)
    for (isReadOnly, expected) in [(true, [BoardEffect.membershipEnded]), (false, [])] {
      let removed = SharedBoard.News.Removed(
        peer: bob,
        name: "Bob",
        reason: "",
        message: "Bob removed you.",
        readOnly: isReadOnly,
        canContinue: true
      )
      let effects = session.receive(.news(.removed(removed)), now: .zero)
      #expect(effects == expected && session.members.isEmpty && session.questions.isEmpty)
    }
  }

  @Test("the attempt to join ends when the session is connected, and the board arrives later") func connecting() {
    var session = SessionState()
    session.connect(to: "team", now: .zero)
    #expect(session.connection != nil && session.board.isAwaited)
    session.begin(
      .init(
        peer: "own",
        name: "Anna",
        addresses: [],
        port: 1,
        board: "b",
        boardName: "Plans",
        admit: "anyone",
        code: nil,
        link: "link",
        announced: true
      )
    )
    #expect(session.connection == nil && session.board.name == "Plans")
    #expect(session.board.isAwaited && session.board.isAnnounced)
    _ = session.receive(.change(.caughtUp, .init()), now: .zero)
    #expect(!session.board.isAwaited)
  }

  @Test("a question that another member settles is counted no longer, and is no new line") func settled() throws {
    var session = SessionState()
    let about = try Desk().board.createText("plan", at: Point(x: 0, y: 0))
    let bob = try Desk.memberID(2)
    func receive(_ number: UInt64, _ isResolved: Bool = false) -> Int {
      let line = Desk.chatLine(bob, "why?", number: number, about: about, isResolved)
      return session.receive(.change(.chat(line, by: .me), .init(member: bob)), now: .zero).count
    }
    #expect(receive(1) == 1 && receive(2) == 1)
    #expect(session.chat.comments == [about: 2] && session.chat.lines.count == 2)
    #expect(receive(1, true) == 0)
    #expect(session.chat.comments == [about: 1] && session.chat.lines.count == 2)
    #expect(receive(1) == 0 && session.chat.comments == [about: 2])
  }
}
