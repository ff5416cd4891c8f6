import Whiteboard

/// Authorship: sending local batches and heads, and checking those of members (AUT-1 to AUT-8).
extension Replica {
  // MARK: - What we write

  /// Chains one of our batches, has it kept, and sends it to every member (SYN-10).
  func publish(_ batch: Batch) {
    if batch.author != chain.incarnation { introduceIncarnation(batch.author) }
    if chain.sequence == 0 { keepRecord(author.record(of: batch.author)) }
    let encoded = EncodedBatch(batch)
    if hasNewcomer || !writer.hasNames(for: encoded) { introduceOurselves() }
    chain.append(encoded.bytes, through: batch.sequences.upperBound)
    actions.append(.record(.batch(encoded)))
    sendRecords(ofPurgesIn: batch)
    if !peers.isEmpty { send(.batch(writer.encode(encoded)), to: members) }
  }

  /// Goes on under a new incarnation, and says so (BRD-25).
  func introduceIncarnation(_ incarnation: Incarnation) {
    if chain.sequence == 0, !board.state.context.contains(chain.incarnation) {
      records[chain.incarnation] = nil
    }
    introduce(BatchChain(incarnation))
  }

  private func introduce(_ chain: BatchChain) {
    self.chain = chain
    records[chain.incarnation] = author.record(of: chain.incarnation)
    introduceOurselves()
  }

  /// The head of the local chain.
  package var ownChain: BatchChain { chain }

  /// Writes a batch of a recording again, as its author did (REC-10).
  ///
  /// - Parameters:
  ///   - batch: The batch; of each incarnation they come in their order, without gaps.
  ///   - record: The record of its incarnation, which is of this author's key.
  ///   - earlier: Where the chain of that incarnation stood when this author last wrote, where another replica
  ///     of it did.
  ///   - now: The time.
  /// - Throws: `boardFull`; nothing is written.
  package func reenact(
    _ batch: Batch,
    under record: AuthorRecord,
    after earlier: BatchChain?,
    now: Moment
  ) throws(BoardError) {
    begin(now)
    if chain.incarnation != batch.author || chain.sequence + 1 != batch.firstSequence {
      author.adopt(record)
      if chain.sequence == 0, !board.state.context.contains(chain.incarnation) {
        records[chain.incarnation] = nil
      }
      let before = batch.firstSequence - 1
      if let earlier, earlier.incarnation == batch.author, earlier.sequence == before {
        introduce(earlier)
      } else {
        // What came before is not here: any hash will do that is the same for all.
        let hash = Bytes32.sha256(record.bytes)
        introduce(
          before == 0
            ? BatchChain(batch.author) : BatchChain(batch.author, sequence: before, hash: hash)
        )
      }
    }
    try board.reenact(batch)
    finish(from: nil, now)
  }

  /// Says to everyone who writes from here on, and where the chain stands: what was said before counts
  /// on no link any more.
  private func introduceOurselves() {
    writer.beginAuthor()
    hasNewcomer = false
    send(.author(introduction), to: members)
  }

  /// Says to a newcomer who writes from here on, and where the chain stands.
  func introduceOurselves(to member: MemberID) {
    sentAhead = []
    if peers.count == 1 { writer.beginAuthor() }
    hasNewcomer = !writer.isFresh
    send(.author(introduction), to: member)
  }

  private var introduction: AuthorMessage {
    AuthorMessage(
      record: author.record(of: chain.incarnation).bytes,
      head: heads.head(of: chain, by: author)
    )
  }

  /// Signs what was written since the last head, at most once in each interval.
  func sendHead(_ now: Moment) {
    guard let due = heads.nextDeadline(chain, headInterval), now.uptime >= due else { return }
    tellHead(now)
  }

  func tellHead(_ now: Moment) {
    let head = heads.tell(chain, by: author, now: now.uptime)
    keepHead(head, of: chain.incarnation)
    send(.head(head), to: members)
  }

  // MARK: - What others write

  func receive(
    _ message: AuthorMessage,
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    let record = try AuthorRecord.read(message.record)
    // The same bytes were checked before.
    if records[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: author.board, with: verifier)
    }
    guard record.member == member else { throw .forgedAuthor }
    try message.head.verify(by: record, with: verifier)
    try peers[member]?.link.introduce(record, message.head)
    presentUntil = nil
    peers[member]?.reader.beginAuthor(
      record.incarnation,
      lastSequence: message.head.sequence
    )
    noteRole(of: member)
    grantWhatIsDue(to: member, now)
    // A viewer is not asked; who was one may be none now.
    if let peer = peers[member], peer.mayBeAsked, !peer.isAsked, now.uptime >= peer.askAgain,
      !requestQueue.contains(member)
    {
      requestQueue.append(member)
    }
  }

  /// Applies the next batch of a member, which begins in `bytes` at `offset`.
  /// - Throws: `ReplicaError`, or `BoardError.boardFull`, which is nobody's breach.
  func receiveBatch(
    _ bytes: [UInt8],
    at offset: Int,
    from member: MemberID,
    _ now: Moment
  ) throws {
    guard let peer = peers[member] else { return }
    try peer.link.requireWriter()
    let encoded = try peer.reader.decode(bytes, from: offset)
    // It is part of the chain whether there is room for it here or not.
    peer.link.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
    if holdIfEarly(encoded, of: peer, now) { return }
    try apply(encoded, from: member, now)
  }

  /// Applies a batch of a member, whose chain it was added to.
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
    if !revocations.isEmpty, let record = peer.link.record,
      let limit = revocations.limit(of: record)
    {
      if board.state.limits[record.incarnation] != limit { limitBoard() }
      guard batch.firstSequence <= limit else {
        // Its author may not have heard of that yet.
        refusals.revoked += 1
        return
      }
    }
    let new = try newRecords(for: batch, from: peer.link)
    try board.requireShare(for: batch, of: member)
    try board.receive(batch, purgingWithin: last)
    for record in new {
      adopt(record)
      peer.link.forgetAhead(record.incarnation)
    }
    actions.append(.record(.batch(encoded)))
    peer.report(by: now.uptime + reportDelay)
  }

  func receive(_ head: SignedHead, from member: MemberID) throws(ReplicaError) {
    guard let link = peers[member]?.link else { return }
    try link.check(head, with: verifier)
    // What was not kept, since it did not fit, needs no proof.
    guard let incarnation = link.record?.incarnation, records[incarnation] != nil,
      board.state.limits[incarnation].map({ head.sequence <= $0 }) ?? true
    else { return }
    keepHead(head, of: incarnation)
  }

  /// Knows from now on whose an incarnation is.
  func adopt(_ record: AuthorRecord) {
    records[record.incarnation] = record
    board.authors[record.incarnation] = record.member
    keepRecord(record)
  }

  private func keepRecord(_ record: AuthorRecord) {
    actions.append(.record(.author(record.bytes, record.incarnation)))
  }

  private func keepHead(_ head: SignedHead, of incarnation: Incarnation) {
    var writer = ByteWriter()
    head.write(to: &writer)
    actions.append(.record(.head(writer.bytes, incarnation, sequence: head.sequence)))
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

/// The signed heads of the local chain, and the time of the last one sent.
struct OwnHeads {
  private var last: (chain: BatchChain, head: SignedHead)?
  private var told: BatchChain?
  private var toldAt: UInt64
  /// Which part of an interval the first head waits, in 256ths: those who come together would else all
  /// sign in the same moment, over and over, and each check the heads of all.
  private let phase: UInt64
  private var isFirst = true

  init(now: UInt64, of member: MemberID) {
    toldAt = now
    phase = UInt64(member.bytes[0]) + 1
  }

  /// When the next head is to be told, where something was written since the last.
  func nextDeadline(_ chain: BatchChain, _ interval: UInt64) -> UInt64? {
    isNew(chain) ? toldAt + (isFirst ? interval * phase / 256 : interval) : nil
  }

  /// Whether something was written since the last head.
  func isNew(_ chain: BatchChain) -> Bool { chain.sequence > 0 && told != chain }

  /// Returns the signed head of the chain; each head is signed only once.
  mutating func head(of chain: BatchChain, by author: Author) -> SignedHead {
    if let last, last.chain == chain { return last.head }
    let head = author.sign(chain)
    last = (chain, head)
    return head
  }

  mutating func tell(_ chain: BatchChain, by author: Author, now: UInt64) -> SignedHead {
    told = chain
    toldAt = now
    isFirst = false
    return head(of: chain, by: author)
  }
}
