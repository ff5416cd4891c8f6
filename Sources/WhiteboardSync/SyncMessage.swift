import Crypto
import Whiteboard

/// What replicas say to each other in reliable session messages; implements SYN-10 to SYN-16.
package enum SyncMessage: Hashable, Sendable {
  /// One batch.
  case batch(Batch)
  /// "This is what I have seen, and who I am here: send me what I lack."
  case request(CatchUpRequest)
  /// A piece of the answer to a request.
  case answerPart(AnswerPart)
  /// What the sender has by now.
  case state(ReplicaReport)
  /// "Send me this asset."
  case assetRequest(AssetID)
  /// "I cannot send you this asset."
  case assetUnavailable(AssetID)
  /// Bytes of the application's.
  case application([UInt8])

  /// The bytes of the message.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .batch(let batch):
      writer.byte(0x01)
      writer.raw(BatchCoding.encode(batch))
    case .request(let request):
      writer.byte(0x02)
      writer.varint(request.number)
      writer.incarnation(request.incarnation)
      ContextCoding.write(request.context, to: &writer)
    case .answerPart(let part):
      writer.byte(0x03)
      writer.varint(part.request)
      writer.count(part.index)
      writer.count(part.byteCount)
      writer.raw(part.checksum.bytes)
      writer.raw(part.content)
    case .state(let report):
      writer.byte(0x04)
      writer.fixed64(report.contextHash)
      writer.varint(report.applied)
      writer.fixed64(report.incarnation?.rawValue ?? 0)
      ContextCoding.write(report.received, to: &writer)
    case .assetRequest(let id):
      writer.byte(0x05)
      writer.raw(id.bytes)
    case .assetUnavailable(let id):
      writer.byte(0x06)
      writer.raw(id.bytes)
    case .application(let bytes):
      writer.byte(0x10)
      writer.raw(bytes)
    }
    return writer.bytes
  }

  /// Reads a message.
  /// - Returns: nil for a kind that is unknown and may be skipped.
  /// - Throws: `CodecError` for anything but the canonical form of a known kind.
  package static func decode(_ bytes: [UInt8]) throws(CodecError) -> SyncMessage? {
    var reader = ByteReader(bytes)
    let kind = try reader.byte()
    switch kind {
    case 0x01: return .batch(try BatchCoding.decode(reader.rest()))
    case 0x02: return .request(try CatchUpRequest(&reader))
    case 0x03: return .answerPart(try AnswerPart(&reader))
    case 0x04: return .state(try ReplicaReport(&reader))
    case 0x05: return .assetRequest(try asset(&reader))
    case 0x06: return .assetUnavailable(try asset(&reader))
    case 0x10: return .application(reader.rest())
    case 0x80...: return nil
    default: throw .reserved("kind")
    }
  }

  private static func asset(_ reader: inout ByteReader) throws(CodecError) -> AssetID {
    guard let id = AssetID(try reader.take(32)) else { throw .truncated }
    try reader.finish()
    return id
  }
}

/// What a replica asks another for.
package struct CatchUpRequest: Hashable, Sendable {
  /// Counts the requests of this sender to this receiver, from 1.
  package let number: UInt64
  /// Who the sender is on this board.
  package let incarnation: Incarnation
  /// What it has seen.
  package let context: Context

  package init(number: UInt64, incarnation: Incarnation, context: Context) {
    self.number = number
    self.incarnation = incarnation
    self.context = context
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    number = try reader.varint()
    guard number >= 1 else { throw .overLimit("request") }
    incarnation = try reader.incarnation()
    context = try ContextCoding.read(&reader)
    try reader.finish()
  }
}

/// A piece of an answer, which counts only when all of it is there and its checksum holds.
package struct AnswerPart: Hashable, Sendable {
  /// Bytes of every piece but the last.
  package static let size = 1 << 20
  /// The greatest answer.
  package static let limit = 256 << 20

  /// The request it answers.
  package let request: UInt64
  /// Its place, from 0.
  package let index: Int
  /// Bytes of the whole answer.
  package let byteCount: Int
  /// The SHA-256 of the whole answer.
  package let checksum: Bytes32
  /// The piece.
  package let content: [UInt8]

  /// The pieces of an answer, in order.
  package static func split(_ answer: [UInt8], request: UInt64) -> [AnswerPart] {
    let checksum = AnswerPart.checksum(of: answer)
    return stride(from: 0, to: max(answer.count, 1), by: size).map { start in
      AnswerPart(
        request: request,
        index: start / size,
        byteCount: answer.count,
        checksum: checksum,
        content: Array(answer[start..<min(start + size, answer.count)])
      )
    }
  }

  /// The SHA-256 of an answer.
  package static func checksum(of answer: [UInt8]) -> Bytes32 {
    guard let checksum = Bytes32(Array(SHA256.hash(data: answer))) else {
      preconditionFailure("a SHA-256 has 32 bytes")
    }
    return checksum
  }

  private init(
    request: UInt64,
    index: Int,
    byteCount: Int,
    checksum: Bytes32,
    content: [UInt8]
  ) {
    self.request = request
    self.index = index
    self.byteCount = byteCount
    self.checksum = checksum
    self.content = content
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    request = try reader.varint()
    guard request >= 1 else { throw .overLimit("request") }
    let index = try reader.varint(upTo: UInt64(Self.limit / Self.size), "index")
    byteCount = Int(try reader.varint(upTo: UInt64(Self.limit), "answer"))
    guard let checksum = Bytes32(try reader.take(32)) else { throw .truncated }
    self.checksum = checksum
    self.index = Int(index)
    let start = self.index * Self.size
    guard start < max(byteCount, 1) else { throw .overLimit("index") }
    let expected = min(Self.size, byteCount - start)
    content = try reader.take(expected)
    try reader.finish()
  }
}

/// What a replica tells the others every now and then.
package struct ReplicaReport: Hashable, Sendable {
  /// The first 8 bytes of the SHA-256 of the sender's context in its binary form.
  package let contextHash: UInt64
  /// The sender's latest request to the receiver whose answer it has applied, or 0.
  package let applied: UInt64
  /// Who the receiver is on this board, where the sender knows.
  package let incarnation: Incarnation?
  /// Which of the receiver's own operations the sender has: nothing, or that one incarnation.
  package let received: DotSet

  package init(
    contextHash: UInt64,
    applied: UInt64,
    incarnation: Incarnation?,
    received: SequenceRanges
  ) {
    self.contextHash = contextHash
    self.applied = applied
    self.incarnation = incarnation
    var set = DotSet()
    if let incarnation {
      for range in received.ranges { set.insert(range, of: incarnation) }
    }
    self.received = set
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    contextHash = try reader.fixed64()
    applied = try reader.varint()
    incarnation = Incarnation(exactly: try reader.fixed64())
    received = try ContextCoding.read(&reader)
    guard received.entries.keys.allSatisfy({ $0 == incarnation }) else {
      throw .inconsistent("received")
    }
    try reader.finish()
  }
}

/// What replicas say to each other in datagrams, which may be lost; implements SYN-30 to SYN-33.
package enum SyncDatagram: Hashable, Sendable {
  /// The sender is here, and points there; `counter` grows with each.
  case presence(counter: UInt64, cursor: InkPoint?)
  /// Some points of a stroke that may not be committed yet.
  case preview(stroke: ObjectID, first: Int, points: [InkPoint])
  /// Bytes of the application's.
  case application([UInt8])

  /// The bytes of the datagram.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .presence(let counter, let cursor):
      writer.byte(0x01)
      writer.varint(counter)
      writer.byte(cursor == nil ? 0 : 1)
      if let cursor {
        writer.zigzag(Int64(cursor.x))
        writer.zigzag(Int64(cursor.y))
      }
    case .preview(let stroke, let first, let points):
      writer.byte(0x02)
      writer.incarnation(stroke.dot.incarnation)
      writer.varint(stroke.dot.sequence)
      writer.count(first)
      writer.raw(InkCoding.encode(points))
    case .application(let bytes):
      writer.byte(0x10)
      writer.raw(bytes)
    }
    return writer.bytes
  }

  /// Reads a datagram.
  /// - Returns: nil for a kind that is unknown and may be skipped.
  /// - Throws: `CodecError` for anything but the form of a known kind.
  package static func decode(_ bytes: [UInt8]) throws(CodecError) -> SyncDatagram? {
    var reader = ByteReader(bytes)
    switch try reader.byte() {
    case 0x01:
      let counter = try reader.varint()
      var cursor: InkPoint?
      switch try reader.byte() {
      case 0: break
      case 1: cursor = InkPoint(x: try coordinate(&reader), y: try coordinate(&reader))
      default: throw .reserved("presence")
      }
      // What follows is for versions to come.
      return .presence(counter: counter, cursor: cursor)
    case 0x02:
      let incarnation = try reader.incarnation()
      let stroke = ObjectID(Dot(incarnation, try reader.sequence()))
      let first = Int(try reader.varint(upTo: UInt64(BoardLimits.pointsPerStroke), "first"))
      let points = try InkCoding.decode(&reader, upTo: BoardLimits.pointsPerPreview)
      try reader.finish()
      return .preview(stroke: stroke, first: first, points: points)
    case 0x10: return .application(reader.rest())
    case 0x80...: return nil
    default: throw .reserved("kind")
    }
  }

  private static func coordinate(_ reader: inout ByteReader) throws(CodecError) -> Int32 {
    guard let number = Int32(exactly: try reader.zigzag()) else { throw .overLimit("cursor") }
    return number
  }
}
