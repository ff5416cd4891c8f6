import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct ErasingTests {
  private let boards = TwoBoards()

  /// Creates and shares a stroke with points 10 units apart along x.
  private func stroke(_ count: Int) throws -> ObjectID {
    let id = try boards.anna.createDrawing((0..<count).map { InkPoint(x: Int32($0) * 160, y: 0) })
    try boards.share()
    return id
  }

  @Test("[BRD-29] the parts without an erasure are visible") func spans() throws {
    let board = boards.anna
    let id = try stroke(5)
    let object = try #require(board.object(id) as? DrawingObject)
    try object.erase(spans: [8...24, 40...64])
    #expect(object.erasedSpans == [8...24, 40...64])
    let snapshot = try #require(board.snapshot(id))
    #expect(snapshot.erasedSpans == [8...24, 40...64])
    #expect(snapshot.visibleSpans == [0...8, 24...40])
    #expect(
      snapshot.visibleLines == [
        [Point(x: -20, y: 0), Point(x: -15, y: 0)], [Point(x: -5, y: 0), Point(x: 0, y: 0), Point(x: 5, y: 0)],
      ]
    )
    #expect(snapshot.json.contains(#""erased":[[0.5,1.5],[2.5,4]]"#))
    // The frame of the stroke stays the same, so that the stroke does not move.
    #expect(snapshot.size.width == 45)
    for wrong in [-1...3, 60...65, 3...3] {
      #expect(throws: BoardError.outOfRange("spans")) { try board.erase(id, spans: [wrong]) }
    }
    let text = try board.createText("x", at: Point(x: 0, y: 0))
    #expect(throws: BoardError.wrongKind(text)) { try board.erase(text, spans: [0...1]) }
  }

  @Test("[BRD-29] two concurrent erasures erase their union, and create no object") func atOnce() throws {
    let id = try stroke(9)
    try boards.anna.erase(along: [Point(x: 20, y: 0), Point(x: 45, y: 0)], radius: 5)
    try boards.bob.erase(along: [Point(x: 40, y: -30), Point(x: 40, y: 30)], radius: 10)
    try boards.share()
    for board in [boards.anna, boards.bob] {
      #expect(board.objectIDs == [id])
      #expect(board.snapshot(id)?.erasedSpans == [24...80])
    }
    #expect(boards.anna.state.dump == boards.bob.state.dump)
  }

  @Test("[BRD-29] an eraser also erases strokes that were moved, rotated and scaled") func transformed() throws {
    let board = boards.anna
    let id = try stroke(5)
    let object = try #require(board.object(id))
    try object.scale(to: 2)
    try object.rotate(to: .degrees(90))
    try object.move(to: Point(x: 100, y: 100))
    // The stroke now goes from (100, 60) to (100, 140).
    #expect(try board.erase(along: [Point(x: 20, y: 0)], radius: 5) == [])
    #expect(try board.erase(along: [Point(x: 100, y: 140)], radius: 20) == [id])
    #expect(board.snapshot(id)?.erasedSpans == [48...64])
    _ = board.takeBatches()
    // Erased parts are not erased again.
    #expect(try board.erase(along: [Point(x: 100, y: 140)], radius: 10) == [])
    #expect(board.takeBatches().isEmpty)
  }

  @Test("[BRD-29] an eraser erases the points within its radius and no others", arguments: 0..<30) func bruteForce(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let board = boards.anna
    let ink = try (0..<20).map { _ in try InkPoint(Point(x: Double(random.below(400)), y: Double(random.below(400)))) }
    let id = try board.createDrawing(ink)
    let path = (0..<3).map { _ in Point(x: Double(random.below(400)), y: Double(random.below(400))) }
    try board.erase(along: path, radius: 20)
    let gone = board.snapshot(id)?.erasedSpans ?? []
    var checked = 0
    for step in 0...(19 * 16) {
      let (index, part) = step.quotientAndRemainder(dividingBy: 16)
      let to = ink[min(index + 1, 19)].point
      let place = Segment(from: ink[index].point, to: to).place(Double(part) / 16)
      let distance = min(
        Segment(from: path[0], to: path[1]).distance(to: place),
        Segment(from: path[1], to: path[2]).distance(to: place)
      )
      let isGone = gone.contains { $0.contains(step) }
      // One step is at most 36 units, so results near the edge are rounded.
      if distance <= 1 { #expect(isGone) }
      if distance > 20 + 36 { #expect(!isGone) }
      checked += 1
    }
    #expect(checked == 305)
  }

  @Test("[BRD-29] a dot is erased as a whole; locked and selected strokes are skipped") func passedOver() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let dot = try stroke(1)
    let line = try stroke(3)
    try anna.setLocked(line, true)
    #expect(throws: BoardError.locked(line)) { try anna.erase(line, spans: [0...1]) }
    #expect(try anna.erase(along: [Point(x: 0, y: 0)], radius: 3) == [dot])
    #expect(anna.snapshot(dot) == nil)
    #expect(anna.snapshot(line)?.visibleSpans == [0...32])
    try anna.setLocked(line, false)
    try anna.select([line])
    try boards.share()
    bob.presentMembers = [anna.member]
    #expect(try bob.erase(along: [Point(x: 0, y: 0)], radius: 3) == [])
    #expect(throws: BoardError.empty) { try bob.erase(along: [], radius: 3) }
    #expect(throws: BoardError.outOfRange("radius")) { try bob.erase(along: [Point(x: 0, y: 0)], radius: .nan) }
    #expect(throws: BoardError.outOfRange("position")) { try bob.erase(along: [Point(x: .infinity, y: 0)], radius: 1) }
  }

  @Test("[BRD-29] a completely erased stroke is deleted, and an undo restores it") func nothingLeft() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let id = try stroke(3)
    try anna.erase(id, spans: [0...16])
    try anna.erase(along: [Point(x: 8, y: 0), Point(x: 30, y: 0)], radius: 5)
    #expect(anna.state.record(id)?.isDeleted ?? false)
    #expect(anna.undoLabel == "erase")
    try anna.undo()
    #expect(anna.snapshot(id)?.visibleSpans == [16...32])
    // Each user erased one half, and neither saw that nothing is left. The next eraser deletes the stroke.
    try boards.share()
    try anna.erase(id, spans: [16...24])
    try bob.erase(id, spans: [24...32])
    try boards.share()
    #expect(anna.snapshot(id)?.visibleSpans == [])
    #expect(try bob.erase(along: [Point(x: 10, y: 0)], radius: 3) == [id])
    #expect(bob.objectIDs.isEmpty)
    // An unfinished stroke will get more points.
    let begun = try anna.beginDrawing()
    try anna.appendInk([InkPoint(x: 0, y: 0)], to: begun, first: 0)
    try anna.erase(begun, spans: [0...1])
    #expect(anna.snapshot(begun)?.visibleSpans == [])
  }

  @Test("[BRD-29] a value decodes as it was encoded, with exactly one encoding", arguments: 0..<50) func coding(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let spans = StrokeSpans(
      (0..<30).map { _ in
        let start = random.below(5000)
        return start...start + 1 + random.below(50)
      }
    )
    let value = try #require(spans.values.first)
    #expect(StrokeSpans.decode(value) == spans.ranges)
    guard case .bytes(let bytes) = value else { return }
    for _ in 0..<300 {
      var damaged = bytes
      damaged[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
      if let read = StrokeSpans.decode(.bytes(damaged)) { #expect(StrokeSpans(read).values == [.bytes(damaged)]) }
    }
  }

  @Test("[BRD-29] a malformed erasure erases nothing") func hostile() throws {
    let id = try stroke(3)
    var writer = ByteWriter()
    writer.varint(UInt64(BoardLimits.erasureEnd - 1))
    writer.varint(0)
    let last = writer.bytes
    #expect(StrokeSpans.decode(.bytes(last)) == [1_048_575...1_048_576])
    var beyond = ByteWriter()
    beyond.varint(UInt64(BoardLimits.erasureEnd - 1))
    beyond.varint(1)
    let many = Array(repeating: UInt8(0), count: 2 * BoardLimits.erasureSpans)
    #expect(StrokeSpans.decode(.bytes(many))?.count == BoardLimits.erasureSpans)
    let wrong: [Value] = [
      .none, .bytes([]), .bytes([0]), .bytes([0x80]), .bytes(beyond.bytes), .bytes(many + [0, 0]),
      .bytes(Array(repeating: 0xFF, count: 20)), .unsigned(1),
    ]
    for value in wrong { #expect(StrokeSpans.decode(value) == nil) }
    let board = boards.bob
    try board.gesture { for value in wrong { try board.stage(id, .erasure(board.nextDot()), value) } }
    #expect(board.snapshot(id)?.visibleSpans == [0...32])
  }

  @Test("[BRD-10] only the incarnation of an erasure may write it, with the same dot or a later one") func writer() {
    let (anna, bob) = (Incarnation(1), Incarnation(2))
    let object = ObjectID(Dot(anna, 1))
    for property in [Property.erasure(Dot(bob, 5)), .deletion(Dot(bob, 5))] {
      #expect(property.mayBeWritten(by: Dot(bob, 5), of: object))
      #expect(property.mayBeWritten(by: Dot(bob, 9), of: object))
      #expect(!property.mayBeWritten(by: Dot(bob, 4), of: object))
      #expect(!property.mayBeWritten(by: Dot(anna, 9), of: object))
      #expect(!property.mayBeWritten(by: Dot(bob, 5), of: ObjectID(Dot(bob, 5))))
    }
  }

  @Test("[BRD-29] a reverted erasure makes its parts visible again") func takenBack() throws {
    let board = boards.anna
    let id = try stroke(3)
    try board.erase(id, spans: [0...8])
    let entry = try #require(board.state.record(id)?.entries(of: 130, upTo: 1).first)
    try board.write(id, entry.property, .none)
    #expect(board.snapshot(id)?.visibleSpans == [0...32])
  }
}
