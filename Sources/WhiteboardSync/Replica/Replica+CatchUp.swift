import Whiteboard

/// What a member missed: requests, answers and reports (SYN-11 to SYN-16, SYN-29, SYN-42).
extension Replica {
  // MARK: - What we ask

  /// Asks the next member in the queue; one at a time, so that one answer is not sent by everyone, but
  /// for a member who lets us wait.
  func sendNextRequest(_ now: Moment) {
    guard !requestQueue.isEmpty,
      peers.values.allSatisfy({ $0.requestInFlight == nil || $0.isSlow(now.uptime) }),
      let next = requestQueue.firstIndex(where: { peers[$0]?.requestInFlight == nil })
    else { return }
    let member = requestQueue.remove(at: next)
    guard let request = peers[member]?.beginRequest(now.uptime) else { return }
    send(
      .request(
        CatchUpRequest(
          number: request.number,
          buckets: request.buckets,
          context: board.state.context
        )
      ),
      to: member
    )
  }

  func giveUpRequest(to member: MemberID, _ now: Moment) {
    guard let due = peers[member]?.giveUpDeadline, now.uptime >= due else { return }
    peers[member]?.endRequest()
    requestQueue.append(member)
  }

  /// Returns whether an offered resource is the answer to the request to that member (SYN-13).
  public func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    guard let peer = peers[member], let request = peer.requestInFlight else { return false }
    return name.type == .whiteboard && !name.isDeleted && name.request == request
      && name.id == author.board.description
      && name.byteCount.map { $0 <= Answer.byteLimit } ?? false
  }

  /// Some of an answer arrived; puts off asking elsewhere.
  public func answerProgressed(request: UInt64, from member: MemberID, now: Moment) {
    guard peers[member]?.requestInFlight == request else { return }
    peers[member]?.noteProgress(now.uptime)
  }

  /// An answer did not arrive; its member is asked again when the others were.
  public func answerFailed(request: UInt64, from member: MemberID, now: Moment) {
    guard peers[member]?.requestInFlight == request else { return }
    begin(now)
    peers[member]?.endRequest()
    requestQueue.append(member)
    sendNextRequest(now)
    finish(from: nil, now)
  }

  /// The whole of an answer arrived, in a resource that was expected.
  ///
  /// It is applied whole or not at all; an answer to a request that was given up is ignored.
  public func receivedAnswer(
    _ bytes: [UInt8],
    request: UInt64,
    from member: MemberID,
    now: Moment
  ) {
    guard let peer = peers[member], peer.requestInFlight == request else { return }
    heard(member, now)
    begin(now)
    let merging = AnswerMerging(repairing: peer.requestBuckets, by: author.role)
    peers[member]?.endRequest()
    do {
      guard let (records, claimed) = try check(bytes, from: member) else {
        // Its author may not have heard yet that it vouches for nothing any more.
        refusals.revoked += 1
        sendNextRequest(now)
        finish(from: member, now)
        return
      }
      let difference = withoutClaims(claimed, by: member, now)
      let (revision, known) = (board.state.revision, self.records.count)
      // Of whom we have seen anything, be it that somebody claimed it.
      let seen = records.filter { record in
        difference.context.contains(record.incarnation)
          || board.state.context.contains(record.incarnation)
      }
      limitBoard(for: seen)
      try board.receive(
        difference,
        comparesAll: merging.comparesAll,
        replacing: merging.replacing
      )
      for record in seen where self.records[record.incarnation] == nil {
        self.records[record.incarnation] = record
        board.authors[record.incarnation] = record.member
      }
      if board.state.revision != revision || self.records.count != known {
        // What was left out must stay out when the board is opened. This replica vouches for the rest.
        let isWhole = difference.context == claimed.context
        let answer =
          isWhole ? bytes : Answer.encode(records, difference, by: author, as: chain.incarnation)
        actions.append(.record(.answer(merging.bytes + answer)))
      }
      answered(request, by: member, now)
      reportToAll(by: now.uptime + gossipDelay)
      report(to: member, by: now.uptime)
    } catch let error as CodecError {
      violated(member, .malformed(error))
    } catch let error as ReplicaError {
      violated(member, error)
    } catch is UnrecordedAuthors {
      actions.append(.unrecorded(member))
      peers[member]?.askAgain = now.uptime + Self.fullPatience
    } catch {
      hasNoRoom(for: member, now)
      peers[member]?.askAgain = now.uptime + Self.fullPatience
    }
    // Afterwards, so that the next member is told what this answer brought.
    sendNextRequest(now)
    finish(from: member, now)
  }

  /// Everything that an answer must be, before anything of it counts; nil where the rights of its
  /// author were taken back.
  private func check(
    _ bytes: [UInt8],
    from member: MemberID
  ) throws -> (records: [AuthorRecord], difference: Difference)? {
    let answer = try Answer(bytes)
    let record =
      answer.records.first { $0.incarnation == answer.incarnation }
      ?? records[answer.incarnation]
      ?? peers[member]?.link.record.flatMap { $0.incarnation == answer.incarnation ? $0 : nil }
    guard let record else { throw ReplicaError.noAuthor }
    try record.verify(board: author.board, with: verifier)
    guard record.member == member else { throw ReplicaError.forgedAuthor }
    guard record.role.mayWrite else { throw ReplicaError.viewer }
    try answer.verify(by: record, with: verifier)
    guard revocations.limit(of: record) == nil else { return nil }
    try admitIncarnations(of: answer)
    var known = Set(records.keys)
    for record in answer.records where records[record.incarnation]?.bytes != record.bytes {
      try record.verify(board: author.board, with: verifier)
      known.insert(record.incarnation)
    }
    // Whose move it is decides a game: it must not depend on whom the move came from. On an owned board
    // nothing counts of whom nobody let write.
    for entry in answer.difference.entries {
      for new in entry.cells where isOwned || new.property.isMove {
        guard known.contains(new.cell.dot.incarnation) else { throw ReplicaError.noAuthor }
      }
    }
    return (answer.records, answer.difference)
  }

  func receiveNothingLacking(
    _ number: UInt64,
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    guard let peer = peers[member], number <= peer.lastRequest else { throw .unrequestedAnswer }
    guard number == peer.requestInFlight else { return }
    peers[member]?.endRequest()
    answered(number, by: member, now)
    report(to: member, by: now.uptime)
  }

  private func answered(_ request: UInt64, by member: MemberID, _ now: Moment) {
    peers[member]?.applied = request
    actions.append(.caughtUp(member))
  }

  // MARK: - What others ask

  func receive(_ request: CatchUpRequest, from member: MemberID, _ now: Moment) {
    guard author.role.mayWrite else { return }
    peers[member]?.pendingRequest = request
    answerPendingRequest(of: member, now)
  }

  /// So much waits to be sent to a member that it gets no answers, or no longer (SYN-12).
  ///
  /// Its request is kept, and answered by the ``tick(now:)`` after it took enough.
  public func memberIsBacklogged(_ member: MemberID, _ isBacklogged: Bool) {
    peers[member]?.isBacklogged = isBacklogged
  }

  /// Records the end of a `sendAnswer`, whether it succeeded or failed.
  public func answerSent(request: UInt64, to member: MemberID, now: Moment) {
    guard peers[member]?.answerInFlight == request else { return }
    peers[member]?.answerInFlight = nil
  }

  func answerPendingRequest(of member: MemberID, _ now: Moment) {
    guard let request = peers[member]?.takeRequest(now.uptime) else { return }
    if request.buckets == 0, request.context.isSuperset(of: board.state.context),
      !hasTakenBack(anyOf: request.context)
    {
      send(.nothingLacking(request.number), to: member)
      return
    }
    let answer = Answer.encode(
      lacking(request.context, isRepair: request.buckets != 0),
      board.state.difference(since: request.context, buckets: request.buckets),
      by: author,
      as: chain.incarnation
    )
    // A board within its limits can be too long to be told at once; batches still reach the member.
    guard answer.count <= Answer.byteLimit else { return }
    peers[member]?.answerInFlight = request.number
    let name = ResourceDTO(
      id: author.board.description,
      type: .whiteboard,
      request: request.number,
      byteCount: answer.count
    )
    actions.append(.sendAnswer(answer, name, to: member))
  }

  /// The records of the incarnations of which a replica of that context lacks something, and our own.
  private func lacking(
    _ context: Context,
    isRepair: Bool
  ) -> ArraySlice<AuthorRecord> {
    let seen = board.state.context
    let lacking = records.values.filter { record in
      if let limit = board.state.limits[record.incarnation] {
        // What they may not know yet: whose it is that is taken back.
        if context.last(of: record.incarnation) ?? 0 > limit { return true }
        guard seen.contains(record.incarnation) else { return false }
      }
      let theirs = context[record.incarnation]
      return isRepair || theirs.ranges.isEmpty
        || !theirs.isSuperset(of: seen[record.incarnation])
    }
    return lacking.sorted { $0.incarnation < $1.incarnation }.prefix(Answer.recordLimit)
  }

  /// Whether a context has what no longer counts here.
  private func hasTakenBack(anyOf context: Context) -> Bool {
    board.state.limits.contains { context.last(of: $0.key) ?? 0 > $0.value }
  }

  // MARK: - Reports

  /// Tells some members the sums of what we have, and asks some who have something else (SYN-15).
  ///
  /// Others are told and asked the next time, so that in a large room no more is said than in a small one.
  func compare(_ now: Moment) {
    nextComparison = now.uptime + Self.comparisonInterval
    selfCheck.begin(board.state)
    if exchange.hasOverflowed || (leavesOutPhotos && now.uptime >= nextPhotoLook) {
      wantPhotos(now)
    }
    for member in toldSums.next(Self.comparisonsAtOnce, of: members) {
      peers[member]?.report(by: now.uptime, withSums: true)
    }
    // While all members write, contexts are rarely equal, although no changes are missing.
    let most = activity.isBusy(now.uptime) ? 1 : Self.comparisonsAtOnce
    let lacking = members.filter { isToBeAsked($0, now) }
    requestQueue += asked.next(most, of: lacking)
  }

  private func isToBeAsked(_ member: MemberID, _ now: Moment) -> Bool {
    guard let peer = peers[member], let theirs = peer.contextHash else { return false }
    return theirs != currentContextHash && peer.mayBeAsked && peer.requestInFlight == nil
      && !requestQueue.contains(member) && now.uptime >= peer.askAgain
  }

  func receive(_ report: ReplicaReport, from member: MemberID, _ now: Moment) {
    peers[member]?.contextHash = report.contextHash
    if report.applied > 0 { peers[member]?.confirmed = report.applied }
    guard report.contextHash == currentContextHash else { return }
    guard !report.sums.isEmpty else {
      if isProvingEquality { sendSums(to: member, now) }
      return
    }
    // The member may be waiting for them (SYN-44).
    sendSums(to: member, now)
    let buckets = selfCheck.diverged(from: report.sums, board.state)
    peers[member]?.agreed =
      buckets == 0 ? (report.contextHash, board.state.revision) : nil
    guard buckets != 0, let peer = peers[member], peer.mayRepair(now.uptime) else { return }
    if now.uptime >= mendingUntil { actions.append(.diverged(member, buckets: buckets)) }
    peers[member]?.repair(buckets, now.uptime)
    guard peer.mayBeAsked else { return }
    if !requestQueue.contains(member) { requestQueue.append(member) }
  }

  /// Has a member told what we have, at `time` or before.
  func report(to member: MemberID, by time: UInt64) { peers[member]?.report(by: time) }

  /// Has everyone told what we have, at `time` or before.
  func reportToAll(by time: UInt64) { reportToAllDue = min(reportToAllDue ?? time, time) }

  /// Sends the reports, once one of them is due, with the same bytes to all of whom nothing else is to be
  /// said: one that is due soon goes along.
  func sendReports(_ now: Moment) {
    let isToAll = reportToAllDue.map { now.uptime >= $0 } ?? false
    guard isToAll || peers.values.contains(where: { $0.isReportDue(now.uptime) }) else { return }
    if isToAll { reportToAllDue = nil }
    var (shortly, withSums): ([MemberID], [MemberID]) = ([], [])
    for member in members {
      if isProvingEquality, hasSameContext(as: member) { sendSums(to: member, now) }
      guard let due = peers[member]?.takeReport(evenIfNone: isToAll) else { continue }
      // A member with another context has no use for the sums.
      if due.isWithSums, peers[member]?.contextHash == currentContextHash {
        peers[member]?.sumsSentFor = currentContextHash
      }
      if due.applied > 0 {
        send(report(applied: due.applied, isWithSums: due.isWithSums), to: member)
      } else if due.isWithSums {
        withSums.append(member)
      } else {
        shortly.append(member)
      }
    }
    if !shortly.isEmpty { send(report(), to: shortly) }
    if !withSums.isEmpty { send(report(isWithSums: true), to: withSums) }
  }

  private func report(applied: UInt64 = 0, isWithSums: Bool = false) -> SyncMessage {
    .state(
      ReplicaReport(
        contextHash: currentContextHash,
        applied: applied,
        sums: isWithSums ? selfCheck.sums(of: board.state) : []
      )
    )
  }

  var currentContextHash: UInt64 {
    if let contextHash { return contextHash }
    let hash = Bytes32.sha256(ContextCoding.encode(board.state.context)).bytes
      .prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    contextHash = hash
    return hash
  }

  /// Sends a member the local sums at once, unless it got those of this context already.
  private func sendSums(to member: MemberID, _ now: Moment) {
    guard let peer = peers[member], peer.sumsSentFor != currentContextHash else { return }
    peer.report(by: now.uptime, withSums: true)
  }

  // MARK: - Is all of it there

  /// Starts or stops proving that boards are equal, for an application that waits for it (SYN-44).
  ///
  /// While this is on, the replica sends its sums at once to each member that reports the same
  /// context, and the member answers with its own sums.
  public func proveEquality(_ isWanted: Bool, now: Moment) {
    isProvingEquality = isWanted
    guard isWanted else { return }
    for member in members where peers[member]?.contextHash == currentContextHash {
      sendSums(to: member, now)
    }
  }

  /// Whether a member reported the context and the sums that this replica has now (SYN-44).
  public func isEqual(to member: MemberID) -> Bool {
    guard let peer = peers[member], !peer.isClosed, let agreed = peer.agreed else { return false }
    return peer.contextHash == currentContextHash && agreed.contextHash == currentContextHash
      && agreed.revision == board.state.revision
  }

  /// Whether a member reported the context that this replica has now.
  public func hasSameContext(as member: MemberID) -> Bool {
    peers[member].map { !$0.isClosed && $0.contextHash == currentContextHash } ?? false
  }

  /// Whether a member introduced itself as an author of this board (AUT-4).
  ///
  /// A member of the session that does not, such as another program, has no board to compare.
  public func hasIntroducedItself(_ member: MemberID) -> Bool { peers[member]?.link.role != nil }

  /// Whether photos are on their way to this replica, or from it to one of these members.
  public func isExchangingAssets(with members: [MemberID]) -> Bool {
    exchange.isBusy || members.contains { sendingAssets[$0]?.isEmpty == false }
  }

  /// Whether every member has what we have and we have what they have, assets included.
  public func isSynced(now: Moment) -> Bool {
    members.allSatisfy { isSynced(with: $0, now: now) } && !exchange.isBusy
      && sendingAssets.values.allSatisfy(\.isEmpty)
  }

  /// Whether a member has what we have and we have what it has.
  ///
  /// True where both contexts are equal. In a room that never rests they hardly ever are: there it is
  /// enough that catch-up is complete both ways. What was written since is on its way then, and whoever
  /// sends it knows when it has arrived.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard let peer = peers[member], peer.isCaughtUp,
      peer.hasCaughtUp || !author.role.mayWrite
    else { return false }
    return peer.contextHash == currentContextHash || activity.isBusy(now.uptime)
  }
}

/// How an answer was merged: what is kept of that before its bytes.
struct AnswerMerging {
  /// The first byte of what is kept of a grant, and of a revocation: no answers, but in their order.
  static let (grant, revocation): (UInt8, UInt8) = (3, 4)

  /// Whether each cell was compared (SYN-42).
  let comparesAll: Bool
  /// The buckets whose cells were replaced (AUT-15).
  let replacing: UInt16

  /// The merging of an answer to a request of these buckets.
  init(repairing buckets: UInt16, by role: Role) {
    comparesAll = buckets != 0
    // Nobody asks a viewer: what it alone has would stay different.
    replacing = role.mayWrite ? 0 : buckets
  }

  /// Reads how the answer was merged that follows.
  init(_ reader: inout ByteReader) throws(CodecError) {
    switch try reader.byte() {
    case 0: (comparesAll, replacing) = (false, 0)
    case 1: (comparesAll, replacing) = (true, 0)
    case 2:
      let high = UInt16(try reader.byte())
      (comparesAll, replacing) = (true, high << 8 | UInt16(try reader.byte()))
    default: throw .reserved("answer")
    }
  }

  /// What comes before the answer.
  var bytes: [UInt8] {
    if replacing != 0 { return [2, UInt8(replacing >> 8), UInt8(replacing & 0xFF)] }
    return [comparesAll ? 1 : 0]
  }
}
