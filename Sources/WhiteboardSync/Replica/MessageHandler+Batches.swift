import Whiteboard

/// Checks and applies the changes that members send: records, batches and heads (AUT-4 to AUT-8).
extension MessageHandler {
  func check(_ message: AuthorMessage, from member: MemberID) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(message.record)
    // A known record was already verified.
    if replica.registry[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: replica.author.board, with: replica.verifier)
    }
    guard record.member == member else { throw .forgedAuthor }
    try message.head.verify(by: record, with: replica.verifier)
    return record
  }

  func handleIntroduction(_ record: AuthorRecord, _ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    guard let peer = replica.peers[member] else { return }
    try peer.link.introduce(record, head)
    peer.reader.beginAuthor(record.incarnation, lastSequence: head.sequence)
  }

  /// Applies the next batch of a member; throws ``ReceiveError``, where `boardFull` is not a protocol violation by
  /// the member.
  ///
  /// The batch begins at `offset` in `bytes`. If the batch is early, it waits, and later messages of the same member
  /// wait behind it.
  func handleBatch(_ bytes: [UInt8], at offset: Int, from member: MemberID, _ now: Moment) throws(ReceiveError) {
    guard let peer = replica.peers[member] else { return }
    try receiving { () throws(ReplicaError) in try peer.link.requireWriter() }
    let encoded = try receiving { () throws(CodecError) in try peer.reader.decode(bytes, from: offset) }
    // The batch is part of the chain even if the board has no room for it.
    peer.link.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
    if replica.claims.isEarly(encoded.batch, now) {
      peer.inbox.wait(encoded, since: now.uptime)
    } else {
      try applyBatch(encoded, from: member, now)
    }
  }

  /// Applies a batch that was already added to the chain of the link, without purges of objects later than `last`
  /// (BRD-39).
  func applyBatch(
    _ encoded: EncodedBatch,
    purgingWithin last: [Incarnation: UInt64] = [:],
    from member: MemberID,
    _ now: Moment
  ) throws(ReceiveError) {
    guard let peer = replica.peers[member] else { return }
    let batch = encoded.batch
    guard replica.permissions.admitsBatch(batch, from: peer.link) else { return }
    let new = try replica.registry.newRecords(for: batch, from: peer.link)
    try receiving { () throws(BoardError) in
      try replica.board.requireShare(for: batch, of: member)
      try replica.board.receive(batch, purgingWithin: last)
    }
    for record in new {
      replica.registry.insertAndStore(record)
      peer.link.forgetAhead(record.incarnation)
    }
    if !new.isEmpty { replica.board.noteSelections(in: batch) }
    replica.actions.record(.batch(encoded))
    peer.report(by: now.uptime + replica.peers.reportDelay)
  }

  func check(_ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    try replica.peers[member]?.link.check(head, with: replica.verifier)
  }

  func handleHead(_ head: SignedHead, from member: MemberID) {
    // Batches that did not fit or were revoked were not stored, so their head is not needed.
    guard let incarnation = replica.peers[member]?.link.record?.incarnation, replica.registry[incarnation] != nil,
      replica.board.state.limits[incarnation].map({ head.sequence <= $0 }) ?? true
    else { return }
    replica.actions.record(StoredChange(head, of: incarnation))
  }

  /// Checks a record that a member sent ahead of a purge, and returns the record.
  func checkRecord(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    let record = try AuthorRecord.read(bytes)
    // A known record was already verified. If this one differs, it is not needed.
    if replica.registry[record.incarnation] == nil {
      try record.verify(board: replica.author.board, with: replica.verifier)
    }
    return record
  }

  func handleRecordAhead(_ record: AuthorRecord, from member: MemberID) throws(ReplicaError) {
    guard replica.registry[record.incarnation] == nil, !replica.board.state.isRetired(record.incarnation) else {
      return
    }
    try replica.peers[member]?.link.keepAhead(record)
  }
}

extension AuthorRecord {
  static func read(_ bytes: [UInt8]) throws(ReplicaError) -> AuthorRecord {
    do { return try AuthorRecord(bytes) } catch { throw .malformed(error) }
  }
}
