import Whiteboard

/// Checks answers of members, and merges them into the board (SYN-13, SYN-29).
final class AnswerReceiver {
  private let board: Board
  private let author: Author
  private let verifier: any SignatureVerifier
  private let peers: PeerTable
  private let registry: AuthorRegistry
  private let publisher: BatchPublisher
  private let claims: ClaimCheck
  private let permissions: Permissions
  private let outbox: Outbox

  init(
    _ board: Board,
    _ author: Author,
    _ verifier: any SignatureVerifier,
    _ peers: PeerTable,
    _ registry: AuthorRegistry,
    _ publisher: BatchPublisher,
    _ claims: ClaimCheck,
    _ permissions: Permissions,
    _ outbox: Outbox
  ) {
    self.board = board
    self.author = author
    self.verifier = verifier
    self.peers = peers
    self.registry = registry
    self.publisher = publisher
    self.claims = claims
    self.permissions = permissions
    self.outbox = outbox
  }

  /// Returns whether a resource that a member offers is the expected answer of that member (SYN-13).
  func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    guard let peer = peers[member], let request = peer.requestInFlight,
      peer.unverifiedAnswer == nil
    else { return false }
    return name.type == .whiteboard && !name.isDeleted && name.request == request
      && name.id == author.board.description
      && name.byteCount.map { $0 <= Answer.byteLimit } ?? false
  }

  /// Merges an answer.
  ///
  /// If it throws, nothing is merged.
  ///
  /// - Parameters:
  ///   - answer: The answer, which was checked.
  ///   - buckets: The buckets that the request asked for; 0 unless it was a repair.
  ///   - member: The member that answered.
  ///   - now: The time.
  /// - Returns: Whether the answer counts, which is false if the rights of its author were revoked.
  /// - Throws: `BoardError` if there is no room for the answer.
  func merge(
    _ answer: CheckedAnswer,
    repairing buckets: UInt16,
    from member: MemberID,
    _ now: Moment
  ) throws -> Bool {
    guard permissions.admitsAnswer(by: answer.author) else { return false }
    let merging = AnswerMerging(repairing: buckets, by: author.role)
    let (records, claimed) = (answer.records, answer.difference)
    let difference = claims.removingContradictedClaims(from: claimed, by: member, now)
    let (revision, known) = (board.state.revision, registry.count)
    // Keep the records of incarnations that have a dot in the local context or in the answer's context.
    let seen = records.filter { record in
      difference.context.contains(record.incarnation)
        || board.state.context.contains(record.incarnation)
    }
    permissions.limitBoard(for: seen)
    try board.receive(
      difference,
      comparesAll: merging.comparesAll,
      replacing: merging.replacing
    )
    for record in seen { registry.insert(record) }
    if board.state.revision != revision || registry.count != known {
      // If a part of the answer was left out, the document must not contain that part either. The local author
      // signs the stored part.
      let isWhole = difference.context == claimed.context
      let stored =
        isWhole
        ? Signed(value: answer.bytes, request: nil)
        : Answer.make(records, difference, by: author, as: publisher.chain.incarnation)
      outbox.record(.answer(merging.bytes + stored.value), lacking: stored.gaps)
    }
    return true
  }

  /// Checks an answer completely before any of it is merged.
  /// - Throws: `CodecError` and `ReplicaError` for a protocol violation, ``UnrecordedAuthors``, and
  ///   `BoardError` if there is no room for the authors in the answer.
  func check(_ bytes: [UInt8], from member: MemberID) throws -> CheckedAnswer {
    let answer = try Answer(bytes)
    let record =
      answer.records.first { $0.incarnation == answer.incarnation }
      ?? registry[answer.incarnation]
      ?? peers[member]?.link.record.flatMap { $0.incarnation == answer.incarnation ? $0 : nil }
    guard let record else { throw ReplicaError.noAuthor }
    try record.verify(board: author.board, with: verifier)
    guard record.member == member else { throw ReplicaError.forgedAuthor }
    guard record.role.mayWrite else { throw ReplicaError.viewer }
    try answer.verify(by: record, with: verifier)
    let checked = CheckedAnswer(bytes, answer, by: record)
    guard !permissions.isRevoked(record) else { return checked }
    try registry.requireRecords(in: answer)
    var known = registry.incarnations
    for record in answer.records where registry[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: author.board, with: verifier)
      known.insert(record.incarnation)
    }
    // The author of a move affects the game, so the author must be proven by a record. On an owned board, only
    // changes of authors with a record count.
    for entry in answer.difference.entries {
      for new in entry.cells where permissions.isOwned || new.property.isMove {
        guard known.contains(new.cell.dot.incarnation) else { throw ReplicaError.noAuthor }
      }
    }
    return checked
  }
}

/// An answer that was checked and can be merged, unless the rights of its author were revoked.
struct CheckedAnswer {
  /// The bytes of the answer.
  let bytes: [UInt8]
  /// The record of the member that answered.
  let author: AuthorRecord
  /// The records of the authors in the answer.
  let records: [AuthorRecord]
  /// The changes.
  let difference: Difference

  fileprivate init(_ bytes: [UInt8], _ answer: Answer, by author: AuthorRecord) {
    self.bytes = bytes
    self.author = author
    records = answer.records
    difference = answer.difference
  }
}
