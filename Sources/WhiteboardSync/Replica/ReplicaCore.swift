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
    ownerVerifier = verifier == nil ? OwnerVerifier() : nil
    let verifier = verifier ?? ownerVerifier ?? OwnerVerifier()
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
