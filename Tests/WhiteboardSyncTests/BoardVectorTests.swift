import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct BoardVectorTests {
  private static let vectors = BoardVectors.file

  private func expect(_ code: String, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("accepted, though it is to be refused as \(code)")
    } catch {
      #expect((error as? CodecError)?.code == code)
    }
  }

  @Test("[SYN-20] a batch has the bytes of its vector, both ways", arguments: vectors.batches.valid)
  func batch(vector: BoardVectors.Batch) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try BatchCoding.decode(bytes) == vector.batch())
    #expect(Hexadecimal.encode(BatchCoding.encode(try vector.batch())) == vector.hex)
  }

  @Test("[SYN-20] a batch that is not of the form is refused", arguments: vectors.batches.invalid)
  func refusedBatch(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try BatchCoding.decode(bytes) }
  }

  @Test("[SYN-25] a set has the bytes and the hash of its vector", arguments: vectors.sets.valid)
  func set(vector: BoardVectors.DotRanges) throws {
    let set = try BoardVectors.set(vector.value)
    #expect(try ContextCoding.decode(BoardVectors.bytes(vector.hex)) == set)
    #expect(Hexadecimal.encode(ContextCoding.encode(set)) == vector.hex)
    #expect(hash(set) == vector.hash)
  }

  private func hash(_ context: Context) -> String {
    String(Bytes32.sha256(ContextCoding.encode(context)).hex.prefix(16))
  }

  @Test("[SYN-25] a set that is not of the form is refused", arguments: vectors.sets.invalid)
  func refusedSet(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try ContextCoding.decode(bytes) }
  }

  @Test("[SYN-26] an answer has the bytes of its vector", arguments: vectors.answers.valid)
  func answer(vector: BoardVectors.Answer) throws {
    #expect(
      try DifferenceCoding.decode(BoardVectors.bytes(vector.hex)) == vector.difference()
    )
    #expect(Hexadecimal.encode(DifferenceCoding.encode(try vector.difference())) == vector.hex)
    // The board of the digest's vectors gives that answer.
    let since = try ContextCoding.decode(BoardVectors.bytes(vector.since))
    let difference = try board().difference(since: since)
    #expect(Hexadecimal.encode(DifferenceCoding.encode(difference)) == vector.hex)
  }

  @Test("[SYN-27] an answer that is not of the form is refused", arguments: vectors.answers.invalid)
  func refusedAnswer(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try DifferenceCoding.decode(bytes) }
  }

  private func batch(named name: String) throws -> Batch {
    try #require(Self.vectors.batches.valid.first { $0.name == name }).batch()
  }

  private func board() throws -> BoardState {
    var state = BoardState()
    var changes = ChangeLog()
    for name in Self.vectors.digest.batches {
      try state.apply(try batch(named: name), changes: &changes)
    }
    return state
  }

  @Test("[SYN-40] the digest is that of the vectors, step by step")
  func digest() throws {
    var state = BoardState()
    var changes = ChangeLog()
    #expect(BoardDigest.digest(of: state).hex == Self.vectors.digest.empty)
    for step in Self.vectors.digest.steps {
      try state.apply(try batch(named: step.apply), changes: &changes)
      #expect(BoardDigest.digest(of: state).hex == step.digest, "\(step.apply)")
      #expect(hash(state.context) == step.contextHash, "\(step.apply)")
    }
    #expect(BoardDigest.digest(of: state).hex == Self.vectors.digest.digest)
    var input = Array("whiteboard-digest-1\n".utf8)
    for id in state.records.keys.sorted() {
      if let record = state.record(id), state.isVisible(id) {
        input += BoardDigest.encode(id, record)
      }
    }
    #expect(Hexadecimal.encode(input) == Self.vectors.digest.input)
    let texts = state.records.values.filter { $0.kind == .text }.map(\.text)
    #expect(texts == [Self.vectors.digest.text])
  }

  @Test("[SYN-4] orphans are in the answer and not in the digest")
  func orphans() throws {
    var state = BoardState()
    var changes = ChangeLog()
    let vector = Self.vectors.answers.orphans
    try state.apply(try batch(named: vector.batch), changes: &changes)
    #expect(
      Hexadecimal.encode(DifferenceCoding.encode(state.difference(since: Context())))
        == vector.hex
    )
    #expect(BoardDigest.digest(of: state).hex == vector.digest)
  }

  @Test("[SYN-10] a message is read, and written as it was", arguments: vectors.messages.valid)
  func message(vector: BoardVectors.Named) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try #require(try SyncMessage.decode(bytes)).encode() == bytes)
  }

  @Test(
    "an unknown message of the upper half is skipped",
    arguments: vectors.messages.skipped ?? []
  )
  func skipped(vector: BoardVectors.Named) throws {
    #expect(try SyncMessage.decode(BoardVectors.bytes(vector.hex)) == nil)
  }

  @Test("[SYN-10] a message not of its form is refused", arguments: vectors.messages.invalid)
  func refusedMessage(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncMessage.decode(bytes) }
  }

  @Test("[SYN-30] a datagram is read, and written as it was", arguments: vectors.datagrams.valid)
  func datagram(vector: BoardVectors.Named) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try #require(try SyncDatagram.decode(bytes)).encode() == bytes)
  }

  @Test("[SYN-30] a datagram not of its form is refused", arguments: vectors.datagrams.invalid)
  func refusedDatagram(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncDatagram.decode(bytes) }
  }

  @Test("[BRD-15] points have the bytes of their vector", arguments: vectors.ink.valid)
  func ink(vector: BoardVectors.Ink) throws {
    let points = vector.points.map { InkPoint(x: $0[0], y: $0[1], pressure: UInt8($0[2])) }
    #expect(Hexadecimal.encode(InkCoding.encode(points)) == vector.hex)
    var reader = ByteReader(try BoardVectors.bytes(vector.hex))
    #expect(try InkCoding.decode(&reader, upTo: BoardLimits.pointsPerChunk) == points)
    try reader.finish()
  }

  @Test("[BRD-15] points not of the form are refused", arguments: vectors.ink.invalid)
  func refusedInk(vector: BoardVectors.Refused) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) {
      var reader = ByteReader(bytes)
      _ = try InkCoding.decode(&reader, upTo: BoardLimits.pointsPerChunk)
      try reader.finish()
    }
  }

  @Test("[BRD-2] ids have the text of their vector")
  func ids() throws {
    for vector in Self.vectors.incarnations {
      let number = try #require(UInt64(vector.number))
      #expect(Incarnation(number).description == vector.text)
      #expect(Incarnation(vector.text)?.rawValue == number)
    }
    for vector in Self.vectors.objectIds.valid {
      let incarnation = try #require(UInt64(vector.incarnation))
      let id = ObjectID(Dot(Incarnation(incarnation), vector.sequence))
      #expect(id.description == vector.text)
      #expect(ObjectID(vector.text) == id)
    }
    for text in Self.vectors.objectIds.invalid { #expect(ObjectID(text) == nil, "\(text)") }
  }
}
