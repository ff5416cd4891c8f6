import Whiteboard

/// The parts of a replica, and the work before and after each input.
///
/// Each part owns its state.
struct ReplicaCore {
  let board: Board
  let author: Author
  let outbox = Outbox()
  let peers = PeerTable()
  /// The known records of authors.
  let registry: AuthorRegistry
  /// Publishes local batches.
  let publisher: BatchPublisher
  /// Applies the batches of members.
  let receiver: BatchReceiver
  /// Detects false claims about changes.
  let claims: ClaimCheck
  /// Grants and revocations.
  let permissions: Permissions
  /// The members that the replica will ask for missing changes.
  let requests: RequestQueue
  /// Exchanges reports of contexts, and compares them.
  let reports: ContextReports
  /// Answers requests.
  let answerSender: AnswerSender
  /// Merges answers.
  let answerReceiver: AnswerReceiver
  let strokes: StrokeSharing
  let photos: PhotoSharing
  let changes: ChangeReporter
  let presence: PresenceTracker
  /// The verifier that requests checks from the owner; nil if signatures are verified immediately.
  let ownerVerifier: OwnerVerifier?

  init(author: Author, now: Moment, verifier: (any SignatureVerifier)?) {
    self.author = author
    let ownerVerifier = OwnerVerifier(outbox)
    self.ownerVerifier = verifier == nil ? ownerVerifier : nil
    let verifier = verifier ?? ownerVerifier
    board = Board(
      incarnation: author.makeIncarnation(),
      member: author.member,
      wallClock: now.wall,
      newIncarnation: { author.makeIncarnation() }
    )
    board.isReadOnly = !author.role.mayWrite
    registry = AuthorRegistry(board, author, peers, outbox)
    publisher = BatchPublisher(board, author, peers, registry, outbox, now: now.uptime)
    claims = ClaimCheck(board, peers, publisher)
    requests = RequestQueue(board, peers, outbox)
    reports = ContextReports(board, peers, outbox, requests, now: now.uptime)
    strokes = StrokeSharing(board, peers, outbox)
    photos = PhotoSharing(board, outbox)
    changes = ChangeReporter(board, strokes, photos, outbox)
    presence = PresenceTracker(board, peers, changes, outbox)
    permissions = Permissions(
      board,
      author,
      verifier,
      peers,
      registry,
      publisher,
      reports,
      requests,
      strokes,
      outbox
    )
    receiver = BatchReceiver(
      board,
      author,
      verifier,
      peers,
      registry,
      claims,
      permissions,
      outbox
    )
    answerSender = AnswerSender(board, author, peers, registry, publisher, outbox)
    answerReceiver = AnswerReceiver(
      board,
      author,
      verifier,
      peers,
      registry,
      publisher,
      claims,
      permissions,
      outbox
    )
  }

  /// Checks the signatures in a message of a member.
  ///
  /// - Parameters:
  ///   - verification: The results so far. Missing results are requested.
  ///   - member: The member.
  ///   - check: The check, which must have no side effects.
  /// - Returns: The result of the check; nil if results are missing. The check must then run again when they
  ///   have arrived.
  /// - Throws: The error that `check` throws.
  func checking<Checked, Failure: Error>(
    _ verification: inout VerificationState,
    for member: MemberID,
    _ check: () throws(Failure) -> Checked
  ) throws(Failure) -> Checked? {
    guard let ownerVerifier else { return try check() }
    return try ownerVerifier.check(&verification, for: member) {
      () -> Result<Checked, Failure> in
      do throws(Failure) {
        return .success(try check())
      } catch {
        return .failure(error)
      }
    }?
    .get()
  }

  // MARK: - Before and after each input

  func begin(_ now: Moment) {
    board.wallClock = now.wall
    presence.refresh(now)
  }

  /// Publishes local batches, and reports changes.
  ///
  /// `member` is the member whose message was handled.
  func finish(from member: MemberID? = nil, _ now: Moment) {
    presence.refresh(now)
    publisher.publishBatches()
    changes.reportChanges(from: member, now)
    reports.boardMayHaveChanged(now)
  }
}
