import Whiteboard

/// Checks and applies what members write: records, batches and heads (AUT-4 to AUT-8).
final class BatchReceiver {
  private let board: Board
  private let author: Author
  private let verifier: any SignatureVerifier
  private let peers: PeerTable
  private let registry: AuthorRegistry
  private let claims: ClaimCheck
  private let permissions: Permissions
  private let outbox: Outbox

  init(
    _ board: Board,
    _ author: Author,
    _ verifier: any SignatureVerifier,
    _ peers: PeerTable,
    _ registry: AuthorRegistry,
    _ claims: ClaimCheck,
    _ permissions: Permissions,
    _ outbox: Outbox
  ) {
    self.board = board
    self.author = author
    self.verifier = verifier
    self.peers = peers
    self.registry = registry
    self.claims = claims
    self.permissions = permissions
    self.outbox = outbox
  }

  /// Checks the introduction of an incarnation, and returns its record.
  func check(
    _ message: AuthorMessage,
    from member: MemberID
  ) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(message.record)
    // A known record was verified before.
    if registry[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: author.board, with: verifier)
    }
    guard record.member == member else { throw .forgedAuthor }
    try message.head.verify(by: record, with: verifier)
    return record
  }

  /// A member introduced an incarnation, with a record and a head that were checked.
  func receive(
    _ record: AuthorRecord,
    _ head: SignedHead,
    from member: MemberID
  ) throws(ReplicaError) {
    guard let peer = peers[member] else { return }
    try peer.link.introduce(record, head)
    peer.reader.beginAuthor(record.incarnation, lastSequence: head.sequence)
  }

  /// Applies the next batch of a member, which begins in `bytes` at `offset`.
  ///
  /// If the batch is early, it waits, and later messages of its member wait behind it.
  /// - Throws: `ReplicaError`, or `BoardError.boardFull`, which is not a breach by the member.
  func receiveBatch(
    _ bytes: [UInt8],
    at offset: Int,
    from member: MemberID,
    _ now: Moment
  ) throws {
    guard let peer = peers[member] else { return }
    try peer.link.requireWriter()
    let encoded = try peer.reader.decode(bytes, from: offset)
    // The batch is part of the chain even if the board has no room for it.
    peer.link.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
    if claims.isEarly(encoded.batch, now) {
      peer.inbox.wait(encoded, since: now.uptime)
    } else {
      try apply(encoded, from: member, now)
    }
  }

  /// Applies a batch of a member, which is part of the chain of the link.
  ///
  /// - Parameters:
  ///   - encoded: The batch.
  ///   - last: Purges of objects behind these sequences are left out (BRD-39).
  ///   - member: The member.
  ///   - now: The time.
  /// - Throws: `ReplicaError`, or `BoardError` if there is no room for the batch.
  func apply(
    _ encoded: EncodedBatch,
    purgingWithin last: [Incarnation: UInt64] = [:],
    from member: MemberID,
    _ now: Moment
  ) throws {
    guard let peer = peers[member] else { return }
    let batch = encoded.batch
    guard permissions.admitsBatch(batch, from: peer.link) else { return }
    let new = try registry.newRecords(for: batch, from: peer.link)
    try board.requireShare(for: batch, of: member)
    try board.receive(batch, purgingWithin: last)
    for record in new {
      registry.insertAndStore(record)
      peer.link.forgetAhead(record.incarnation)
    }
    outbox.record(.batch(encoded))
    peer.report(by: now.uptime + peers.reportDelay)
  }

  /// Checks that a head is that of a member's chain, signed by the member.
  func check(_ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    try peers[member]?.link.check(head, with: verifier)
  }

  /// A member signed the head of its chain, which was checked.
  func receive(_ head: SignedHead, from member: MemberID) {
    // Batches that were not stored, because they did not fit, need no proof.
    guard let incarnation = peers[member]?.link.record?.incarnation, registry[incarnation] != nil,
      board.state.limits[incarnation].map({ head.sequence <= $0 }) ?? true
    else { return }
    outbox.record(StoredChange(head, of: incarnation))
  }

  /// Checks a record that a member sent ahead of a purge, and returns it.
  func checkRecord(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(bytes)
    // A known record was verified before, and another one for its incarnation does not matter.
    if registry[record.incarnation] == nil {
      try record.verify(board: author.board, with: verifier)
    }
    return record
  }

  /// A member sent a record ahead of a purge, which was checked (SYN-48).
  func receiveAhead(_ record: AuthorRecord, from member: MemberID) throws(ReplicaError) {
    guard registry[record.incarnation] == nil else { return }
    try peers[member]?.link.keepAhead(record)
  }
}

extension AuthorRecord {
  /// Reads a record that a member sent.
  static func read(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    do {
      return try AuthorRecord(bytes)
    } catch {
      throw .malformed(error)
    }
  }
}
