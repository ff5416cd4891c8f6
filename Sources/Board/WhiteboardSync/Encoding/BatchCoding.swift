import Whiteboard

/// The binary format of batches, as defined by SYN-20 to SYN-24 of `Protocol/board.md`.
public enum BatchCoding {
  /// Returns the canonical encoding of a batch.
  public static func encode(_ batch: Batch) -> [UInt8] { EncodedBatch(batch).bytes }

  /// Decodes a batch.
  /// - Throws: `CodecError` unless the bytes are the canonical encoding of a legal batch.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> Batch { try EncodedBatch(decoding: bytes).batch }
}

/// A batch together with its full form.
///
/// Documents store the full form, and the hashes of chains cover it (AUT-6).
///
/// The operations have the same bytes in the full form and in the link form. Only the headers differ, so the operations
/// are encoded once for all links.
public struct EncodedBatch: Hashable, Sendable {
  /// The batch.
  public let batch: Batch
  /// The batch in its full form (SYN-20).
  public let bytes: [UInt8]
  /// The incarnations other than the author that the operations refer to, in the order of first use (SYN-21).
  let others: [Incarnation]
  let operationsOffset: Int

  /// Encodes a batch.
  public init(_ batch: Batch) {
    var encoder = OperationEncoder(batch)
    for (index, operation) in batch.operations.enumerated() { encoder.write(operation, as: batch.dot(at: index)) }
    self.init(batch, encoder.others, encoder.writer.bytes[...])
  }

  /// Decodes a batch in its full form.
  /// - Throws: `CodecError` unless the bytes are the canonical encoding of a legal batch.
  public init(decoding bytes: [UInt8]) throws(CodecError) {
    guard bytes.count <= BoardLimits.batchBytes else { throw .overLimit("batch") }
    var reader = ByteReader(bytes)
    let author = try reader.incarnation()
    let first = try reader.sequence()
    let time = HybridTime(try reader.varint(upTo: BoardLimits.time, "time"))
    let count = try reader.count(upTo: BoardLimits.operationsPerBatch, "operations")
    guard count >= 1 else { throw .overLimit("operations") }
    let otherCount = try reader.count(upTo: BoardLimits.operationsPerBatch * 3, "incarnations")
    guard otherCount * 8 <= reader.remaining else { throw .truncated }
    var others: [Incarnation] = []
    others.reserveCapacity(otherCount)
    for _ in 0..<otherCount { others.append(try reader.incarnation()) }
    operationsOffset = reader.position
    self.bytes = bytes
    self.others = others
    batch = try OperationDecoder.batch(author: author, first: first, time: time, count: count, others: others, &reader)
  }

  /// Returns the author of a batch; nil if the bytes are not a batch.
  public static func author(of bytes: [UInt8]) -> Incarnation? {
    var reader = ByteReader(bytes)
    return try? reader.incarnation()
  }

  init(_ batch: Batch, _ others: [Incarnation], _ operations: ArraySlice<UInt8>) {
    let numbers: [4 of UInt64] = [
      batch.firstSequence, batch.time.rawValue, UInt64(batch.operations.count), UInt64(others.count),
    ]
    var heading = 0
    // The capacity suffices: a varint has at most 10 bytes, and an incarnation has 8.
    let capacity = 8 + 10 * numbers.count + 8 * others.count + operations.count
    bytes = Array(unsafeUninitializedCapacity: capacity) { buffer, count in
      func put(_ byte: UInt64) {
        buffer[count] = UInt8(truncatingIfNeeded: byte)
        count += 1
      }
      func put(_ incarnation: Incarnation) {
        UnsafeMutableRawBufferPointer(buffer).storeBytes(
          of: incarnation.rawValue.bigEndian,
          toByteOffset: count,
          as: UInt64.self
        )
        count += 8
      }
      put(batch.author)
      for index in numbers.indices {
        var rest = numbers[index]
        while rest >= 0x80 {
          put(rest | 0x80)
          rest >>= 7
        }
        put(rest)
      }
      for incarnation in others { put(incarnation) }
      heading = count
      count = buffer[count...].initialize(fromContentsOf: operations)
    }
    operationsOffset = heading
    self.batch = batch
    self.others = others
  }
}
