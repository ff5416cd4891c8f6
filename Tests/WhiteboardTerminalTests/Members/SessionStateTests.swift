import Testing
import Whiteboard

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The session as the board reports it") struct SessionStateTests {
  private static let line = BoardEvent.Chat(id: "1", peer: "bob", name: "Bob", text: "hi", at: "")

  @Test("a new chat line is announced, and the history is not") func chat() {
    var session = SessionState()
    let line = session.receive(.chat(Self.line), now: .zero)
    #expect(line == [.chatReceived(author: "Bob", text: "hi")])
    let history = session.receive(.chatHistory(.init(count: 1, lines: [Self.line])), now: .zero)
    #expect(history.isEmpty && session.chat.lines.count == 1, "the history replaces the lines")
  }

  @Test("a question and a removal have effects on the rest of the screen") func effects() throws {
    let bob = try Desk.memberID(2).description
    var session = SessionState()
    _ = session.receive(.joined(.init(peer: bob, name: "Bob")), now: .zero)
    let question = session.receive(
      .invitation(.init(id: "i1", peer: "eve", name: "Eve", direction: .incoming, mustAnswer: true)),
      now: .zero
    )
    #expect(question == [.questionReceived] && !session.questions.isEmpty)
    for (isReadOnly, expected) in [(true, [BoardEffect.membershipEnded]), (false, [])] {
      let removed = BoardEvent.Removed(
        peer: bob,
        name: "Bob",
        reason: "",
        message: "Bob removed you.",
        readOnly: isReadOnly,
        canContinue: true
      )
      let effects = session.receive(.removed(removed), now: .zero)
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
    _ = session.receive(.caughtUp(.init(peer: "bob", name: "Bob", objects: 2)), now: .zero)
    #expect(!session.board.isAwaited)
  }

  @Test("a question that another member settles is counted no longer, and is no new line") func settled() throws {
    var session = SessionState()
    let about = try Desk().board.createText("plan", at: Point(x: 0, y: 0))
    let peer = try Desk.memberID(2).description
    func receive(_ id: String, _ isResolved: Bool?) -> Int {
      let line = BoardEvent.Chat(
        id: id,
        peer: peer,
        name: "Bob",
        text: "why?",
        at: "",
        about: about.description,
        isResolved: isResolved
      )
      return session.receive(.chat(line), now: .zero).count
    }
    #expect(receive("1", nil) == 1 && receive("2", nil) == 1)
    #expect(session.chat.comments == [about: 2] && session.chat.lines.count == 2)
    #expect(receive("1", true) == 0)
    #expect(session.chat.comments == [about: 1] && session.chat.lines.count == 2)
    #expect(receive("1", nil) == 0 && session.chat.comments == [about: 2])
  }
}
