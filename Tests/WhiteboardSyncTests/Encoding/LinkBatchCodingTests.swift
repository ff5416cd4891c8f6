import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct LinkBatchCodingTests {
  private let authors = [Incarnation(5), Incarnation(9)]

  /// Returns random valid batches of several authors in turn, in the order of a link.
  private func batches(_ seed: UInt64) throws -> [Batch] {
    var random = SeededGenerator(seed: seed)
    var next: [Incarnation: UInt64] = [:]
    var milliseconds: UInt64 = 1_700_000_000_000
    return try (0..<40).map { number in
      let author = authors[number / 20]
      let first = next[author] ?? 1
      let count = 1 + random.below(6)
      next[author] = first + UInt64(count)
      milliseconds = milliseconds + UInt64(random.below(90)) - 30
      return try Batch(
        author: author,
        firstSequence: first,
        time: HybridTime(milliseconds << 16 | UInt64(random.below(300))),
        operations: (0..<count).map { index in operation(Dot(author, first + UInt64(index)), &random) }
      )
    }
  }

  private func operation(_ dot: Dot, _ random: inout SeededGenerator) -> Operation {
    let other = Dot(Incarnation(UInt64(100 + random.below(4))), UInt64(1 + random.below(50)))
    switch random.below(7) {
    case 0: return Operation(ObjectID(dot), .kind, .unsigned(1))
    case 1: return Operation(ObjectID(other), .purge, .none)
    case 2: return Operation(ObjectID(other), .run(dot), .bytes([1, 2, 3]))
    case 3: return Operation(ObjectID(other), Property(60), .dot(other))
    case 4: return Operation(ObjectID(other), .angle, .unsigned(random.next()))
    case 5: return Operation(ObjectID(other), Property(61), .text("héllo"))
    default: return Operation(ObjectID(other), .position, .pair(Int32(random.below(900)), -5))
    }
  }

  private func begin(_ reader: inout LinkBatchReader, before batch: Batch) {
    guard batch.firstSequence == 1 else { return }
    reader.beginAuthor(batch.author, lastSequence: 0)
  }

  @Test("[SYN-28] the link form is decoded to the full form, for several authors in turn", arguments: 0..<40)
  func roundTrip(seed: UInt64) throws {
    var writer = LinkBatchWriter()
    var reader = LinkBatchReader()
    for batch in try batches(seed) {
      if batch.firstSequence == 1 { writer.beginAuthor() }
      begin(&reader, before: batch)
      let encoded = EncodedBatch(batch)
      let link = writer.encode(encoded)
      #expect(link.count < encoded.bytes.count)
      let read = try reader.decode([1] + link, from: 1)
      #expect(read == encoded)
      #expect(try EncodedBatch(decoding: encoded.bytes) == encoded)
    }
  }

  @Test("[SYN-28] damaged bytes are rejected, or are the only encoding of another batch", arguments: 0..<8) func damage(
    seed: UInt64
  ) throws {
    var writer = LinkBatchWriter()
    var reader = LinkBatchReader()
    var refused = 0
    for batch in try batches(seed) {
      if batch.firstSequence == 1 { writer.beginAuthor() }
      begin(&reader, before: batch)
      let before = writer
      let link = writer.encode(EncodedBatch(batch))
      for length in link.indices {
        var copy = reader
        #expect(throws: CodecError.self) { try copy.decode(Array(link.prefix(length)), from: 0) }
      }
      for bit in 0..<(link.count * 8) {
        var damaged = link
        damaged[bit / 8] ^= UInt8(1 << (bit % 8))
        var copy = reader
        guard let other = try? copy.decode(damaged, from: 0) else {
          refused += 1
          continue
        }
        var again = before
        #expect(again.encode(other) == damaged)
        #expect(try EncodedBatch(decoding: other.bytes) == other)
      }
      _ = try reader.decode(link, from: 0)
    }
    #expect(refused > 100)
  }

  @Test("[SYN-28] an author message resets the names, so that a new reader can start there") func newcomer() throws {
    var writer = LinkBatchWriter()
    var readers = [LinkBatchReader()]
    for batch in try batches(2) {
      // A new reader joins before each batch.
      readers.append(LinkBatchReader())
      writer.beginAuthor()
      for index in readers.indices { readers[index].beginAuthor(batch.author, lastSequence: batch.firstSequence - 1) }
      let encoded = EncodedBatch(batch)
      let link = writer.encode(encoded)
      for index in readers.indices { #expect(try readers[index].decode(link, from: 0) == encoded) }
    }
    #expect(readers.count > 3)
  }

  @Test("[AUT-5] a batch before any author message is refused") func noAuthor() throws {
    var writer = LinkBatchWriter()
    let link = writer.encode(EncodedBatch(try batches(1)[0]))
    var reader = LinkBatchReader()
    #expect(throws: CodecError.self) { try reader.decode(link, from: 0) }
  }

  @Test("[SYN-25] a few bytes that encode more ranges than allowed are rejected") func repeatBombs() throws {
    func set(_ count: UInt64, gap: UInt64 = 0, length: UInt64 = 1) -> [UInt8] {
      var writer = ByteWriter()
      writer.varint(1)
      writer.incarnation(Incarnation(1))
      writer.varint(1)
      writer.varint(gap)
      writer.varint((length - 1) << 1 | 1)
      writer.varint(count)
      return writer.bytes
    }
    let most = UInt64(BoardLimits.ranges)
    #expect(try ContextCoding.decode(set(most - 2)).rangeCount == BoardLimits.ranges)
    #expect(throws: CodecError.overLimit("ranges")) { try ContextCoding.decode(set(most - 1)) }
    #expect(throws: CodecError.overLimit("ranges")) { try ContextCoding.decode(set(.max)) }
    // Ranges that end after the greatest sequence, and sums of more than 64 bits.
    for gap in [BoardLimits.sequence, BoardLimits.sequence >> 19] {
      #expect(throws: CodecError.overLimit("sequence")) {
        try ContextCoding.decode(set(most - 2, gap: gap, length: BoardLimits.sequence))
      }
    }
  }

  @Test("[SYN-25] a sequence of similar objects takes the bytes of one") func repeats() throws {
    var set = DotSet()
    for number in 0..<UInt64(5000) { set.insert(Dot(Incarnation(1), 8 * number + 1)) }
    let bytes = ContextCoding.encode(set)
    #expect(bytes.count <= 20)
    #expect(try ContextCoding.decode(bytes) == set)
  }

  @Test("[SYN-41] sums differ if any cell but a selection differs, only in its object's bucket", arguments: 0..<10)
  func sums(seed: UInt64) throws {
    var state = BoardState()
    var changes = ChangeLog()
    var random = SeededGenerator(seed: seed)
    let author = Incarnation.random(using: &random)
    for number in 0..<UInt64(30) {
      let id = ObjectID(Dot(author, 2 * number + 1))
      try state.apply(
        try Batch(
          author: author,
          firstSequence: id.dot.sequence,
          time: HybridTime(9),
          operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .scale, .unsigned(number))]
        ),
        changes: &changes
      )
    }
    #expect(BucketSums.sums(of: state).count == BucketHash.buckets)
    // Sums are compared only with equal contexts, so one dot gets two values.
    func written(_ id: ObjectID, _ property: Property, _ value: Value) throws -> [UInt64] {
      var other = state
      try other.apply(
        try Batch(
          author: Incarnation(3),
          firstSequence: 1,
          time: HybridTime(10),
          operations: [Operation(id, property, value)]
        ),
        changes: &changes
      )
      return BucketSums.sums(of: other)
    }
    for id in state.records.keys {
      for property in [Property.selection, .color] {
        let changed = zip(try written(id, property, .none), try written(id, property, .unsigned(1))).map { $0 != $1 }
        #expect(changed.indices.filter { changed[$0] } == (property == .color ? [id.bucket] : []))
      }
    }
  }

  @Test("[SYN-41] forged contents with equal sums have different sums in another context") func forgedSums() throws {
    let id = ObjectID(Dot(Incarnation(1), 1))
    var changes = ChangeLog()
    func board(_ text: [UInt8], others: UInt64) throws -> BoardState {
      var state = BoardState()
      try state.apply(
        try Batch(
          author: Incarnation(1),
          firstSequence: 1,
          time: HybridTime(9),
          operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .zIndex, .bytes(text))]
        ),
        changes: &changes
      )
      for author in 0..<others {
        try state.apply(
          try Batch(
            author: Incarnation(2 + author),
            firstSequence: 1,
            time: HybridTime(9),
            operations: [Operation(id, .color, .unsigned(1))]
          ),
          changes: &changes
        )
      }
      return state
    }
    /// Returns the input for which the mixing function of the hash returns `value`.
    func unmixed(_ value: UInt64) -> UInt64 {
      func unshifted(_ word: UInt64, _ count: UInt64) -> UInt64 {
        var result = word
        for _ in 0..<3 { result = word ^ (result >> count) }
        return result
      }
      // The inverses of the two factors, modulo 2^64.
      var word = unshifted(value, 31) &* 0x3196_42B2_D24D_8EC3
      word = unshifted(word, 27) &* 0x96DE_1B17_3F11_9089
      return unshifted(word, 30) &- 0x9E37_79B9_7F4A_7C15
    }
    func sum(_ state: BoardState) -> UInt64 { BucketSums.sums(of: state)[id.bucket] }
    let mine = [UInt8](repeating: 7, count: 16)
    // The last word of the 16 bytes is chosen so that the sum is the same.
    var theirs = [UInt8](repeating: 9, count: 8) + [UInt8](repeating: 0, count: 8)
    let state = try board(theirs, others: 0)
    let start = BucketSums.start(of: state.context)
    func hash(_ bytes: [UInt8]) throws -> UInt64 {
      let cell = try #require(try board(bytes, others: 0).record(id)?[.zIndex])
      return BucketSums.hash(of: cell, at: .zIndex, of: id, from: start)
    }
    let word = unmixed(try hash(theirs)) ^ unmixed(try hash(mine))
    theirs.replaceSubrange(8..<16, with: (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) })
    #expect(try sum(board(mine, others: 0)) == sum(board(theirs, others: 0)), "a sum can be forged")
    #expect(try sum(board(mine, others: 1)) != sum(board(theirs, others: 1)), "the other sum differs")
  }
}
