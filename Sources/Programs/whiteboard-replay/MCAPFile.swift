import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardRendering

/// The traffic of a recorded session as an MCAP file (mcap.dev/spec), which tools for robots and sensors read. Each kind
/// of event is a channel with messages in JSON.
struct MCAPFile {
  private enum Record: UInt8 {
    case header = 1
    case footer = 2
    case schema = 3
    case channel = 4
    case message = 5
    case statistics = 11
    case dataEnd = 15
  }

  private static let magic: [UInt8] = [0x89] + Array("MCAP0\r\n".utf8)
  private static let schema = #"""
    {"$schema":"https://json-schema.org/draft/2020-12/schema","title":"whiteboard.TrafficEntry","type":"object",\#
    "properties":{"kind":{"type":"string"},"peers":{"type":"array","items":{"type":"string"}},\#
    "names":{"type":"array","items":{"type":"string"}},"number":{"type":"integer"},"size":{"type":"integer"},\#
    "text":{"type":"string"},"bytes":{"type":"string","contentEncoding":"base64"}},"required":["kind","peers"]}
    """#

  private let output: ([UInt8]) throws -> Void
  private var position = 0

  /// Writes the whole file.
  static func write(_ recording: Recording, _ write: @escaping ([UInt8]) throws -> Void) throws {
    var file = MCAPFile(output: write)
    try file.put(recording)
  }

  private mutating func put(_ recording: Recording) throws {
    try put(Self.magic)
    try put(Self.record(.header, Self.string("") + Self.string("whiteboard-replay")))
    let traffic = recording.history.traffic
    let kinds = TrafficEntry.Kind.allCases.filter { kind in traffic.contains { $0.kind == kind } }
    var declarations = Self.record(
      .schema,
      Self.number(1, 2) + Self.string("whiteboard.TrafficEntry") + Self.string("jsonschema") + Self.string(Self.schema)
    )
    for kind in kinds {
      let topic = Self.string("/\(kind)") + Self.string("json")
      declarations += Self.record(.channel, Self.channel(of: kind) + Self.number(1, 2) + topic + Self.number(0, 4))
    }
    try put(declarations)
    var counts: [TrafficEntry.Kind: Int] = [:]
    for entry in traffic {
      let time = Self.number(Self.nanoseconds(entry.time), 8)
      let head = Self.channel(of: entry.kind) + Self.number(UInt64(counts[entry.kind, default: 0]), 4) + time + time
      try put(Self.record(.message, head + Array(Self.json(entry, recording).utf8)))
      counts[entry.kind, default: 0] += 1
    }
    // The file has no checksums, which the format allows.
    try put(Self.record(.dataEnd, Self.number(0, 4)))
    let summary = position
    try put(declarations)
    let (first, last) = (traffic.map(\.time).min() ?? 0, traffic.map(\.time).max() ?? 0)
    var statistics = Self.number(UInt64(traffic.count), 8) + Self.number(1, 2) + Self.number(UInt64(kinds.count), 4)
    // No attachments, metadata or chunks.
    statistics += Self.number(0, 12)
    statistics += Self.number(Self.nanoseconds(first), 8) + Self.number(Self.nanoseconds(last), 8)
    statistics += Self.number(UInt64(kinds.count * 10), 4)
    for kind in kinds { statistics += Self.channel(of: kind) + Self.number(UInt64(counts[kind, default: 0]), 8) }
    try put(Self.record(.statistics, statistics))
    try put(Self.record(.footer, Self.number(UInt64(summary), 8) + Self.number(0, 12)))
    try put(Self.magic)
  }

  private mutating func put(_ bytes: [UInt8]) throws {
    try output(bytes)
    position += bytes.count
  }

  private static func json(_ entry: TrafficEntry, _ recording: Recording) -> String {
    let members = entry.peers.compactMap { MemberID(bytes: $0) }
    var json = JSONObject()
    json.add("kind", string: "\(entry.kind)")
    json.add("peers", strings: members.map(\.description))
    json.add("names", strings: members.map { recording.name(of: $0) ?? "" })
    if entry.number > 0 { json.add("number", json: "\(entry.number)") }
    if entry.size > 0 { json.add("size", json: "\(entry.size)") }
    if !entry.text.isEmpty { json.add("text", string: entry.text) }
    if !entry.bytes.isEmpty { json.add("bytes", string: Base64.encode(entry.bytes)) }
    return json.text
  }

  private static func channel(of kind: TrafficEntry.Kind) -> [UInt8] { number(UInt64(kind.rawValue) + 1, 2) }

  private static func nanoseconds(_ milliseconds: Int64) -> UInt64 {
    let (time, isTooLarge) = UInt64(max(milliseconds, 0)).multipliedReportingOverflow(by: 1_000_000)
    return isTooLarge ? .max : time
  }

  private static func record(_ kind: Record, _ content: [UInt8]) -> [UInt8] {
    [kind.rawValue] + number(UInt64(content.count), 8) + content
  }

  private static func string(_ text: String) -> [UInt8] { number(UInt64(text.utf8.count), 4) + Array(text.utf8) }

  /// Returns the bytes of a number, least significant first.
  private static func number(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> UInt64($0 * 8)) : 0 }
  }
}
