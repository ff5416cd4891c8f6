import Whiteboard

/// What replicas say to each other in reliable session messages; implements SYN-10 to SYN-16.
package enum SyncMessage: Hashable, Sendable {
  /// The kind of a batch.
  package static let batchKind: UInt8 = 0x01
  /// The first byte of a message of the application.
  static let applicationKind: UInt8 = 0x10

  /// The next batch of the sender in link form, whose meaning depends on earlier messages.
  case batch([UInt8])
  /// "This is what I have seen: send me what I lack."
  case request(CatchUpRequest)
  /// "You lack nothing that I have": the answer to the request of this number.
  case nothingLacking(UInt64)
  /// What the sender has by now.
  case state(ReplicaReport)
  /// "Send me this asset."
  case assetRequest(AssetID)
  /// "I cannot send you this asset."
  case assetUnavailable(AssetID)
  /// The author of all following messages on this link.
  case author(AuthorMessage)
  /// Where the chain of the sender's batches stands.
  case head(SignedHead)
  /// What to call the sender.
  case profile(MemberProfile)
  /// What the receiver may do, without whose it is: the receiver's (AUT-11).
  case grant([UInt8])
  /// What somebody may no longer do.
  case revocation([UInt8])
  /// The record of an author whose object a following batch purges (SYN-48).
  case record([UInt8])
  /// Bytes of the application's.
  case application([UInt8])

  /// The bytes of the message.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .batch(let bytes):
      writer.byte(Self.batchKind)
      writer.raw(bytes)
    case .request(let request):
      writer.byte(0x02)
      writer.varint(request.number)
      writer.byte(UInt8(request.buckets >> 8))
      writer.byte(UInt8(request.buckets & 0xFF))
      ContextCoding.write(request.context, to: &writer)
    case .nothingLacking(let request):
      writer.byte(0x03)
      writer.varint(request)
    case .state(let report):
      writer.byte(0x04)
      writer.fixed64(report.contextHash)
      writer.varint(report.applied)
      writer.byte(UInt8(report.sums.count))
      for sum in report.sums { writer.fixed64(sum) }
    case .assetRequest(let id):
      writer.byte(0x05)
      writer.raw(id.bytes)
    case .assetUnavailable(let id):
      writer.byte(0x06)
      writer.raw(id.bytes)
    case .author(let message):
      writer.byte(0x07)
      writer.count(message.record.count)
      writer.raw(message.record)
      message.head.write(to: &writer)
    case .head(let head):
      writer.byte(0x08)
      head.write(to: &writer)
    case .profile(let profile):
      writer.byte(0x09)
      writer.count(profile.name.utf8.count)
      writer.raw(profile.name.utf8)
      writer.count(profile.icon.utf8.count)
      writer.raw(profile.icon.utf8)
    case .grant(let bytes):
      writer.byte(0x0A)
      writer.raw(bytes)
    case .revocation(let bytes):
      writer.byte(0x0B)
      writer.raw(bytes)
    case .application(let bytes):
      writer.byte(Self.applicationKind)
      writer.raw(bytes)
    case .record(let bytes):
      writer.byte(0x81)
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
    case batchKind: return .batch(reader.rest())
    case 0x02: return .request(try CatchUpRequest(&reader))
    case 0x03:
      let request = try reader.varint()
      guard request >= 1 else { throw .overLimit("request") }
      try reader.finish()
      return .nothingLacking(request)
    case 0x04: return .state(try ReplicaReport(&reader))
    case 0x05: return .assetRequest(try asset(&reader))
    case 0x06: return .assetUnavailable(try asset(&reader))
    case 0x07: return .author(try AuthorMessage(&reader))
    case 0x08:
      let head = try SignedHead(&reader)
      try reader.finish()
      return .head(head)
    case 0x09: return .profile(try MemberProfile(&reader))
    case 0x0A: return .grant(reader.rest())
    case 0x0B: return .revocation(reader.rest())
    case 0x10: return .application(reader.rest())
    case 0x81: return .record(reader.rest())
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

/// Who writes on a link from here on, and where the chain stands there (AUT-5).
package struct AuthorMessage: Hashable, Sendable {
  /// The record, as it is to be checked.
  package let record: [UInt8]
  /// The last operation before the next batch.
  package let head: SignedHead

  package init(record: [UInt8], head: SignedHead) {
    self.record = record
    self.head = head
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    let length = try reader.count(upTo: AuthorRecord.byteLimit, "record")
    record = try reader.take(length)
    head = try SignedHead(&reader)
    try reader.finish()
  }
}

/// What to call a member.
package struct MemberProfile: Hashable, Sendable {
  /// The most bytes of an icon.
  package static let iconBytes = 16

  /// The name.
  package let name: String
  /// One emoji, or nothing.
  package let icon: String

  package init(name: String, icon: String) {
    self.name = name
    self.icon = icon
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    name = try Self.text(upTo: BoardLimits.nameBytes, "name", &reader)
    icon = try Self.text(upTo: Self.iconBytes, "icon", &reader)
    // What follows is for versions to come.
  }

  private static func text(
    upTo limit: Int,
    _ what: String,
    _ reader: inout ByteReader
  ) throws(CodecError) -> String {
    let length = try reader.count(upTo: limit, what)
    guard let text = String(validating: try reader.take(length), as: UTF8.self) else {
      throw .notText
    }
    return text
  }
}

/// What a replica asks another for.
package struct CatchUpRequest: Hashable, Sendable {
  /// Counts the requests of this sender to this receiver, from 1.
  package let number: UInt64
  /// The buckets of which all cells are to be sent, a bit each; 0 but in a repair.
  package let buckets: UInt16
  /// What it has seen.
  package let context: Context

  package init(number: UInt64, buckets: UInt16 = 0, context: Context) {
    self.number = number
    self.buckets = buckets
    self.context = context
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    number = try reader.varint()
    guard number >= 1 else { throw .overLimit("request") }
    let high = UInt16(try reader.byte())
    buckets = high << 8 | UInt16(try reader.byte())
    context = try ContextCoding.read(&reader)
    try reader.finish()
  }
}

/// What a replica tells the others every now and then.
package struct ReplicaReport: Hashable, Sendable {
  /// The first 8 bytes of the SHA-256 of the sender's context in its binary form.
  package let contextHash: UInt64
  /// The sender's latest request to the receiver whose answer it has applied; 0 says nothing of it, so
  /// that one report can be for all.
  package let applied: UInt64
  /// The sum of each bucket of the sender's board, or none (SYN-41).
  package let sums: [UInt64]

  /// How many sums a report has that has any.
  private static let sumCount = 16

  package init(contextHash: UInt64, applied: UInt64 = 0, sums: [UInt64] = []) {
    self.sums = sums
    self.contextHash = contextHash
    self.applied = applied
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    contextHash = try reader.fixed64()
    applied = try reader.varint()
    sums = try Self.readSums(&reader)
    try reader.finish()
  }

  private static func readSums(_ reader: inout ByteReader) throws(CodecError) -> [UInt64] {
    switch try reader.byte() {
    case 0: return []
    case UInt8(sumCount):
      var sums: [UInt64] = []
      for _ in 0..<sumCount { sums.append(try reader.fixed64()) }
      return sums
    default: throw .reserved("sums")
    }
  }
}

/// What replicas say to each other in datagrams, which may be lost; implements SYN-30 to SYN-34.
package enum SyncDatagram: Hashable, Sendable {
  /// The presence of the sender; `counter` grows with each message. `wall` is the reading of its
  /// wall clock, if it sends one.
  case presence(counter: UInt64, Presence, wall: UInt64? = nil)
  /// Some points of a stroke that may not be committed yet.
  case preview(stroke: ObjectID, first: Int, points: [InkPoint])
  /// Bytes of the application's.
  case application([UInt8])

  /// The bytes of the datagram.
  package func encode() -> [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .presence(let counter, let presence, let wall):
      writer.byte(0x01)
      writer.varint(counter)
      presence.write(to: &writer, wall: wall)
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
      let (presence, wall) = try Presence.read(&reader)
      return .presence(counter: counter, presence, wall: wall)
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
}
