import Whiteboard

/// Who writes on one link, and where each of its chains stands there; implements AUT-4, AUT-5 and
/// AUT-7.
///
/// It belongs to what a replica keeps of one member.
final class LinkChainVerifier {
  /// The current author, once it was announced.
  private(set) var record: AuthorRecord?
  /// Whether its rights were taken back: what it answers is nothing to go by.
  var isRevoked = false
  private var chain: BatchChain?
  /// The final heads of the earlier chains.
  private var ended: [Incarnation: BatchChain] = [:]
  private let limit: Int
  /// The records that were sent ahead of purges and are not of this replica's context yet.
  private var ahead: [Incarnation: AuthorRecord] = [:]

  /// A link on which nobody was introduced yet, and at most `limit` incarnations will be.
  init(limit: Int = BoardLimits.incarnations) { self.limit = limit }

  /// Takes in an author message whose signatures hold.
  /// - Throws: `brokenChain` if it contradicts what was on the link before.
  func introduce(
    _ record: AuthorRecord,
    _ head: SignedHead
  ) throws(ReplicaError) {
    let next = BatchChain(record.incarnation, sequence: head.sequence, hash: head.hash)
    if head.sequence == 0, next != BatchChain(record.incarnation) { throw .brokenChain }
    if let chain { ended[chain.incarnation] = chain }
    if let known = ended[record.incarnation] {
      guard known == next else { throw .brokenChain }
    } else {
      guard ended.count < limit else { throw .malformed(.overLimit("authors")) }
    }
    self.record = record
    chain = next
  }

  /// Keeps a record, whose signatures hold, for the purges to come (SYN-48).
  /// - Throws: `malformed(overLimit)` beyond ``BoardLimits/recordsAhead``.
  func keepAhead(_ record: AuthorRecord) throws(ReplicaError) {
    guard ahead[record.incarnation] != nil || ahead.count < BoardLimits.recordsAhead else {
      throw .malformed(.overLimit("records"))
    }
    ahead[record.incarnation] = record
  }

  /// Returns the record of an incarnation that was sent ahead.
  func recordAhead(of incarnation: Incarnation) -> AuthorRecord? { ahead[incarnation] }

  /// Forgets a record that is one of the replica's now.
  func forgetAhead(_ incarnation: Incarnation) { ahead[incarnation] = nil }

  /// The incarnation of the current author, and its last operation on the link.
  var head: (incarnation: Incarnation, sequence: UInt64)? {
    chain.map { ($0.incarnation, $0.sequence) }
  }

  /// The role of the member, once it was announced.
  var role: Role? { record.map { isRevoked ? .viewer : $0.role } }

  /// Throws where nobody may write the next batch: `noAuthor` where nobody was introduced, `viewer`
  /// where it may not write.
  func requireWriter() throws(ReplicaError) {
    guard let role = record?.role else { throw .noAuthor }
    guard role.mayWrite else { throw .viewer }
  }

  /// Takes in the next batch, in its full form.
  func append(_ batch: [UInt8], through last: UInt64) {
    chain?.append(batch, through: last)
  }

  /// Throws where a head is not where the chain stands, or not the author's.
  func check(_ head: SignedHead, with verifier: any SignatureVerifier) throws(ReplicaError) {
    guard let record, let chain else { throw .noAuthor }
    guard head.sequence == chain.sequence, head.hash == chain.hash else { throw .brokenChain }
    try head.verify(by: record, with: verifier)
  }
}
