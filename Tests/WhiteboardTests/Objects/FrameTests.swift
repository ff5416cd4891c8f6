import PeerTestKit
import Testing

@testable import Whiteboard

@Suite("Frames, links, votes and pictures") struct FrameTests {
  private let boards = TwoBoards()
  private let zero = Point(x: 0, y: 0)

  @Test("[BRD-54] a frame takes in what lies inside it, and moves it") func frames() throws {
    let board = boards.anna
    let inside = try board.createText("in", at: Point(x: 10, y: 10))
    let outside = try board.createText("out", at: Point(x: 500, y: 0))
    let frame = try board.createForm(.frame, at: zero, size: Size(width: 400, height: 300), label: "Plan")
    #expect(board.frames == [frame] && board.objects(inFrame: frame) == [inside])
    // The area inside a frame is not a part of the frame, but its line and its name are.
    #expect(board.objects(at: Point(x: 100, y: 100)).isEmpty)
    #expect(board.objects(at: Point(x: 200, y: 100)) == [frame])
    #expect(board.objects(at: Point(x: -190, y: -160)) == [frame])
    try board.move([frame], by: Point(x: 1_000, y: 0))
    #expect(board.snapshot(inside)?.centerPosition == Point(x: 1_010, y: 10))
    #expect(board.snapshot(outside)?.centerPosition == Point(x: 500, y: 0))
    try board.undo()
    #expect(board.snapshot(inside)?.centerPosition == Point(x: 10, y: 10))

    try board.object(outside)?.move(to: Point(x: 50, y: 50))
    #expect(board.objects(inFrame: frame) == [inside, outside].sorted())
    try board.object(inside)?.move(to: Point(x: 900, y: 0))
    #expect(board.objects(inFrame: frame) == [outside] && board.snapshot(inside)?.frame == nil)
    let stroke = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 160, y: 160)])
    #expect(board.snapshot(stroke)?.frame == frame)

    try board.setLocked(outside, true)
    try board.move([frame], by: Point(x: 5, y: 0))
    #expect(board.snapshot(outside)?.centerPosition == Point(x: 50, y: 50))
    #expect(board.snapshot(stroke)?.centerPosition == Point(x: 10, y: 5))
    try board.resize(frame, to: Size(width: 20, height: 20))
    #expect(board.objects(inFrame: frame) == [outside, stroke].sorted())
    try board.setLocked(outside, false)
    try board.resize(frame, to: Size(width: 21, height: 20))
    #expect(board.objects(inFrame: frame) == [stroke])

    let copies = try board.duplicate([frame, stroke], by: Point(x: 0, y: 2_000))
    #expect(board.snapshot(try #require(copies[stroke]))?.frame == copies[frame])
    try board.delete(frame)
    #expect(board.snapshot(stroke)?.frame == nil)
    try board.undelete(frame)
    #expect(board.snapshot(stroke)?.frame == frame)
  }

  @Test("an arrow between objects in a frame is connected to the objects, not to the frame") func connecting() throws {
    let board = boards.anna
    let shapes = try [-100.0, 100].map {
      try board.createForm(.rectangle, at: Point(x: $0, y: 0), size: Size(width: 80, height: 40))
    }
    let frame = try board.createForm(.frame, at: zero, size: Size(width: 400, height: 300))
    func targets(_ length: Double) throws -> [ObjectID?] {
      let points = [zero, Point(x: length, y: 0)]
      let arrow = try board.createForm(.arrow, at: Point(x: -100, y: 0), points: points)
      try board.connect([.start, .end], of: arrow)
      let shown = try #require(board.snapshot(arrow))
      return [shown.start?.target, shown.end?.target]
    }
    #expect(try targets(200) == shapes)
    #expect(try targets(100) == [shapes[0], nil])
    let arrow = try board.createForm(.arrow, at: zero, points: [zero, Point(x: 0, y: 300)], from: Binding(to: frame))
    #expect(board.snapshot(arrow)?.start?.target == frame)
  }

  @Test("[BRD-54] an object settles in the frontmost frame under its center") func overlapping() throws {
    let board = boards.anna
    let frames = try [0.0, 100].map {
      try board.createForm(.frame, at: Point(x: $0, y: 0), size: Size(width: 400, height: 300))
    }
    let text = try board.createText("a", at: Point(x: 50, y: 0))
    #expect(board.snapshot(text)?.frame == frames[1])
    try board.object(frames[0])?.reorder(.front)
    try board.object(text)?.move(to: Point(x: 60, y: 0))
    #expect(board.snapshot(text)?.frame == frames[0])
  }

  @Test("[BRD-54] an object that is named beside its frame moves once") func alignment() throws {
    let board = boards.anna
    let inside = try board.createText("in", at: Point(x: 100, y: 10))
    let frame = try board.createForm(.frame, at: zero, size: Size(width: 400, height: 300))
    let other = try board.createForm(.rectangle, at: Point(x: 900, y: 0))
    try board.align([frame, inside, other], .right)
    #expect(board.snapshot(frame)?.centerPosition == Point(x: 800, y: 0))
    #expect(board.snapshot(inside)?.centerPosition == Point(x: 900, y: 10))
  }

  @Test("[BRD-54] a frame takes in each object inside it, however many others there are") func many() throws {
    let board = boards.anna
    let inside = try board.gesture { () throws(BoardError) -> ObjectID in
      for index in 0..<3_000 { try board.createText("x", at: Point(x: 10_000 + Double(index), y: 0)) }
      return try board.createText("in", at: zero)
    }
    let frame = try board.createForm(.frame, at: zero)
    #expect(board.objects(inFrame: frame) == [inside])
  }

  @Test("[BRD-54] frames have an order, which is changed like the order of other objects") func order() throws {
    let board = boards.anna
    let frames = try (0..<3).map { try board.createForm(.frame, at: Point(x: Double($0) * 900, y: 0)) }
    #expect(board.frames == frames)
    try board.object(frames[2])?.reorder(.back)
    #expect(board.frames == [frames[2], frames[0], frames[1]])
  }

  @Test(
    "[BRD-55] only https addresses and objects of the board are links",
    arguments: [
      ("https://example.org", true), ("https://example.org/a?b#c", true), ("http://example.org", false),
      ("javascript:alert(1)", false), ("https://", false), ("https:///etc", false), ("https://a@b.org", false),
      ("https://example.org/ x", false), ("https://examplé.org", false), ("#5-aaaaaaaaaaaac", true), ("#5", false),
      ("https://a.org/\u{7}", false), ("", false), ("https://a.org/" + String(repeating: "a", count: 2_048), false),
    ]
  ) func links(link: String, isValid: Bool) throws {
    let board = boards.anna
    #expect(ObjectLink.isValid(link) == isValid)
    let id = try board.createText("a", at: zero)
    #expect(((try? board.setLink(link, of: [id])) != nil) == isValid)
    #expect(board.snapshot(id)?.link == (isValid ? link : nil))
    try board.setLink(nil, of: [id])
    #expect(board.snapshot(id)?.link == nil)
  }

  @Test(
    "[BRD-55] a text that is no link has one problem",
    arguments: [
      ("https://a.org/" + String(repeating: "a", count: 2_048), .tooLong), ("#5", .notAnObject),
      ("http://example.org", .otherScheme), ("", .otherScheme), ("HTTPS://example.org", .otherScheme),
      ("https://", .noHost), ("https:///etc", .noHost), ("https://a@b.org", .hasUser),
      ("https://examplé.org", .hostNotASCII), ("https://example.org/é", .notASCII),
      ("https://example.org/ x", .forbiddenCharacter), ("https://a.org/\u{7}", .forbiddenCharacter),
      ("https://a.org/\u{7F}", .forbiddenCharacter), (#"https://a.org/\"#, .forbiddenCharacter),
      (#"https://a"b"#, .forbiddenCharacter),
    ] as [(String, ObjectLink.Problem)]
  ) func linkProblems(link: String, problem: ObjectLink.Problem) { #expect(ObjectLink.problem(in: link) == problem) }

  @Test("[BRD-56] each member has one vote for each reaction, and can undo it") func votes() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let id = try anna.createText("a", at: zero)
    for _ in 0..<2 { try anna.vote("👍", for: id, true) }
    try anna.vote("❤️", for: id, true)
    try boards.share()
    try bob.vote("👍", for: id, true)
    try anna.vote("👍", for: id, false)
    try anna.vote("👍", for: id, true)
    try boards.share()
    for board in [anna, bob] {
      let votes = try #require(board.snapshot(id)).votes
      #expect(votes.map(\.reaction) == ["❤️", "👍"])
      #expect(votes.map(\.members) == [[anna.member], [anna.member, bob.member].sorted()])
    }
    try anna.undo()
    #expect(try #require(anna.snapshot(id)).votes.last?.members == [bob.member])
    try anna.redo()
    #expect(try #require(anna.snapshot(id)).votes.last?.members.count == 2)
    #expect(throws: BoardError.outOfRange("reaction")) { try anna.vote("", for: id, true) }
    #expect(throws: BoardError.outOfRange("reaction")) {
      try anna.vote(String(repeating: "a", count: 17), for: id, true)
    }
    try anna.setLocked(id, true)
    try anna.vote("🎉", for: id, true)
  }

  @Test("[BRD-56] a vote is withdrawn by a clock that was set back, too") func withdrawal() throws {
    let anna = boards.anna
    let id = try anna.createText("a", at: zero)
    try anna.vote("👍", for: id, true)
    let later = Board(incarnation: Incarnation(3), member: anna.member, wallClock: anna.wallClock - 1_000_000_000)
    later.authors = anna.authors
    later.authors[Incarnation(3)] = anna.member
    for batch in anna.takeBatches() { try later.receive(batch) }
    try later.vote("👍", for: id, false)
    #expect(later.snapshot(id)?.votes.isEmpty == true)
  }

  @Test("[BRD-57] a photo shows a part of itself at the same place, and is mirrored") func photos() throws {
    let board = boards.anna
    let asset = RandomEditing.asset(1)
    let id = try board.createPhoto(asset, at: zero)
    let part = Rectangle(Point(x: 0.5, y: 0), Point(x: 1, y: 1))
    try board.crop(id, to: part)
    var photo = try #require(board.snapshot(id))
    #expect(abs(photo.size.width - 100) < 0.1)
    #expect(abs(photo.centerPosition.x - 50) < 0.1 && photo.centerPosition.y == 0)
    #expect(abs(try #require(photo.crop).least.x - 0.5) < 0.001)
    try board.object(id)?.rotate(to: .degrees(30))
    try board.flip([id], .horizontally)
    photo = try #require(board.snapshot(id))
    #expect(photo.isFlippedHorizontally && !photo.isFlippedVertically)
    #expect(abs(photo.angle - 330 * .pi / 180) < 0.01)
    try board.flip([id], .horizontally)
    #expect(board.snapshot(id)?.isFlippedHorizontally == false)
    try board.object(id)?.rotate(to: .degrees(0))
    try board.crop(id, to: nil)
    photo = try #require(board.snapshot(id))
    #expect(photo.crop == nil && abs(photo.centerPosition.x) < 0.1 && abs(photo.size.width - 200) < 0.1)
    #expect(throws: BoardError.outOfRange("crop")) {
      try board.crop(id, to: Rectangle(Point(x: 0, y: 0), Point(x: 1.5, y: 1)))
    }
  }

  @Test("[BRD-57] a diagram is mirrored with its connections") func flipping() throws {
    let board = boards.anna
    let left = try board.createForm(.rectangle, at: Point(x: -200, y: 0), label: "a")
    let right = try board.createForm(.ellipse, at: Point(x: 200, y: 50), label: "b")
    let arrow = try board.createForm(
      .arrow,
      at: zero,
      points: [Point(x: -200, y: 0), Point(x: 0, y: 90), Point(x: 200, y: 50)],
      from: board.binding(to: left, at: Point(x: -150, y: 10)),
      to: board.binding(to: right, at: Point(x: 210, y: 50))
    )
    func points() throws -> [Point] {
      let line = try #require(board.snapshot(arrow))
      return try #require(line.points).map { line.shown($0, sine: 0, cosine: 1) }
    }
    let before = try points()
    try board.flip([left, right, arrow], .horizontally)
    #expect(board.snapshot(left)?.centerPosition == Point(x: 200, y: 0))
    #expect(board.snapshot(right)?.centerPosition == Point(x: -200, y: 50))
    for (old, new) in zip(before, try points()) { #expect(abs(old.x + new.x) < 0.05 && abs(old.y - new.y) < 0.05) }
    try board.undo()
    #expect(try points() == before)
  }

  @Test("[BRD-58] a comment is about an object, is settled, and stays in the chat") func comments() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let id = try anna.createText("a", at: zero)
    try boards.share()
    let line = try bob.say("why?", about: id)
    try boards.share()
    #expect(anna.chatLine(line)?.about == id && anna.chatLine(line)?.isResolved == false)
    try anna.resolve(line, true)
    try boards.share()
    #expect(bob.chatLine(line)?.isResolved == true)
    try anna.delete(id)
    #expect(anna.chat.map(\.text) == ["why?"])
    let plain = try anna.say("hello")
    #expect(throws: BoardError.unknownObject(plain)) { try anna.resolve(plain, true) }
    #expect(throws: BoardError.unknownObject(id)) { try anna.say("x", about: id) }
  }
}
