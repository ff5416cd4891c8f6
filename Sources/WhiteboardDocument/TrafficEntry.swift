import Whiteboard

/// Something that came or went in the session in which a board was recorded, as one peer of it saw it.
///
/// The bytes of messages, datagrams and streams are opaque here, as are the names of resources: whose session it
/// was reads them. Implements REC-12.
public struct TrafficEntry: Hashable, Sendable {
  /// The kind of entry.
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// The recorder joined the session; `text` is its display name.
    case began = 0
    /// The peer came in; `text` is what it calls itself.
    case joined = 1
    /// The peer is out; `text` says why, in the word of `DepartureReason`.
    case left = 2
    /// The connection with the peer changed; `text` is the word of `PeerState`.
    case state = 3
    /// A message from the peer.
    case message = 4
    /// A message to the peers.
    case sentMessage = 5
    /// A datagram from the peer.
    case datagram = 6
    /// A datagram to the peers.
    case sentDatagram = 7
    /// The peer begins to send a resource; `text` is its name.
    case resource = 8
    /// A resource begins to go to the peer; `text` is its name.
    case sentResource = 9
    /// A resource is whole, where `text` is empty, or ended with the error that it names.
    case resourceEnded = 10
    /// The peer opened a stream; `text` is its name.
    case stream = 11
    /// A stream to the peer was opened; `text` is its name.
    case openedStream = 12
    /// Bytes of a stream from the peer.
    case streamBytes = 13
    /// Bytes of a stream to the peer.
    case sentStreamBytes = 14
    /// The peer says no more on a stream.
    case streamFinished = 15
    /// Nothing more is said to the peer on a stream.
    case finishedStream = 16
    /// A stream broke, or was reset, with the error that `text` names.
    case streamBroke = 17
    /// Nothing was recorded for so many milliseconds, which `number` says, up to its time.
    case missed = 18

    /// The fields that follow the peers.
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

  /// Which fields an entry has, in their order.
  struct Fields: OptionSet {
    let rawValue: Int
    static let number = Fields(rawValue: 1)
    static let size = Fields(rawValue: 2)
    static let text = Fields(rawValue: 4)
    static let bytes = Fields(rawValue: 8)
  }

  /// How many bytes the id of a peer has.
  public static let peerLength = 32

  /// The kind of entry.
  public let kind: Kind
  /// When, milliseconds since 1970.
  public let time: Int64
  /// Which peers it is about, 32 bytes each: one, but for what was sent to several.
  public let peers: [[UInt8]]
  /// Which resource or stream of the recording, or how many milliseconds were missed; else 0.
  public let number: UInt64
  /// How many bytes a resource has.
  public let size: UInt64
  /// A name or a word; it comes from another peer and may contain anything.
  public let text: String
  /// The bytes of a message, a datagram or a stream.
  public let bytes: [UInt8]

  /// An entry of its parts; those that its kind does not have are not kept.
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

  /// That nothing was recorded from a time to another.
  public static func missed(from start: Int64, to end: Int64) -> TrafficEntry {
    TrafficEntry(.missed, [], time: end, number: UInt64(max(0, end &- start)))
  }

  /// The same at another time.
  public func moved(to time: Int64) -> TrafficEntry {
    TrafficEntry(kind, peers, time: time, number: number, size: size, text: text, bytes: bytes)
  }
}

/// The body of a row of traffic (REC-12).
enum TrafficCoding {
  /// The row of some entries.
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
    return LogRow(
      id: id,
      time: first,
      entries: Int64(entries.count),
      body: writer.bytes,
      table: LogRow.traffic
    )
  }

  /// The entries of a row; those of kinds that are not known are passed over.
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
