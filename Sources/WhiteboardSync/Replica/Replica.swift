import Whiteboard

/// A replica of a board, which decides what to send to which member, and when.
///
/// A replica does no I/O. Its owner passes in events together with the current time, and performs the actions
/// that ``takeActions()`` returns, in order. The owner also calls ``tick(now:)`` at the time ``nextDeadline``.
/// A replica is not `Sendable`; it has one owner. While a member is joined, its messages must arrive in order
/// and exactly once. If a link is permanently lost, its member counts as having left, and must join again.
///
/// Each part of the replica owns its state. `MessageHandler` handles the messages of members.
public final class Replica {
  /// The board.
  ///
  /// Edit it only inside `change(now:_:)`.
  public let board: Board
  let author: Author
  let verifier: ReplicaVerifier
  let actions = ActionQueue()
  let peers = PeerTable()
  /// The known records of authors.
  let registry: AuthorRegistry
  /// Publishes local batches.
  let publisher: BatchPublisher
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
  let strokes: StrokeSharing
  let photos: PhotoSharing
  let changes: ChangeReporter
  let presence: PresenceTracker
  private var profile: MemberProfile?
  /// The incarnations without a record in the restored board (BRD-37).
  public internal(set) var unrecorded = UnrecordedAuthors()

  /// Creates a replica of an empty board without other members, with a new incarnation of `author`.
  ///
  /// An author belongs to one replica. Use ``restore(_:now:isWhole:)`` to load a stored board.
  ///
  /// - Parameters:
  ///   - author: The local author.
  ///   - now: The time.
  ///   - verifier: Verifies signatures immediately; nil if the owner verifies them (see
  ///     ``ReplicaAction/verify(_:)``).
  public init(
    author: Author,
    now: Moment,
    verifier: (any SignatureVerifier)? = P256SignatureVerifier()
  ) {
    self.author = author
    self.verifier = ReplicaVerifier(verifier, actions)
    board = Board(
      incarnation: author.makeIncarnation(),
      member: author.member,
      wallClock: now.wall,
      newIncarnation: { author.makeIncarnation() }
    )
    board.isReadOnly = !author.role.mayWrite
    registry = AuthorRegistry(board, author, peers, actions)
    publisher = BatchPublisher(board, author, peers, registry, actions, now: now.uptime)
    claims = ClaimCheck(board, peers, publisher)
    requests = RequestQueue(board, peers, actions)
    reports = ContextReports(board, peers, actions, requests, now: now.uptime)
    strokes = StrokeSharing(board, peers, actions)
    photos = PhotoSharing(board, actions)
    changes = ChangeReporter(board, strokes, photos, actions)
    presence = PresenceTracker(board, peers, changes, actions)
    permissions = Permissions(
      board,
      author,
      self.verifier,
      peers,
      registry,
      publisher,
      reports,
      requests,
      strokes,
      actions
    )
    answerSender = AnswerSender(board, author, peers, registry, publisher, actions)
  }

  /// Handles the messages of members.
  var messages: MessageHandler { MessageHandler(replica: self) }

  /// Returns the actions that were added since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    var actions = actions.removeReady()
    actions += author.removeSigningRequests().map { .sign($0) }
    return actions
  }

  // MARK: - Before and after each input

  /// Prepares the replica for an input.
  func begin(_ now: Moment) {
    board.wallClock = now.wall
    presence.refresh(now)
  }

  /// Publishes local batches, and reports changes.
  ///
  /// - Parameters:
  ///   - member: The member whose message was handled; nil for another input.
  ///   - now: The time.
  func publishChanges(from member: MemberID? = nil, _ now: Moment) {
    presence.refresh(now)
    publisher.publishBatches()
    changes.reportChanges(from: member, now)
    reports.boardMayHaveChanged(now)
  }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: board.state) }

  // MARK: - Local changes

  /// Applies local edits immediately, and sends them to every member.
  ///
  /// The edits form one batch. If they overwrite times far ahead of the wall clock, they form several (BRD-32).
  ///
  /// - Throws: The error of `body`. In that case, no edit is applied.
  public func change<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    let result = try board.gesture { () throws(Failure) in try body(board) }
    publishChanges(now)
    return result
  }

  /// Applies local edits that can form several batches or none, such as an undo.
  ///
  /// - Throws: The error of `body`. Edits that `body` made before the error remain.
  public func step<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    defer { publishChanges(now) }
    return try body(board)
  }

  /// Sends bytes from the application to members.
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
      actions.queue(SyncMessage.application(bytes), to: recipients)
    } else {
      actions.queue(SyncDatagram.application(bytes), to: recipients)
    }
  }

  /// Signs and sends the head of the local chain.
  ///
  /// Before you leave the session, perform the resulting actions, and wait until ``isAwaitingSignature`` is
  /// false.
  public func prepareToLeave(now: Moment) {
    begin(now)
    publishChanges(now)
    publisher.sendHead(now)
  }

  /// Writes a batch from a recording again, as its author did (REC-10).
  ///
  /// - Parameters:
  ///   - batch: The batch. The batches of each incarnation must be written in order and without gaps.
  ///   - record: The record of its incarnation, which has the key of this author.
  ///   - earlier: The head of the chain of that incarnation when another replica of this author last wrote.
  ///   - now: The time.
  /// - Throws: `boardFull`. In that case, nothing is written.
  package func reenact(
    _ batch: Batch,
    under record: AuthorRecord,
    after earlier: BatchChain?,
    now: Moment
  ) throws(BoardError) {
    begin(now)
    publisher.continueChain(of: batch, under: record, after: earlier)
    try board.reenact(batch)
    publishChanges(now)
  }

  /// The head of the local chain.
  package var ownChain: BatchChain { publisher.chain }

  // MARK: - Time

  /// Performs the work that is due: heads, reports, comparisons, answers, strokes, presence and timeouts.
  ///
  /// It does nothing before ``nextDeadline``.
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
    publishChanges(now)
    messages.releaseEarlyBatches(now)
    publisher.sendHeadIfDue(now)
    reports.sendReports(now)
  }

  /// The time when ``tick(now:)`` must be called next, as ``Moment/uptime``; nil if no work is due before the
  /// next input.
  ///
  /// Any input can make the deadline earlier, including inputs about assets, answers and backlogs.
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
    let mayAnswer = answerSender.mayAnswer
    for peer in peers.states { earliest.include(peer.nextDeadline(mayAnswer: mayAnswer)) }
    return earliest.time
  }
}

// MARK: - Members

extension Replica {
  /// The joined members, in ascending order.
  public var members: [MemberID] { peers.members }

  /// Adds a member that has joined.
  ///
  /// If the member is already joined, it is first removed, as if it had left.
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
    if let profile { actions.queue(.profile(profile), to: member) }
    photos.memberJoined(member, now)
    presence.send(to: member, now)
    publishChanges(now)
  }

  /// Removes a member that has left, or whose link is permanently lost.
  public func peerLeft(_ member: MemberID, now: Moment) {
    guard peers.remove(member) else { return }
    actions.memberLeft(member)
    presence.membersChanged()
    begin(now)
    requests.remove(member)
    strokes.memberLeft(member)
    photos.memberLeft(member, now)
    reports.memberLeft(now)
    requests.sendNext(now)
    publishChanges(now)
    // Messages that wait for batches of this member need not wait any longer.
    messages.releaseEarlyBatches(now)
  }

  /// Sets the local display name and icon, and sends them to present and future members.
  /// - Throws: `tooLong`.
  public func setProfile(name: String, icon: String, now: Moment) throws(BoardError) {
    guard name.utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
    guard icon.utf8.count <= MemberProfile.iconBytes else { throw .tooLong("icon") }
    let profile = MemberProfile(name: name, icon: icon)
    guard profile != self.profile else { return }
    self.profile = profile
    actions.queue(.profile(profile), to: members)
  }

  /// The local presence, as other members see it.
  public var shownPresence: Presence { presence.shown }

  /// Changes the local presence, and sends it if it is due.
  public func show(_ shown: Presence, now: Moment) { presence.show(shown, now) }
}
