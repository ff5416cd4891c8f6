import Testing

@testable import Whiteboard
@testable import WhiteboardKit

/// The pending events of a reader that is behind.
@Suite struct EventPumpTests {
  private var pump = EventPump()

  /// Returns the bytes of a name, with zeros at the end.
  private func bytes(_ name: String, count: Int) -> [UInt8] {
    Array((Array(name.utf8) + [UInt8](repeating: 0, count: count)).prefix(count))
  }

  private func name(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  private func id(_ name: String) -> ObjectID {
    ObjectID(Dot(Incarnation(bytes(name, count: 8).reduce(0) { $0 << 8 | UInt64($1) }), 1))
  }

  private func name(_ id: ObjectID) -> String {
    name((0..<8).map { UInt8(truncatingIfNeeded: id.dot.incarnation.rawValue >> (56 - 8 * UInt64($0))) })
  }

  private func member(_ name: String) -> MemberID {
    guard let member = MemberID(bytes: bytes(name, count: 32)) else { preconditionFailure("32 bytes") }
    return member
  }

  private func object(_ id: String, scale: Double, points: Int = 0, _ keys: [String] = [])
    -> ReportedObject
  {
    let object = ObjectSnapshot(
      id: self.id(id),
      kind: .drawing,
      centerPosition: Point(x: 0, y: 0),
      size: Size(width: 1, height: 1),
      scale: scale,
      angle: 0,
      selectedBy: nil,
      zIndex: [0x80],
      updatedAt: 0,
      color: nil,
      text: nil,
      form: nil,
      style: ObjectStyle(),
      shownSize: Size(width: 1, height: 1),
      outline: nil,
      start: nil,
      end: nil,
      ink: Array(repeating: InkPoint(x: 1, y: 2), count: points),
      lineWidth: nil,
      isFinished: nil,
      erased: nil,
      groups: [],
      isLocked: false,
      frame: nil,
      link: nil,
      votes: [],
      crop: nil,
      isFlippedHorizontally: false,
      isFlippedVertically: false,
      game: nil,
      asset: nil,
      isAssetAvailable: nil
    )
    return ReportedObject(object, changed: keys)
  }

  private func added(_ id: String, scale: Double = 1, by: String = "anna") -> SharedBoard.Output {
    let object = object(id, scale: scale)
    return .change(.added(object.snapshot, by: .me), .init(member: member(by), object: object))
  }

  private func changed(
    _ id: String,
    _ keys: [String] = ["scale"],
    scale: Double = 1,
    points: Int = 0,
    by: String = "anna"
  ) -> SharedBoard.Output {
    let object = object(id, scale: scale, points: points, keys)
    return .change(.changed(object.snapshot, by: .me), .init(member: member(by), object: object))
  }

  private func removed(_ id: String, by: String = "anna") -> SharedBoard.Output {
    .change(.removed(self.id(id), by: .me), .init(member: member(by)))
  }

  private func line(_ event: SharedBoard.Output) -> String {
    switch event {
    case .change(.added(let object, _), let details):
      "+\(name(object.id)) \(object.scale) \(name(details.member?.bytes ?? []))"
    case .change(.changed(let object, _), let details):
      "~\(name(object.id)) \(details.object?.changed.joined(separator: ",") ?? "") "
        + "\(object.scale) \(name(details.member?.bytes ?? []))"
    case .change(.removed(let id, _), _): "-\(name(id))"
    case .change(.selected(let id, _), _): "selected \(name(id))"
    case .answer(.done, _): "done"
    default: "another event"
    }
  }

  /// Appends many events about other objects, so that the reader is behind, and then some events; returns those events
  /// as the reader gets them.
  private mutating func behind(_ events: SharedBoard.Output...) -> [String] {
    for number in 0..<EventPump.backlog { pump.append(added("other\(number)")) }
    for event in events { pump.append(event) }
    let pending = pump.begin() ?? []
    _ = pump.end(nil)
    return pending.dropFirst(EventPump.backlog).map(line)
  }

  @Test mutating func `a reader that keeps up gets every change`() {
    for number in 1...3 { pump.append(changed("a", scale: Double(number))) }
    #expect(pump.begin()?.map(line) == ["~a scale 1.0 anna", "~a scale 2.0 anna", "~a scale 3.0 anna"])
  }

  @Test mutating func `only the last state of an object is reported, and the order of objects is kept`() {
    let lines = behind(
      added("a"),
      changed("b", ["angle"]),
      changed("a", scale: 2),
      changed("b", ["scale", "angle"], scale: 3),
      added("c")
    )
    #expect(lines == ["+a 2.0 anna", "~b angle,scale 3.0 anna", "+c 1.0 anna"])
  }

  @Test mutating func `a removal replaces a change, and follows an addition`() {
    #expect(behind(changed("a"), added("b"), removed("a"), removed("b")) == ["-a", "+b 1.0 anna", "-b"])
    #expect(behind(changed("a"), removed("a"), added("a"), changed("a", scale: 4)) == ["-a", "+a 4.0 anna"])
  }

  @Test mutating func `changes of different authors are not combined`() {
    let lines = behind(changed("a"), changed("a", scale: 2, by: "ben"), removed("a", by: "anna"))
    #expect(lines == ["~a scale 1.0 anna", "~a scale 2.0 ben", "-a"])
  }

  @Test mutating func `no change is moved past an answer or the selection of its object`() {
    let done = SharedBoard.Output.answer(.done(.move, CommandOutcome()))
    let selected = SharedBoard.Output.change(.selected(id("a"), by: nil), .init())
    #expect(behind(changed("a"), done, changed("a", scale: 2)) == ["~a scale 1.0 anna", "done", "~a scale 2.0 anna"])
    #expect(
      behind(changed("a"), changed("b"), selected, removed("a"), changed("b", scale: 5)) == [
        "~a scale 1.0 anna", "~b scale 5.0 anna", "selected a", "-a",
      ]
    )
  }

  @Test mutating func `thousands of changes of one large stroke store one copy of it`() {
    for number in 0..<2500 { pump.append(changed("a", ["erased"], scale: Double(number), points: 16_384)) }
    #expect(pump.pendingBytes < EventPump.byteCapacity)
    #expect(pump.hasRoom)
    let pending = pump.begin() ?? []
    #expect(pending.count == 1)
    #expect(pending.map(line) == ["~a erased 2499.0 anna"])
    #expect(pump.pendingBytes == 0)
  }

  /// Returns the first points of a growing drawing.
  private func ink(_ count: Int) -> [InkPoint] { (0..<count).map { InkPoint(x: Int32($0), y: Int32($0 * $0 % 97)) } }

  private func snapshot(_ create: (Board) throws -> ObjectID) throws -> ObjectSnapshot {
    let board = Board(
      incarnation: Incarnation(1),
      member: try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32))),
      wallClock: 1
    )
    return try #require(board.snapshot(try create(board)))
  }

  private func drawing(_ ink: [InkPoint]) throws -> ObjectSnapshot { try snapshot { try $0.createDrawing(ink) } }

  private func event(_ old: [InkPoint], _ new: [InkPoint], _ keys: [String] = ["points"]) throws -> ReportedObject {
    ReportedObject(try drawing(new), since: try drawing(old), changed: keys)
  }

  private func all(_ points: RelativePoints) -> [Point] {
    var all: [Point] = []
    let add: (Point) -> Void = { all.append($0) }
    points.forEach(add)
    return all
  }

  /// Applies an event to the points that a reader knows, as the manual page explains.
  private func apply(_ object: ReportedObject, to known: inout [Point]) {
    guard let points = object.points else { return }
    let new = all(points)
    guard let (first, total, shift) = points.part else {
      known = new
      return
    }
    known = known.map { Point(x: $0.x + shift[0], y: $0.y + shift[1]) }
    known.replaceSubrange(first..<known.count - (total - first - new.count), with: new)
  }

  @Test func `a growing drawing is reported with its new points, and completely at its end`() throws {
    var known = try #require(try drawing(ink(100)).points)
    var (count, last) = (0, ink(100))
    for size in stride(from: 128, through: 4096, by: 128) {
      let event = try event(last, ink(size))
      last = ink(size)
      count += event.points?.count ?? 0
      apply(event, to: &known)
      #expect(known == (try drawing(last).points))
    }
    // The first event is about a small drawing, so the event has all points.
    #expect(count == 128 + 4096 - 128)
    #expect(try event(last, last, ["centerPosition"]).points == nil)
    let whole = try event(last, last, ["isFinished"])
    #expect(whole.points?.count == 4096 && whole.points?.part == nil)
    #expect(try event(ink(100), ink(100), ["centerPosition"]).points?.count == 100)
  }

  @Test func `a changed part of a drawing is reported without the rest`() throws {
    var changed = ink(1000)
    changed[500] = InkPoint(x: 99_999, y: -7)
    let event = try event(ink(1000), changed)
    #expect(event.points?.part?.first == 500 && event.points?.count == 1)
    var known = try #require(try drawing(ink(1000)).points)
    apply(event, to: &known)
    #expect(known == (try drawing(changed).points))
    // A drawing that became shorter.
    let shorter = try self.event(ink(1000), Array(ink(1000).dropFirst(300)))
    known = try #require(try drawing(ink(1000)).points)
    apply(shorter, to: &known)
    #expect(known == (try drawing(Array(ink(1000).dropFirst(300))).points))
  }

  @Test func `combined events about a large drawing contain all points`() throws {
    let (a, b, c) = (ink(300), ink(600), ink(900))
    var added = try #require(try drawing(a).points)
    let events = [try event(a, b), try event(b, b, ["color"]), try event(b, c), try event(c, c, ["scale"])]
    var joined = events[0]
    for later in events.dropFirst() { joined = later.joined(after: joined) }
    #expect(joined.points?.count == 600)
    apply(joined, to: &added)
    #expect(added == (try drawing(c).points))
    let first = events[0].joined(after: ReportedObject(try drawing(a)))
    #expect(first.points?.count == 600 && first.points?.part == nil)
  }

  private func erased(_ spans: [ClosedRange<Int>]) throws -> ObjectSnapshot {
    try snapshot { board in
      let id = try board.createDrawing(ink(4096))
      try board.erase(id, spans: spans)
      return id
    }
  }

  /// Returns a drawing with holes at some places.
  private func erased(_ holes: Range<Int>) throws -> ObjectSnapshot { try erased(holes.map { $0 * 64...$0 * 64 + 16 }) }

  private func event(_ old: ObjectSnapshot, _ new: ObjectSnapshot) -> ReportedObject {
    ReportedObject(new, since: old, changed: ReportedObject.changedKeys(old, new))
  }

  /// Applies the erased ranges of an event to those that a reader knows, as the manual page explains.
  private func apply(_ object: ReportedObject, to known: [ClosedRange<Int>]) -> [ClosedRange<Int>] {
    guard let former = object.erased?.former else { return object.erased?.ranges ?? [] }
    let ranges = known.filter { !former.contains($0) } + (object.erased?.ranges ?? [])
    #expect(ranges.count == object.erased?.total)
    return ranges.sorted { $0.lowerBound < $1.lowerBound }
  }

  @Test func `an erasure is reported without the earlier ones`() throws {
    var old = try erased(30..<900)
    var (known, count) = (old.erasedSpans ?? [], 0)
    for hole in 0..<30 {
      // Two new holes, before and after the others.
      let new = try erased(29 - hole..<901 + hole)
      let event = event(old, new)
      count += event.erased?.ranges.count ?? 0
      known = apply(event, to: known)
      #expect(known == new.erasedSpans && event.points == nil)
      old = new
    }
    #expect(count == 60)
    // An undo, and an erasure that joins earlier erasures.
    let fewer = event(old, try erased(30..<900))
    #expect(fewer.erased?.ranges.isEmpty == true && fewer.erased?.former?.count == 60)
    #expect(apply(fewer, to: known) == (try erased(30..<900).erasedSpans))
    let joined = try erased([0...8000] + (126..<930).map { $0 * 64...$0 * 64 + 16 })
    #expect(event(old, joined).erased?.ranges.count == 1)
    #expect(apply(event(old, joined), to: known) == joined.erasedSpans)
    #expect(try event(joined, drawing(ink(4096))).erased == nil)
    // All ranges are reported if there are at most 128, or if the drawing had none before.
    #expect(try event(old, erased(0..<100)).erased?.total == nil)
    #expect(try event(drawing(ink(4096)), old).erased?.ranges.count == 930)
  }

  @Test func `combined events about erasures contain all ranges`() throws {
    let states = try [200, 300, 250, 400].map { try erased(0..<$0) }
    var joined = event(states[0], states[1])
    for (old, new) in zip(states.dropFirst(), states.dropFirst(2)) { joined = event(old, new).joined(after: joined) }
    #expect(joined.erased?.ranges.count == 200)
    #expect(apply(joined, to: states[0].erasedSpans ?? []) == states[3].erasedSpans)
    let added = joined.joined(after: ReportedObject(states[0]))
    #expect(added.erased?.ranges.count == 400 && added.erased?.total == nil)
  }

  private func text(_ text: String, x: Double = 0) throws -> ObjectSnapshot {
    try snapshot { try $0.createText(text, at: Point(x: x, y: 0)) }
  }

  /// Applies the text of an event to the text that a reader knows, as the manual page explains.
  private func apply(_ object: ReportedObject, to known: String) -> String {
    guard let change = object.text.change else { return object.text.whole?.raw ?? known }
    #expect(object.text.whole == nil)
    var characters = Array(known.unicodeScalars)
    characters.replaceSubrange(change.at..<change.at + change.replacing, with: change.text.raw.unicodeScalars)
    var text = ""
    text.unicodeScalars.append(contentsOf: characters)
    return text
  }

  @Test(
    arguments: [
      ("", "ab", ""), ("", "", "Zo\u{308}e"), ("é", "è", ""), ("😀", "😁", "😀"), ("", "éé", "é"), ("aa", "", "a"),
    ]
  ) func `a long text is reported by its change`(old: String, new: String, end: String) throws {
    let start = String(repeating: "Zoë 😀 ", count: 500)
    let (before, after) = (start + old + end, start + new + end)
    let event = try event(text(before), text(after))
    guard before != after else { return }
    #expect((event.text.change?.text.byteCount ?? 100) <= 8)
    #expect(apply(event, to: before) == after)
    #expect(event.wholeText?.raw == after)
  }

  @Test func `a short text, and a text that is mostly new, are reported completely`() throws {
    let short = String(repeating: "é", count: 1999)
    #expect(try event(text(short), text(short + "a")).text.whole?.raw == short + "a")
    #expect(try event(text(short + "a"), text(short + "ab")).text.whole == nil)
    let other = String(repeating: "b", count: 3000)
    #expect(try event(text(short + "ab"), text(other)).text.whole?.raw == other)
    let moved = try event(text(other), text(other, x: 1))
    #expect(moved.text.whole == nil && moved.text.change == nil && moved.wholeText?.raw == other)
  }

  @Test func `combined events about a long text contain all characters`() throws {
    let start = String(repeating: "word ", count: 1000)
    let states = try [start, start + "a", start + "ab", start + "b"].map { try text($0) }
    var joined = event(states[0], states[1])
    for (old, new) in zip(states.dropFirst(), states.dropFirst(2)) { joined = event(old, new).joined(after: joined) }
    #expect(joined.text.change?.text.raw == "b")
    #expect(apply(joined, to: start) == start + "b")
    let added = joined.joined(after: ReportedObject(states[0]))
    #expect(added.text.whole?.raw == start + "b" && added.text.change == nil)
  }

  @Test mutating func `large objects are counted in bytes`() {
    pump.append(changed("a", points: 16_384))
    #expect(pump.hasRoom)
    pump.append(changed("b", points: 16_384))
    #expect(!pump.hasRoom)
    _ = pump.begin()
    #expect(pump.hasRoom)
  }

  @Test mutating func `there is no room while a very large event is being reported`() {
    pump.append(changed("a", points: 65_536))
    _ = pump.begin()
    #expect(!pump.hasRoom)
    _ = pump.end(nil)
    #expect(pump.hasRoom)
  }

  @Test("a long list is not written on the thread of the links, and does not stop the board") mutating func list() {
    let list = ListedObjects(count: 20_000, ids: { [] }, describe: { _ in nil })
    pump.append(.answer(.objects(list)))
    #expect(pump.begin()?.count == 1)
    #expect(pump.tellingBytes > EventPump.byteBacklog)
    #expect(pump.hasRoom)
  }
}
