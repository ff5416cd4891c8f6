import Whiteboard

/// The author on one link, and the heads of its chains; implements AUT-4, AUT-5 and AUT-7.
final class LinkChainVerifier {
  /// The record of the current author; nil until the member has introduced itself.
  private(set) var record: AuthorRecord?
  /// Whether the author's rights were revoked, so that its answers do not count.
  var isRevoked = false
  private var chain: BatchChain?
  /// The final heads of the earlier chains.
  private var ended: [Incarnation: BatchChain] = [:]
  private let limit: Int
  /// The records that were sent ahead of purges, and whose incarnations are not in the local context yet.
  private var ahead: [Incarnation: AuthorRecord] = [:]

  /// Creates the state of a new link, on which at most `limit` incarnations can be introduced.
  init(limit: Int = BoardLimits.incarnations) { self.limit = limit }

  /// Handles the introduction of an incarnation, whose signatures were verified.
  /// - Throws: `brokenChain` if it contradicts earlier messages on the link.
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

  /// Stores a record, whose signatures were verified, for later purges (SYN-48).
  /// - Throws: `malformed(overLimit)` beyond ``BoardLimits/recordsAhead``.
  func keepAhead(_ record: AuthorRecord) throws(ReplicaError) {
    guard ahead[record.incarnation] != nil || ahead.count < BoardLimits.recordsAhead else {
      throw .malformed(.overLimit("records"))
    }
    ahead[record.incarnation] = record
  }

  /// Returns the record of an incarnation that was sent ahead.
  func recordAhead(of incarnation: Incarnation) -> AuthorRecord? { ahead[incarnation] }

  /// Removes a record that the registry contains now.
  func forgetAhead(_ incarnation: Incarnation) { ahead[incarnation] = nil }

  /// The incarnation of the current author, and its last operation on the link.
  var head: (incarnation: Incarnation, sequence: UInt64)? {
    chain.map { ($0.incarnation, $0.sequence) }
  }

  /// The role of the member, once it was announced.
  var role: Role? { record.map { isRevoked ? .viewer : $0.role } }

  /// Throws `noAuthor` if the member has not introduced itself, and `viewer` if it may not write.
  func requireWriter() throws(ReplicaError) {
    guard let role = record?.role else { throw .noAuthor }
    guard role.mayWrite else { throw .viewer }
  }

  /// Adds the next batch, in its full form, to the chain.
  func append(_ batch: [UInt8], through last: UInt64) {
    chain?.append(batch, through: last)
  }

  /// Throws if a head is not that of the current chain, or if its signature is not valid.
  func check(_ head: SignedHead, with verifier: any SignatureVerifier) throws(ReplicaError) {
    guard let record, let chain else { throw .noAuthor }
    guard head.sequence == chain.sequence, head.hash == chain.hash else { throw .brokenChain }
    try head.verify(by: record, with: verifier)
  }
}
