import Whiteboard

/// One replica of a board among others: decides what to send to which member, and when.
///
/// A replica is sans-I/O: its owner passes in events together with their time, and performs the actions
/// that it gets from ``takeActions()`` in order. The owner also calls ``tick(now:)`` when ``nextDeadline``
/// has come. A replica is not `Sendable`; one owner drives it. While a member is joined, its messages must
/// arrive in order and exactly once. If a link is lost for good, its member has left and joins again.
///
/// The work is done by parts, each of which owns its state: see the properties below.
public final class Replica {
  /// The board; edit it inside `change(now:_:)` only.
  public let board: Board

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
  private var profile: MemberProfile?
  /// The incarnations without a record that the restored board named (BRD-37).
  public internal(set) var unrecorded = UnrecordedAuthors()

  /// Creates a replica of an empty board without other members, under a new incarnation of `author`.
  ///
  /// An author belongs to one replica. Use ``restore(_:now:isWhole:)`` to load a stored board.
  public init(
    author: Author,
    now: Moment,
    verifier: any SignatureVerifier = P256SignatureVerifier()
  ) {
    self.author = author
    board = Board(
      incarnation: author.makeIncarnation(),
      member: author.member,
      wallClock: now.wall,
      newIncarnation: { author.makeIncarnation() }
    )
    board.isReadOnly = !author.role.mayWrite
    registry = AuthorRegistry(board, peers, outbox)
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

  /// Returns the actions since the last call, in order.
  public func takeActions() -> [ReplicaAction] { outbox.removeAll() }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: board.state) }

  // MARK: - Local changes

  /// Applies local edits at once, and sends them to every member.
  ///
  /// They form one batch, or several if they overwrite times far ahead of the wall clock (BRD-32).
  ///
  /// - Throws: The error of `body`; then no edit is applied.
  public func change<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    let result = try board.gesture { () throws(Failure) in try body(board) }
    finish(now)
    return result
  }

  /// Applies local edits that form several batches or none, such as an undo.
  ///
  /// - Throws: The error of `body`; edits that it applied before remain.
  public func step<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    defer { finish(now) }
    return try body(board)
  }

  /// Sends bytes of the application.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - members: The recipients; nil for everyone.
  ///   - isReliable: Whether to send a message or a datagram.
  ///   - now: The time.
  public func sendData(
    _ bytes: [UInt8],
    to members: [MemberID]? = nil,
    isReliable: Bool,
    now: Moment
  ) {
    let recipients = members ?? self.members
    if isReliable {
      outbox.send(SyncMessage.application(bytes), to: recipients)
    } else {
      outbox.send(SyncDatagram.application(bytes), to: recipients)
    }
  }

  /// Signs and sends the head of the local chain.
  ///
  /// Perform its actions before leaving the session.
  public func prepareToLeave(now: Moment) {
    begin(now)
    finish(now)
    publisher.sendHead(now)
  }

  /// Writes a batch of a recording again, as its author did (REC-10).
  ///
  /// - Parameters:
  ///   - batch: The batch; those of each incarnation follow in order and without gaps.
  ///   - record: The record of its incarnation, which has the key of this author.
  ///   - earlier: The head of the chain of that incarnation when another replica of this author last wrote.
  ///   - now: The time.
  /// - Throws: `boardFull`; then nothing is written.
  package func reenact(
    _ batch: Batch,
    under record: AuthorRecord,
    after earlier: BatchChain?,
    now: Moment
  ) throws(BoardError) {
    begin(now)
    publisher.continueChain(of: batch, under: record, after: earlier)
    try board.reenact(batch)
    finish(now)
  }

  /// The head of the local chain.
  package var ownChain: BatchChain { publisher.chain }

  // MARK: - Time

  /// Does the work that is due: heads, reports, comparisons, answers, strokes, presence and timeouts.
  ///
  /// Before ``nextDeadline`` it does nothing.
  public func tick(now: Moment) {
    begin(now)
    strokes.advanceAll(now)
    if reports.compareIfDue(now) { photos.retryIfNeeded(now) }
    for member in members {
      requests.giveUpRequest(to: member, now)
      answerSender.answerIfDue(member, now)
    }
    requests.sendNext(now)
    changes.reportDeferredChange(now)
    photos.tick(now)
    presence.sendIfDue(now)
    finish(now)
    releaseHeldMessages(now)
    publisher.sendHeadIfDue(now)
    reports.sendReports(now)
  }

  /// When ``tick(now:)`` has something to do next, as ``Moment/uptime``; nil if nothing is due before the
  /// next input.
  ///
  /// Any input can make it earlier, including those about assets, answers and backlogs.
  /// - Complexity: O(members).
  public var nextDeadline: UInt64? {
    var earliest = Earliest()
    earliest.include(changes.nextDeadline)
    earliest.include(photos.nextDeadline)
    earliest.include(publisher.nextDeadline)
    earliest.include(requests.nextDeadline)
    earliest.include(strokes.nextDeadline)
    guard !peers.isEmpty else { return earliest.time }
    earliest.include(reports.nextDeadline)
    earliest.include(presence.nextDeadline)
    for peer in peers.states { earliest.include(peer.nextDeadline) }
    return earliest.time
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

// MARK: - Members

extension Replica {
  /// The joined members, in ascending order.
  public var members: [MemberID] { peers.members }

  /// A member has joined.
  ///
  /// If it was joined already, it has left in between.
  public func peerJoined(_ member: MemberID, now: Moment) {
    guard member != board.member else { return }
    if peers[member] != nil { peerLeft(member, now: now) }
    begin(now)
    if peers.isEmpty { reports.firstMemberJoined(now) }
    peers.insert(member, now: now.uptime)
    presence.membersChanged()
    peers[member]?.report(by: now.uptime + peers.reportDelay)
    publisher.introduceIncarnation(to: member)
    permissions.sendRevocations(to: member, now)
    if let profile { outbox.send(.profile(profile), to: member) }
    photos.memberJoined(member, now)
    presence.send(to: member, now)
    finish(now)
  }

  /// A member has left, or its link is lost for good.
  public func peerLeft(_ member: MemberID, now: Moment) {
    guard peers.remove(member) else { return }
    presence.membersChanged()
    begin(now)
    requests.remove(member)
    strokes.memberLeft(member)
    photos.memberLeft(member, now)
    reports.memberLeft(now)
    requests.sendNext(now)
    finish(now)
    // Messages that wait for its batches wait no longer.
    releaseHeldMessages(now)
  }

  /// Sets the display name and the icon that present and later members receive.
  /// - Throws: `tooLong`.
  public func setProfile(name: String, icon: String, now: Moment) throws(BoardError) {
    guard name.utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
    guard icon.utf8.count <= MemberProfile.iconBytes else { throw .tooLong("icon") }
    let profile = MemberProfile(name: name, icon: icon)
    guard profile != self.profile else { return }
    self.profile = profile
    outbox.send(.profile(profile), to: members)
  }

  /// The local presence, as other members see it.
  public var shownPresence: Presence { presence.shown }

  /// Changes the local presence.
  public func show(_ shown: Presence, now: Moment) { presence.show(shown, now) }
}
