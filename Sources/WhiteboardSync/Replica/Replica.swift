import Whiteboard

/// A replica of a board, which decides what to send to which member, and when.
///
/// A replica does no I/O. Its owner passes in events together with the current time, and performs the actions
/// that ``takeActions()`` returns, in order. The owner also calls ``tick(now:)`` at the time ``nextDeadline``.
/// A replica is not `Sendable`; it has one owner. While a member is joined, its messages must arrive in order
/// and exactly once. If a link is permanently lost, its member counts as having left, and must join again.
///
/// ``ReplicaCore`` contains the parts that do the work, and `MessageHandler` handles the messages of members.
public final class Replica {
  /// The board.
  ///
  /// Edit it only inside `change(now:_:)`.
  public var board: Board { core.board }

  let core: ReplicaCore
  /// Handles the messages of members.
  let messages: MessageHandler
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
    core = ReplicaCore(author: author, now: now, verifier: verifier)
    messages = MessageHandler(core)
  }

  /// Returns the actions that were added since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    var actions = core.outbox.removeReady()
    actions += core.author.removeSigningRequests().map { .sign($0) }
    return actions
  }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: core.board.state) }

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
    core.begin(now)
    let result = try core.board.gesture { () throws(Failure) in try body(core.board) }
    core.finish(now)
    return result
  }

  /// Applies local edits that can form several batches or none, such as an undo.
  ///
  /// - Throws: The error of `body`. Edits that `body` made before the error remain.
  public func step<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    core.begin(now)
    defer { core.finish(now) }
    return try body(core.board)
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
      core.outbox.send(SyncMessage.application(bytes), to: recipients)
    } else {
      core.outbox.send(SyncDatagram.application(bytes), to: recipients)
    }
  }

  /// Signs and sends the head of the local chain.
  ///
  /// Before you leave the session, perform the resulting actions, and wait until ``isAwaitingSignature`` is
  /// false.
  public func prepareToLeave(now: Moment) {
    core.begin(now)
    core.finish(now)
    core.publisher.sendHead(now)
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
    core.begin(now)
    core.publisher.continueChain(of: batch, under: record, after: earlier)
    try core.board.reenact(batch)
    core.finish(now)
  }

  /// The head of the local chain.
  package var ownChain: BatchChain { core.publisher.chain }

  // MARK: - Time

  /// Performs the work that is due: heads, reports, comparisons, answers, strokes, presence and timeouts.
  ///
  /// It does nothing before ``nextDeadline``.
  public func tick(now: Moment) {
    core.begin(now)
    core.strokes.advanceAll(now)
    if core.reports.compareIfDue(now) { core.photos.retryIfNeeded(now) }
    for member in members {
      core.requests.giveUpRequest(to: member, now)
      core.answerSender.answerIfDue(member, now)
    }
    core.requests.sendNext(now)
    core.changes.reportDeferredChange(now)
    core.photos.tick(now)
    core.presence.sendIfDue(now)
    core.finish(now)
    messages.releaseEarlyBatches(now)
    core.publisher.sendHeadIfDue(now)
    core.reports.sendReports(now)
  }

  /// The time when ``tick(now:)`` must be called next, as ``Moment/uptime``; nil if no work is due before the
  /// next input.
  ///
  /// Any input can make the deadline earlier, including inputs about assets, answers and backlogs.
  /// - Complexity: O(members).
  public var nextDeadline: UInt64? {
    var earliest = Earliest()
    earliest.include(core.changes.nextDeadline)
    earliest.include(core.photos.nextDeadline)
    earliest.include(core.publisher.nextDeadline)
    earliest.include(core.requests.nextDeadline)
    earliest.include(core.strokes.nextDeadline)
    guard !core.peers.isEmpty else { return earliest.time }
    earliest.include(core.reports.nextDeadline)
    earliest.include(core.presence.nextDeadline)
    let mayAnswer = core.answerSender.mayAnswer
    for peer in core.peers.states { earliest.include(peer.nextDeadline(mayAnswer: mayAnswer)) }
    return earliest.time
  }
}

// MARK: - Members

extension Replica {
  /// The joined members, in ascending order.
  public var members: [MemberID] { core.peers.members }

  /// Adds a member that has joined.
  ///
  /// If the member is already joined, it is first removed, as if it had left.
  public func peerJoined(_ member: MemberID, now: Moment) {
    guard member != core.board.member else { return }
    if core.peers[member] != nil { peerLeft(member, now: now) }
    core.begin(now)
    if core.peers.isEmpty { core.reports.firstMemberJoined(now) }
    core.peers.insert(member, now: now.uptime)
    core.presence.membersChanged()
    core.peers[member]?.report(by: now.uptime + core.peers.reportDelay)
    core.publisher.introduceIncarnation(to: member)
    core.permissions.sendRevocations(to: member, now)
    if let profile { core.outbox.send(.profile(profile), to: member) }
    core.photos.memberJoined(member, now)
    core.presence.send(to: member, now)
    core.finish(now)
  }

  /// Removes a member that has left, or whose link is permanently lost.
  public func peerLeft(_ member: MemberID, now: Moment) {
    guard core.peers.remove(member) else { return }
    core.outbox.memberLeft(member)
    core.presence.membersChanged()
    core.begin(now)
    core.requests.remove(member)
    core.strokes.memberLeft(member)
    core.photos.memberLeft(member, now)
    core.reports.memberLeft(now)
    core.requests.sendNext(now)
    core.finish(now)
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
    core.outbox.send(.profile(profile), to: members)
  }

  /// The local presence, as other members see it.
  public var shownPresence: Presence { core.presence.shown }

  /// Changes the local presence, and sends it if it is due.
  public func show(_ shown: Presence, now: Moment) { core.presence.show(shown, now) }
}
