import Crypto
import PeerCore
import Whiteboard

/// A hash of the whole visible content of a board.
///
/// Implements SYN-40.
public enum BoardDigest {
  private static let domain = "whiteboard-digest-1\n"

  /// Returns the digest.
  ///
  /// Replicas with equal contexts have equal digests. If any cell differs, the digests differ.
  ///
  /// The digest covers every cell of every object that is not deleted, in order, except selections.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects.
  public static func digest(of state: BoardState) -> Bytes32 {
    var hash = SHA256()
    hash.update(data: Array(domain.utf8))
    let records = state.records
    var writer = ByteWriter()
    for index in records.keys.indices.sorted(by: { records.keys[$0] < records.keys[$1] }) {
      let record = records.values[index]
      guard record.kind != nil, !record.isDeleted else { continue }
      write(record, of: records.keys[index], to: &writer)
      // An array for each object would take longer than hashing it.
      guard writer.bytes.count >= 1 << 14 else { continue }
      hash.update(data: writer.bytes)
      writer = ByteWriter(capacity: 1 << 15)
    }
    hash.update(data: writer.bytes)
    guard let digest = hash.finalize().withUnsafeBytes({ Bytes32($0) }) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    return digest
  }

  package static func encode(_ id: ObjectID, _ record: ObjectRecord) -> [UInt8] {
    var writer = ByteWriter()
    write(record, of: id, to: &writer)
    return writer.bytes
  }

  private static func write(_ record: ObjectRecord, of id: ObjectID, to writer: inout ByteWriter) {
    for entry in record.entries where !entry.property.isSelection {
      let (property, cell) = (entry.property, entry.cell)
      write(id.dot, to: &writer)
      writer.byte(UInt8(property.number >> 8))
      writer.byte(UInt8(property.number & 0xFF))
      if let dot = property.dot {
        write(dot, to: &writer)
      } else {
        writer.fixed64(property.index ?? 0)
        writer.fixed64(0)
      }
      write(cell.dot, to: &writer)
      writer.fixed64(cell.time.rawValue)
      write(cell.value, to: &writer)
    }
  }

  private static func write(_ dot: Dot, to writer: inout ByteWriter) {
    writer.incarnation(dot.incarnation)
    writer.fixed64(dot.sequence)
  }

  /// Writes the type, the number of bytes, and the bytes.
  private static func write(_ value: Value, to writer: inout ByteWriter) {
    writer.byte(value.shape)
    switch value {
    case .none: writer.fixed32(0)
    case .unsigned(let number):
      writer.fixed32(8)
      writer.fixed64(number)
    case .signed(let number):
      writer.fixed32(8)
      writer.fixed64(UInt64(bitPattern: number))
    case .pair(let x, let y):
      writer.fixed32(8)
      writer.fixed32(UInt32(bitPattern: x))
      writer.fixed32(UInt32(bitPattern: y))
    case .bytes(let bytes):
      writer.fixed32(UInt32(bytes.count))
      writer.raw(bytes)
    case .text(let text):
      writer.fixed32(UInt32(text.utf8.count))
      writer.raw(text.utf8)
    case .dot(let dot):
      writer.fixed32(16)
      write(dot, to: &writer)
    }
  }
}

/// The sixteen sums over all cells of a board.
///
/// Replicas compare the sums every few seconds.
///
/// Implements SYN-41.
public enum BucketSums {
  /// Returns the sum of each bucket.
  ///
  /// The sums cover every cell except selections. Cells of deleted objects and of orphans are included.
  /// - Complexity: O(*n*), where *n* is the number of cells. Nothing is cached.
  public static func sums(of state: BoardState) -> [UInt64] {
    var partial = Partial(of: state)
    _ = partial.add(.max, of: state)
    return partial.sums
  }

  /// The sums of some of a board's objects. Adding all cells of a large board takes a long time, so other work is done
  /// between two parts.
  struct Partial {
    let revision: UInt64
    private let start: BucketHash
    private(set) var sums = [UInt64](repeating: 0, count: BucketHash.buckets)
    private var next = 0

    init(of state: BoardState) {
      revision = state.revision
      start = BucketSums.start(of: state.context)
    }

    /// Adds further objects with about this number of cells. Returns whether all objects were added. The state must
    /// have the revision with which the sums were begun.
    mutating func add(_ cells: Int, of state: BoardState) -> Bool {
      let records = state.records
      var left = cells
      while next < records.count {
        guard left > 0 else { return false }
        let (id, record) = (records.keys[next], records.values[next])
        var sum: UInt64 = 0
        for entry in record.entries where !entry.property.isSelection {
          sum &+= BucketSums.hash(of: entry.cell, at: entry.property, of: id, from: start)
        }
        sums[id.bucket] &+= sum
        left -= record.count
        next += 1
      }
      return true
    }
  }

  /// The value depends on the whole context. If an attacker constructs cells with equal sums, the sums differ again
  /// after the next change.
  package static func start(of context: Context) -> BucketHash {
    var hash = BucketHash()
    let bytes = Bytes32.sha256(ContextCoding.encode(context)).bytes
    for offset in stride(from: 0, to: bytes.count, by: 8) {
      hash.combine(bytes[offset..<offset + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    return hash
  }

  package static func hash(of cell: Cell, at property: Property, of id: ObjectID, from start: BucketHash) -> UInt64 {
    var hash = start
    hash.combine(id.dot)
    hash.combine(UInt64(property.number))
    if let dot = property.dot {
      hash.combine(dot)
    } else {
      hash.combine(property.index ?? 0)
      hash.combine(0)
    }
    hash.combine(cell.dot)
    hash.combine(cell.time.rawValue)
    hash.combine(UInt64(cell.value.shape))
    hash.combine(cell.value)
    return hash.value
  }
}

extension BucketHash {
  fileprivate mutating func combine(_ dot: Dot) {
    combine(dot.incarnation.rawValue)
    combine(dot.sequence)
  }

  fileprivate mutating func combine(_ value: Value) {
    switch value {
    case .none: combine(0)
    case .unsigned(let number):
      combine(8)
      combine(number)
    case .signed(let number):
      combine(8)
      combine(UInt64(bitPattern: number))
    case .pair(let x, let y):
      combine(8)
      combine(UInt64(UInt32(bitPattern: x)) << 32 | UInt64(UInt32(bitPattern: y)))
    case .bytes(let bytes): combine(bytes, count: bytes.count)
    case .text(let text): combine(text.utf8, count: text.utf8.count)
    case .dot(let dot):
      combine(16)
      combine(dot)
    }
  }

  private mutating func combine(_ bytes: some Sequence<UInt8>, count: Int) {
    combine(UInt64(count))
    var word: UInt64 = 0
    var filled = 0
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      filled += 1
      if filled == 8 {
        combine(word)
        word = 0
        filled = 0
      }
    }
    if filled > 0 { combine(word << (64 - 8 * UInt64(filled))) }
  }
}
