import Whiteboard

/// An event of a recorded session, as one of its peers saw it: for example, a message, or a peer that joined.
///
/// The bytes of messages, datagrams and streams, and the names of resources, are opaque to the document. Only the
/// program that recorded the session interprets them. Implements REC-13.
public struct TrafficEntry: Hashable, Sendable {
  /// The kinds of events.
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// The recording peer joined the session; `text` is its display name.
    case began = 0
    /// The peer joined the session; `text` is its display name.
    case joined = 1
    /// The peer left the session; `text` is the name of the `DepartureReason`.
    case left = 2
    /// The connection with the peer changed; `text` is the name of its `PeerState`.
    case state = 3
    /// A message from the peer.
    case message = 4
    /// A message to the peers.
    case sentMessage = 5
    /// A datagram from the peer.
    case datagram = 6
    /// A datagram to the peers.
    case sentDatagram = 7
    /// The peer began to send a resource; `text` is its name.
    case resource = 8
    /// The recording peer began to send a resource to the peer; `text` is its name.
    case sentResource = 9
    /// The transfer of a resource ended. If the resource is complete, `text` is empty; otherwise `text` is the code of
    /// the error.
    case resourceEnded = 10
    /// The peer opened a stream; `text` is its name.
    case stream = 11
    /// The recording peer opened a stream to the peer; `text` is its name.
    case openedStream = 12
    /// Bytes of a stream from the peer.
    case streamBytes = 13
    /// Bytes of a stream to the peer.
    case sentStreamBytes = 14
    /// The peer finished sending on a stream.
    case streamFinished = 15
    /// The recording peer finished sending on a stream.
    case finishedStream = 16
    /// A stream failed or was reset; `text` is the code of the error.
    case streamBroke = 17
    /// Nothing was recorded in the last `number` milliseconds before the entry.
    case missed = 18

    var fields: Fields {
      switch self {
      case .began, .joined, .left, .state: .text
      case .message, .sentMessage, .datagram, .sentDatagram: .bytes
      case .resource, .sentResource: [.number, .size, .text]
      case .resourceEnded, .stream, .openedStream, .streamBroke: [.number, .text]
      case .streamBytes, .sentStreamBytes: [.number, .bytes]
      case .streamFinished, .finishedStream, .missed: .number
      }
    }
  }

  /// The fields of an entry, in the order in which they are encoded.
  struct Fields: OptionSet {
    let rawValue: Int
    static let number = Fields(rawValue: 1)
    static let size = Fields(rawValue: 2)
    static let text = Fields(rawValue: 4)
    static let bytes = Fields(rawValue: 8)
  }

  /// The length of a peer's id, in bytes.
  public static let peerLength = 32

  /// The kind of the event.
  public let kind: Kind
  /// The time of the event, in milliseconds since 1970.
  public let time: Int64
  /// The ids of the peers, 32 bytes each; only sent messages and datagrams have more than one peer.
  public let peers: [[UInt8]]
  /// The number of a resource or stream in the recording.
  ///
  /// For ``Kind/missed``, it is a number of milliseconds; for other kinds, 0.
  public let number: UInt64
  /// The size of a resource, in bytes.
  public let size: UInt64
  /// A name, state, reason or error code; the text comes from another peer and may contain anything.
  public let text: String
  /// The bytes of a message, a datagram or a stream.
  public let bytes: [UInt8]

  /// Creates an entry for an event.
  ///
  /// Fields that this kind of event does not have are not stored.
  public init(
    _ kind: Kind,
    _ peers: [[UInt8]],
    time: Int64,
    number: UInt64 = 0,
    size: UInt64 = 0,
    text: String = "",
    bytes: [UInt8] = []
  ) {
    precondition(peers.allSatisfy { $0.count == Self.peerLength }, "a peer's id has 32 bytes")
    self.kind = kind
    self.time = time
    self.peers = peers
    self.number = number
    self.size = size
    self.text = text
    self.bytes = bytes
  }

  /// Creates an entry for a period in which nothing was recorded.
  public static func missed(from start: Int64, to end: Int64) -> TrafficEntry {
    TrafficEntry(.missed, [], time: end, number: UInt64(max(0, end &- start)))
  }

  /// Returns a copy of the entry with another time.
  public func moved(to time: Int64) -> TrafficEntry {
    TrafficEntry(kind, peers, time: time, number: number, size: size, text: text, bytes: bytes)
  }
}

/// The encoding of the body of a row of the table `traffic` (REC-13).
enum TrafficCoding {
  static func row(_ id: Int64, _ entries: [TrafficEntry]) -> LogRow {
    let first = entries.first?.time ?? 0
    var writer = ByteWriter()
    var numbers: [[UInt8]: Int] = [:]
    var before = first
    for entry in entries {
      writer.varint(PackedBatches.zigzag(entry.time &- before))
      before = entry.time
      writer.byte(entry.kind.rawValue)
      var content = ByteWriter()
      content.count(entry.peers.count)
      for peer in entry.peers {
        content.count(numbers[peer] ?? 0)
        if numbers[peer] == nil {
          content.raw(peer)
          numbers[peer] = numbers.count + 1
        }
      }
      let fields = entry.kind.fields
      if fields.contains(.number) { content.varint(entry.number) }
      if fields.contains(.size) { content.varint(entry.size) }
      if fields.contains(.text) {
        let text = Array(entry.text.utf8)
        content.count(text.count)
        content.raw(text)
      }
      if fields.contains(.bytes) { content.raw(entry.bytes) }
      writer.count(content.bytes.count)
      writer.raw(content.bytes)
    }
    return LogRow(id: id, time: first, entries: Int64(entries.count), body: writer.bytes, table: LogRow.traffic)
  }

  /// Skips entries of unknown kinds.
  static func unpack(_ row: LogRow) throws(CodecError) -> [TrafficEntry] {
    var reader = ByteReader(row.body)
    var entries: [TrafficEntry] = []
    var peers: [[UInt8]] = []
    var (time, count) = (row.time, Int64(0))
    while reader.remaining > 0 {
      time &+= PackedBatches.unzigzag(try reader.varint())
      let kind = TrafficEntry.Kind(rawValue: try reader.byte())
      let length = try reader.varint(upTo: UInt64(reader.remaining), "length")
      var content = ByteReader(try reader.take(Int(length)))
      count += 1
      var named: [[UInt8]] = []
      for _ in 0..<(try content.varint(upTo: UInt64(content.remaining), "peers")) {
        let number = Int(try content.varint(upTo: UInt64(peers.count), "peers"))
        if number == 0 { peers.append(try content.take(TrafficEntry.peerLength)) }
        named.append(peers[number == 0 ? peers.count - 1 : number - 1])
      }
      guard let kind else { continue }
      let fields = kind.fields
      let number = fields.contains(.number) ? try content.varint() : 0
      let size = fields.contains(.size) ? try content.varint() : 0
      var text = ""
      if fields.contains(.text) {
        let length = try content.varint(upTo: UInt64(content.remaining), "length")
        text = String(decoding: try content.take(Int(length)), as: UTF8.self)
      }
      entries.append(
        TrafficEntry(
          kind,
          named,
          time: time,
          number: number,
          size: size,
          text: text,
          bytes: fields.contains(.bytes) ? content.rest() : []
        )
      )
    }
    guard count == row.entries else { throw .inconsistent("entries") }
    return entries
  }
}
