import Whiteboard

/// An entry of a document.
///
/// Entries are stored in the order in which they were applied. The document does not interpret their bytes. The time of
/// an entry is the time when this machine applied it, in milliseconds since 1970.
public enum DocumentEntry: Hashable, Sendable {
  case batch(bytes: [UInt8], time: Int64)
  /// A catch-up answer that was merged into the board.
  case answer(bytes: [UInt8], time: Int64)
  /// The signed record of an incarnation. Each record is stored only once.
  case author(record: [UInt8], incarnation: UInt64)
  /// A signed head of an author's chain; only the head with the highest sequence number is stored.
  case head(bytes: [UInt8], incarnation: UInt64, sequence: UInt64)
  /// A named position that a user can find again while the recording is played.
  case marker(name: String, time: Int64)
  /// A period in which nothing was recorded; its changes are only in the next keyframe.
  case gap(from: Int64, to: Int64)
  /// The end of the recording. The end may be later than the last entry.
  case end(time: Int64)
  /// The display name of a member, and the member's id as text; the newest name replaces older names.
  case name(String, of: String)
  /// An event of the session, such as a message; the board does not depend on it.
  case traffic(TrafficEntry)

  /// Whether the entry is a retirement, which earlier releases cannot read (REC-5).
  var isRetirement: Bool { if case .answer(let bytes, _) = self { bytes.first == 5 } else { false } }

  package var byteCount: Int {
    switch self {
    case .batch(let bytes, _), .answer(let bytes, _), .head(let bytes, _, _): bytes.count
    case .author(let record, _): record.count
    case .marker(let name, _): name.utf8.count
    case .gap, .end: 0
    case .name(let name, let person): name.utf8.count + person.utf8.count
    case .traffic(let entry): entry.bytes.count + entry.text.utf8.count
    }
  }
}

/// The batches and answers in one row of the log, which a single transaction stored. Entries share a row to save space,
/// since each row adds about 20 bytes. Implements REC-5.
package struct LogRow: Hashable, Sendable {
  /// Rows are numbered consecutively.
  package let id: Int64
  /// The time of the first entry, in milliseconds since 1970.
  package let time: Int64
  package let entries: Int64
  package let body: [UInt8]
  /// The letter that stands for the row's table in checksums (REC-3): ``log`` or ``traffic``.
  package let table: UInt8

  package static let log = UInt8(ascii: "l")
  package static let traffic = UInt8(ascii: "w")

  package init(id: Int64, time: Int64, entries: Int64, body: [UInt8], table: UInt8 = Self.log) {
    self.id = id
    self.time = time
    self.entries = entries
    self.body = body
    self.table = table
  }

  package init(id: Int64, packing entries: some Sequence<DocumentEntry>) {
    let kept = entries.compactMap { entry -> (bytes: [UInt8], time: Int64, isAnswer: Bool)? in
      switch entry {
      case .batch(let bytes, let time): (bytes, time, false)
      case .answer(let bytes, let time): (bytes, time, true)
      default: nil
      }
    }
    let first = kept.first?.time ?? 0
    let body = Self.packed(kept, from: first) ?? Self.plain(kept, from: first)
    self.init(id: id, time: first, entries: Int64(kept.count), body: body)
  }

  /// The checksum of the row itself, without the chain.
  package var ownChecksum: UInt32 { Checksum.row(table, [id, time, entries], [body]) }

  /// Returns the column `sum`: the row's own checksum in the upper half, the link of the chain in the lower half.
  package func sum(after chain: UInt32) -> Int64 {
    let own = ownChecksum
    return Int64(bitPattern: UInt64(own) << 32 | UInt64(Checksum.link(after: chain, own)))
  }

  package func unpack() throws(CodecError) -> [DocumentEntry] {
    var reader = ByteReader(body)
    let isPacked = body.first == Self.packedMark
    if isPacked { _ = try reader.byte() }
    var batches = PackedBatches()
    var result: [DocumentEntry] = []
    var time = time
    while reader.remaining > 0 {
      let head = try reader.varint()
      let zigzag = head >> 1
      time &+= Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
      if isPacked, head & 1 == 0 {
        result.append(.batch(bytes: try batches.read(&reader, at: time), time: time))
        continue
      }
      let length = try reader.varint(upTo: UInt64(reader.remaining), "length")
      let bytes = try reader.take(Int(length))
      result.append(head & 1 == 0 ? .batch(bytes: bytes, time: time) : .answer(bytes: bytes, time: time))
    }
    guard result.count == Int(exactly: entries) else { throw .inconsistent("entries") }
    return result
  }

  /// The first byte of a packed body. A body that is not packed begins with 0 or 1, the header of its first entry.
  private static let packedMark: UInt8 = 2

  private static func plain(_ entries: [(bytes: [UInt8], time: Int64, isAnswer: Bool)], from first: Int64) -> [UInt8] {
    var writer = ByteWriter()
    var before = first
    for entry in entries {
      writer.varint(head(entry.time, after: &before, entry.isAnswer))
      writer.count(entry.bytes.count)
      writer.raw(entry.bytes)
    }
    return writer.bytes
  }

  /// Returns nil if there are no entries, or one of the batches cannot be packed.
  private static func packed(_ entries: [(bytes: [UInt8], time: Int64, isAnswer: Bool)], from first: Int64) -> [UInt8]?
  {
    guard !entries.isEmpty else { return nil }
    var writer = ByteWriter()
    writer.byte(packedMark)
    var batches = PackedBatches()
    var before = first
    for entry in entries {
      writer.varint(head(entry.time, after: &before, entry.isAnswer))
      if entry.isAnswer {
        writer.count(entry.bytes.count)
        writer.raw(entry.bytes)
      } else {
        guard batches.write(entry.bytes, at: entry.time, to: &writer) else { return nil }
      }
    }
    return writer.bytes
  }

  private static func head(_ time: Int64, after before: inout Int64, _ isAnswer: Bool) -> UInt64 {
    let step = time &- before
    before = time
    // If the times differ by 150 million years, the shift loses the top bit, which is harmless.
    return PackedBatches.zigzag(step) << 1 | (isAnswer ? 1 : 0)
  }
}

extension DocumentEntry {
  /// The time in milliseconds since 1970; nil if this kind of entry has no time.
  package var time: Int64? {
    switch self {
    case .batch(_, let time), .answer(_, let time), .marker(_, let time), .end(let time): time
    case .gap(let from, _): from
    case .traffic(let entry): entry.time
    case .author, .head, .name: nil
    }
  }
}

/// The whole state of a board at one moment.
public struct Keyframe: Hashable, Sendable {
  /// The state in encoded form.
  public let bytes: [UInt8]
  /// The digest that a board in this state must have.
  public let digest: [UInt8]
  /// The time when the keyframe was written, in milliseconds since 1970.
  public let time: Int64
}

/// The content of a document: the state in a keyframe, and the entries after it.
public struct DocumentContent: Hashable, Sendable {
  /// The newest intact keyframe; nil if no keyframe is intact.
  public let keyframe: Keyframe?
  /// The batches and answers after the keyframe, in order.
  public let entries: [DocumentEntry]
  /// The records and heads of all author incarnations.
  public let authors: [StoredAuthor]
  /// Descriptions of damage that did not prevent reading the content.
  public let notes: [String]

  /// Creates content from its parts.
  public init(keyframe: Keyframe?, entries: [DocumentEntry], authors: [StoredAuthor], notes: [String]) {
    self.keyframe = keyframe
    self.entries = entries
    self.authors = authors
    self.notes = notes
  }
}
