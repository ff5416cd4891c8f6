import Whiteboard

/// An encoder of batches in link form.
///
/// The link form refers to earlier messages on the link.
///
/// Implements SYN-28.
///
/// One writer can serve several links if the same messages were sent on them since the last author message.
public struct LinkBatchWriter: Sendable {
  private var aliases: [Incarnation: Int] = [:]
  private var milliseconds: UInt64 = 0

  /// Creates a writer for new links.
  public init() {}

  /// Resets the encoder after an author message, so that later batches do not refer to earlier messages.
  public mutating func beginAuthor() { self = LinkBatchWriter() }

  /// Whether no batch was written since the last author message.
  var isFresh: Bool { aliases.isEmpty && milliseconds == 0 }

  /// Returns whether there is room for the incarnations that a batch refers to. If there is no room, send an author
  /// message first.
  func hasNames(for batch: EncodedBatch) -> Bool { aliases.count + batch.others.count <= LinkBatchReader.aliasLimit }

  /// Returns the content of the message for the next batch, without the message kind.
  public mutating func encode(_ batch: EncodedBatch) -> [UInt8] {
    let operations = batch.bytes[batch.operationsOffset...]
    let time = batch.batch.time
    var writer = ByteWriter(capacity: operations.count + 24 + 9 * batch.others.count)
    writer.zigzag(Int64(time.milliseconds) - Int64(milliseconds))
    milliseconds = time.milliseconds
    writer.varint(time.counter)
    writer.count(batch.batch.operations.count << 1 | (batch.others.isEmpty ? 0 : 1))
    if !batch.others.isEmpty { writer.count(batch.others.count) }
    for incarnation in batch.others {
      if let alias = aliases[incarnation] {
        writer.count(alias)
      } else {
        aliases[incarnation] = aliases.count + 1
        writer.varint(0)
        writer.incarnation(incarnation)
      }
    }
    writer.raw(operations)
    return writer.bytes
  }
}

/// A decoder of the batches on one link.
///
/// Implements SYN-28.
///
/// After an error, close the link and do not use the decoder again.
public struct LinkBatchReader: Sendable {
  /// The maximum number of incarnations that batches may refer to after an author message.
  static let aliasLimit = 1 << 16

  private var named: [Incarnation] = []
  private var isNamed: Set<Incarnation> = []
  private var author: Incarnation?
  private var lastSequence: UInt64 = 0
  private var milliseconds: UInt64 = 0

  /// Creates a reader for a new link.
  public init() {}

  /// Resets the decoder after an author message, because later batches do not refer to earlier messages.
  ///
  /// The next batch is by `author` and follows the operation `lastSequence`.
  public mutating func beginAuthor(_ author: Incarnation, lastSequence: UInt64) {
    self = LinkBatchReader()
    self.author = author
    self.lastSequence = lastSequence
  }

  /// Decodes the next batch from a message whose content begins at `offset`.
  /// - Throws: `CodecError` unless the bytes are the canonical encoding of a legal batch, and an author message
  ///   preceded them.
  public mutating func decode(_ bytes: [UInt8], from offset: Int) throws(CodecError) -> EncodedBatch {
    guard let author else { throw .inconsistent("no author") }
    var reader = ByteReader(bytes, from: offset)
    let time = try time(&reader)
    let tagged = try reader.varint(upTo: UInt64(BoardLimits.operationsPerBatch) << 1 | 1, "operations")
    let count = Int(tagged >> 1)
    guard count >= 1 else { throw .overLimit("operations") }
    guard count <= reader.remaining else { throw .truncated }
    guard lastSequence < BoardLimits.sequence else { throw .overLimit("sequence") }
    let others = tagged & 1 == 1 ? try self.others(&reader) : []
    let position = reader.position
    let batch = try OperationDecoder.batch(
      author: author,
      first: lastSequence + 1,
      time: time,
      count: count,
      others: others,
      &reader
    )
    let encoded = EncodedBatch(batch, others, bytes[position...])
    guard encoded.bytes.count <= BoardLimits.batchBytes else { throw .overLimit("batch") }
    lastSequence += UInt64(count)
    return encoded
  }

  private mutating func time(_ reader: inout ByteReader) throws(CodecError) -> HybridTime {
    let (sum, overflow) = Int64(milliseconds).addingReportingOverflow(try reader.zigzag())
    guard !overflow, sum >= 0, sum <= Int64(BoardLimits.time >> 16) else { throw .overLimit("time") }
    milliseconds = UInt64(sum)
    return HybridTime(milliseconds << 16 | (try reader.varint(upTo: 0xFFFF, "counter")))
  }

  private mutating func others(_ reader: inout ByteReader) throws(CodecError) -> [Incarnation] {
    let count = try reader.count(upTo: BoardLimits.operationsPerBatch * 3, "incarnations")
    guard count >= 1 else { throw .notCanonical("incarnations") }
    var others: [Incarnation] = []
    others.reserveCapacity(count)
    for _ in 0..<count {
      let alias = try reader.varint()
      if alias > 0 {
        guard alias <= UInt64(named.count) else { throw .overLimit("incarnation alias") }
        others.append(named[Int(alias) - 1])
        continue
      }
      let incarnation = try reader.incarnation()
      guard isNamed.insert(incarnation).inserted else { throw .notCanonical("incarnation alias") }
      guard named.count < Self.aliasLimit else { throw .overLimit("incarnation alias") }
      named.append(incarnation)
      others.append(incarnation)
    }
    return others
  }
}
