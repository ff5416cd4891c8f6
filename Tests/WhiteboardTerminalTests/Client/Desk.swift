import PeerCore
import Testing
import WhiteboardRendering
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

/// A client of Anna, who draws on a board on which Bob is present.
struct Desk {
  static func memberID(_ number: UInt8) throws -> MemberID {
    try #require(MemberID(bytes: Array(repeating: number, count: 32)))
  }

  static func member(_ id: MemberID) -> SharedBoard.Member { SharedBoard.Member(id: .init(id), name: "") }

  static func joined(_ id: MemberID, _ name: UntrustedText) -> SharedBoard.Output {
    .change(.joined(.init(id: .init(id), name: name)), .init(member: id, name: name))
  }

  static func chat(_ author: MemberID, _ text: String) -> SharedBoard.Output {
    .change(.chat(chatLine(author, text), by: .other(member(author))), .init(member: author))
  }

  /// Returns a chat line that Bob's board created.
  static func chatLine(
    _ author: MemberID,
    _ text: String,
    number: UInt64 = 1,
    about: ObjectID? = nil,
    _ isResolved: Bool = false
  )
    -> ChatLine
  {
    ChatLine(
      id: ObjectID(Dot(Incarnation(2), number)),
      author: author,
      name: "Bob",
      icon: nil,
      text: text,
      sentAt: 0,
      about: about,
      isResolved: isResolved,
      time: HybridTime(0)
    )
  }

  let board: Board
  var client = BoardClient(columns: 100, rows: 24, dotStyle: .braille)
  var now = Duration.zero
  private var known: Set<ObjectID> = []

  init() throws {
    client.layout.rowsForTools = 30
    client.fitBoard()
    let own = try Desk.memberID(1)
    board = Board(incarnation: Incarnation(1), member: own, wallClock: 1_700_000_000_000)
    board.authors[Incarnation(1)] = own
    board.presentMembers = [try Desk.memberID(2)]
    _ = client.receive(
      .news(
        .ready(
          .init(
            peer: own.description,
            name: "Anna",
            addresses: [],
            port: 1,
            board: "b",
            boardName: "Plans",
            admit: "anyone",
            code: nil,
            link: "whiteboard://127.0.0.1:1/b?peer=p",
            announced: false
          )
        )
      )
    )
    client.applyChange(.saving(.saved))
    _ = client.receive(Desk.joined(try Desk.memberID(2), "Bob"))
  }

  /// Sends the contents of the board to the client.
  mutating func sync() {
    let snapshots = board.snapshots
    for id in known.subtracting(snapshots.map(\.id)) { client.applyChange(.removed(id, by: .me)) }
    for snapshot in snapshots {
      if let game = board.gameView(snapshot.id, for: board.member) { client.applyChange(.game(game)) }
      client.applyChange(.changed(snapshot, by: .me))
    }
    known = Set(snapshots.map(\.id))
  }

  /// Types keys and moves the mouse, and returns the actions as lines of a script.
  mutating func type(_ text: String) -> [String] {
    var parser = InputParser()
    let events = parser.feed(text.replacing("^", with: "\u{1B}").utf8) + parser.finish()
    now += .milliseconds(50)
    return events.flatMap { client.handleInput($0, now: now) }.compactMap(Self.line)
  }

  mutating func tick() -> [String] {
    now += .milliseconds(50)
    return client.beginFrame(now: now).compactMap(Self.line)
  }

  static func line(_ action: BoardClient.Action) -> String? {
    switch action {
    case .command(let request): request.isParsedFromLine ? request.line : "NOT PARSED \(request.line)"
    case .quit: "QUIT"
    case .redraw: "REDRAW"
    case .suspend: "SUSPEND"
    case .clipboard(let text): "CLIPBOARD \(text)"
    case .findFiles(let beginning): "FILES \(beginning)"
    case .open(let link): "OPEN \(link)"
    case .storeCopies(let drawing): "STORE \(drawing)"
    }
  }

  mutating func lines() -> [String] { client.frame().screen.lines }
}
