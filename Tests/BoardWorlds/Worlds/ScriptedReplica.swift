import Whiteboard
import WhiteboardSync

/// A member whose messages a test writes.
///
/// It sends on one link, and can be made to send false data.
package struct ScriptedReplica {
  package let author: Author
  package var chain: BatchChain
  private var writer = LinkBatchWriter()

  /// Creates a member with a simulated key, and a new incarnation each time.
  package init(_ number: UInt64, board: BoardID = ReplicaWorld.board, role: Role = .editor) {
    self.init(Author(board: board, key: SimulatedKey(number), role: role))
  }

  package init(_ author: Author) {
    self.author = author
    chain = BatchChain(author.makeIncarnation())
  }

  package var member: MemberID { author.member }
  package var incarnation: Incarnation { chain.incarnation }
  package var record: AuthorRecord { author.record(of: incarnation) }

  /// Returns the author message for the current position of the chain.
  package mutating func hello() -> [UInt8] {
    writer.beginAuthor()
    return SyncMessage.author(AuthorMessage(record: record.bytes, head: author.sign(chain))).encode()
  }

  package mutating func beginIncarnation() -> [UInt8] {
    chain = BatchChain(author.makeIncarnation())
    return hello()
  }

  /// Returns the message of the next batch.
  package mutating func send(_ operations: [Operation], time: UInt64 = 1_700_000_000_000) throws(CodecError) -> [UInt8]
  {
    let batch = try Batch(
      author: incarnation,
      firstSequence: chain.sequence + 1,
      time: HybridTime(time << 16),
      operations: operations
    )
    let encoded = EncodedBatch(batch)
    chain.append(encoded.bytes, through: batch.sequences.upperBound)
    return SyncMessage.batch(writer.encode(encoded)).encode()
  }

  package mutating func sendText() throws(CodecError) -> [UInt8] {
    let id = ObjectID(Dot(incarnation, chain.sequence + 1))
    return try send([Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(64, -64))])
  }

  package func head() -> [UInt8] { SyncMessage.head(author.sign(chain)).encode() }

  package func answer(_ difference: Difference, of others: [AuthorRecord] = []) -> [UInt8] {
    let records = (others + [record]).sorted { $0.incarnation < $1.incarnation }
    return Answer.encode(records, difference, by: author, as: incarnation)
  }
}
