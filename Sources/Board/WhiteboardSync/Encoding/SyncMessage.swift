import Whiteboard

/// A reliable message between replicas. Implements SYN-10 to SYN-16.
package enum SyncMessage: Hashable, Sendable {
  package static let batchKind: UInt8 = 0x01
  static let applicationKind: UInt8 = 0x10

  /// A batch in the link form, which refers to earlier messages.
  case batch([UInt8])
  case request(CatchUpRequest)
  /// The answer to the request with this number: the receiver of this message lacks no changes.
  case nothingLacking(UInt64)
  case state(ReplicaReport)
  case assetRequest(AssetID)
  case assetUnavailable(AssetID)
  /// The introduction of the author of all following batches on this link.
  case author(AuthorMessage)
  case head(SignedHead)
  case profile(MemberProfile)
  /// The encoding omits the holder (AUT-11).
  case grant([UInt8])
  case revocation([UInt8])
  /// A later batch purges an object of this author (SYN-48).
  case record([UInt8])
  /// The host's retirement of incarnations (AUT-17).
  case retirement([UInt8])
  case application([UInt8])

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
      if !profile.showsPreviews { writer.byte(MemberProfile.noPreviewsFlag) }
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
    case .retirement(let bytes):
      writer.byte(0x82)
      writer.raw(bytes)
    }
    return writer.bytes
  }

  /// Decodes a message; returns nil if the kind is unknown and may be skipped. Throws `CodecError` if a known kind is
  /// not canonically encoded.
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
    case 0x82: return .retirement(reader.rest())
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

package struct AuthorMessage: Hashable, Sendable {
  package let record: [UInt8]
  /// The signed head of the author's chain before the next batch.
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

package struct MemberProfile: Hashable, Sendable {
  package static let iconBytes = 16
  fileprivate static let noPreviewsFlag: UInt8 = 1

  package let name: String
  package let icon: String
  /// Whether the member shows previews of strokes (SYN-49).
  package let showsPreviews: Bool

  package init(name: String, icon: String, showsPreviews: Bool = true) {
    self.name = name
    self.icon = icon
    self.showsPreviews = showsPreviews
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    name = try Self.text(upTo: BoardLimits.nameBytes, "name", &reader)
    icon = try Self.text(upTo: Self.iconBytes, "icon", &reader)
    let flags = try reader.remaining == 0 ? 0 : reader.byte()
    showsPreviews = flags & Self.noPreviewsFlag == 0
    // Ignore further bytes, because later versions may add fields and flags.
  }

  private static func text(upTo limit: Int, _ what: String, _ reader: inout ByteReader) throws(CodecError) -> String {
    let length = try reader.count(upTo: limit, what)
    guard let text = String(validating: try reader.take(length), as: UTF8.self) else { throw .notText }
    return text
  }
}

package struct CatchUpRequest: Hashable, Sendable {
  /// Each sender counts its requests to each receiver from 1.
  package let number: UInt64
  /// The buckets whose cells must all be sent, one bit for each bucket; 0 unless the request is for a repair.
  package let buckets: UInt16
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

package struct ReplicaReport: Hashable, Sendable {
  /// The first 8 bytes of the SHA-256 of the sender's context in its binary form.
  package let contextHash: UInt64
  /// The number of the latest request to the receiver whose answer was applied; 0 in a report to several members.
  package let applied: UInt64
  /// The sum of each bucket of the sender's board (SYN-41); empty in a report without sums.
  package let sums: [UInt64]

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

/// A datagram between replicas. The datagram may be lost. Implements SYN-30 to SYN-34.
package enum SyncDatagram: Hashable, Sendable {
  /// The presence of the sender. `counter` increases with each datagram. `wall` is the time of the sender's wall clock,
  /// if the time is included.
  case presence(counter: UInt64, Presence, wall: UInt64? = nil)
  /// Points of a stroke that might not be committed yet.
  case preview(stroke: ObjectID, first: Int, points: [InkPoint])
  case application([UInt8])

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

  /// Decodes a datagram; returns nil if the kind is unknown and may be skipped. Throws if the bytes of a known kind are
  /// malformed.
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
