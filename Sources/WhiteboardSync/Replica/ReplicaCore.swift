import Whiteboard

/// The parts of a replica, each of which owns its state, and the work before and after each input.
struct ReplicaCore {
  let board: Board
  let author: Author
  let outbox = Outbox()
  let peers = PeerTable()
  /// The records of authors.
  let registry: AuthorRegistry
  /// Publishes local batches.
  let publisher: BatchPublisher
  /// Applies the batches of members.
  let receiver: BatchReceiver
  /// Detects false claims about changes.
  let claims: ClaimCheck
  /// Grants and revocations.
  let permissions: Permissions
  /// The members that will be asked for missing changes.
  let requests: RequestQueue
  /// Reports of contexts, and comparisons.
  let reports: ContextReports
  /// Answers requests.
  let answerSender: AnswerSender
  /// Merges answers.
  let answerReceiver: AnswerReceiver
  let strokes: StrokeSharing
  let photos: PhotoSharing
  let changes: ChangeReporter
  let presence: PresenceTracker
  /// The verifier that asks the owner; nil if signatures are verified at once.
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

  /// Runs a check of signatures, for a message of a member.
  ///
  /// - Parameters:
  ///   - verification: The results so far. If others are missing, this requests them.
  ///   - member: The member.
  ///   - check: The check, which must have no effect.
  /// - Returns: The result of the check; nil if it must run again, when the requested results have arrived.
  /// - Throws: The error of the check.
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

  /// Publishes the local batches, and reports the changes; `member` is the one whose message was handled.
  func finish(from member: MemberID? = nil, _ now: Moment) {
    presence.refresh(now)
    publisher.publishBatches()
    changes.reportChanges(from: member, now)
    reports.boardMayHaveChanged(now)
  }
}
