import Whiteboard

/// The binary form of a batch; implements SYN-20 to SYN-24 of `Protocol/board.md`.
public enum BatchCoding {
  /// The one canonical form of a batch.
  public static func encode(_ batch: Batch) -> [UInt8] { EncodedBatch(batch).bytes }

  /// Reads a batch.
  /// - Throws: `CodecError` for anything but the canonical form of a legal batch.
  public static func decode(_ bytes: [UInt8]) throws(CodecError) -> Batch {
    try EncodedBatch(decoding: bytes).batch
  }
}

/// A batch together with its full form, which is what chains hash and what is kept (AUT-6).
///
/// The operations have the same bytes in both forms, so that one form is made of the other by a new
/// heading, and neither is encoded anew for each link.
public struct EncodedBatch: Hashable, Sendable {
  /// The batch.
  public let batch: Batch
  /// Its full form (SYN-20).
  public let bytes: [UInt8]
  /// Whom the operations name beside the author, in the order of first use (SYN-21).
  let others: [Incarnation]
  /// Where in `bytes` the operations begin.
  let operationsOffset: Int

  /// Encodes a batch.
  public init(_ batch: Batch) {
    var encoder = OperationEncoder(batch)
    for (index, operation) in batch.operations.enumerated() {
      encoder.write(operation, as: batch.dot(at: index))
    }
    self.init(batch, encoder.others, encoder.writer.bytes[...])
  }

  /// Decodes a batch in its full form.
  /// - Throws: `CodecError` for anything but the canonical form of a legal batch.
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
    batch = try OperationDecoder.batch(
      author: author,
      first: first,
      time: time,
      count: count,
      others: others,
      &reader
    )
  }

  /// A batch whose operations are encoded already.
  init(_ batch: Batch, _ others: [Incarnation], _ operations: ArraySlice<UInt8>) {
    var writer = ByteWriter(capacity: operations.count + 32 + 8 * others.count)
    writer.incarnation(batch.author)
    writer.varint(batch.firstSequence)
    writer.varint(batch.time.rawValue)
    writer.count(batch.operations.count)
    writer.count(others.count)
    for incarnation in others { writer.incarnation(incarnation) }
    operationsOffset = writer.bytes.count
    writer.raw(operations)
    self.batch = batch
    self.others = others
    bytes = writer.bytes
  }
}
