import PeerCore
import Testing

@testable import CommandLines
@testable import Whiteboard
@testable import WhiteboardKit

@Suite("The lines about a board for users and screen readers") struct BoardNarratorTests {
  private static let id = "5-abcdefghijklm"
  private static let ben = "ben-peer-id"

  private var narrator = BoardNarrator()

  init() {
    _ = narrator.lines(for: .joined(.init(peer: Self.ben, name: "Ben")), now: .zero)
    _ = narrator.lines(for: .joined(.init(peer: "cy-peer-id", name: "Cy")), now: .zero)
  }

  private func text(
    _ words: String,
    id: String = BoardNarratorTests.id,
    at x: Double = 0,
    selectedBy holder: String? = nil
  ) -> BoardEvent.ObjectDescription {
    BoardEvent.ObjectDescription(
      id: id,
      type: "text",
      centerPosition: [x, 0],
      size: [1, 1],
      scale: 1,
      angle: 0,
      selectedBy: holder,
      zIndex: "",
      updatedAt: "",
      text: UntrustedText(words)
    )
  }

  private func added(_ words: String, id: String = BoardNarratorTests.id, by peer: String? = BoardNarratorTests.ben)
    -> BoardEvent
  { .objectAdded(.init(id: id, object: text(words, id: id), by: peer)) }

  private func changed(
    _ keys: [String],
    _ object: BoardEvent.ObjectDescription,
    by peer: String? = BoardNarratorTests.ben
  ) -> BoardEvent { .objectChanged(.init(id: object.id, changed: keys, object: object, by: peer)) }

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
    let free = BoardEvent.selected(.init(id: Self.id))
    #expect(
      narrator.lines(for: free, now: .zero) == [
        #"~ Ben: text "hello", moved to 20,0"#, #"text "hello" is free"#,
      ]
    )
  }

  @Test("the next action of the same member ends the line, and that of another member does not")
  mutating func nextAction() {
    _ = narrator.lines(for: added("one", id: "1-a"), now: .zero)
    #expect(narrator.lines(for: added("two", id: "2-a", by: "cy-peer-id"), now: .zero) == [])
    #expect(narrator.lines(for: added("three", id: "3-a"), now: .zero) == [#"+ Ben: text "one" at 0,0"#])
    let chat = BoardEvent.chat(.init(id: "c", peer: Self.ben, name: "Ben", text: "hi", at: ""))
    #expect(narrator.lines(for: chat, now: .zero) == [#"+ Ben: text "three" at 0,0"#, "<Ben (ben-peer)> hi"])
    #expect(narrator.allLines() == [#"+ Cy: text "two" at 0,0"#])
  }

  @Test("own changes, and changes that are not gradual, appear at once") mutating func immediate() {
    #expect(narrator.lines(for: added("own", by: nil), now: .zero) == [#"+ text \#(Self.id) "own" at 0,0"#])
    #expect(
      narrator.lines(for: changed(["color"], text("own")), now: .zero) == [
        #"~ Ben: text "own", changed (color)"#
      ]
    )
    let selected = BoardEvent.selected(.init(id: Self.id, peer: Self.ben, name: "Ben"))
    #expect(narrator.lines(for: selected, now: .zero) == [#"Ben selected text "own""#])
    let removed = BoardEvent.objectRemoved(.init(id: Self.id, by: Self.ben))
    #expect(narrator.lines(for: removed, now: .zero) == [#"- Ben: text "own" deleted"#])
    #expect(narrator.lines(for: removed, now: .zero) == ["- Ben: \(Self.id) deleted"])
  }

  @Test("a stroke is one line when it is finished, and two members of one name are shown apart") mutating func strokes()
  {
    _ = narrator.lines(for: .joined(.init(peer: "another-ben", name: "Ben")), now: .zero)
    var stroke = text("")
    (stroke.type, stroke.text, stroke.isFinished) = ("drawing", nil, false)
    let event = BoardEvent.objectAdded(.init(id: Self.id, object: stroke, by: Self.ben))
    #expect(narrator.lines(for: event, now: .zero) == [])
    stroke.isFinished = true
    #expect(
      narrator.lines(for: changed(["isFinished"], stroke), now: .zero) == [
        "+ Ben (ben-peer): drawing 5 at 0,0"
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
    func description(_ id: ObjectID) throws -> BoardEvent.ObjectDescription { .init(try #require(board.snapshot(id))) }
    func lines(_ event: BoardEvent) -> [String] { narrator.lines(for: event, now: .zero) + narrator.allLines() }
    var told: [String] = []
    for id in [login, data, arrow] {
      told += lines(.objectAdded(.init(id: "\(id)", object: try description(id), by: Self.ben)))
    }
    #expect(
      told.prefix(2) == ["+ Ben: rectangle labelled Login server at 0,0", "+ Ben: ellipse labelled Database at 400,0"]
    )
    #expect(told[2].hasPrefix("+ Ben: arrow from Login server to Database at "))
    let moved = changed(["centerPosition"], try description(login))
    #expect(lines(moved) == ["~ Ben: rectangle labelled Login server, connected to Database, moved to 0,0"])
  }
}
