import PeerTestKit
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

  @Test("[GAM-13] a copied game is a new game that can be played") func games() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    var random = SeededGenerator(seed: 5)
    let wordle = try anna.createWordle(at: Point(x: 0, y: 0), using: &random)
    let four = try anna.createConnectFour(at: Point(x: 300, y: 0), opponent: bob.member)
    try anna.game(wordle).play("crane")
    try anna.game(four).play("1")
    try boards.share()
    for board in [anna, bob] {
      let copies = try board.duplicate([wordle, four])
      for id in [wordle, four] {
        let copy = try board.game(try #require(copies[id]))
        #expect(copy.view(for: board.member)?.moveCount == 0)
        try copy.play(id == wordle ? "crane" : "1")
        #expect(copy.view(for: board.member)?.moveCount == 1)
      }
    }
    // If a game of two other members is copied, any two members can be the players of the copy.
    let setup = ConnectFour.setup(between: (RandomEditing.member(8), RandomEditing.member(9)))
    #expect(SupportedGame.setup(setup, of: ConnectFour.name, ofCopy: four, by: anna.member) == [1])
    #expect(SupportedGame.setup(setup, of: "chess", ofCopy: four, by: anna.member) == setup)
    // Each copy of a Wordle has an answer of its own.
    let answers = try (1...20).map { _ in
      let copy = try #require(try anna.duplicate([wordle])[wordle])
      let detail = anna.gameView(copy, for: anna.member, isRevealing: true)?.detail
      return if case .wordle(let view)? = detail { view.answer ?? "" } else { "" }
    }
    #expect(Set(answers).count > 15 && !answers.contains(""))
  }

  @Test("[GAM-13] a pasted or imported game is a new game that can be played") func importedGames() throws {
    var random = SeededGenerator(seed: 5)
    let wordle = try boards.anna.createWordle(at: Point(x: 0, y: 0), using: &random)
    let setup = try #require(boards.anna.state.record(wordle)?.setup)
    let draft = ObjectDraft(.game(Wordle.name, setup: setup, size: Wordle.size))
    let id = try #require(try boards.bob.add([draft]).first)
    try boards.bob.game(id).play("crane")
    #expect(try boards.bob.game(id).view(for: boards.bob.member)?.moveCount == 1)
  }

  @Test("[BRD-54] a frame is copied with the objects in it") func frames() throws {
    let board = boards.anna
    let inside = try board.createText("in", at: Point(x: 10, y: 10))
    let grouped = try board.group([try board.createText("a", at: Point(x: 0, y: 0)), inside])
    let frame = try board.createForm(.frame, at: Point(x: 0, y: 0), size: Size(width: 400, height: 300), label: "Plan")
    let outside = try board.createText("out", at: Point(x: 900, y: 0))
    let copies = try board.duplicate([frame], by: Point(x: 0, y: 1_000))
    #expect(copies.count == 4 && copies[outside] == nil && copies[grouped] != nil)
    let (copy, text) = (try #require(copies[frame]), try #require(copies[inside]))
    #expect(board.objects(inFrame: copy).count == 2 && board.objects(inFrame: frame).count == 2)
    #expect(board.snapshot(text)?.centerPosition == Point(x: 10, y: 1_010))
    try board.undo()
    #expect(board.frames == [frame] && board.objects(inFrame: frame).count == 2)
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
    // Together with the rest of the surrounding group, the object is in the copy of that group.
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
    // Objects of another kind and deleted objects at the place have no effect. With the offset zero, the user moves the
    // copy.
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
