import PeerCore
import Whiteboard

/// A replica of a board, which decides what to send to which member, and when.
///
/// A replica does no I/O. Its owner passes in events together with the current time, and performs the actions that each
/// input returns, in order. The owner also calls ``tick(now:)`` at the time ``nextDeadline``. A replica is not
/// `Sendable`; it has one owner. While a member is joined, its messages must arrive in order and exactly once. If a
/// link is permanently lost, its member is treated as having left, and must join again.
///
/// If an input throws an error, actions that became due before the error are returned by the next input. The deadline
/// is then 0, so that the owner calls ``tick(now:)``.
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
  let peers = MemberLinks()
  let registry: AuthorRegistry
  let publisher: BatchPublisher
  let claims: ClaimCheck
  let permissions: Permissions
  let retirements: Retirements
  let requests: RequestQueue
  let reports: ContextReports
  let answerSender: AnswerSender
  let strokes: StrokeSharing
  let photos: PhotoSharing
  let changes: ChangeReporter
  let presence: PresenceTracker
  private var profile: MemberProfile?
  /// Whether the returned actions report the latest state of each object that was reported before.
  ///
  /// New objects of a large answer might not be reported yet.
  public var hasReportedAll: Bool { changes.hasReportedAll && !actions.hasReady }
  /// The incarnations without a record in the restored board (BRD-37).
  public internal(set) var unrecorded = UnrecordedAuthors()
  /// The maximum number of objects of another member's changes that one input reports; ticks report the others.
  ///
  /// By default, each input reports all its changes.
  public var reportsAtOnce: Int {
    get { changes.reportsAtOnce }
    set { changes.reportsAtOnce = newValue }
  }

  package init(author: Author, now: Moment, localVerifier: LocalVerifier?) {
    self.author = author
    verifier = ReplicaVerifier(localVerifier, actions)
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
    let pending = PendingReports()
    photos = PhotoSharing(board, pending, actions)
    changes = ChangeReporter(board, strokes, photos, pending, actions)
    presence = PresenceTracker(board, peers, changes, actions)
    permissions = Permissions(board, author, verifier, peers, registry, publisher, reports, requests, strokes, actions)
    retirements = Retirements(board, author, verifier, peers, registry, reports, actions)
    answerSender = AnswerSender(board, author, peers, registry, publisher, actions)
  }

  var messages: MessageHandler { MessageHandler(replica: self) }

  // MARK: - Before and after each input

  func begin(_ now: Moment) {
    board.wallClock = now.wall
    board.uptime = now.uptime
    presence.refresh(now)
  }

  func publishChanges(from member: MemberID? = nil, _ now: Moment) {
    presence.refresh(now)
    publisher.publishBatches()
    changes.reportChanges(from: member, now)
    reports.boardMayHaveChanged(now)
  }

  func finish(_ now: Moment) -> [ReplicaAction] {
    publishChanges(now)
    return removeActions()
  }

  func removeActions() -> [ReplicaAction] { actions.removeReady() + author.removeSigningRequests().map { .sign($0) } }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: board.state) }

  // MARK: - Local changes

  /// Applies local edits immediately, and sends them to every member.
  ///
  /// The edits form one batch. Edits that overwrite cells whose times are far ahead of the wall clock form several
  /// batches (BRD-32).
  ///
  /// - Returns: The value that `body` returns, and the actions.
  /// - Throws: The error of `body`. In that case, no edit is applied.
  public func change<Value, Failure: Error>(now: Moment, _ body: (Board) throws(Failure) -> Value) throws(Failure) -> (
    value: Value, actions: [ReplicaAction]
  ) {
    begin(now)
    let value = try board.gesture { () throws(Failure) in try body(board) }
    return (value, finish(now))
  }

  /// Applies local edits that can form several batches or none, such as an undo.
  ///
  /// - Returns: The result of `body`, and the actions. Edits that `body` made before an error remain.
  public func step<Value, Failure: Error>(now: Moment, _ body: (Board) throws(Failure) -> Value) -> (
    result: Result<Value, Failure>, actions: [ReplicaAction]
  ) {
    begin(now)
    let result: Result<Value, Failure>
    do throws(Failure) { result = .success(try body(board)) } catch { result = .failure(error) }
    return (result, finish(now))
  }

  /// Sends bytes from the application to members.
  /// - Parameters:
  ///   - bytes: The bytes.
  ///   - members: The recipients; nil for everyone.
  ///   - isReliable: Whether to send a message or a datagram.
  ///   - now: The time.
  /// - Returns: The actions.
  public func sendData(_ bytes: [UInt8], to members: [MemberID]? = nil, isReliable: Bool, now: Moment)
    -> [ReplicaAction]
  {
    begin(now)
    let recipients = members ?? self.members
    if isReliable {
      actions.queue(SyncMessage.application(bytes), to: recipients)
    } else {
      actions.queue(SyncDatagram.application(bytes), to: recipients)
    }
    return finish(now)
  }

  /// Signs and sends the head of the local chain.
  ///
  /// The actions also report all changes that were not reported yet. Before you leave the session, perform the actions,
  /// and wait until ``isAwaitingSignature`` is false.
  public func prepareToLeave(now: Moment) -> [ReplicaAction] {
    begin(now)
    publishChanges(now)
    // No later tick may report changes.
    changes.reportsAtOnce = Int.max
    changes.reportPendingChanges(now)
    publisher.sendHead(now)
    return removeActions()
  }

  /// Replays a batch of this author from a recording (REC-10). Throws `boardFull`, in which case nothing is written.
  /// The batches of each incarnation must be written in order and without gaps. `earlier` is the chain head that
  /// another replica of this author reached under that incarnation.
  package func reenact(_ batch: Batch, under record: AuthorRecord, after earlier: BatchChain?, now: Moment)
    throws(BoardError) -> [ReplicaAction]
  {
    begin(now)
    publisher.continueChain(of: batch, under: record, after: earlier)
    try board.reenact(batch)
    return finish(now)
  }

  package var ownChain: BatchChain { publisher.chain }

  // MARK: - Time

  /// Performs the work that is due: heads, reports, comparisons, answers, strokes, presence and timeouts.
  ///
  /// This method does nothing before ``nextDeadline``.
  public func tick(now: Moment) -> [ReplicaAction] {
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
    reports.continueSums(now)
    reports.sendReports(now)
    return removeActions()
  }

  /// The time when ``tick(now:)`` must be called next, as ``Moment/uptime``; nil if no work is due before the next
  /// input.
  ///
  /// Any input can make the deadline earlier, including inputs about assets, answers and backlogs. While there are
  /// actions that no input has returned, such as the signing requests of a new replica, the deadline is 0.
  /// - Complexity: O(*n*), where *n* is the number of members.
  public var nextDeadline: UInt64? {
    if actions.hasReady || author.hasSigningRequests { return 0 }
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
  public func peerJoined(_ member: MemberID, now: Moment) -> [ReplicaAction] {
    guard member != board.member else { return [] }
    let earlier = peerLeft(member, now: now)
    begin(now)
    if peers.isEmpty { reports.firstMemberJoined(now) }
    peers.insert(member, now: now.uptime)
    presence.membersChanged()
    peers[member]?.report(by: now.uptime + peers.reportDelay)
    publisher.introduceIncarnation(to: member)
    permissions.sendRevocations(to: member, now)
    retirements.send(to: member, now)
    if let profile { actions.queue(.profile(profile), to: member) }
    photos.memberJoined(member, now)
    presence.send(to: member, now)
    return earlier + finish(now)
  }

  /// Removes a member that has left, or whose link is permanently lost.
  public func peerLeft(_ member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers.remove(member) else { return [] }
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
    return removeActions()
  }

  /// Sets the local display name and icon, and sends them to present and future members.
  ///
  /// If `showsPreviews` is false, the members send no previews of strokes (SYN-49).
  /// - Throws: `tooLong`.
  public func setProfile(name: String, icon: String, showsPreviews: Bool = true, now: Moment) throws(BoardError)
    -> [ReplicaAction]
  {
    guard name.utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
    guard icon.utf8.count <= MemberProfile.iconBytes else { throw .tooLong("icon") }
    let profile = MemberProfile(name: name, icon: icon, showsPreviews: showsPreviews)
    guard profile != self.profile else { return [] }
    begin(now)
    self.profile = profile
    actions.queue(.profile(profile), to: members)
    return finish(now)
  }

  /// The local presence, as other members see it.
  public var shownPresence: Presence { presence.shown }

  /// Changes the local presence, and sends the presence if a datagram is due.
  public func show(_ shown: Presence, now: Moment) -> [ReplicaAction] {
    begin(now)
    presence.show(shown, now)
    return finish(now)
  }
}

extension Replica {
  /// Handles a reliable message.
  ///
  /// After a protocol violation, further messages of the member are ignored until it joins again.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.isClosed == false else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.accept(bytes, from: member, now)
    return removeActions()
  }

  /// Handles a datagram.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.isClosed == false else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.acceptDatagram(bytes, from: member, now)
    return removeActions()
  }
}

extension Replica {
  /// Restores stored changes in the order in which they were recorded, before any member joins.
  ///
  /// Only the board id of the changes is checked. The changes are not reported, so read the board afterwards. The
  /// replica keeps its new incarnation, so that no dot is used twice even if the end of the document was lost (BRD-1).
  ///
  /// - Parameters:
  ///   - changes: The stored changes.
  ///   - now: The time.
  ///   - isWhole: Whether these are the last changes. If not, records without batches are kept, because their batches
  ///     may follow.
  /// - Returns: Requests for signatures and checks; none if keys and verifiers are local.
  /// - Throws: ``RestoreError``. Changes before the invalid change stay on the board.
  public func restore(_ changes: some Sequence<StoredChange>, now: Moment, isWhole: Bool = true) throws(RestoreError)
    -> [ReplicaAction]
  {
    precondition(peers.isEmpty, "a board must be restored before any member joins")
    begin(now)
    try BoardRestorer(replica: self).restore(changes, now, isWhole: isWhole)
    return removeActions()
  }

  /// Whether the host retired incarnations, so that ``snapshotForKeeping()`` contains retirements (AUT-17).
  public var hasRetirements: Bool { !retirements.all.isEmpty }

  /// Returns the whole content of the replica as a keyframe for ``restore(_:now:isWhole:)``.
  ///
  /// Call this method only while ``isAwaitingSignature`` is false, because a keyframe contains signed records.
  public func snapshotForKeeping() -> [UInt8] { copyForKeeping().keyframe }

  /// Returns a copy of the replica's content that can be encoded on another thread; see ``snapshotForKeeping()``.
  ///
  /// The copy shares its memory with the replica until the board changes.
  public func copyForKeeping() -> ReplicaCopy {
    precondition(!isAwaitingSignature, "a keyframe cannot be encoded while a signature is missing")
    return ReplicaCopy(
      state: board.state,
      records: registry.recordsForKeyframe(),
      grant: permissions.grantForKeyframe,
      revocations: permissions.revocations.all,
      retirements: retirements.all
    )
  }

  /// Returns the content of the board as a keyframe for another board, and the photos in it.
  ///
  /// - Parameter author: An author of the other board. This author becomes the author of the content.
  /// - Returns: The keyframe, its digest and the photos.
  /// - Throws: `boardFull` if more incarnations wrote on the board than one author may have.
  public func snapshotForAnotherBoard(by author: Author) throws(BoardError) -> (
    keyframe: [UInt8], digest: Bytes32, assets: Set<AssetID>
  ) {
    let copy = try BoardCopy(of: board.state, by: author)
    return (copy.keyframe, copy.digest, copy.assets)
  }
}

/// The content of a replica at one moment.
public struct ReplicaCopy: Sendable {
  /// The state of the board.
  public let state: BoardState
  let records: ArraySlice<AuthorRecord>
  let grant: Grant?
  let revocations: [Revocation]
  let retirements: [Retirement]

  /// The encoded keyframe.
  /// - Complexity: O(*n* log *n*), where *n* is the number of cells; nothing is cached.
  public var keyframe: [UInt8] {
    KeptState.encode(records, state.difference(since: Context()), grant, revocations, retirements)
  }

  /// The digest of the board.
  /// - Complexity: The same as that of ``keyframe``.
  public var digest: Bytes32 { BoardDigest.digest(of: state) }
}

/// Author records are valid on one board only (AUT-1), so one author of the other board becomes the author of all
/// content. That author creates a new incarnation for each incarnation in the content, in the same order. The context
/// of the copy contains only these new incarnations (BRD-37). Games start again, because a move is valid only if its
/// author is the player.
struct BoardCopy {
  let keyframe: [UInt8]
  let digest: Bytes32
  let assets: Set<AssetID>

  /// The author must have a local key. Throws if more incarnations wrote on the board than one author may have.
  init(of original: BoardState, by author: Author) throws(BoardError) {
    var found = original.difference(since: Context())
    for index in found.entries.indices { found.entries[index].cells.removeAll(where: { $0.property.isMove }) }
    let created = found.living
    found.entries.removeAll { $0.cells.isEmpty || !created.contains($0.object.dot) }
    found.living = DotSet(ascending: found.entries.map { $0.object.dot })
    found.context = Self.context(of: found.entries)
    let named = found.context.incarnations
    guard named.count < BoardLimits.incarnationsPerAuthor else { throw .boardFull }
    let made = named.map { _ in author.makeIncarnation() }.sorted()
    precondition(!author.hasUnsignedRecord, "the author must have a local key")
    let renamed = Dictionary(uniqueKeysWithValues: zip(named, made))
    let renaming = IncarnationRenaming { renamed[$0] ?? $0 }
    let difference = renaming.difference(found) { property, value, time in
      // A chat line is shown only if its author wrote it. The display name in the line remains unchanged.
      (property == .chatAuthor ? .bytes(author.member.bytes) : value, time)
    }
    var state = BoardState()
    var changes = ChangeLog()
    try state.merge(difference, changes: &changes)
    assets = Set(state.records.compactMap { _, record in record.asset?.id })
    digest = BoardDigest.digest(of: state)
    keyframe = KeptState.encode(made.map { author.record(of: $0) }, difference)
  }

  /// Returns the context of a replica that has seen the dots in these entries and all earlier dots.
  private static func context(of entries: [Difference.Entry]) -> Context {
    var last: [Incarnation: UInt64] = [:]
    func note(_ dot: Dot) { last[dot.incarnation] = max(last[dot.incarnation] ?? 0, dot.sequence) }
    for entry in entries {
      note(entry.object.dot)
      for known in entry.cells { note(known.cell.dot) }
    }
    var context = Context()
    for (incarnation, sequence) in last { context.insert(1...sequence, of: incarnation) }
    return context
  }
}
