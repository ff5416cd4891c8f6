import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct FormTests {
  private let boards = TwoBoards()

  @Test("an eraser deletes a form whose line it reaches, and nothing inside it") func erasing() throws {
    let board = boards.anna
    let id = try board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "a")
    #expect(try board.erase(along: [Point(x: 0, y: 0), Point(x: 30, y: 20)], radius: 8).isEmpty)
    #expect(try board.erase(along: [Point(x: 90, y: 0), Point(x: 94, y: 0)], radius: 8) == [id])
    #expect(board.objectIDs.isEmpty)
    try board.undo()
    #expect(board.objectIDs == [id])
  }

  @Test("a restore writes the earlier label back") func restoring() throws {
    let board = boards.anna
    let id = try board.createForm(.note, at: Point(x: 0, y: 0), label: "old words")
    let checkpoint = board.state
    try board.object(id)?.update(text: "new")
    _ = try board.restore(checkpoint)
    #expect(board.object(id)?.text == "old words")
    try board.delete(id)
    try board.purge(id)
    let outcome = try board.restore(checkpoint)
    let copy = try #require(outcome.replaced[id])
    #expect(board.object(copy)?.text == "old words")
  }

  private func isNear(_ one: Point, _ other: Point) -> Bool {
    abs(one.x - other.x) < 1e-6 && abs(one.y - other.y) < 1e-6
  }

  @Test("[BRD-48] a form is made wider without a change of its line width") func resizing() throws {
    let board = boards.anna
    let id = try board.createForm(.rectangle, at: Point(x: 10, y: 20), label: "Login")
    #expect(board.snapshot(id)?.size == Size(width: 200, height: 100))
    try board.resize(id, to: Size(width: 300, height: 40), center: Point(x: 60, y: 20))
    let shown = try #require(board.snapshot(id))
    #expect(shown.size == Size(width: 300, height: 40) && shown.lineWidth == 2 && shown.scale == 1)
    #expect(shown.text == "Login" && shown.form == .rectangle && shown.isFinished == true && shown.ink == nil)
    #expect(shown.bounds == Rectangle(Point(x: -90, y: 0), Point(x: 210, y: 40)))
    try boards.share()
    #expect(boards.bob.snapshot(id) == shown)
    try board.undo()
    #expect(board.snapshot(id)?.size == Size(width: 200, height: 100))
    #expect(throws: BoardError.outOfRange("size")) { try board.resize(id, to: Size(width: 0, height: 1)) }
    let ink = try board.createDrawing([InkPoint(x: 0, y: 0), InkPoint(x: 9, y: 9)])
    #expect(throws: BoardError.wrongKind(ink)) { try board.resize(ink, to: Size(width: 1, height: 1)) }
    #expect(throws: BoardError.wrongKind(ink)) { try board.restyle([ink], [.fill(0xFF)]) }
  }

  @Test("[BRD-48] two labels that are written at the same time are both shown") func labels() throws {
    let id = try boards.anna.createForm(.note, at: Point(x: 0, y: 0))
    try boards.share()
    try boards.anna.object(id)?.update(text: "buy milk")
    try boards.bob.object(id)?.update(text: "call Eve")
    try boards.share()
    let text = try #require(boards.anna.object(id)?.text)
    #expect(["buy milkcall Eve", "call Evebuy milk"].contains(text))
    #expect(boards.bob.object(id)?.text == text)
    #expect(boards.anna.snapshot(id)?.style.fill == ObjectStyle.noteFill)
  }

  @Test("[BRD-50] points that two members move and add at the same time all stay") func points() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let corners = [Point(x: 0, y: 0), Point(x: 100, y: 0), Point(x: 100, y: 100)]
    let id = try anna.createForm(.arrow, at: Point(x: 5, y: 5), points: corners)
    try boards.share()
    func shown(_ board: Board) throws -> [Point] {
      let object = try #require(board.snapshot(id))
      return (object.points ?? []).map { object.shown($0, sine: 0, cosine: 1) }
    }
    #expect(try shown(anna) == corners.map { Point(x: $0.x + 5, y: $0.y + 5) })
    try anna.setPoints([Point(x: -20, y: 5), Point(x: 50, y: -9), Point(x: 105, y: 5), Point(x: 105, y: 105)], of: id)
    try bob.setPoints([Point(x: 5, y: 5), Point(x: 60, y: 7), Point(x: 105, y: 5), Point(x: 200, y: 200)], of: id)
    try boards.share()
    let all = try shown(anna)
    #expect(try shown(bob) == all)
    #expect(all.count == 5 && all.first == Point(x: -20, y: 5) && all.last == Point(x: 200, y: 200))
    #expect(Set(all[1...2]) == [Point(x: 50, y: -9), Point(x: 60, y: 7)] && all[3] == Point(x: 105, y: 5))
    try anna.setPoints([all[0], all[4]], of: id)
    #expect(try shown(anna) == [all[0], all[4]])
    #expect(throws: BoardError.empty) { try anna.setPoints([], of: id) }
  }

  @Test("[BRD-50] a line whose points are not around its position turns and grows about a pivot like any other object")
  func transforming() throws {
    let board = boards.anna
    let points = [Point(x: 100, y: 0), Point(x: 300, y: 0)]
    let id = try board.createForm(.line, at: Point(x: 0, y: 0), points: points, lineWidth: 4)
    #expect(board.snapshot(id)?.centerPosition == Point(x: 200, y: 0))
    #expect(board.snapshot(id)?.size == Size(width: 204, height: 4))
    try board.rotate([id], by: .degrees(90), about: Point(x: 200, y: 0))
    var shown = try #require(board.snapshot(id))
    #expect(isNear(shown.centerPosition, Point(x: 200, y: 0)))
    #expect(isNear(shown.shown(shown.points?[0] ?? .init(x: 0, y: 0), sine: 1, cosine: 0), Point(x: 200, y: -100)))
    try board.scale([id], by: 2, about: Point(x: 200, y: 0))
    shown = try #require(board.snapshot(id))
    #expect(isNear(shown.centerPosition, Point(x: 200, y: 0)) && shown.size == Size(width: 204, height: 4))
    try board.object(id)?.move(to: Point(x: -7, y: 9))
    #expect(board.snapshot(id).map { isNear($0.centerPosition, Point(x: -7, y: 9)) } == true)
    let copy = try #require(try board.duplicate([id], by: Point(x: 1, y: 1))[id])
    #expect(board.snapshot(copy).map { isNear($0.centerPosition, Point(x: -6, y: 10)) } == true)
    #expect(board.snapshot(copy)?.outline == board.snapshot(id)?.outline)
  }

  @Test("[BRD-51] a click meets the line of an empty form, and the area of one with a fill or a label") func covering()
    throws
  {
    let board = boards.anna
    let size = Size(width: 100, height: 100)
    let inside: [DrawingForm: (Point, Point)] = [
      .rectangle: (Point(x: 45, y: 45), Point(x: 53, y: 0)), .ellipse: (Point(x: 30, y: 30), Point(x: 38, y: 38)),
      .diamond: (Point(x: 20, y: 20), Point(x: 30, y: 30)),
    ]
    for (form, (covered, free)) in inside {
      let id = try board.createForm(form, at: Point(x: 0, y: 0), size: size)
      #expect(board.objects(at: covered).isEmpty && board.objects(at: Point(x: 0, y: 0)).isEmpty)
      #expect(board.objects(at: Point(x: 0, y: 50.5)) == [id])
      try board.restyle([id], [.fill(0xFF_0000_FF)])
      #expect(board.objects(at: covered) == [id] && board.objects(at: free).isEmpty)
      try board.restyle([id], [.fill(nil)])
      try board.object(id)?.update(text: "x")
      #expect(board.objects(at: covered) == [id])
      try board.delete(id)
    }
  }

  @Test("[BRD-49] values out of range read as the rule says") func ranges() throws {
    let board = boards.anna
    let id = try board.createForm(.arrow, at: Point(x: 0, y: 0), points: [Point(x: 0, y: 0), Point(x: 9, y: 0)])
    try board.gesture {
      for property in Property.looks where property != .form { try board.stage(id, property, .unsigned(1 << 40)) }
    }
    var style = ObjectStyle(form: .arrow)
    style.isCurved = true
    style.isAutoWidth = true
    style.textSize = 1024
    #expect(board.snapshot(id)?.style == style)
    try board.gesture { try board.stage(id, .form, .unsigned(99)) }
    #expect(board.snapshot(id)?.form == .rectangle)
    try board.gesture { try board.stage(id, .form, .unsigned(0)) }
    #expect(board.snapshot(id)?.form == nil && board.snapshot(id)?.ink == [])
  }

  @Test("[BRD-19] JSON names what differs from the default") func json() throws {
    let board = boards.anna
    var style = ObjectStyle(form: .ellipse)
    (style.fill, style.lineStyle, style.opacity, style.isBold) = (0xFFEC_99FF, .dashed, 0.2, true)
    let id = try board.createForm(.ellipse, at: Point(x: 1, y: 2), label: "a", style: style)
    let json = try #require(board.snapshot(id)?.json)
    let part =
      ##""form":"ellipse","fill":"#ffec99ff","lineStyle":"dashed","opacity":0.2,"isBold":true,"isFinished":true"##
    #expect(json.contains(#""text":"a""#) && json.contains(part) && json.contains(#""size":[200,100]"#))
    let plain = try board.createForm(.diamond, at: Point(x: 1, y: 2))
    #expect(board.snapshot(plain)?.json.contains(#""lineWidth":2,"form":"diamond","isFinished":true"#) == true)
  }

  @Test("[BRD-52] each object that looks different after a batch is reported") func reported() throws {
    var followed = 0
    for seed in UInt64(0)..<repetitions(5, optimized: 40) { followed += try reported(seed: seed) }
    #expect(followed > 10)
  }

  /// Returns how often a line changed because an object to which the line is bound changed.
  private func reported(seed: UInt64) throws -> Int {
    var random = SeededGenerator(seed: seed)
    let boards = TwoBoards()
    let (anna, bob) = (boards.anna, boards.bob)
    var followed = 0
    var targets: [ObjectID] = []
    for x in stride(from: 0.0, to: 900, by: 300) {
      let target = try anna.createForm(.ellipse, at: Point(x: x, y: 0))
      let points = [Point(x: 0, y: 0), Point(x: 9, y: 9)]
      try anna.createForm(.arrow, at: Point(x: x, y: 200), points: points, to: Binding(to: target))
      targets.append(target)
    }
    for step in 0..<80 {
      // A random edit may have deleted or locked the object.
      if step.isMultiple(of: 10) { try? anna.move([targets[random.below(3)]], by: Point(x: 7, y: 9)) }
      RandomEditing.edit(anna, &random)
      RandomEditing.edit(bob, &random)
      var before: [ObjectID: ObjectSnapshot] = [:]
      for object in bob.snapshots { before[object.id] = object }
      _ = bob.takeChanges()
      let batches = anna.takeBatches()
      for batch in batches { try bob.receive(batch) }
      let written = Set(batches.flatMap { $0.operations.map(\.object) })
      let changes = Set(bob.takeChanges())
      for var object in bob.snapshots {
        guard var old = before[object.id] else { continue }
        (old.selectedBy, object.selectedBy) = (nil, nil)
        guard old != object else { continue }
        #expect(changes.contains(.changed(object.id)), "\(object.id), seed \(seed)")
        if object.form != nil, !written.contains(object.id), old.groups == object.groups { followed += 1 }
      }
      for batch in bob.takeBatches() { try anna.receive(batch) }
      #expect(anna.snapshots.map(\.outline) == bob.snapshots.map(\.outline))
    }
    return followed
  }

  // MARK: - Bound ends

  private func ends(_ id: ObjectID, on board: Board) throws -> [Point] {
    let line = try #require(board.snapshot(id))
    let (sine, cosine) = (line.rotation.sine, line.rotation.cosine)
    let points = try #require(line.points)
    return [points[0], points[points.count - 1]].map { line.shown($0, sine: sine, cosine: cosine) }
  }

  @Test("[BRD-52] a bound end follows its object, for both members, without a write to the line") func following()
    throws
  {
    let (anna, bob) = (boards.anna, boards.bob)
    let size = Size(width: 100, height: 60)
    let left = try anna.createForm(.rectangle, at: Point(x: 0, y: 0), size: size)
    let right = try anna.createForm(.ellipse, at: Point(x: 400, y: 0), size: size)
    let line = try anna.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: [Point(x: 0, y: 0), Point(x: 400, y: 0)],
      from: Binding(to: left),
      to: Binding(to: right)
    )
    // The gap is 4 units, half of the outline and half of the line.
    let expected = [Point(x: 56, y: 0), Point(x: 344, y: 0)]
    #expect(try zip(ends(line, on: anna), expected).allSatisfy { isNear($0, $1) })
    try boards.share()
    let before = anna.state.record(line)?.entries
    try anna.move([left], by: Point(x: 0, y: 300))
    try bob.move([right], by: Point(x: 0, y: 300))
    try boards.share()
    #expect(try ends(line, on: anna).map(\.y) == [300, 300])
    #expect(try ends(line, on: anna) == ends(line, on: bob))
    #expect(anna.state.record(line)?.entries == before)
    // A turned and scaled object moves the end too.
    try anna.rotate([right], by: .degrees(90), about: Point(x: 400, y: 300))
    #expect(try ends(line, on: anna).last.map { isNear($0, Point(x: 364, y: 300)) } == true)
  }

  @Test("[BRD-52] the end stays where it is when its object is deleted, and returns with it") func deletedTarget()
    throws
  {
    let (anna, bob) = (boards.anna, boards.bob)
    let note = try anna.createForm(.note, at: Point(x: 0, y: 0), size: Size(width: 100, height: 100))
    let points = [Point(x: 0, y: 0), Point(x: 300, y: 0)]
    let line = try anna.createForm(.line, at: Point(x: 0, y: 0), points: points, from: Binding(to: note))
    try anna.move([note], by: Point(x: 0, y: 200))
    let shown = try ends(line, on: anna)
    try boards.share()
    try bob.delete(note)
    #expect(try zip(ends(line, on: bob), shown).allSatisfy { abs($0.x - $1.x) < 0.02 && abs($0.y - $1.y) < 0.02 })
    try boards.share()
    #expect(try ends(line, on: anna) == ends(line, on: bob))
    try bob.undo()
    #expect(try ends(line, on: bob) == shown)
    try bob.bind(.start, of: line, to: nil)
    try bob.move([note], by: Point(x: 0, y: 200))
    #expect(try ends(line, on: bob) != shown || bob.snapshot(line)?.start == nil)
    #expect(try zip(ends(line, on: bob), shown).allSatisfy { abs($0.x - $1.x) < 0.02 && abs($0.y - $1.y) < 0.02 })
    #expect(throws: BoardError.wrongKind(line)) { try bob.bind(.end, of: line, to: Binding(to: line)) }
    #expect(throws: BoardError.wrongKind(note)) { try bob.bind(.end, of: note, to: nil) }
  }

  @Test("[BRD-52] copies of objects and of the line between them are bound to each other") func copiedTogether() throws
  {
    let board = boards.anna
    let one = try board.createForm(.diamond, at: Point(x: 0, y: 0))
    let other = try board.createForm(.diamond, at: Point(x: 500, y: 0))
    let points = [Point(x: 0, y: 0), Point(x: 1, y: 0)]
    let line = try board.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: points,
      from: Binding(to: one),
      to: Binding(to: other)
    )
    let copies = try board.duplicate([one, line], by: Point(x: 0, y: 100))
    let copied = try #require(copies[line])
    let copy = try #require(board.snapshot(copied))
    #expect(copy.start?.target == copies[one] && copy.end == nil)
    let shown = try ends(line, on: board)
    #expect(try ends(copy.id, on: board).map(\.x) == shown.map(\.x))
  }
}
