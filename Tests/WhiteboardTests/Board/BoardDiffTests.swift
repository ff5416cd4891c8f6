import Testing

@testable import Whiteboard

@Suite struct BoardDiffTests {
  private func board(_ number: UInt64) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1_700_000_000_000)
  }

  @Test func `equal boards have no differences, and invisible changes are not differences`() throws {
    let board = board(1)
    let id = try board.createText("x", at: Point(x: 1, y: 2))
    let before = board.state
    #expect(BoardDiff.between(before, board.state).isEmpty)
    try board.object(id)?.select()
    try board.object(id)?.move(to: Point(x: 9, y: 9))
    try board.object(id)?.move(to: Point(x: 1, y: 2))
    try board.write(id, .lock, .unsigned(0))
    #expect(BoardDiff.between(before, board.state).isEmpty)
  }

  @Test func `additions, removals and changes are listed in order, with the keys of the JSON`() throws {
    let board = board(1)
    let kept = try board.createText("old", at: Point(x: 1, y: 2))
    let gone = try board.createText("gone", at: Point(x: 0, y: 0))
    let before = board.state
    try board.text(kept).update(text: "new")
    try board.object(kept)?.scale(to: 2)
    try board.delete(gone)
    let line = try board.say("hi\u{202E}", as: "Anna")
    let diff = BoardDiff.between(before, board.state)
    #expect(diff.changes.map(\.id) == [kept, gone, line])
    #expect(diff.changes.map(\.fate) == [.changed, .removed, .added])
    #expect(
      diff.changes.first?.json
        == #"{"change":"changed","id":"\#(kept)","type":"text","before":{"scale":1,"text":"old"},"#
        + #""after":{"scale":2,"text":"new"}}"#
    )
    #expect(diff.changes.last?.json.contains(#""text":"hi\u202e""#) == true)
    #expect(diff.changes[1].fields.contains { $0.name == "text" && $0.before == #""gone""# })
    let back = BoardDiff.between(board.state, before)
    #expect(back.changes.map(\.fate) == [.changed, .added, .removed])
  }

  @Test func `a difference includes settings, unknown properties and moves`() throws {
    let board = board(1)
    let id = try board.createText("x", at: Point(x: 0, y: 0))
    let before = board.state
    try board.gesture { () throws(BoardError) in
      let settings = try board.create(.settings)
      try board.stage(settings, .title, .text("Plan"))
      try board.stage(id, Property(60), .pair(1, -2))
      try board.stage(id, .move(board.nextDot()), .bytes([1]))
    }
    let diff = BoardDiff.between(before, board.state)
    #expect(diff.changes.count == 2)
    #expect(diff.changes.first?.fields.map(\.name) == ["property-60", "moves"])
    #expect(diff.changes.first?.fields.first?.after == "[1,-2]")
    #expect(diff.changes.last?.fields == [.init(name: "title", before: nil, after: #""Plan""#)])
  }
}
