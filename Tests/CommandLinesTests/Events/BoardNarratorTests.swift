import PeerCore
import Testing

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

@Suite("The lines about a board for users and screen readers") struct BoardNarratorTests {
  private static let id: UInt64 = 5
  private static let ben = Sample.member(1)
  private static let cy = Sample.member(2)

  private var narrator = BoardNarrator()

  init() {
    _ = narrator.lines(for: Sample.joined(Self.ben, "Ben"), now: .zero)
    _ = narrator.lines(for: Sample.joined(Self.cy, "Cy"), now: .zero)
  }

  private func text(
    _ words: String,
    id: UInt64 = BoardNarratorTests.id,
    at x: Double = 0,
    selectedBy holder: MemberID? = nil
  ) -> ObjectSnapshot {
    Sample.object(.text, id: id, text: words, center: Point(x: x, y: 0), scale: 1, angle: 0, selectedBy: holder)
  }

  private func added(_ words: String, id: UInt64 = BoardNarratorTests.id, by peer: MemberID = BoardNarratorTests.ben)
    -> SharedBoard.Output
  { Sample.added(ReportedObject(text(words, id: id)), by: peer) }

  private func changed(_ keys: [String], _ object: ObjectSnapshot, by peer: MemberID = BoardNarratorTests.ben)
    -> SharedBoard.Output
  { Sample.changed(ReportedObject(object, changed: keys), by: peer) }

  @Test("a text that another member types is one line when the member pauses") mutating func typing() {
    #expect(narrator.lines(for: added("h"), now: .zero) == [])
    for (index, words) in ["he", "hel", "hell", "hello"].enumerated() {
      let now = Duration.seconds(index + 1)
      #expect(narrator.lines(for: changed(["text"], text(words)), now: now) == [])
      #expect(narrator.dueLines(now: now) == [])
    }
    #expect(narrator.nextDue == .seconds(6))
    #expect(narrator.dueLines(now: .seconds(5.9)) == [])
    #expect(narrator.dueLines(now: .seconds(6)) == [#"+ Ben: text "hello" at 0,0"#])
    #expect(narrator.nextDue == nil && narrator.allLines() == [])
  }

  @Test("a drag of another member is one line when the object is free again") mutating func dragging() {
    for x in 1...20 {
      let object = text("hello", at: Double(x), selectedBy: Self.ben)
      #expect(narrator.lines(for: changed(["centerPosition"], object), now: .zero) == [])
    }
    let free = SharedBoard.Output.change(.selected(Sample.id(Self.id), by: nil), .init())
    #expect(
      narrator.lines(for: free, now: .zero) == [
        #"~ Ben: text "hello", moved to 20,0"#, #"text "hello" is free"#,
      ]
    )
  }

  @Test("the next action of the same member ends the line, and that of another member does not")
  mutating func nextAction() {
    _ = narrator.lines(for: added("one", id: 1), now: .zero)
    #expect(narrator.lines(for: added("two", id: 2, by: Self.cy), now: .zero) == [])
    #expect(narrator.lines(for: added("three", id: 3), now: .zero) == [#"+ Ben: text "one" at 0,0"#])
    let chat = Sample.chat(Self.ben, name: "Ben", "hi")
    #expect(narrator.lines(for: chat, now: .zero) == [#"+ Ben: text "three" at 0,0"#, "<Ben (aeaqcaib)> hi"])
    #expect(narrator.allLines() == [#"+ Cy: text "two" at 0,0"#])
  }

  @Test("own changes, and changes that are not gradual, appear at once") mutating func immediate() {
    let ready = SharedBoard.News.Ready(
      peer: Sample.member(9).description,
      name: "me",
      addresses: [],
      port: 0,
      board: "",
      boardName: "",
      admit: "ask",
      link: "",
      announced: false
    )
    _ = narrator.lines(for: .news(.ready(ready)), now: .zero)
    #expect(
      narrator.lines(for: added("own", by: Sample.member(9)), now: .zero) == [#"+ text 5-abcdefghijklm "own" at 0,0"#]
    )
    #expect(
      narrator.lines(for: changed(["color"], text("own")), now: .zero) == [
        #"~ Ben: text "own", changed (color)"#
      ]
    )
    let selected = SharedBoard.Output.change(
      .selected(Sample.id(Self.id), by: .me),
      .init(member: Self.ben, name: "Ben")
    )
    #expect(narrator.lines(for: selected, now: .zero) == [#"Ben selected text "own""#])
    let removed = SharedBoard.Output.change(.removed(Sample.id(Self.id), by: .me), .init(member: Self.ben))
    #expect(narrator.lines(for: removed, now: .zero) == [#"- Ben: text "own" deleted"#])
    #expect(narrator.lines(for: removed, now: .zero) == ["- Ben: 5-abcdefghijklm deleted"])
  }

  @Test("a stroke is one line when it is finished, and two members of one name are shown apart") mutating func strokes()
  {
    _ = narrator.lines(for: Sample.joined(Sample.member(3), "Ben"), now: .zero)
    func stroke(isFinished: Bool) -> ObjectSnapshot {
      Sample.object(.drawing, id: Self.id, isFinished: isFinished, center: Point(x: 0, y: 0), scale: 1, angle: 0)
    }
    let event = Sample.added(ReportedObject(stroke(isFinished: false)), by: Self.ben)
    #expect(narrator.lines(for: event, now: .zero) == [])
    #expect(
      narrator.lines(for: changed(["isFinished"], stroke(isFinished: true)), now: .zero) == [
        "+ Ben (aeaqcaib): drawing 5 at 0,0"
      ]
    )
  }

  @Test("shapes are named by their labels, with the shapes to which arrows connect them") mutating func diagram() throws
  {
    let member = try #require(MemberID(bytes: Array(repeating: 1, count: 32)))
    let board = Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_000_000)
    let login = try board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "Login server")
    let data = try board.createForm(.ellipse, at: Point(x: 400, y: 0), label: "Database")
    let arrow = try board.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: [Point(x: 0, y: 0), Point(x: 400, y: 0)],
      from: Binding(to: login),
      to: Binding(to: data)
    )
    func snapshot(_ id: ObjectID) throws -> ObjectSnapshot { try #require(board.snapshot(id)) }
    func lines(_ event: SharedBoard.Output) -> [String] { narrator.lines(for: event, now: .zero) + narrator.allLines() }
    var told: [String] = []
    for id in [login, data, arrow] {
      told += lines(Sample.added(ReportedObject(try snapshot(id)), by: Self.ben))
    }
    #expect(
      told.prefix(2) == ["+ Ben: rectangle labeled Login server at 0,0", "+ Ben: ellipse labeled Database at 400,0"]
    )
    #expect(told[2].hasPrefix("+ Ben: arrow from Login server to Database at "))
    let moved = changed(["centerPosition"], try snapshot(login))
    #expect(lines(moved) == ["~ Ben: rectangle labeled Login server, connected to Database, moved to 0,0"])
  }
}
