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
  /// It covers every cell of every object that is not deleted, in order, except selections.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects.
  public static func digest(of state: BoardState) -> Bytes32 {
    var hash = SHA256()
    hash.update(data: Array(domain.utf8))
    for id in state.records.keys.sorted() {
      guard let record = state.record(id), record.kind != nil, !record.isDeleted else { continue }
      hash.update(data: encode(id, record))
    }
    guard let digest = hash.finalize().withUnsafeBytes({ Bytes32($0) }) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    return digest
  }

  package static func encode(_ id: ObjectID, _ record: ObjectRecord) -> [UInt8] {
    var writer = ByteWriter()
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
    return writer.bytes
  }

  private static func write(_ dot: Dot, to writer: inout ByteWriter) {
    writer.incarnation(dot.incarnation)
    writer.fixed64(dot.sequence)
  }

  private static func write(_ value: Value, to writer: inout ByteWriter) {
    var content = ByteWriter()
    switch value {
    case .none: break
    case .unsigned(let number): content.fixed64(number)
    case .signed(let number): content.fixed64(UInt64(bitPattern: number))
    case .pair(let x, let y):
      content.fixed32(UInt32(bitPattern: x))
      content.fixed32(UInt32(bitPattern: y))
    case .bytes(let bytes): content.raw(bytes)
    case .text(let text): content.raw(text.utf8)
    case .dot(let dot): write(dot, to: &content)
    }
    writer.byte(value.shape)
    writer.fixed32(UInt32(content.bytes.count))
    writer.raw(content.bytes)
  }
}
