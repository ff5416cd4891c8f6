import PeerTestKit
import Testing

@testable import Whiteboard

/// Several boards with edits of their own. Each board received some batches of the other boards, in some order.
private struct Room {
  var boards: [Board] = []
  var batches: [Batch] = []

  init(seed: UInt64, boards count: Int, steps: Int) {
    var random = SeededGenerator(seed: seed)
    for number in 0..<count {
      let board = Board(
        incarnation: .random(using: &random),
        member: RandomEditing.member(UInt8(number)),
        wallClock: 1_700_000_000_000 + UInt64(random.below(3_600_000))
      )
      boards.append(board)
    }
    for _ in 0..<steps {
      let board = boards[random.below(count)]
      board.wallClock += UInt64(random.below(50))
      if random.chance(60) {
        RandomEditing.edit(board, &random)
        batches += board.takeBatches()
      } else if let batch = batches.randomElement(using: &random) {
        do { try board.receive(batch) } catch { preconditionFailure("a small board is not full") }
      }
    }
  }
}

@Suite struct BoardStateTests {
  @Test("[SYN-2] merging is idempotent, commutative and associative", arguments: 0..<repetitions(40, optimized: 150))
  func laws(seed: UInt64) {
    let room = Room(seed: seed, boards: 3, steps: 80)
    let (a, b, c) = (room.boards[0].state, room.boards[1].state, room.boards[2].state)
    #expect(a.joined(a).dump == a.dump)
    #expect(a.joined(b).dump == b.joined(a).dump)
    #expect(a.joined(b).joined(c).dump == a.joined(b.joined(c)).dump)
    #expect(a.joined(b).joined(b).dump == a.joined(b).dump)
    #expect(room.batches.count > 10)
  }

  @Test(
    "[SYN-1] batches in any order, any number of times, give one state",
    arguments: 0..<repetitions(40, optimized: 150)
  ) func anyOrder(
    seed: UInt64
  ) {
    let room = Room(seed: seed, boards: 3, steps: 60)
    var random = SeededGenerator(seed: seed &+ 1_000_000)
    let straight = BoardState().applying(room.batches)
    let twisted = BoardState().applying((room.batches + room.batches).shuffled(using: &random))
    #expect(straight.dump == twisted.dump)
    for board in room.boards {
      #expect(board.state.applying(room.batches.shuffled(using: &random)).dump == straight.dump)
    }
  }

  @Test("[SYN-5] an answer has the same effect as the batches", arguments: 0..<repetitions(40, optimized: 150))
  func answers(seed: UInt64) {
    let room = Room(seed: seed, boards: 3, steps: 60)
    var random = SeededGenerator(seed: seed &+ 2_000_000)
    var joined = BoardState()
    for board in room.boards.shuffled(using: &random) { joined = joined.joined(board.state) }
    #expect(joined.dump == BoardState().applying(room.batches).dump)
  }

  @Test("[SYN-3] each write is the winner, overwritten by a later one, or purged", arguments: 0..<50) func oracle(
    seed: UInt64
  ) {
    let room = Room(seed: seed, boards: 3, steps: 80)
    let state = BoardState().applying(room.batches)
    var purged: Set<ObjectID> = []
    var winners: [ObjectID: [Property: Cell]] = [:]
    for batch in room.batches {
      for (index, operation) in batch.operations.enumerated() {
        if operation.property == .purge {
          purged.insert(operation.object)
          continue
        }
        let cell = Cell(
          value: operation.value,
          time: HybridTime(batch.time.rawValue + UInt64(index)),
          dot: batch.dot(at: index)
        )
        let known = winners[operation.object]?[operation.property]
        if known.map({ cell.beats($0) }) ?? true { winners[operation.object, default: [:]][operation.property] = cell }
      }
    }
    for id in purged { winners[id] = nil }
    #expect(Set(winners.keys) == Set(state.records.keys))
    for (id, cells) in winners {
      for (property, cell) in cells { #expect(state.record(id)?[property] == cell) }
      #expect(state.record(id)?.count == cells.count)
    }
  }

  @Test("[SYN-8] a purged object does not come back, whatever arrives late and in which order") func purge() throws {
    let author = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1000)
    let other = Board(incarnation: Incarnation(2), member: RandomEditing.member(2), wallClock: 1000)
    let id = try author.createText("gone", at: Point(x: 0, y: 0))
    let create = author.takeBatches()
    for batch in create { try other.receive(batch) }
    // The other member, with a clock a year ahead, restores and moves the object during the purge.
    other.wallClock += 31_536_000_000
    try author.delete(id)
    try author.purge(id)
    let purge = author.takeBatches()
    try other.object(id)?.move(to: Point(x: 5, y: 5))
    let late = other.takeBatches()
    for order in [create + purge + late, late + purge + create, purge + late + create] {
      let state = BoardState().applying(order)
      #expect(state.records.isEmpty)
      #expect(state.dump == BoardState().applying(create + purge + late).dump)
    }
    // The same holds for an answer: from a replica with the object to a replica that has seen the purge, and back.
    let holding = other.state
    let purged = author.state
    #expect(holding.joined(purged).records.isEmpty)
    #expect(purged.joined(holding).records.isEmpty)
  }

  @Test("[SYN-4] cells that arrive before their object wait invisibly, and are passed on") func orphans() throws {
    let author = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1000)
    let id = try author.createText("early", at: Point(x: 0, y: 0))
    let create = author.takeBatches()
    try author.object(id)?.scale(to: 2)
    let scale = author.takeBatches()
    let early = BoardState().applying(scale)
    #expect(!early.isVisible(id))
    #expect(early.orphans == [id])
    let passedOn = BoardState().joined(early).applying(create)
    #expect(passedOn.dump == author.state.dump)
    #expect(passedOn.orphans.isEmpty)
  }

  @Test("[SYN-4] cells of an object that never existed are dropped in every order") func impossibleOrphans() throws {
    let author = Incarnation(1)
    let create = try Batch(
      author: author,
      firstSequence: 1,
      time: HybridTime(1 << 20),
      operations: [
        Operation(ObjectID(Dot(author, 1)), .kind, .unsigned(1)),
        Operation(ObjectID(Dot(author, 1)), .scale, .unsigned(7)),
      ]
    )
    // The hostile batch claims that the scaling operation is an object.
    let hostile = try Batch(
      author: Incarnation(9),
      firstSequence: 1,
      time: HybridTime(1 << 20),
      operations: [Operation(ObjectID(Dot(author, 2)), .scale, .unsigned(9))]
    )
    let one = BoardState().applying([create, hostile])
    let two = BoardState().applying([hostile, create])
    let three = BoardState().applying([hostile]).joined(BoardState().applying([create]))
    #expect(one.dump == two.dump)
    #expect(one.dump == three.dump)
    #expect(one.objectCount == 1)
  }

  @Test("[SYN-8] a purge of an object that never existed uses up its dot on every replica") func burntDot() throws {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1000)
    let hostile = try Batch(
      author: Incarnation(9),
      firstSequence: 1,
      time: HybridTime(1 << 20),
      operations: [Operation(ObjectID(Dot(Incarnation(1), 3)), .purge, .none)]
    )
    try board.receive(hostile)
    let id = try board.createText("still works", at: Point(x: 0, y: 0))
    let batches = board.takeBatches()
    #expect(board.object(id) != nil)
    let elsewhere = BoardState().applying(batches + [hostile])
    #expect(elsewhere.dump == board.state.dump)
    #expect(elsewhere.isVisible(id))
  }

  @Test("[I12] [BRD-30] a batch beyond the limit of incarnations is rejected as a whole") func tooManyIncarnations()
    throws
  {
    var state = BoardState()
    var changes = ChangeLog()
    var next: UInt64 = 100
    func flood() throws -> Batch {
      var operations: [Operation] = []
      for _ in 0..<BoardLimits.operationsPerBatch {
        next += 1
        operations.append(Operation(ObjectID(Dot(Incarnation(next), 1)), .purge, .none))
      }
      return try Batch(author: Incarnation(next), firstSequence: 2, time: HybridTime(1), operations: operations)
    }
    // Exactly as many as fit.
    for _ in 0..<16 { try state.apply(try flood(), changes: &changes) }
    let count = state.context.incarnationCount
    let last = try flood()
    #expect(throws: BoardError.boardFull) { try state.apply(last, changes: &changes) }
    #expect(state.context.incarnationCount == count)
    #expect(count == BoardLimits.incarnations)
  }

  @Test("[I12] [BRD-30] a batch beyond the limit of bytes is rejected, and a purge makes room") func tooManyBytes()
    throws
  {
    var state = BoardState()
    var changes = ChangeLog()
    let author = Incarnation(1)
    var sequence: UInt64 = 1
    func batch(_ object: UInt64) throws -> Batch {
      defer { sequence += 11 }
      let id = ObjectID(Dot(author, object))
      return try Batch(
        author: author,
        firstSequence: sequence,
        time: HybridTime(sequence),
        operations: (0..<11).map { index in
          index == 0
            ? Operation(id, .kind, .unsigned(99))
            : Operation(id, Property(UInt16(20 + index)), .bytes(Array(repeating: 1, count: BoardLimits.valueBytes)))
        }
      )
    }
    let fits = BoardLimits.storedBytes / (10 * BoardLimits.valueBytes)
    for _ in 0..<fits { try state.apply(try batch(sequence), changes: &changes) }
    #expect(state.valueBytes == fits * 10 * BoardLimits.valueBytes)
    let last = try batch(sequence)
    #expect(throws: BoardError.boardFull) { try state.apply(last, changes: &changes) }
    #expect(state.objectCount == fits)
    try state.apply(
      try Batch(
        author: Incarnation(2),
        firstSequence: 1,
        time: HybridTime(1),
        operations: [Operation(ObjectID(Dot(author, 1)), .purge, .none)]
      ),
      changes: &changes
    )
    try state.apply(last, changes: &changes)
    #expect(state.objectCount == fits)
    #expect(state.valueBytes == fits * 10 * BoardLimits.valueBytes)
  }

  @Test(
    "[BRD-30] the growth by a batch or an answer is computed exactly",
    arguments: 0..<repetitions(30, optimized: 100)
  ) func growth(seed: UInt64)
    throws
  {
    let room = Room(seed: seed, boards: 3, steps: 60)
    var random = SeededGenerator(seed: seed &+ 3_000_000)
    var state = BoardState()
    var changes = ChangeLog()
    for batch in (room.batches + room.batches.prefix(9)).shuffled(using: &random) {
      let (before, growth) = (state, state.growth(with: batch))
      try state.apply(batch, changes: &changes)
      #expect(BoardGrowth(from: before, to: state) == growth)
    }
    for board in room.boards {
      for comparingAll in [false, true] {
        let before = board.state
        var after = before
        let answer = state.difference(since: comparingAll ? Context() : before.context)
        let purged = before.records.keys.filter { answer.context.contains($0.dot) && !answer.living.contains($0.dot) }
        let growth = before.growth(with: answer, without: purged, comparingAll: comparingAll)
        try after.merge(answer, comparingAll: comparingAll, changes: &changes)
        #expect(BoardGrowth(from: before, to: after) == growth)
        #expect(after.dump == before.joined(state).dump)
      }
    }
  }

  @Test("[SYN-42] a repair corrects cells that differ with one context", arguments: 0..<30) func repair(seed: UInt64)
    throws
  {
    let room = Room(seed: seed, boards: 2, steps: 60)
    let state = room.boards[0].state.joined(room.boards[1].state)
    // Simulate a memory fault: the same dots with another value.
    var faulty = Difference(context: state.context)
    faulty.living = state.difference(since: Context()).living
    for entry in state.difference(since: Context()).entries {
      var other = Difference.Entry(object: entry.object)
      for known in entry.cells {
        let (property, cell) = (known.property, known.cell)
        let isFaulty = property.right == .anyone && cell.value != .none && !property.isSelection
        let value = isFaulty ? .none : cell.value
        other.cells.append(PropertyCell(property, Cell(value: value, time: cell.time, dot: cell.dot)))
      }
      faulty.entries.append(other)
    }
    var changes = ChangeLog()
    var diverged = BoardState()
    try diverged.merge(faulty, changes: &changes)
    #expect(diverged.context == state.context)
    #expect(diverged.dump != state.dump)
    var one = diverged
    try one.merge(state.difference(since: diverged.context, buckets: 0xFFFF), comparingAll: true, changes: &changes)
    #expect(one.dump == state.dump)
    var other = state
    try other.merge(diverged.difference(since: state.context, buckets: 0xFFFF), comparingAll: true, changes: &changes)
    #expect(other.dump == state.dump)
    // Without the buckets, the answer would be empty.
    #expect(state.difference(since: diverged.context).entries.isEmpty)
  }

  @Test("[SYN-42] the indexes follow the kind of an object after its repair") func repairedKind() throws {
    let board = TwoBoards().anna
    try board.createText("x", at: Point(x: 0, y: 0))
    let state = board.state
    var faulty = state.difference(since: Context())
    faulty.entries = faulty.entries.map { entry in
      var entry = entry
      entry.cells = entry.cells.map { known in
        guard known.property.isKind else { return known }
        let value = Value.unsigned(ObjectKind.settings.rawValue)
        return PropertyCell(known.property, Cell(value: value, time: known.cell.time, dot: known.cell.dot))
      }
      return entry
    }
    var changes = ChangeLog()
    var diverged = BoardState()
    try diverged.merge(faulty, changes: &changes)
    #expect(diverged.settingsIDs.count == 1)
    var healed = diverged
    try healed.merge(state.difference(since: Context()), comparingAll: true, changes: &changes)
    var other = state
    try other.merge(faulty, comparingAll: true, changes: &changes)
    #expect(healed.dump == other.dump)
    #expect(healed.settingsIDs == other.settingsIDs)
    for state in [healed, other] {
      let settings = state.records.filter { $0.value.kind == .settings }.map(\.key)
      #expect(state.settingsIDs == settings.sorted())
    }
  }

  @Test("[BRD-5] at equal times the greater incarnation wins, then the greater sequence") func ties() {
    func cell(_ time: UInt64, _ incarnation: UInt64, _ sequence: UInt64) -> Cell {
      Cell(value: .none, time: HybridTime(time), dot: Dot(Incarnation(incarnation), sequence))
    }
    #expect(cell(2, 1, 1).beats(cell(1, 9, 9)))
    #expect(cell(1, 2, 1).beats(cell(1, 1, 9)))
    #expect(cell(1, 1, 2).beats(cell(1, 1, 1)))
    #expect(!cell(1, 1, 1).beats(cell(1, 1, 1)))
    let ascending: [Value] = [
      .none, .unsigned(1), .unsigned(256), .signed(1), .signed(-1), .pair(1, 9), .pair(2, 0), .pair(-1, 0), .bytes([]),
      .bytes([1]), .bytes([1, 0]), .bytes([2]), .text("a"), .text("b"), .dot(Dot(Incarnation(1), 9)),
      .dot(Dot(Incarnation(2), 1)),
    ]
    for (index, value) in ascending.enumerated() {
      for (other, less) in ascending.enumerated() {
        let dot = Dot(Incarnation(1), 1)
        let left = Cell(value: value, time: HybridTime(1), dot: dot)
        #expect(left.beats(Cell(value: less, time: HybridTime(1), dot: dot)) == (index > other))
      }
    }
  }

  /// Returns every second dot of one incarnation, each a range of its own.
  private func gaps(_ count: Int, of incarnation: UInt64) -> Difference {
    var context = Context()
    for number in 1...UInt64(count) { context.insert(Dot(Incarnation(incarnation), 2 * number)) }
    return Difference(context: context)
  }

  @Test(
    "[BRD-30] ranges of both sides count once, and an answer beyond the limit changes nothing",
    .enabled(if: isOptimized)
  ) func sharedRanges()
    throws
  {
    var changes = ChangeLog()
    var state = BoardState()
    let many = gaps(BoardLimits.ranges - 1, of: 9)
    try state.merge(many, changes: &changes)
    var other = state
    let batch = try Batch(
      author: Incarnation(1),
      firstSequence: 1,
      time: HybridTime(1),
      operations: [Operation(ObjectID(Dot(Incarnation(1), 1)), .kind, .unsigned(1))]
    )
    try other.apply(batch, changes: &changes)
    try state.merge(other.difference(since: state.context), changes: &changes)
    #expect(state.context.rangeCount == BoardLimits.ranges)
    #expect(state.objectCount == 1)
    #expect(throws: BoardError.boardFull) { try state.merge(gaps(1, of: 7), changes: &changes) }
    #expect(state.context == other.context)
    // On a full board, a known author can continue.
    let more = try Batch(
      author: Incarnation(1),
      firstSequence: 2,
      time: HybridTime(2),
      operations: [Operation(ObjectID(Dot(Incarnation(1), 1)), .scale, .unsigned(1))]
    )
    try state.apply(more, changes: &changes)
    #expect(state.cellCount == 2)
  }

  @Test("[BRD-30] cells that an answer replaces do not count as new ones") func replacedCells() throws {
    var changes = ChangeLog()
    var state = BoardState()
    let author = Incarnation(1)
    let value = Value.bytes(Array(repeating: 1, count: BoardLimits.valueBytes))
    func difference(_ generation: UInt64) -> Difference {
      var difference = Difference(context: Context())
      let count = BoardLimits.storedBytes / BoardLimits.valueBytes
      for number in 1...UInt64(count) {
        var entry = Difference.Entry(object: ObjectID(Dot(Incarnation(2), number)))
        let dot = Dot(author, generation * UInt64(count) + number)
        let cell = Cell(value: value, time: HybridTime(generation), dot: dot)
        entry.cells = [PropertyCell(.color, cell)]
        difference.context.insert(dot)
        difference.entries.append(entry)
      }
      return difference
    }
    try state.merge(difference(0), changes: &changes)
    #expect(state.valueBytes == BoardLimits.storedBytes)
    try state.merge(difference(1), changes: &changes)
    #expect(state.valueBytes == BoardLimits.storedBytes)
    #expect(throws: BoardError.boardFull) {
      var more = Difference(context: Context())
      var entry = Difference.Entry(object: ObjectID(Dot(Incarnation(3), 1)))
      let cell = Cell(value: .bytes([1]), time: HybridTime(1), dot: Dot(Incarnation(4), 1))
      entry.cells = [PropertyCell(.color, cell)]
      more.entries = [entry]
      try state.merge(more, changes: &changes)
    }
  }

  @Test("[SYN-8] many purges in descending order cost one pass for each batch") func descendingPurges() throws {
    var changes = ChangeLog()
    var state = BoardState()
    for number in stride(from: UInt64(30), to: 0, by: -1) {
      let batch = try Batch(
        author: Incarnation(1),
        firstSequence: (31 - number) * 4096,
        time: HybridTime(1),
        operations: (UInt64(0)..<4096).reversed().map { index in
          let dot = Dot(Incarnation(2), (number * 4096 + index) * 2)
          return Operation(ObjectID(dot), .purge, .none)
        }
      )
      try state.apply(batch, changes: &changes)
    }
    #expect(state.context[Incarnation(2)].ranges.count == 30 * 4096)
  }

  @Test("[BRD-14] cells in descending order cost as much as in ascending order") func descendingCells() throws {
    var changes = ChangeLog()
    var state = BoardState()
    let id = ObjectID(Dot(Incarnation(9), 1))
    let count: UInt64 = 40 * 4096
    for number in 0..<UInt64(40) {
      let batch = try Batch(
        author: Incarnation(1),
        firstSequence: 1 + number * 4096,
        time: HybridTime(1),
        operations: (UInt64(0)..<4096).map {
          Operation(id, Property(65, index: count - number * 4096 - $0), .unsigned($0))
        }
      )
      try state.apply(batch, changes: &changes)
    }
    let record = try #require(state.record(id))
    #expect(record.count == Int(count))
    #expect(record.entries.map(\.property) == (1...count).map { Property(65, index: $0) })
    #expect(record[Property(65, index: count)]?.dot == Dot(Incarnation(1), 1))
  }

  @Test("[SYN-4] the cost of a small batch does not depend on the number of orphans") func manyOrphans() throws {
    var changes = ChangeLog()
    var state = BoardState()
    var sequence: UInt64 = 1
    for _ in 0..<24 {
      let batch = try Batch(
        author: Incarnation(1),
        firstSequence: sequence,
        time: HybridTime(1),
        operations: (UInt64(0)..<4096).map {
          Operation(ObjectID(Dot(Incarnation(2), sequence + $0)), .color, .unsigned(1))
        }
      )
      try state.apply(batch, changes: &changes)
      sequence += 4096
    }
    #expect(state.orphans.count == 24 * 4096)
    // Visiting every orphan for each batch would take hundreds of millions of steps.
    for _ in 0..<5000 {
      let batch = try Batch(
        author: Incarnation(1),
        firstSequence: sequence,
        time: HybridTime(2),
        operations: [Operation(ObjectID(Dot(Incarnation(2), 1)), .color, .unsigned(sequence))]
      )
      try state.apply(batch, changes: &changes)
      sequence += 1
    }
    #expect(state.orphans.count == 24 * 4096)
    // The dot of one orphan turns out not to be a create operation.
    let other = try Batch(
      author: Incarnation(2),
      firstSequence: 7,
      time: HybridTime(2),
      operations: [Operation(ObjectID(Dot(Incarnation(2), 8)), .color, .unsigned(3))]
    )
    try state.apply(other, changes: &changes)
    #expect(state.orphans.count == 24 * 4096 - 1)
    #expect(state.record(ObjectID(Dot(Incarnation(2), 7))) == nil)
  }
}

extension BoardGrowth {
  fileprivate init(from before: BoardState, to after: BoardState) {
    self.init(
      objects: after.objectCount - before.objectCount,
      cells: after.cellCount - before.cellCount,
      bytes: after.valueBytes - before.valueBytes,
      incarnations: after.context.incarnationCount - before.context.incarnationCount,
      ranges: after.context.rangeCount - before.context.rangeCount
    )
  }
}
