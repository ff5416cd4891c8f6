import PeerCore
import Whiteboard

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
    var sums = [UInt64](repeating: 0, count: BucketHash.buckets)
    let start = start(of: state.context)
    for (id, record) in state.records {
      var sum: UInt64 = 0
      for entry in record.entries where !entry.property.isSelection {
        sum &+= hash(of: entry.cell, at: entry.property, of: id, from: start)
      }
      sums[id.bucket] &+= sum
    }
    return sums
  }

  /// The value depends on the whole context.
  ///
  /// If an attacker constructs cells with equal sums, the sums differ again after the next change.
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
