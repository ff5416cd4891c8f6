import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The encodings of the board's vectors in both directions, and malformed encodings.
@Suite struct BoardVectorTests {
  private static let vectors = BoardVectors.file

  private func expect(_ code: String, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("accepted, but expected the error \(code)")
    } catch { #expect((error as? CodecError)?.code == code) }
  }

  @Test("[SYN-20] a batch is encoded and decoded as in its vector", arguments: vectors.batches.valid) func batch(
    vector: BoardVectors.Batch
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try BatchCoding.decode(bytes) == vector.batch())
    #expect(Hexadecimal.encode(BatchCoding.encode(try vector.batch())) == vector.hex)
  }

  @Test("[SYN-20] a malformed batch is rejected", arguments: vectors.batches.invalid) func refusedBatch(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try BatchCoding.decode(bytes) }
  }

  @Test("[SYN-25] a set has the bytes and the hash of its vector", arguments: vectors.sets.valid) func set(
    vector: BoardVectors.DotRanges
  ) throws {
    let set = try BoardVectors.set(vector.value)
    #expect(try ContextCoding.decode(BoardVectors.bytes(vector.hex)) == set)
    #expect(Hexadecimal.encode(ContextCoding.encode(set)) == vector.hex)
    #expect(BoardVectors.hash(set) == vector.hash)
  }

  @Test("[SYN-25] a few bytes can encode a great number of ranges", arguments: vectors.sets.large) func largeSet(
    vector: BoardVectors.ManyRanges
  ) throws {
    let set = try ContextCoding.decode(BoardVectors.bytes(vector.hex))
    #expect(set.rangeCount == vector.ranges)
    let last = try #require(set.incarnations.first.flatMap { set[$0].ranges.last })
    #expect([last.lowerBound, last.upperBound] == vector.last)
    #expect(Hexadecimal.encode(ContextCoding.encode(set)) == vector.hex)
    #expect(BoardVectors.hash(set) == vector.hash)
  }

  @Test("[SYN-25] a malformed set is rejected", arguments: vectors.sets.invalid) func refusedSet(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try ContextCoding.decode(bytes) }
  }

  @Test("[SYN-26] a difference is encoded and decoded as in its vector", arguments: vectors.differences.valid)
  func difference(vector: BoardVectors.Difference) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try DifferenceCoding.decode(bytes) == vector.difference())
    #expect(Hexadecimal.encode(DifferenceCoding.encode(try vector.difference())) == vector.hex)
  }

  @Test("[SYN-27] a malformed difference is rejected", arguments: vectors.differences.invalid) func refusedDifference(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try DifferenceCoding.decode(bytes) }
  }

  @Test("[SYN-10] a message decodes, and encodes to the same bytes", arguments: vectors.messages.valid) func message(
    vector: BoardVectors.Named
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    #expect(try #require(try SyncMessage.decode(bytes)).encode() == bytes)
  }

  @Test("an unknown message with a high type number is skipped", arguments: vectors.messages.skipped ?? [])
  func skipped(vector: BoardVectors.Named) throws {
    #expect(try SyncMessage.decode(BoardVectors.bytes(vector.hex)) == nil)
  }

  @Test("[SYN-10] a malformed message is rejected", arguments: vectors.messages.invalid) func refusedMessage(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncMessage.decode(bytes) }
  }

  @Test("[SYN-49] a profile is a name, an icon and flags, and the rest is skipped", arguments: vectors.profiles.valid)
  func profile(vector: BoardVectors.Profile) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let (name, icon) = (vector.profile[0], vector.profile[1])
    let profile = MemberProfile(name: name, icon: icon, showsPreviews: vector.showsPreviews)
    #expect(try SyncMessage.decode(bytes) == .profile(profile))
    #expect(bytes.starts(with: SyncMessage.profile(profile).encode()))
  }

  @Test("a malformed profile is rejected", arguments: vectors.profiles.invalid) func refusedProfile(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncMessage.decode(bytes) }
  }

  @Test("[SYN-30] a datagram decodes, and encodes to the same bytes", arguments: vectors.datagrams.valid) func datagram(
    vector: BoardVectors.Named
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let written = try #require(try SyncDatagram.decode(bytes)).encode()
    // Bytes after presence are reserved for later versions.
    #expect(bytes[0] == 1 ? bytes.starts(with: written) : bytes == written)
  }

  @Test("[SYN-30] a malformed datagram is rejected", arguments: vectors.datagrams.invalid) func refusedDatagram(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncDatagram.decode(bytes) }
  }

  @Test("[SYN-34] presence decodes as in its vector", arguments: vectors.presence.valid) func presence(
    vector: BoardVectors.Shown
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let datagram = try #require(try SyncDatagram.decode(bytes))
    guard case .presence(let counter, let shown, let wall) = datagram else {
      Issue.record("not a presence")
      return
    }
    #expect(String(counter) == vector.counter)
    #expect(shown.cursor == vector.cursor.map { InkPoint(x: $0[0], y: $0[1]).point })
    #expect(shown.isLaser == vector.laser)
    #expect(shown.view?.center == vector.view.map { InkPoint(x: $0[0], y: $0[1]).point })
    #expect(shown.view?.width == vector.view.map { Int($0[2]) })
    #expect(shown.view?.height == vector.view.map { Int($0[3]) })
    #expect(wall.map(String.init) == vector.clock)
    #expect(try SyncDatagram.decode(datagram.encode()) == datagram)
    if vector.isCanonical { #expect(bytes.starts(with: datagram.encode())) }
  }

  @Test("[SYN-34] a malformed presence is rejected", arguments: vectors.presence.invalid) func refusedPresence(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) { _ = try SyncDatagram.decode(bytes) }
  }

  @Test("[BRD-15] points have the bytes of their vector", arguments: vectors.ink.valid) func ink(
    vector: BoardVectors.Ink
  ) throws {
    let points = vector.points.map { InkPoint(x: $0[0], y: $0[1], pressure: UInt8($0[2])) }
    #expect(Hexadecimal.encode(InkCoding.encode(points)) == vector.hex)
    var reader = ByteReader(try BoardVectors.bytes(vector.hex))
    #expect(try InkCoding.decode(&reader, upTo: BoardLimits.pointsPerChunk) == points)
    try reader.finish()
  }

  @Test("[BRD-15] malformed points are rejected", arguments: vectors.ink.invalid) func refusedInk(
    vector: BoardVectors.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    expect(vector.error) {
      var reader = ByteReader(bytes)
      _ = try InkCoding.decode(&reader, upTo: BoardLimits.pointsPerChunk)
      try reader.finish()
    }
  }

  @Test("[BRD-29] an erasure has the bytes of its vector", arguments: vectors.erasures.valid) func erasure(
    vector: BoardVectors.Erasure
  ) throws {
    let spans = vector.spans.map { $0[0]...$0[1] }
    let value = Value.bytes(try BoardVectors.bytes(vector.hex))
    #expect(StrokeSpans.decode(value) == spans)
    #expect(StrokeSpans(spans).values == [value])
  }

  @Test("[BRD-29] a malformed erasure erases nothing", arguments: vectors.erasures.invalid) func refusedErasure(
    vector: BoardVectors.Refused
  ) throws { #expect(StrokeSpans.decode(.bytes(try BoardVectors.bytes(vector.hex))) == nil) }

  @Test("[BRD-2] ids have the text of their vector") func ids() throws {
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
