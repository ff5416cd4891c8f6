import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The encodings of batches and answers of a busy room, intact and damaged.
@Suite struct CodingTests {
  private func room(_ seed: UInt64) -> World {
    let world = World(seed: seed, nodes: 3, weather: .init(loss: 100, cuts: 2, mends: 20, crashes: 0))
    world.connectAll()
    for _ in 0..<160 { world.happen() }
    return world
  }

  /// Returns the batches that a late joiner would need, built from the existing cells.
  private func batches(_ world: World) throws -> [Batch] {
    let state = world.nodes[0].replica.board.state
    var batches: [Batch] = []
    for (id, record) in state.records.sorted(by: { $0.key < $1.key }) {
      for entry in record.entries {
        let (property, cell) = (entry.property, entry.cell)
        batches.append(
          try Batch(
            author: cell.dot.incarnation,
            firstSequence: cell.dot.sequence,
            time: cell.time,
            operations: [Operation(id, property, cell.value)]
          )
        )
      }
    }
    return batches
  }

  @Test("[SYN-20] each value decodes to itself and has exactly one encoding", arguments: 0..<10) func roundTrip(
    seed: UInt64
  ) throws {
    let world = room(seed)
    let state = world.nodes[0].replica.board.state
    let difference = state.difference(since: Context())
    let bytes = DifferenceCoding.encode(difference)
    #expect(try DifferenceCoding.decode(bytes) == difference)
    #expect(try ContextCoding.decode(ContextCoding.encode(state.context)) == state.context)
    var count = 0
    for batch in try batches(world) {
      #expect(try BatchCoding.decode(BatchCoding.encode(batch)) == batch)
      count += 1
    }
    #expect(count > 20)
  }

  @Test("[SYN-20] damaged bytes are rejected, or are the only encoding of another value", arguments: 0..<6) func damage(
    seed: UInt64
  ) throws {
    let world = room(seed)
    var random = SeededGenerator(seed: seed)
    let answer = DifferenceCoding.encode(world.nodes[0].replica.board.state.difference(since: Context()))
    for length in 0..<min(answer.count, 2000) {
      #expect(throws: CodecError.self) { try DifferenceCoding.decode(Array(answer.prefix(length))) }
    }
    var refused = 0
    for _ in 0..<1000 {
      var damaged = answer
      damaged[random.below(damaged.count)] ^= UInt8(1 << random.below(8))
      if let difference = try? DifferenceCoding.decode(damaged) {
        #expect(DifferenceCoding.encode(difference) == damaged)
      } else {
        refused += 1
      }
    }
    #expect(refused > 100)
    for batch in try batches(world).prefix(40) {
      let bytes = BatchCoding.encode(batch)
      for length in 0..<bytes.count {
        #expect(throws: CodecError.self) { try BatchCoding.decode(Array(bytes.prefix(length))) }
      }
      for index in bytes.indices {
        for bit in 0..<8 {
          var damaged = bytes
          damaged[index] ^= UInt8(1 << bit)
          if let other = try? BatchCoding.decode(damaged) { #expect(BatchCoding.encode(other) == damaged) }
        }
      }
    }
  }

  @Test("[SYN-40] a change of any cell changes the digest; a selection does not", arguments: 0..<10) func digest(
    seed: UInt64
  ) throws {
    let state = room(seed).nodes[0].replica.board.state
    let digest = BoardDigest.digest(of: state)
    var changed = 0
    for (id, record) in state.records where !record.isDeleted && !state.orphans.contains(id) {
      for entry in record.entries where entry.property.number != 7 {
        let (property, cell) = (entry.property, entry.cell)
        let dot = Dot(cell.dot.incarnation, 1_000_000)
        guard property.mayBeWritten(by: dot, of: id), property != .deleted else { continue }
        var other = state
        var changes = ChangeLog()
        // The same value by a later operation is another cell.
        try other.apply(
          try Batch(
            author: dot.incarnation,
            firstSequence: dot.sequence,
            time: HybridTime(cell.time.rawValue + 1),
            operations: [Operation(id, property, cell.value)]
          ),
          changes: &changes
        )
        #expect((BoardDigest.digest(of: other) == digest) == (property == .selection))
        changed += 1
      }
    }
    #expect(changed > 10)
  }

  /// Returns the bytes of updates of 10,000 objects by four replicas, in batches of this size.
  private func bytes(batchedBy size: Int, _ operation: (_ index: Int, _ objects: [UInt64]) -> (UInt64, Int32, Int32))
    throws -> Double
  {
    var random = SeededGenerator(seed: 1)
    var writer = LinkBatchWriter()
    let author = Incarnation(1 << 63)
    let creators = (1...4).map { Incarnation(UInt64($0) << 60) }
    var total = 0
    let batches = 2000 / size
    for number in 0..<batches {
      let objects = (0..<size).map { _ in UInt64(8 * random.below(2500) + 1) }.sorted()
      var last: ObjectID?
      let operations = objects.indices.compactMap { index -> Operation? in
        let (sequence, x, y) = operation(index, objects)
        let id = ObjectID(Dot(creators[size == 1 ? number % 4 : sequence.isMultiple(of: 3) ? 0 : 1], sequence))
        defer { last = id }
        return id == last ? nil : Operation(id, .position, .pair(x, y))
      }
      total +=
        1
        + writer.encode(
          EncodedBatch(
            try Batch(
              author: author,
              firstSequence: UInt64(100_000 + number * size),
              time: HybridTime(UInt64(1_700_000_000_000 + number * 4) << 16),
              operations: operations
            )
          )
        ).count
    }
    return Double(total) / Double(batches * size)
  }

  @Test("[SYN-28] an update takes at most 16 bytes alone and 8 in a batch of 50, a drag 4.5") func size() throws {
    var random = SeededGenerator(seed: 2)
    func anywhere(_ index: Int, _ objects: [UInt64]) -> (UInt64, Int32, Int32) {
      (objects[index], Int32(random.below(64_000)), Int32(random.below(64_000)))
    }
    #expect(try bytes(batchedBy: 1, anywhere) <= 16)
    #expect(try bytes(batchedBy: 50, anywhere) <= 8)
    #expect(
      try bytes(batchedBy: 50) { index, _ in
        (UInt64(index * 8 + 1), Int32(6400 + index * 640 + random.below(40)), Int32(9000 + random.below(60)))
      } <= 4.5
    )
  }
}
