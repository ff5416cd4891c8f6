import PeerCore
import PeerTestKit
import Whiteboard

/// A board of forms, texts, labels and bound lines with random cells, determined by one seed.
///
/// Two members write at the same time. What users see must not depend on the order in which their batches arrive, or on
/// the program that computes it.
public struct DiagramWorld {
  private var random: SeededGenerator
  private var members: [(author: Incarnation, sequence: UInt64)] = []
  private var objects: [ObjectID] = []
  /// The runs of texts and labels, and their numbers of characters.
  private var runs: [(object: ObjectID, dot: Dot, count: Int)] = []
  private var batches: [Batch] = []

  private init(seed: UInt64) throws(CodecError) {
    random = SeededGenerator(seed: seed)
    for _ in 0..<2 { members.append((.random(using: &random), 0)) }
    for one in 0..<2 {
      try write(by: one) { world, dot in
        let kinds: [ObjectKind] = [.drawing, .drawing, .drawing, .drawing, .drawing, .text, .text, .photo]
        world.objects.append(ObjectID(dot))
        return Operation(ObjectID(dot), .kind, .unsigned(kinds[world.random.below(kinds.count)].rawValue))
      }
    }
    for turn in 0..<(2 + random.below(7)) {
      try write(by: turn % 2) { world, dot in
        // Half of the cells belong to few objects, so that some objects have many cells.
        let id = world.objects[world.random.below(world.random.chance(50) ? 2 : world.objects.count)]
        let cell = world.cell(of: id, dot)
        return Operation(id, cell.property, cell.value)
      }
    }
  }

  private mutating func write(by one: Int, _ operation: (inout Self, Dot) -> Operation) throws(CodecError) {
    let (author, sequence) = members[one]
    var operations: [Operation] = []
    for offset in 1...UInt64(2 + random.below(12)) {
      operations.append(operation(&self, Dot(author, sequence + offset)))
    }
    members[one].sequence += UInt64(operations.count)
    // Cells of both members get similar times.
    let time = HybridTime((1_700_000_000_000 + UInt64(10 * batches.count + random.below(40))) << 16)
    batches.append(
      try Batch(author: author, firstSequence: sequence + 1, time: time, operations: operations)
    )
  }

  // MARK: - Cells

  private mutating func coordinate(_ units: Int) -> Int32 { Int32(random.below(units * 64)) - Int32(units * 32) }

  private mutating func cell(of id: ObjectID, _ dot: Dot) -> (property: Property, value: Value) {
    func unsigned(_ property: Property, _ value: UInt64) -> (Property, Value) { (property, .unsigned(value)) }
    switch random.below(100) {
    case 0..<14: return unsigned(.form, UInt64(random.below(9)))
    case 14..<24: return (.position, .pair(coordinate(600), coordinate(600)))
    case 24..<30: return unsigned(.scale, random.chance(80) ? 8192 + UInt64(random.below(400_000)) : random.next())
    case 30..<37: return unsigned(.angle, UInt64(random.below(5000)))
    case 37..<44: return (.size, .pair(coordinate(300) + 64 * 120, coordinate(300) + 64 * 120))
    case 44..<47: return unsigned(.lineWidth, UInt64(random.below(2000)))
    case 47..<49: return unsigned(.curve, UInt64(random.below(2)))
    case 49..<65: return point()
    case 65..<78: return (random.chance(50) ? .startBinding : .endBinding, .bytes(binding()))
    case 78..<81: return unsigned(.textSize, UInt64(random.below(4000)))
    case 81..<84: return unsigned(.autoWidth, UInt64(random.below(2)))
    case 84..<86: return unsigned(.alignment, UInt64(random.below(4)))
    case 86: return unsigned(random.chance(50) ? .lineStart : .lineEnd, UInt64(random.below(6)))
    case 87: return unsigned(.deleted, UInt64(random.below(2)))
    case 88..<90: return deletion(of: id, dot) ?? point()
    default: return run(in: id, dot)
    }
  }

  /// A point that is new, moved or removed.
  private mutating func point() -> (property: Property, value: Value) {
    let key = (1 + UInt64(random.below(5))) << 32 + (random.chance(20) ? UInt64(random.below(3)) << 31 : 0)
    return (.point(key: key), random.chance(12) ? .none : .pair(coordinate(400), coordinate(400)))
  }

  private mutating func binding() -> [UInt8] {
    let target = objects[random.below(objects.count)]
    var writer = ByteWriter()
    writer.incarnation(target.dot.incarnation)
    writer.varint(target.dot.sequence)
    for _ in 0..<2 { writer.zigzag(random.chance(40) ? 0 : Int64(random.below(6000)) - 3000) }
    writer.byte(random.chance(20) ? 1 : 0)
    return writer.bytes
  }

  private static let words = [
    "a", " ", "  ", "\n", "word", "another", "longer-than-a-row", "é", "e\u{301}", "日本語", "한국",
    "\u{1112}\u{1161}\u{11AB}",
    "🎉", "👨\u{200D}👩\u{200D}👧", "👍🏽", "🇩🇪", "🇫", "❤\u{FE0F}", "1\u{FE0F}\u{20E3}", " \u{FE0F}", "a\u{AD}b", "\t",
    "नमस्ते", "กำลัง", "مَرحبًا", "\u{200B}", "\u{FEFF}", "\u{1FA75}", "\u{378}", "＃",
  ]

  private mutating func run(in id: ObjectID, _ dot: Dot) -> (property: Property, value: Value) {
    var text = ""
    for _ in 0...random.below(9) {
      text += Self.words[random.below(Self.words.count)]
      if random.chance(50) { text += " " }
    }
    var writer = ByteWriter()
    if let other = random.element(of: runs.filter { $0.object == id }), random.chance(70) {
      // Insert the run to the left or right of a character.
      writer.byte(random.chance(50) ? 1 : 2)
      Self.write(other.dot, random.below(other.count), to: &writer)
    } else {
      writer.byte(0)
    }
    writer.raw(text.utf8)
    runs.append((id, dot, text.unicodeScalars.count))
    return (.run(dot), .bytes(writer.bytes))
  }

  private mutating func deletion(of id: ObjectID, _ dot: Dot) -> (property: Property, value: Value)? {
    guard let run = random.element(of: runs.filter { $0.object == id }) else { return nil }
    var writer = ByteWriter()
    Self.write(run.dot, random.below(run.count), to: &writer)
    writer.varint(UInt64(random.below(5)))
    return (.deletion(dot), .bytes(writer.bytes))
  }

  private static func write(_ run: Dot, _ offset: Int, to writer: inout ByteWriter) {
    writer.incarnation(run.incarnation)
    writer.varint(run.sequence)
    writer.varint(UInt64(offset))
  }

  // MARK: - Readings

  /// Runs the world of a seed.
  ///
  /// - Returns: A hash of everything about places and sizes that users see.
  /// - Throws: The invariant that did not hold.
  public static func fingerprint(seed: UInt64) throws(BoardWorld.Failure) -> Bytes32 {
    guard let world = try? Self(seed: seed), let bytes = try? reading(world.batches, isReadOften: seed % 4 == 0),
      let others = try? reading(world.batches.reversed())
    else { throw BoardWorld.Failure(seed: seed, invariant: "I1", what: "a batch is refused") }
    guard bytes == others else {
      throw BoardWorld.Failure(seed: seed, invariant: "I1", what: "the order of the batches changes what users see")
    }
    return .sha256(bytes)
  }

  /// Returns a line with the seed of a world, and its fingerprint or the invariant that did not hold.
  public static func line(of seed: UInt64) -> String {
    do throws(BoardWorld.Failure) { return "\(seed) \(Hexadecimal.encode(try fingerprint(seed: seed).bytes))" } catch {
      return error.description
    }
  }

  /// Returns what users see after the batches arrived in this order.
  ///
  /// With `isReadOften`, the board is read after each batch, so that the board must update its earlier results.
  private static func reading(_ batches: [Batch], isReadOften: Bool = false) throws(BoardError) -> [UInt8] {
    guard let member = MemberID(bytes: Array(repeating: 1, count: 32)) else { preconditionFailure("32 bytes") }
    let board = Board(incarnation: Incarnation(1), member: member, wallClock: 1_700_000_100_000)
    for batch in batches {
      try board.receive(batch)
      if isReadOften { _ = Looks(board) }
    }
    return Looks(board).bytes
  }
}

/// The objects of a board, with exact positions.
private struct Looks {
  var bytes: [UInt8] = []

  init(_ board: Board) {
    for snapshot in board.snapshots {
      bytes += snapshot.unescapedJSON
      for outline in [snapshot.outline].compactMap({ $0 }) + snapshot.endMarks {
        for point in outline.points() { add(point) }
      }
      if let label = TextLayout(snapshot) {
        add(label.box.least)
        add(label.box.greatest)
      }
      add(snapshot.bounds.least)
      add(snapshot.bounds.greatest)
    }
    for step in 0..<8 {
      let place = Point(x: Double(step) * 60 - 240, y: Double(step * step % 5) * 80 - 160)
      for id in board.objects(at: place, tolerance: 4) { bytes += id.description.utf8 }
      for id in board.objects(in: Rectangle(place, Point(x: place.x + 90, y: place.y + 70)), mode: .touching) {
        bytes += id.description.utf8
      }
    }
  }

  private mutating func add(_ point: Point) {
    for number in [point.x, point.y] {
      for shift in 0..<UInt64(8) { bytes.append(UInt8(truncatingIfNeeded: number.bitPattern >> (8 * shift))) }
    }
  }
}
