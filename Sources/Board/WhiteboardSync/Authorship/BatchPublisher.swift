import Crypto
import PeerCore
import Whiteboard

/// Publishes local changes: adds batches to the chain, stores and sends them, and signs heads (AUT-1 to AUT-8).
final class BatchPublisher {
  private let board: Board
  private let author: Author
  private let peers: MemberLinks
  private let registry: AuthorRegistry
  private let actions: ActionQueue

  private(set) var chain: BatchChain
  private var heads: OwnHeads
  /// All members receive the same bytes.
  private var writer = LinkBatchWriter()
  /// Whether a new member does not know the incarnations to which `writer` refers.
  private var hasNewcomer = false
  /// The incarnations whose records were sent to all members ahead of purges (SYN-48).
  private var sentAhead: Set<Incarnation> = []

  init(
    _ board: Board,
    _ author: Author,
    _ peers: MemberLinks,
    _ registry: AuthorRegistry,
    _ actions: ActionQueue,
    now: UInt64
  ) {
    self.board = board
    self.author = author
    self.peers = peers
    self.registry = registry
    self.actions = actions
    chain = BatchChain(board.incarnation)
    registry.insertOwn(author.record(of: board.incarnation))
    heads = OwnHeads(now: now, of: author.member)
  }

  // MARK: - Batches

  /// Implements SYN-10.
  func publishBatches() {
    for batch in board.takeBatches() { publish(batch) }
    if isBehindBoard { introduceIncarnation(board.incarnation) }
  }

  /// Whether the board has begun an incarnation that no member knows yet.
  private var isBehindBoard: Bool { board.incarnation != chain.incarnation }

  private func publish(_ batch: Batch) {
    if batch.author != chain.incarnation { introduceIncarnation(batch.author) }
    if chain.sequence == 0 { registry.store(author.record(of: batch.author)) }
    let encoded = EncodedBatch(batch)
    if hasNewcomer || !writer.hasNames(for: encoded) { introduceIncarnation() }
    chain.append(encoded.bytes, through: batch.sequences.upperBound)
    actions.record(.batch(encoded))
    sendRecords(ofPurgesIn: batch)
    if !peers.isEmpty { actions.queue(.batch(writer.encode(encoded)), to: peers.members) }
  }

  /// A purge adds an object's id to the contexts of other members, even if these members do not know the object's
  /// author.
  private func sendRecords(ofPurgesIn batch: Batch) {
    guard !peers.isEmpty else { return }
    for operation in batch.operations where operation.property.isPurge {
      let incarnation = operation.object.dot.incarnation
      guard incarnation != batch.author, !sentAhead.contains(incarnation), let record = registry[incarnation] else {
        continue
      }
      sentAhead.insert(incarnation)
      actions.queue(.record(record.bytes), to: peers.members, lacking: author.gaps(in: record))
    }
  }

  // MARK: - Incarnations

  /// Switches to a new incarnation, and introduces it to all members (BRD-25).
  func introduceIncarnation(_ incarnation: Incarnation) { continueChain(BatchChain(incarnation)) }

  private func continueChain(_ next: BatchChain) {
    if chain.sequence == 0 { registry.removeUnusedOwn(chain.incarnation) }
    chain = next
    registry.insertOwn(author.record(of: chain.incarnation))
    introduceIncarnation()
  }

  /// Switches to the chain of a replayed batch, unless this chain is the current chain (REC-10).
  func continueChain(of batch: Batch, under record: AuthorRecord, after earlier: BatchChain?) {
    guard chain.incarnation != batch.author || chain.sequence + 1 != batch.firstSequence else { return }
    author.adopt(record)
    let before = batch.firstSequence - 1
    if let earlier, earlier.incarnation == batch.author, earlier.sequence == before {
      continueChain(earlier)
    } else if before == 0 {
      continueChain(BatchChain(batch.author))
    } else {
      // This replica does not have the earlier batches. Any hash works if all members receive the same hash.
      let hash = Bytes32.sha256(record.bytes)
      continueChain(BatchChain(batch.author, sequence: before, hash: hash))
    }
  }

  /// Sends all members the record of the current incarnation and the head of its chain. On each link, later batches
  /// then refer to this author, and no longer to incarnations in earlier messages.
  private func introduceIncarnation() {
    writer.beginAuthor()
    hasNewcomer = false
    sendIntroduction(to: peers.members)
  }

  func introduceIncarnation(to member: MemberID) {
    sentAhead = []
    if peers.count == 1 { writer.beginAuthor() }
    hasNewcomer = !writer.isFresh
    sendIntroduction(to: [member])
  }

  private func sendIntroduction(to members: [MemberID]) {
    guard !members.isEmpty else { return }
    let record = author.record(of: chain.incarnation)
    let head = heads.head(of: chain, by: author)
    actions.queue(
      .author(AuthorMessage(record: record.bytes, head: head.value)),
      to: members,
      lacking: author.gaps(in: record, trailing: head.value.byteCount) + head.gaps
    )
  }

  // MARK: - Heads

  /// The time when the next head is due; nil if there are no batches since the last head.
  var nextDeadline: UInt64? { isBehindBoard ? 0 : heads.nextDeadline(chain, peers.headInterval) }

  func sendHeadIfDue(_ now: Moment) {
    guard let due = heads.nextDeadline(chain, peers.headInterval), now.uptime >= due else { return }
    sendHead(now)
  }

  func sendHead(_ now: Moment) {
    guard heads.isNew(chain) else { return }
    let head = heads.nextHead(of: chain, by: author, now: now.uptime)
    actions.record(StoredChange(head.value, of: chain.incarnation), lacking: head.gaps)
    actions.queue(.head(head.value), to: peers.members, lacking: head.gaps)
  }

  func didSign(_ id: SigningID, _ signature: [UInt8]) { heads.didSign(id, signature) }
}

extension StoredChange {
  init(_ head: SignedHead, of incarnation: Incarnation) {
    var writer = ByteWriter()
    head.write(to: &writer)
    self = .head(writer.bytes, incarnation, sequence: head.sequence)
  }
}

/// The signed heads of the local chain, and the time when the last of them was sent.
struct OwnHeads {
  private var last: (chain: BatchChain, head: Signed<SignedHead>)?
  private var sent: BatchChain?
  private var sentAt: UInt64
  /// The part of the interval, in 256ths, after which the first head is sent. The part differs between members.
  /// Otherwise, members that joined at the same time would always sign at the same time, and each member would have to
  /// verify all heads in a burst.
  private let phase: UInt64
  private var isFirst = true

  init(now: UInt64, of member: MemberID) {
    sentAt = now
    phase = UInt64(member.bytes[0]) + 1
  }

  func nextDeadline(_ chain: BatchChain, _ interval: UInt64) -> UInt64? {
    isNew(chain) ? sentAt + (isFirst ? interval * phase / 256 : interval) : nil
  }

  func isNew(_ chain: BatchChain) -> Bool { chain.sequence > 0 && sent != chain }

  mutating func didSign(_ id: SigningID, _ signature: [UInt8]) {
    guard let last, last.head.request == id else { return }
    let head = last.head.value
    let signed = SignedHead(sequence: head.sequence, hash: head.hash, signature: signature)
    self.last = (last.chain, Signed(value: signed, request: nil))
  }

  /// Each head is signed only once.
  mutating func head(of chain: BatchChain, by author: Author) -> Signed<SignedHead> {
    if let last, last.chain == chain { return last.head }
    let head = author.signHead(of: chain)
    last = (chain, head)
    return head
  }

  mutating func nextHead(of chain: BatchChain, by author: Author, now: UInt64) -> Signed<SignedHead> {
    sent = chain
    sentAt = now
    isFirst = false
    return head(of: chain, by: author)
  }
}

/// The head of the hash chain of one incarnation's batches.
///
/// The next batch extends the chain.
///
/// Each hash covers the previous hash. A signature of the last hash therefore covers every batch. Implements AUT-6.
public struct BatchChain: Hashable, Sendable {
  private static let domain = Array("whiteboard-chain-1\n".utf8)

  /// The incarnation that wrote the batches.
  public let incarnation: Incarnation
  /// The sequence number of the last operation; 0 if the chain is empty.
  public private(set) var sequence: UInt64
  private var hashed: [UInt8]

  /// The hash after the last operation.
  public var hash: Bytes32 {
    guard let hash = Bytes32(hashed) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    return hash
  }

  /// Creates the empty chain of an incarnation.
  public init(_ incarnation: Incarnation) {
    self.incarnation = incarnation
    sequence = 0
    var start = ByteWriter()
    start.raw(Self.domain)
    start.incarnation(incarnation)
    hashed = Bytes32.sha256(start.bytes).bytes
  }

  /// Creates a chain that continues from a head stated by its author.
  package init(_ incarnation: Incarnation, sequence: UInt64, hash: Bytes32) {
    self.incarnation = incarnation
    self.sequence = sequence
    hashed = hash.bytes
  }

  /// Adds the next batch, given in its full form.
  ///
  /// `last` is the sequence number of the last operation in the batch.
  /// - Complexity: One SHA-256 of the batch.
  public mutating func append(_ batch: [UInt8], through last: UInt64) {
    var next = SHA256()
    // One call of `update` is faster than two. The buffer has room for both parts, and no pointer escapes the closure.
    withUnsafeTemporaryAllocation(byteCount: hashed.count + batch.count, alignment: 1) { bytes in
      hashed.withUnsafeBytes { bytes.copyMemory(from: $0) }
      batch.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[hashed.count...]).copyMemory(from: $0) }
      next.update(bufferPointer: UnsafeRawBufferPointer(bytes))
    }
    next.finalize().withUnsafeBytes { digest in hashed.withUnsafeMutableBytes { $0.copyMemory(from: digest) } }
    sequence = last
  }
}
