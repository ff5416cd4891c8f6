import Testing

@testable import Whiteboard

@Suite struct DuplicatingTests {
  private let boards = TwoBoards()

  @Test("AirplaIN bug 3: a copy has the class and all fields of its original") func copies() throws {
    let board = boards.anna
    let text = try board.createText("x", at: Point(x: 1, y: 2), color: 0xFF)
    try board.text(text).edit(replacing: 0..<0, with: "ab")
    try board.text(text).edit(replacing: 1..<2, with: "")
    let ink = (0..<300).map { InkPoint(x: Int32($0), y: 0, pressure: 7) }
    let drawing = try board.createDrawing(ink, lineWidth: 3)
    try board.erase(drawing, spans: [16...40])
    let photo = try board.createPhoto(RandomEditing.asset(3), at: Point(x: 0, y: 0))
    let game = try board.gesture {
      let id = try board.create(.game)
      try board.stageZIndex(id)
      try board.stage(id, .game, .text("wordle"))
      try board.stage(id, .setup, .bytes([1, 2, 3]))
      return id
    }
    let originals = [text, drawing, photo, game]
    for id in originals {
      try board.object(id)?.rotate(to: .radians(1))
      try board.object(id)?.scale(to: 2)
    }
    try board.setLocked(photo, true)
    _ = board.takeBatches()
    board.wallClock += 1000
    let copies = try board.duplicate(originals, by: Point(x: 5, y: 6))
    #expect(board.takeBatches().count == 1)
    #expect(board.objectIDs == originals + originals.compactMap { copies[$0] })
    for id in originals {
      let copy = try #require(copies[id])
      let (old, new) = (try #require(board.snapshot(id)), try #require(board.snapshot(copy)))
      #expect(board.object(copy).map { type(of: $0) } == board.object(id).map { type(of: $0) })
      #expect(new.kind == old.kind && new.size == old.size)
      #expect(new.scale == old.scale && new.angle == old.angle && new.color == old.color)
      #expect(new.centerPosition.x == old.centerPosition.x + 5)
      #expect(new.centerPosition.y == old.centerPosition.y + 6)
      #expect(new.text == old.text && new.ink == old.ink && new.lineWidth == old.lineWidth)
      #expect(new.isFinished == old.isFinished && new.erased == old.erased)
      #expect(new.asset == old.asset && new.game == old.game && new.isLocked == old.isLocked)
      #expect(board.state.record(copy)?[.setup]?.value == board.state.record(id)?[.setup]?.value)
      // The original and the copy have their own times.
      #expect(new.updatedAt == old.updatedAt + 1000)
    }
    #expect(board.object(game) is GameObject && board.object(photo) is PhotoObject)
  }

  @Test("[BRD-26] copies of a group's members are in a copy of the group") func groups() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    let inner = try board.group([ids[0], ids[1]])
    let outer = try board.group([inner, ids[2]])
    let copies = try board.duplicate([outer], by: Point(x: 1, y: 1))
    #expect(copies.count == 5)
    let copy = try #require(copies[ids[0]])
    #expect(board.groups(of: copy) == [copies[inner], copies[outer]].compactMap(\.self))
    #expect(board.members(ofGroup: outer) == ids)
    // A copy of only a part of a group is not in a group.
    let alone = try #require(try board.object(ids[2])?.duplicate(by: Point(x: 1, y: 1)))
    #expect(alone.groups.isEmpty)
    #expect(board.members(ofGroup: outer) == ids)
    let again = try board.duplicate([inner], by: Point(x: 1, y: 1))
    #expect(again[inner].map { board.groups(of: $0) } == [])
    // All members of a group together count as the group.
    let named = try board.duplicate([ids[1], ids[0]], by: Point(x: 1, y: 1))
    let made = try #require(named[inner])
    #expect(named.count == 3 && named[outer] == nil)
    #expect(board.members(ofGroup: made) == [ids[0], ids[1]].compactMap { named[$0] })
    #expect(board.groups(of: made).isEmpty)
    // One object alone does not count as its group, even if it is the only member.
    try board.delete(ids[0])
    #expect(try board.duplicate([ids[1]]).keys.sorted() == [ids[1]])
    // Together with the rest of the surrounding group, it is in the copy of that group.
    let rest = try board.duplicate([ids[1], ids[2]])
    #expect(rest.keys.sorted() == [ids[1], ids[2], outer].sorted())
    #expect(rest[ids[1]].map { board.groups(of: $0) } == rest[outer].map { [$0] })
  }

  @Test("a copy is never exactly on an object of its kind, unless the place is given") func places() throws {
    let board = boards.anna
    func place(_ copies: [ObjectID: ObjectID], of id: ObjectID) throws -> Point {
      let copy = try #require(copies[id])
      return try #require(board.snapshot(copy)).centerPosition
    }
    let ink = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 160, y: 0)])
    let note = try board.createForm(.note, at: Point(x: 0, y: 0))
    for count in 1...3 {
      let distance = 20.0 * Double(count)
      let copies = try board.duplicate([ink, note])
      #expect(try place(copies, of: ink) == Point(x: 5 + distance, y: distance))
      #expect(try place(copies, of: note) == Point(x: distance, y: distance))
    }
    #expect(try place(board.duplicate([note], by: Point(x: 60, y: 60)), of: note) == Point(x: 120, y: 120))
    // An object of another kind or a deleted object at the place does not matter. With the offset zero, the user moves
    // the copy.
    try board.createText("x", at: Point(x: 7, y: 0))
    let first = try board.duplicate([note], by: Point(x: 7, y: 0))
    #expect(try place(first, of: note) == Point(x: 7, y: 0))
    try board.delete(try #require(first[note]))
    #expect(try place(board.duplicate([note], by: Point(x: 7, y: 0)), of: note) == Point(x: 7, y: 0))
    #expect(try place(board.duplicate([note], by: Point(x: 0, y: 0)), of: note) == Point(x: 0, y: 0))
    for _ in 1...2 {
      let copies = try board.duplicate([ink, note], by: Point(x: 60, y: 60), isExact: true)
      #expect(try place(copies, of: note) == Point(x: 60, y: 60))
    }
  }

  @Test("[BRD-12] a copy beyond the board is refused, and no copy is created") func beyond() throws {
    let ids = try boards.texts(2)
    let before = boards.anna.state.dump
    #expect(throws: BoardError.outOfRange("position")) {
      try boards.anna.duplicate(ids, by: Point(x: BoardLimits.coordinate - 5, y: 0))
    }
    #expect(boards.anna.state.dump == before)
  }

  @Test("[BRD-12] an offset that no copy can have is refused")
  func noOffset() throws {
    let limit = BoardLimits.coordinate
    for offset in [Double.nan, .infinity, -.infinity, limit, -limit, .greatestFiniteMagnitude] {
      for place in [Point(x: 0, y: 0), Point(x: limit - 1, y: -limit)] {
        let board = TwoBoards().anna
        let text = try board.createText("x", at: place)
        _ = try? board.duplicate([text], by: Point(x: offset, y: 0))
        _ = try? board.duplicate([text], by: Point(x: 0, y: offset))
        #expect(board.objectIDs.contains(text))
      }
    }
    let text = try boards.anna.createText("x", at: Point(x: 0, y: 0))
    #expect(throws: BoardError.outOfRange("position")) { try boards.anna.duplicate([text], by: Point(x: .nan, y: 0)) }
    #expect(boards.anna.objectIDs == [text])
  }

  @Test("AirplaIN bug 2: a snapshot does not change after later edits") func values() throws {
    let board = boards.anna
    let id = try boards.texts(1)[0]
    let before = try #require(board.snapshot(id))
    try board.move([id], by: Point(x: 1, y: 1))
    #expect(before.centerPosition == Point(x: 0, y: 0))
    #expect(board.snapshot(id)?.centerPosition == Point(x: 1, y: 1))
  }

  @Test("AirplaIN bug 6: a local edit is visible before it is sent") func atOnce() throws {
    let board = boards.anna
    let id = try boards.texts(1)[0]
    try board.move([id], by: Point(x: 1, y: 1))
    #expect(board.object(id)?.centerPosition == Point(x: 1, y: 1))
    #expect(board.takeBatches().count == 1)
  }
}
