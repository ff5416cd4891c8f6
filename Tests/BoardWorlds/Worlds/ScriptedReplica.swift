import Whiteboard
import WhiteboardSync

/// A member whose every message a test makes: it speaks for itself on one link, and lies where told to.
package struct ScriptedReplica {
  /// Who it is.
  package let author: Author
  /// Where its chain stands.
  package var chain: BatchChain
  private var writer = LinkBatchWriter()

  /// A member with a simulated key, and each time another incarnation.
  package init(_ number: UInt64, board: BoardID = ReplicaWorld.board, role: Role = .editor) {
    self.init(Author(board: board, key: SimulatedKey(number), role: role))
  }

  /// A member that has an author.
  package init(_ author: Author) {
    self.author = author
    chain = BatchChain(author.makeIncarnation())
  }

  /// Who it is to the others.
  package var member: MemberID { author.member }
  /// Under which incarnation it writes.
  package var incarnation: Incarnation { chain.incarnation }
  /// The record of that.
  package var record: AuthorRecord { author.record(of: incarnation) }

  /// The author message of where the chain stands.
  package mutating func hello() -> [UInt8] {
    writer.beginAuthor()
    return SyncMessage.author(AuthorMessage(record: record.bytes, head: author.sign(chain)))
      .encode()
  }

  /// Goes on under a new incarnation.
  package mutating func beginIncarnation() -> [UInt8] {
    chain = BatchChain(author.makeIncarnation())
    return hello()
  }

  /// The message of the next batch.
  package mutating func send(
    _ operations: [Operation],
    time: UInt64 = 1_700_000_000_000
  ) throws -> [UInt8] {
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

  /// The message of a batch that creates a text.
  package mutating func sendText() throws -> [UInt8] {
    let id = ObjectID(Dot(incarnation, chain.sequence + 1))
    return try send([
      Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(64, -64)),
    ])
  }

  /// The head of the chain.
  package func head() -> [UInt8] { SyncMessage.head(author.sign(chain)).encode() }

  /// An answer with its own record, and those of others.
  package func answer(_ difference: Difference, of others: [AuthorRecord] = []) -> [UInt8] {
    let records = (others + [record]).sorted { $0.incarnation < $1.incarnation }
    return Answer.encode(records, difference, by: author, as: incarnation)
  }
}
