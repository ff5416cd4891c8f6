import Crypto
import Whiteboard

/// One replica of a board among others: what it must send to whom, and when.
///
/// Sans-I/O: events go in with the time they happened at, and `takeActions()` gives what to do about
/// them. Not `Sendable`; one owner drives it. After each input, take the actions and carry them out
/// in order. Call `tick(now:)` at least every 50 ms. Messages to a member must arrive in order and at
/// most once while it is joined; a member whose link was lost for good has left and joins anew.
public final class Replica {
  /// The board; edit it inside `change(now:_:)` only.
  public let board: Board
  private var actions: [ReplicaAction] = []
  private var peers: [MemberID: PeerState] = [:]
  private var requestQueue: [MemberID] = []
  private var strokes: [ObjectID: LiveStroke] = [:]
  private var tails = StrokeTails()
  private var exchange = AssetExchange()
  private var sendingAssets: [MemberID: Set<AssetID>] = [:]
  private var assetObjects: [AssetID: ObjectID] = [:]
  private var ownSelections: Set<ObjectID> = []
  private var shownSelections: [ObjectID: MemberID] = [:]
  private var contextHash: UInt64?
  private var activity = Activity()
  private var nextComparison: UInt64
  private var presence: PresenceState
  /// The incarnation that members were told, in requests.
  private var announced: Incarnation
  private var untold = UntoldChanges()

  /// Milliseconds after which what was received is reported to its author.
  static let reportDelay: UInt64 = 50
  /// Milliseconds after which what was received is reported to the others.
  static let gossipDelay: UInt64 = 500
  /// Milliseconds between comparisons of contexts.
  static let comparisonInterval: UInt64 = 5000
  /// Milliseconds after a member left until contexts are compared.
  static let departureDelay: UInt64 = 1000
  /// Milliseconds without a part of an answer after which another member is asked.
  static let requestPatience: UInt64 = 5000
  /// Milliseconds after which a member is asked again whose answer had no room here.
  static let fullPatience: UInt64 = 60_000
  /// Milliseconds between two answers to one member.
  static let answerInterval: UInt64 = 1000
  /// Milliseconds of silence after which a member's selections no longer hold.
  static let presencePatience: UInt64 = 10_000
  /// Milliseconds between two presence datagrams while nothing moves.
  static let presenceInterval: UInt64 = 1000
  /// Milliseconds between two presence datagrams while the cursor moves.
  static let cursorInterval: UInt64 = 33
  /// Assets under way to one member.
  static let assetsPerMember = 64

  /// A replica of an empty board that knows nobody.
  ///
  /// `random` is as in `Board`.
  public init(
    incarnation: Incarnation,
    member: MemberID,
    now: Moment,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    board = Board(
      incarnation: incarnation,
      member: member,
      wallClock: now.wall,
      random: random
    )
    announced = incarnation
    nextComparison = now.uptime + Self.comparisonInterval
    presence = PresenceState()
  }

  /// The actions since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }

  /// The members who are joined, in order.
  public var members: [MemberID] { peers.keys.sorted() }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: board.state) }

  // MARK: - Local changes

  /// Makes local edits: one batch, which applies here at once and goes to every member.
  ///
  /// - Throws: what `body` throws; then nothing is applied.
  public func change<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    let result = try board.gesture { () throws(Failure) in try body(board) }
    finish(from: nil, now)
    return result
  }

  /// Makes local edits that are several batches or none, such as an undo.
  ///
  /// - Throws: what `body` throws; what it had applied before stays.
  public func step<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    defer { finish(from: nil, now) }
    return try body(board)
  }

  /// Begins a stroke whose points go out while it is drawn.
  public func beginStroke(
    lineWidth: Double = 5,
    color: UInt32? = nil,
    now: Moment
  ) throws(BoardError) -> ObjectID {
    let id = try change(now: now) { (board) throws(BoardError) in
      try board.beginDrawing(lineWidth: lineWidth, color: color)
    }
    strokes[id] = LiveStroke(now: now.uptime)
    return id
  }

  /// Adds points to a stroke: previewed at once, committed every 250 ms or 128 points.
  /// - Throws: `unknownObject` where no such stroke is being drawn here, `outOfRange`, `tooLong`.
  public func extendStroke(
    _ id: ObjectID,
    with points: [Point],
    now: Moment
  ) throws(BoardError) {
    guard var stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count + points.count <= BoardLimits.pointsPerStroke else {
      throw .tooLong("stroke")
    }
    var ink: [InkPoint] = []
    for point in points { ink.append(try InkPoint(point)) }
    begin(now)
    stroke.append(ink)
    strokes[id] = stroke
    advanceStroke(id, now)
    finish(from: nil, now)
  }

  /// Commits the rest of a stroke and finishes it.
  /// - Throws: `unknownObject` where no such stroke is being drawn here, `empty` where it has no
  ///   points; then it goes on.
  public func endStroke(_ id: ObjectID, now: Moment) throws(BoardError) {
    guard let stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count > 0 else { throw .empty }
    try change(now: now) { (board) throws(BoardError) in
      try board.appendInk(stroke.pending, to: id, first: stroke.committed)
      try board.endDrawing(id, count: stroke.count)
    }
    strokes[id] = nil
  }

  /// Everything that shows of a stroke: its committed points, then those of previews.
  public func shownInk(of id: ObjectID) -> [InkPoint] {
    guard let ink = board.snapshot(id)?.ink else { return [] }
    if let stroke = strokes[id] { return ink + stroke.pending }
    return ink + tails.tail(of: id, committed: ink.count)
  }

  private func advanceStroke(_ id: ObjectID, _ now: Moment) {
    guard var stroke = strokes[id] else { return }
    if let preview = stroke.preview(now.uptime) {
      datagram(.preview(stroke: id, first: preview.first, points: preview.points))
    }
    if stroke.isCommitDue(now.uptime) {
      do {
        try board.gesture { () throws(BoardError) in
          try board.appendInk(stroke.pending, to: id, first: stroke.committed)
        }
        stroke.didCommit(now.uptime)
      } catch {
        // The stroke was purged, or the board is full: there is nothing to draw on.
        strokes[id] = nil
        return
      }
    }
    strokes[id] = stroke
  }

  /// Sends bytes of the application's.
  /// - Parameters:
  ///   - bytes: the bytes.
  ///   - members: to whom; nil means everyone.
  ///   - isReliable: whether as a message or as a datagram.
  ///   - now: the time.
  public func sendData(
    _ bytes: [UInt8],
    to members: [MemberID]? = nil,
    isReliable: Bool,
    now: Moment
  ) {
    let recipients = members ?? self.members
    guard !recipients.isEmpty else { return }
    actions.append(
      isReliable
        ? .send(SyncMessage.application(bytes).encode(), to: recipients)
        : .sendDatagram(SyncDatagram.application(bytes).encode(), to: recipients)
    )
  }

  /// Tells the others where we point, from now on.
  public func moveCursor(to point: Point?, now: Moment) throws(BoardError) {
    presence.cursor = try point.map { (point) throws(BoardError) in try InkPoint(point) }
    presence.hasMoved = true
    sendPresence(now)
  }

  // MARK: - Members

  /// A member is connected.
  ///
  /// Joining twice is leaving in between.
  public func peerJoined(_ member: MemberID, now: Moment) {
    guard member != board.member else { return }
    if peers[member] != nil { peerLeft(member, now: now) }
    begin(now)
    peers[member] = PeerState(now: now.uptime)
    requestQueue.append(member)
    sendNextRequest(now)
    perform(exchange.memberJoined(member, now: now.uptime))
    presence.lastSent = 0
    sendPresence(now)
    finish(from: nil, now)
  }

  /// A member is gone for good, whatever the reason.
  public func peerLeft(_ member: MemberID, now: Moment) {
    guard peers.removeValue(forKey: member) != nil else { return }
    begin(now)
    requestQueue.removeAll { $0 == member }
    sendingAssets[member] = nil
    for stroke in tails.memberLeft(member) {
      guard let ink = board.snapshot(stroke)?.ink else { continue }
      actions.append(
        .preview(StrokePreview(stroke: stroke, member: member, first: ink.count, points: []))
      )
    }
    perform(exchange.memberLeft(member, now: now.uptime))
    // It may have reached only some of us.
    nextComparison = min(nextComparison, now.uptime + Self.departureDelay)
    for other in peers.keys { peers[other]?.report(by: now.uptime) }
    sendNextRequest(now)
    finish(from: nil, now)
  }

  // MARK: - What arrives

  /// A reliable message arrived.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member] != nil else { return }
    begin(now)
    peers[member]?.lastHeard = now.uptime
    do {
      if let message = try SyncMessage.decode(bytes) {
        try handle(message, from: member, now)
      }
    } catch let error as CodecError {
      actions.append(.protocolViolation(member, .malformed(error)))
    } catch let error as ReplicaError {
      actions.append(.protocolViolation(member, error))
    } catch {
      // There is no room. That is nobody's breach: what filled the board may have come from others.
    }
    finish(from: member, now)
  }

  /// So much waits to be sent to a member that it gets no answers, or no longer (SYN-12).
  ///
  /// Its request is kept, and answered by the ``tick(now:)`` after it took enough.
  public func memberIsBacklogged(_ member: MemberID, _ isBacklogged: Bool) {
    peers[member]?.isBacklogged = isBacklogged
  }

  /// A datagram arrived.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member] != nil else { return }
    begin(now)
    peers[member]?.lastHeard = now.uptime
    do {
      switch try SyncDatagram.decode(bytes) {
      case .presence(let counter, let cursor)?: show(counter, cursor, of: member)
      case .preview(let stroke, let first, let points)?:
        preview(stroke, first, points, from: member)
      case .application(let bytes)?:
        actions.append(.data(bytes, from: member, isReliable: false))
      case nil: break
      }
    } catch {
      actions.append(.protocolViolation(member, .malformed(error)))
    }
    finish(from: member, now)
  }

  private func handle(
    _ message: SyncMessage,
    from member: MemberID,
    _ now: Moment
  ) throws {
    switch message {
    case .batch(let batch):
      // Only we write under our name, and we know what we wrote.
      if board.isOwn(batch.author),
        !board.written[batch.author].contains(batch.sequences)
      {
        throw ReplicaError.forgedBatch
      }
      try board.receive(batch)
      peers[member]?.report(by: now.uptime + Self.reportDelay)
    case .request(let request):
      peers[member]?.incarnation = request.incarnation
      for incarnation in board.written.incarnations {
        peers[member]?.noteReceived(request.context[incarnation], of: incarnation)
      }
      peers[member]?.pendingRequest = request
      answerPendingRequest(of: member, now)
    case .answerPart(let part):
      try receive(part, from: member, now)
    case .state(let report):
      peers[member]?.contextHash = report.contextHash
      peers[member]?.confirmed = report.applied
      if let incarnation = report.incarnation, board.isOwn(incarnation) {
        peers[member]?.noteReceived(report.received[incarnation], of: incarnation)
      }
    case .assetRequest(let id):
      serveAsset(id, to: member)
    case .assetUnavailable(let id):
      perform(exchange.unavailable(id, from: member, now: now.uptime))
    case .application(let bytes):
      actions.append(.data(bytes, from: member, isReliable: true))
    }
  }

  private func receive(
    _ part: AnswerPart,
    from member: MemberID,
    _ now: Moment
  ) throws {
    guard let peer = peers[member], part.request <= peer.lastRequest else {
      throw ReplicaError.unrequestedAnswer
    }
    // The rest of an answer that was given up; another request covers it.
    guard part.request == peer.requestInFlight else { return }
    guard let answer = try peers[member]?.assemble(part, now.uptime) else { return }
    peers[member]?.requestInFlight = nil
    // Afterwards, so that the next member is told what this answer brought.
    defer { sendNextRequest(now) }
    let difference = try DifferenceCoding.decode(answer)
    do {
      try board.receive(difference)
    } catch {
      peers[member]?.askAgain = now.uptime + Self.fullPatience
      throw error
    }
    peers[member]?.applied = part.request
    for other in peers.keys { peers[other]?.report(by: now.uptime + Self.gossipDelay) }
    peers[member]?.report(by: now.uptime)
    actions.append(.caughtUp(member))
  }

  // MARK: - Time

  /// Does what is due: reports, comparisons, answers, strokes, presence, timeouts.
  public func tick(now: Moment) {
    begin(now)
    for id in strokes.keys.sorted() { advanceStroke(id, now) }
    if now.uptime >= nextComparison {
      nextComparison = now.uptime + Self.comparisonInterval
      if exchange.hasOverflowed { wantAssets(now) }
      for member in members {
        peers[member]?.report(by: now.uptime)
        if let theirs = peers[member]?.contextHash, theirs != currentContextHash,
          peers[member]?.requestInFlight == nil, !requestQueue.contains(member),
          now.uptime >= peers[member]?.askAgain ?? 0
        {
          requestQueue.append(member)
        }
      }
    }
    for member in members {
      if let peer = peers[member], peer.requestInFlight != nil,
        now.uptime >= peer.requestActiveAt + Self.requestPatience
      {
        peers[member]?.abandonRequest()
        requestQueue.append(member)
      }
      answerPendingRequest(of: member, now)
    }
    sendNextRequest(now)
    if let change = untold.next(now.uptime) { tell(change.change, from: change.member, now) }
    perform(exchange.tick(now.uptime))
    sendPresence(now)
    finish(from: nil, now)
    for member in members { sendReportIfDue(to: member, now) }
  }

  // MARK: - Is all of it there

  /// Whether every member has what we have and we have what they have, assets included.
  public func isSynced(now: Moment) -> Bool {
    members.allSatisfy { isSynced(with: $0, now: now) } && !exchange.isBusy
      && sendingAssets.values.allSatisfy(\.isEmpty)
  }

  /// Whether a member has what we have and we have what it has.
  ///
  /// True where both contexts are equal. In a room that never rests they hardly ever are: there it is
  /// enough that catch-up is complete both ways and that the member has every operation of ours.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard let peer = peers[member], peer.isCaughtUpBothWays else { return false }
    if peer.contextHash == currentContextHash { return true }
    return activity.isBusy(now.uptime)
      && peer.received.isSuperset(of: board.written)
  }

  // MARK: - Assets

  /// The bytes of an asset are here: a local photo's, or what was asked for, whole and verified.
  public func assetStored(_ id: AssetID, now: Moment) {
    begin(now)
    guard board.assets.insert(id).inserted else { return }
    perform(exchange.arrived(id, now: now.uptime))
    for object in board.objectIDs where board.state.record(object)?.asset?.id == id {
      if let snapshot = board.snapshot(object), snapshot.asset?.id == id {
        actions.append(.objectChanged(snapshot, from: nil))
      }
    }
    finish(from: nil, now)
  }

  /// What to accept from a member as this asset, or nil where it was not asked for.
  public func expectedAsset(_ id: AssetID, from member: MemberID) -> AssetReference? {
    exchange.isAsking(id, from: member) ? exchange.reference(of: id) : nil
  }

  /// Some of an asset that was asked for arrived; puts off asking elsewhere.
  public func assetProgressed(_ id: AssetID, now: Moment) {
    exchange.progressed(id, now: now.uptime)
  }

  /// An asset that was asked for did not arrive, or was not what it should be.
  public func assetFailed(_ id: AssetID, from member: MemberID, now: Moment) {
    begin(now)
    perform(exchange.unavailable(id, from: member, now: now.uptime))
    finish(from: nil, now)
  }

  /// A `sendAsset` is over, done or failed.
  public func assetSent(_ id: AssetID, to member: MemberID, now: Moment) {
    sendingAssets[member]?.remove(id)
  }

  private func serveAsset(_ id: AssetID, to member: MemberID) {
    let sending = sendingAssets[member] ?? []
    // Asked twice while it is under way: it is sent once.
    guard !sending.contains(id) else { return }
    guard board.assets.contains(id), let object = assetObjects[id],
      sending.count < Self.assetsPerMember
    else {
      actions.append(.send(SyncMessage.assetUnavailable(id).encode(), to: [member]))
      return
    }
    sendingAssets[member, default: []].insert(id)
    actions.append(
      .sendAsset(
        id,
        ResourceDTO(id: object.description, type: .imageData, sha256: id),
        to: member
      )
    )
  }

  private func wantAssets(_ now: Moment) {
    exchange.beginAgain()
    for id in board.objectIDs {
      if let object = board.object(id) as? PhotoObject, let asset = object.asset,
        !board.assets.contains(asset.id)
      {
        perform(exchange.want(asset, preferring: nil, now: now.uptime))
      }
    }
  }

  private func perform(_ effects: [AssetExchange.Effect]) {
    for case .ask(let id, let member) in effects {
      guard let reference = exchange.reference(of: id) else { continue }
      actions.append(.wantAsset(reference, from: member))
      actions.append(.send(SyncMessage.assetRequest(id).encode(), to: [member]))
    }
  }

  // MARK: - Requests, answers and reports

  /// Asks the next member in the queue; one at a time, so that one answer is not sent by everyone.
  private func sendNextRequest(_ now: Moment) {
    guard !requestQueue.isEmpty, peers.values.allSatisfy({ $0.requestInFlight == nil }) else {
      return
    }
    let member = requestQueue.removeFirst()
    guard let number = peers[member]?.beginRequest(now.uptime) else { return }
    send(
      .request(
        CatchUpRequest(
          number: number,
          incarnation: board.incarnation,
          context: board.state.context
        )
      ),
      to: member
    )
  }

  private func answerPendingRequest(of member: MemberID, _ now: Moment) {
    guard let request = peers[member]?.takeRequest(now.uptime) else { return }
    let difference = board.state.difference(since: request.context)
    for part in AnswerPart.split(
      DifferenceCoding.encode(difference),
      request: request.number
    ) {
      send(.answerPart(part), to: member)
    }
  }

  private func sendReportIfDue(to member: MemberID, _ now: Moment) {
    guard let peer = peers[member], let due = peer.reportDue, now.uptime >= due else { return }
    peers[member]?.reportDue = nil
    let received = peer.incarnation.map { board.state.context[$0] } ?? SequenceRanges()
    send(
      .state(
        ReplicaReport(
          contextHash: currentContextHash,
          applied: peer.applied,
          incarnation: peer.incarnation,
          received: received
        )
      ),
      to: member
    )
  }

  private var currentContextHash: UInt64 {
    if let contextHash { return contextHash }
    let hash = SHA256.hash(data: ContextCoding.encode(board.state.context))
      .prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    contextHash = hash
    return hash
  }

  private func send(_ message: SyncMessage, to member: MemberID) {
    actions.append(.send(message.encode(), to: [member]))
  }

  private func datagram(_ datagram: SyncDatagram) {
    guard !peers.isEmpty else { return }
    actions.append(.sendDatagram(datagram.encode(), to: members))
  }

  // MARK: - Presence

  private func sendPresence(_ now: Moment) {
    guard !peers.isEmpty, let next = presence.next(now.uptime) else { return }
    datagram(next)
  }

  private func show(_ counter: UInt64, _ cursor: InkPoint?, of member: MemberID) {
    guard let peer = peers[member], peer.presenceCounter.map({ counter > $0 }) ?? true else {
      return
    }
    let isNew = peer.presenceCounter == nil || peer.cursor != cursor
    peers[member]?.presenceCounter = counter
    peers[member]?.cursor = cursor
    if isNew { actions.append(.presence(member, cursor: cursor?.point)) }
  }

  private func preview(
    _ stroke: ObjectID,
    _ first: Int,
    _ points: [InkPoint],
    from member: MemberID
  ) {
    // Nobody draws in another's name, and what is gone or finished is drawn no more.
    guard stroke.dot.incarnation == peers[member]?.incarnation else { return }
    let isHere = board.state.isVisible(stroke)
    var committed = 0
    if isHere {
      guard let record = board.state.record(stroke), record.kind == .drawing,
        !record.isFinished
      else { return }
      committed = record.points.count
    } else {
      guard !board.state.context.contains(stroke.dot) else { return }
    }
    guard
      tails.received(stroke, first: first, points, from: member, committed: committed), isHere
    else { return }
    showTail(of: stroke, committed: committed, member)
  }

  private func showTail(of stroke: ObjectID, committed: Int, _ member: MemberID) {
    let tail = tails.tail(of: stroke, committed: committed)
    guard !tail.isEmpty else { return }
    actions.append(
      .preview(
        StrokePreview(stroke: stroke, member: member, first: committed, points: tail)
      )
    )
  }

  // MARK: - Before and after each input

  private func begin(_ now: Moment) {
    board.wallClock = now.wall
    refreshPresence(now)
  }

  private func refreshPresence(_ now: Moment) {
    var present: Set<MemberID> = []
    var incarnations: Set<Incarnation> = []
    for (member, peer) in peers {
      guard now.uptime < peer.lastHeard + Self.presencePatience else { continue }
      present.insert(member)
      if let incarnation = peer.incarnation { incarnations.insert(incarnation) }
    }
    board.presentIncarnations = incarnations
    guard present != board.presentMembers else { return }
    board.presentMembers = present
    // Leases begin and end with their holder's presence.
    for id in board.objectIDs where board.state.record(id)?.selection != nil {
      tellSelection(of: id)
    }
  }

  private func finish(from member: MemberID?, _ now: Moment) {
    refreshPresence(now)
    for batch in board.takeBatches() where !peers.isEmpty {
      actions.append(.send(SyncMessage.batch(batch).encode(), to: members))
    }
    for change in board.takeChanges() {
      if untold.keep(change, of: board.state, from: member) { continue }
      tell(change, from: member, now)
    }
    noteContext(now)
    tellIncarnation(now)
  }

  /// Requests tell who we are on the board; after a change of that everyone gets one (BRD-25).
  private func tellIncarnation(_ now: Moment) {
    guard board.incarnation != announced else { return }
    announced = board.incarnation
    requestQueue += members.filter { !requestQueue.contains($0) }
    sendNextRequest(now)
  }

  private func noteContext(_ now: Moment) {
    guard board.state.revision != activity.revision else { return }
    activity.changed(board.state.revision, now.uptime)
    contextHash = nil
    for other in peers.keys { peers[other]?.report(by: now.uptime + Self.gossipDelay) }
  }

  private func tell(_ change: ObjectChange, from member: MemberID?, _ now: Moment) {
    switch change {
    case .added(let id):
      if let line = board.chatLine(id) {
        actions.append(.chat(line, from: member))
      } else if let snapshot = board.snapshot(id) {
        actions.append(.objectAdded(snapshot, from: member))
        follow(snapshot, from: member, now)
        if board.state.record(id)?.selection != nil { tellSelection(of: id) }
      }
    case .changed(let id):
      if let snapshot = board.snapshot(id) {
        actions.append(.objectChanged(snapshot, from: member))
        follow(snapshot, from: member, now)
      }
    case .removed(let id):
      tails.removed(id)
      ownSelections.remove(id)
      shownSelections[id] = nil
      actions.append(.objectRemoved(id, from: member))
    case .selected(let id):
      tellSelection(of: id)
    }
  }

  private func follow(_ snapshot: ObjectSnapshot, from member: MemberID?, _ now: Moment) {
    if let ink = snapshot.ink {
      tails.committed(
        snapshot.id,
        count: ink.count,
        isFinished: snapshot.isFinished ?? false
      )
      if let member { showTail(of: snapshot.id, committed: ink.count, member) }
    }
    if let asset = snapshot.asset {
      if assetObjects[asset.id] == nil { assetObjects[asset.id] = snapshot.id }
      if !board.assets.contains(asset.id) {
        perform(exchange.want(asset, preferring: member, now: now.uptime))
      }
    }
  }

  private func tellSelection(of id: ObjectID) {
    let winner = board.state.record(id)?.selection
    let holder = board.holder(of: id)
    if winner == board.member {
      ownSelections.insert(id)
    } else if ownSelections.remove(id) != nil, let winner {
      actions.append(.selectionLost(id, to: winner))
    }
    guard shownSelections[id] != holder else { return }
    shownSelections[id] = holder
    actions.append(.selected(id, by: holder))
  }
}
