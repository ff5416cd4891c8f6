import Whiteboard

/// The author on one link, and the heads of the author's chains.
///
/// Implements AUT-4, AUT-5 and AUT-7.
final class LinkChainVerifier {
  /// The record of the current author; nil until the member has introduced itself.
  private(set) var record: AuthorRecord?
  /// Whether the author's rights were revoked, so that its answers are ignored.
  var isRevoked = false
  private var chain: BatchChain?
  private var ended: [Incarnation: BatchChain] = [:]
  private let limit: Int
  /// The records that were sent ahead of purges and whose incarnations are not in the local context yet.
  private var ahead: [Incarnation: AuthorRecord] = [:]

  /// Creates the state of a new link, on which at most `limit` incarnations can be introduced.
  init(limit: Int = BoardLimits.incarnations) { self.limit = limit }

  /// Handles a verified introduction of an incarnation; throws if the introduction contradicts earlier messages on the
  /// link.
  func introduce(_ record: AuthorRecord, _ head: SignedHead) throws(ReplicaError) {
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

  /// Stores a verified record that was sent ahead of a purge (SYN-48); throws if there are more than
  /// ``BoardLimits/recordsAhead``.
  func keepAhead(_ record: AuthorRecord) throws(ReplicaError) {
    guard ahead[record.incarnation] != nil || ahead.count < BoardLimits.recordsAhead else {
      throw .malformed(.overLimit("records"))
    }
    ahead[record.incarnation] = record
  }

  func recordAhead(of incarnation: Incarnation) -> AuthorRecord? { ahead[incarnation] }

  func forgetAhead(_ incarnation: Incarnation) { ahead[incarnation] = nil }

  /// The current author's incarnation, and the sequence number of its last operation on the link.
  var head: (incarnation: Incarnation, sequence: UInt64)? { chain.map { ($0.incarnation, $0.sequence) } }

  var role: Role? { record.map { isRevoked ? .viewer : $0.role } }

  /// Throws `noAuthor` if the member has not introduced itself, and `viewer` if the member has no right to write.
  func requireWriter() throws(ReplicaError) {
    guard let role = record?.role else { throw .noAuthor }
    guard role.mayWrite else { throw .viewer }
  }

  /// Adds the next batch, given in its full form, to the chain.
  func append(_ batch: [UInt8], through last: UInt64) { chain?.append(batch, through: last) }

  /// Throws an error if a head does not match the current chain, or if its signature is not valid.
  func check(_ head: SignedHead, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard let record, let chain else { throw .noAuthor }
    guard head.sequence == chain.sequence, head.hash == chain.hash else { throw .brokenChain }
    try head.verify(by: record, with: verifier)
  }
}
