import PeerCore

/// One record of a broadcast's stream (CST-2): a type, a length and a payload.
package enum BroadcastRecord: Hashable, Sendable {
  /// The format of the pictures that follow; the next picture is complete.
  case start(BroadcastFormat)
  case picture(BroadcastPicture)
  /// The broadcast is paused; the time is in milliseconds since 1970.
  case pause(time: UInt64)
  case resume(time: UInt64)
  /// The last record of a broadcast.
  case finish(BroadcastNotice)
  /// A problem that does not end the broadcast.
  case error(BroadcastNotice)
  /// The viewer has decoded the picture with this number, and all earlier ones.
  case seen(UInt64)
  /// The viewer asks for a whole picture.
  case wantWhole
}

/// A picture of a broadcast, or the changes since the picture that the viewer received before.
public struct BroadcastPicture: Hashable, Sendable {
  /// An encoded part of a picture.
  public struct Part: Hashable, Sendable {
    /// The part of the picture.
    public var area: PixelRect
    /// The encoded pixels.
    public var bytes: [UInt8]

    /// Creates a part.
    public init(area: PixelRect, bytes: [UInt8]) {
      self.area = area
      self.bytes = bytes
    }
  }

  /// The content of a picture.
  public enum Content: Hashable, Sendable {
    /// The whole picture, encoded.
    case whole([UInt8])
    /// The parts that differ from an earlier picture, in the order in which to apply them.
    case changes(since: UInt64, [Part])
  }

  /// The number of the picture; later pictures have greater numbers.
  public var number: UInt64
  /// The time at which the picture was drawn, in milliseconds since 1970, by the clock of the broadcaster.
  public var time: UInt64
  /// The encoded pixels.
  public var content: Content

  /// Creates a picture.
  public init(number: UInt64, time: UInt64, content: Content) {
    (self.number, self.time, self.content) = (number, time, content)
  }
}

/// The reason for the end of a broadcast, or a problem during a broadcast (CST-10).
public struct BroadcastNotice: Hashable, Sendable {
  /// The maximum size of a message, in bytes.
  static let messageLimit = 512

  /// A stable code.
  public var code: String
  /// A sentence for users. It comes from the other peer, unless this program is the broadcaster.
  public var message: UntrustedText

  /// Creates a notice.
  public init(code: String, message: UntrustedText = UntrustedText("")) {
    self.code = code
    self.message = message
  }

  init(_ code: Code, _ message: String = "") { self.init(code: code.rawValue, message: UntrustedText(message)) }

  /// The codes of this version.
  enum Code: String {
    /// The user ended the broadcast.
    case finished
    /// The peer is not broadcasting; the viewer may ask again.
    case notBroadcasting = "not-broadcasting"
    /// There is no room for another viewer; the viewer may ask again.
    case busy
    /// The name of the stream is not a valid request.
    case malformed
    /// The viewer cannot decode the encodings or the size of the broadcast.
    case unsupported
    /// A picture cannot be drawn or encoded.
    case sourceFailed = "source-failed"
  }

  fileprivate var json: String {
    var object = JSONObject()
    object.add("code", string: code)
    if !message.isEmpty { object.add("message", string: message.raw) }
    return object.text
  }

  fileprivate init?(_ fields: JSONTree) {
    guard let code = fields["code"]?.string, (1...64).contains(code.utf8.count) else { return nil }
    let message = fields["message"]?.string ?? ""
    guard message.utf8.count <= Self.messageLimit else { return nil }
    self.init(code: code, message: UntrustedText(message))
  }
}

/// An error in the records of a broadcast.
package enum BroadcastError: Error, Hashable, Sendable {
  /// The length of a record is not a valid `vint`, or exceeds the limit.
  case length
  /// The type is unknown and must not be skipped (CST-12).
  case type(UInt8)
  /// The payload is malformed.
  case payload(UInt8)
  /// The record is valid, but is not allowed at this point.
  case order(UInt8)
  /// The bytes of a picture cannot be decoded.
  case picture
}

extension BroadcastError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .length: "the length of a record of the broadcast is not allowed"
    case .type(let kind): "the broadcast contains a record of the unknown type \(kind)"
    case .payload(let kind): "a record of the broadcast is damaged (type \(kind))"
    case .order(let kind): "a record of the broadcast is not allowed at this point (type \(kind))"
    case .picture: "a picture of the broadcast cannot be decoded"
    }
  }
}

extension BroadcastRecord {
  enum Kind {
    static let start: UInt8 = 0x01
    static let whole: UInt8 = 0x02
    static let changes: UInt8 = 0x03
    static let pause: UInt8 = 0x04
    static let resume: UInt8 = 0x05
    static let finish: UInt8 = 0x06
    static let error: UInt8 = 0x07
    static let seen: UInt8 = 0x40
    static let wantWhole: UInt8 = 0x41
    /// The lowest type that a reader skips if the type is unknown.
    static let skippable: UInt8 = 0x80
  }

  /// The maximum number of bytes in the payload of a record.
  static let payloadLimit = 1 << 25
  /// The maximum number of bytes in a payload that is JSON.
  static let jsonLimit = 4_096
  /// The maximum number of parts in a record with changes.
  static let partLimit = 256
  /// The maximum number of bytes in a record that a viewer sends.
  static let viewerLimit = 64

  var kind: UInt8 {
    switch self {
    case .start: Kind.start
    case .picture(let picture): if case .whole = picture.content { Kind.whole } else { Kind.changes }
    case .pause: Kind.pause
    case .resume: Kind.resume
    case .finish: Kind.finish
    case .error: Kind.error
    case .seen: Kind.seen
    case .wantWhole: Kind.wantWhole
    }
  }

  /// The bytes of the record.
  var bytes: [UInt8] {
    let payload = payload
    var bytes = [kind]
    bytes.reserveCapacity(payload.count + 6)
    Varint.append(UInt64(payload.count), to: &bytes)
    return bytes + payload
  }

  private var payload: [UInt8] {
    var payload: [UInt8] = []
    switch self {
    case .start(let format): payload = Array(format.json.utf8)
    case .picture(let picture):
      Self.append(picture.number, 8, to: &payload)
      Self.append(picture.time, 8, to: &payload)
      switch picture.content {
      case .whole(let bytes): payload += bytes
      case .changes(let base, let parts):
        Self.append(base, 8, to: &payload)
        Self.append(UInt64(parts.count), 2, to: &payload)
        for part in parts {
          for side in [part.area.x, part.area.y, part.area.width, part.area.height] {
            Self.append(UInt64(side), 2, to: &payload)
          }
          Self.append(UInt64(part.bytes.count), 4, to: &payload)
          payload += part.bytes
        }
      }
    case .pause(let time), .resume(let time): Self.append(time, 8, to: &payload)
    case .finish(let notice), .error(let notice): payload = Array(notice.json.utf8)
    case .seen(let number): Self.append(number, 8, to: &payload)
    case .wantWhole: break
    }
    return payload
  }

  private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }

  /// Decodes a payload; returns nil for a type that may be skipped.
  init?(kind: UInt8, payload: ArraySlice<UInt8>) throws(BroadcastError) {
    var reader = PayloadReader(bytes: payload, kind: kind)
    switch kind {
    case Kind.start:
      guard let format = BroadcastFormat(try reader.json()) else { throw .payload(kind) }
      self = .start(format)
    case Kind.whole:
      let (number, time) = (try reader.number(8), try reader.number(8))
      guard !reader.isAtEnd else { throw .payload(kind) }
      self = .picture(BroadcastPicture(number: number, time: time, content: .whole(reader.rest())))
    case Kind.changes:
      let (number, time, base) = (try reader.number(8), try reader.number(8), try reader.number(8))
      let count = Int(try reader.number(2))
      guard (1...Self.partLimit).contains(count), base < number else { throw .payload(kind) }
      var parts: [BroadcastPicture.Part] = []
      for _ in 0..<count {
        let area = PixelRect(
          x: Int(try reader.number(2)),
          y: Int(try reader.number(2)),
          width: Int(try reader.number(2)),
          height: Int(try reader.number(2))
        )
        let bytes = try reader.take(Int(try reader.number(4)))
        guard !area.isEmpty, !bytes.isEmpty else { throw .payload(kind) }
        parts.append(BroadcastPicture.Part(area: area, bytes: bytes))
      }
      self = .picture(BroadcastPicture(number: number, time: time, content: .changes(since: base, parts)))
    case Kind.pause: self = .pause(time: try reader.number(8))
    case Kind.resume: self = .resume(time: try reader.number(8))
    case Kind.finish, Kind.error:
      guard let notice = BroadcastNotice(try reader.json()) else { throw .payload(kind) }
      self = kind == Kind.finish ? .finish(notice) : .error(notice)
    case Kind.seen: self = .seen(try reader.number(8))
    case Kind.wantWhole: self = .wantWhole
    default:
      guard kind >= Kind.skippable else { throw .type(kind) }
      return nil
    }
    guard reader.isAtEnd else { throw .payload(kind) }
  }
}

private struct PayloadReader {
  var bytes: ArraySlice<UInt8>
  let kind: UInt8

  var isAtEnd: Bool { bytes.isEmpty }

  mutating func number(_ count: Int) throws(BroadcastError) -> UInt64 {
    try take(count).reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func take(_ count: Int) throws(BroadcastError) -> [UInt8] {
    guard count <= bytes.count else { throw .payload(kind) }
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  mutating func rest() -> [UInt8] {
    defer { bytes = [] }
    return Array(bytes)
  }

  mutating func json() throws(BroadcastError) -> JSONTree {
    guard bytes.count <= BroadcastRecord.jsonLimit,
      let tree = try? JSONReader.read(rest(), depthLimit: 4), tree.members != nil
    else { throw .payload(kind) }
    return tree
  }
}

/// Splits the bytes of a stream into records. The limit is checked before the bytes of a record are buffered.
struct BroadcastReader: Sendable {
  /// The maximum number of bytes in a payload.
  let limit: Int
  private var buffer: [UInt8] = []
  private var start = 0

  /// A viewer accepts records of any allowed size; a broadcaster accepts only the small records of viewers.
  init(limit: Int = BroadcastRecord.payloadLimit) { self.limit = limit }

  mutating func append(_ bytes: [UInt8]) {
    if start == buffer.count { (buffer, start) = ([], 0) }
    buffer += bytes
  }

  /// Returns the next complete record; nil if more bytes are needed.
  mutating func next() throws(BroadcastError) -> BroadcastRecord? {
    while start < buffer.count {
      let kind = buffer[start]
      guard Self.isKnown(kind) || kind >= BroadcastRecord.Kind.skippable else { throw .type(kind) }
      var offset = start + 1
      let length: UInt64?
      do throws(Varint.DecodingError) { length = try Varint.read(from: buffer.span, at: &offset) } catch {
        throw .length
      }
      guard let length else { return nil }
      guard length <= UInt64(limit(of: kind)) else { throw .length }
      guard buffer.count - offset >= Int(length) else {
        compact()
        return nil
      }
      let end = offset + Int(length)
      let record = try BroadcastRecord(kind: kind, payload: buffer[offset..<end])
      start = end
      compact()
      if let record { return record }
    }
    return nil
  }

  /// Whether the last record is incomplete.
  var isInRecord: Bool { start < buffer.count }

  private func limit(of kind: UInt8) -> Int {
    switch kind {
    case BroadcastRecord.Kind.start, BroadcastRecord.Kind.finish, BroadcastRecord.Kind.error:
      min(limit, BroadcastRecord.jsonLimit)
    default: limit
    }
  }

  private static func isKnown(_ kind: UInt8) -> Bool {
    (BroadcastRecord.Kind.start...BroadcastRecord.Kind.error).contains(kind) || kind == BroadcastRecord.Kind.seen
      || kind == BroadcastRecord.Kind.wantWhole
  }

  private mutating func compact() {
    guard start > 1 << 16, start * 2 > buffer.count else { return }
    buffer.removeFirst(start)
    start = 0
  }
}
