import PeerCore
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The screen while the program connects") struct ConnectingTests {
  private static func client(_ columns: Int = 80, _ rows: Int = 24) -> BoardClient {
    var client = BoardClient(columns: columns, rows: rows, dotStyle: .braille)
    client.connect(to: "192.0.2.7:26273", now: .zero)
    return client
  }

  private static func type(_ text: String, _ client: inout BoardClient) -> [BoardClient.Action] {
    var parser = InputParser()
    let events = parser.feed(text.replacing("^", with: "\u{1B}").utf8) + parser.finish()
    return events.flatMap { client.handleInput($0, now: .seconds(3)) }
  }

  private static func id(_ number: UInt8) -> String {
    MemberID(bytes: Array(repeating: number, count: 32))?.description ?? ""
  }

  /// Returns the event about the request to join, with the words to compare.
  private static func request(mustAnswer: Bool) -> SharedBoard.Output {
    .news(
      .invitation(
        .init(id: "to-1", peer: Self.id(2), name: "Ada", words: "a b c", direction: .outgoing, mustAnswer: mustAnswer)
      )
    )
  }

  private static func ready(_ board: String = "boardid") -> SharedBoard.Output {
    .news(
      .ready(
        .init(
          peer: Self.id(1),
          name: "Ben",
          addresses: [],
          port: 1,
          board: board,
          boardName: "Team",
          admit: "anyone",
          code: nil,
          link: "",
          announced: false
        )
      )
    )
  }

  @Test("each step of the attempt is shown, with its address and the awaited user") func steps() {
    var client = Self.client()
    var lines = client.frame().screen.lines
    #expect(lines.contains { $0.contains("Connecting to 192.0.2.7:26273") })
    for (joining, text) in [
      (SharedBoard.News.Joining(step: .connecting, address: "192.0.2.7:26273"), "Dialing."),
      (.init(step: .awaitingAnswer, address: "192.0.2.7:26273"), "Connected; waiting for an answer"),
      (.init(step: .provingCode), "Checking the join code."),
      (.init(step: .awaitingAcceptance, name: "Ada"), "Waiting for Ada to accept."),
    ] {
      _ = client.receive(.news(.joining(joining)))
      lines = client.frame().screen.lines
      #expect(lines.contains { $0.contains(text) }, "\(lines)")
      #expect(lines.contains { $0.contains("Esc or q cancels") })
    }
    _ = client.beginFrame(now: .seconds(7))
    #expect(client.frame().screen.lines.contains { $0.contains("7 s   Esc or q cancels") })
    #expect(client.isTicking)
    _ = client.receive(
      .news(
        .invitation(
          .init(
            id: "to-1",
            peer: "abcdefgh",
            name: "Ada",
            words: "one two three",
            direction: .outgoing,
            mustAnswer: true,
            seconds: 300
          )
        )
      )
    )
    _ = client.beginFrame(now: .seconds(67))
    lines = client.frame().screen.lines
    #expect(lines.contains { $0.contains("4:00 left to answer") }, "\(lines)")
    #expect(Self.type("y", &client).count == 1)
    _ = client.beginFrame(now: .seconds(67))
    lines = client.frame().screen.lines
    #expect(lines.contains { $0.contains("67 s   4:00 left to accept   Esc or q cancels") })
  }

  @Test("drawing, typing and pasting work only after the session is connected") func drawing() {
    var client = Self.client()
    let drag = "^[<0;10;10M^[<32;20;12M^[<0;30;14m"
    #expect(Self.type(drag + "t" + ":objects\r" + "u", &client) == [])
    #expect(!client.frame().screen.lines.contains { $0.contains("Drag to draw") })
    _ = client.receive(Self.ready())
    #expect(client.frame().screen.lines.contains { $0.contains("Drag to draw") })
    #expect(!Self.type(drag, &client).isEmpty)
  }

  @Test("Esc, q and Ctrl+C cancel", arguments: ["^", "q", "\u{3}", "\u{4}"]) func canceling(key: String) {
    var client = Self.client()
    #expect(Self.type(key, &client) == [.quit])
  }

  @Test("the user can compare words while the program connects") func comparing() {
    var client = Self.client()
    _ = client.receive(Self.request(mustAnswer: true))
    #expect(client.frame().screen.lines.contains { $0.contains("a b c") })
    #expect(Self.type("y", &client) == [.command(CommandRequest(.accept(target: "to-1"), request: .number(1)))])
  }

  @Test("a user who joins by a link sees the words that the host is asked to compare") func wordsForHost() {
    var client = Self.client()
    _ = client.receive(Self.request(mustAnswer: false))
    #expect(client.frame().screen.lines.contains { $0.contains("a b c") })
    #expect(Self.type("y", &client) == [])
    _ = client.receive(.news(.joining(.init(step: .connecting, address: "192.0.2.7:26273"))))
    #expect(!client.frame().screen.lines.contains { $0.contains("a b c") })
  }

  @Test("once the session is connected, the bottom line names the member whose board is awaited") func awaitingBoard()
    throws
  {
    var client = Self.client()
    _ = client.receive(Self.ready())
    #expect(client.frame().screen.lines[23].contains("looking for the other members"))
    _ = client.receive(Desk.joined(try Desk.memberID(2), "Ada"))
    #expect(client.frame().screen.lines[23].contains("getting the board from Ada"))
    _ = client.receive(.change(.caughtUp, .init(member: try Desk.memberID(2), name: "Ada", count: 2)))
    #expect(client.frame().screen.lines[23].contains("synced with 1"))
  }

  @Test("members that announce the board and are not connected are named instead of `only you`") func lookingFor()
    throws
  {
    var client = BoardClient(columns: 80, rows: 24, dotStyle: .braille)
    func found(_ peer: String, _ name: UntrustedText, _ board: String) -> SharedBoard.Output {
      .news(.peerFound(.init(peer: peer, name: name, board: board, boardName: "Team")))
    }
    _ = client.receive(found(Self.id(2), "Ada", "boardid"))
    _ = client.receive(Self.ready())
    _ = client.receive(found(Self.id(3), "Ben", "boardid"))
    _ = client.receive(found(Self.id(4), "Cy", "another"))
    _ = client.receive(found(Self.id(1), "us", "boardid"))
    var lines = client.frame().screen.lines
    #expect(lines[0].contains("Looking for Ada and Ben …") && !lines[0].contains("only you"))
    #expect(lines[23].contains("looking for Ada and Ben"))
    _ = client.receive(.news(.peerLost(.init(peer: Self.id(3), name: "Ben", board: "boardid"))))
    #expect(client.frame().screen.lines[0].contains("Looking for Ada …"))
    _ = client.receive(Desk.joined(try Desk.memberID(2), "Ada"))
    lines = client.frame().screen.lines
    #expect(lines[0].contains("2 people"))
  }

  @Test("the screen is drawn at every size", arguments: [(1, 1), (5, 2), (40, 12), (200, 70)]) func sizes(
    columns: Int,
    rows: Int
  ) {
    var client = Self.client(columns, rows)
    let screen = client.frame().screen
    #expect(screen.width == columns && screen.height == rows)
  }
}
