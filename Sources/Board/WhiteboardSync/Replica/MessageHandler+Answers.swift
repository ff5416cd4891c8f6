import PeerCore
import Whiteboard

extension MessageHandler {
  func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    guard let peer = replica.peers[member], let request = peer.requestInFlight, peer.unverifiedAnswer == nil else {
      return false
    }
    return name.type == .whiteboard && !name.isDeleted && name.request == request
      && name.id == replica.author.board.description && name.byteCount.map { $0 <= Answer.byteLimit } ?? false
  }

  /// If the signatures of the answer are not verified yet, the answer waits.
  func handleAnswer(
    _ received: ReceivedAnswer,
    to request: UInt64,
    from member: MemberID,
    _ verification: VerificationState,
    _ now: Moment
  ) {
    guard let peer = replica.peers[member], peer.requestInFlight == request else { return }
    do throws(ReceiveError) {
      var verification = verification
      let checked = try replica.verifier.check(&verification, for: member) { () throws(ReceiveError) -> CheckedAnswer in
        try checkAnswer(received, from: member)
      }
      guard let checked else {
        peer.unverifiedAnswer = UnverifiedAnswer(answer: received, verification: verification)
        return replica.publishChanges(from: member, now)
      }
      let buckets = peer.requestBuckets
      peer.endRequest()
      if try mergeAnswer(checked, repairing: buckets, from: member, now) {
        didApplyAnswer(to: request, of: member, now)
        replica.reports.reportSoonToAll(now)
      }
    } catch {
      switch error {
      case .violation(let error): close(member, for: error)
      case .unrecorded:
        peer.endRequest()
        replica.actions.append(.unrecorded(member))
        peer.postponeRequests(now.uptime)
      case .boardFull:
        peer.endRequest()
        reportFull(member, now)
        peer.postponeRequests(now.uptime)
      }
    }
    // Send the next request last, so that its context includes the changes of this answer.
    replica.requests.sendNext(now)
    replica.publishChanges(from: member, now)
  }

  func handleNothingLacking(_ number: UInt64, from member: MemberID, _ now: Moment) throws(ReplicaError) {
    guard let peer = replica.peers[member], number <= peer.lastRequest else { throw .unrequestedAnswer }
    guard number == peer.requestInFlight else { return }
    peer.endRequest()
    didApplyAnswer(to: number, of: member, now)
  }

  private func didApplyAnswer(to request: UInt64, of member: MemberID, _ now: Moment) {
    replica.peers[member]?.didApplyAnswer(to: request)
    replica.actions.append(.caughtUp(member))
    replica.peers[member]?.report(by: now.uptime)
  }

  func handleVerifiedAnswer(of member: MemberID, _ now: Moment) {
    guard let peer = replica.peers[member], let request = peer.requestInFlight, let answer = peer.unverifiedAnswer,
      !answer.verification.isPending
    else { return }
    peer.unverifiedAnswer = nil
    handleAnswer(answer.answer, to: request, from: member, answer.verification, now)
  }

  // MARK: - Checking and merging

  /// Checks an answer completely before any part of the answer is merged.
  private func checkAnswer(_ received: ReceivedAnswer, from member: MemberID) throws(ReceiveError) -> CheckedAnswer {
    let answer = try receiving { () throws(CodecError) in try received.decoded.get() }
    let record =
      answer.records.first { $0.incarnation == answer.incarnation } ?? replica.registry[answer.incarnation]
      ?? replica.peers[member]?.link.record.flatMap { $0.incarnation == answer.incarnation ? $0 : nil }
    guard let record else { throw .violation(.noAuthor) }
    try receiving { () throws(ReplicaError) in
      try record.verify(board: replica.author.board, with: replica.verifier)
      guard record.member == member else { throw .forgedAuthor }
      guard record.role.mayWrite else { throw .viewer }
      try answer.verify(by: record, with: replica.verifier)
    }
    let checked = CheckedAnswer(received.bytes, answer, by: record)
    guard !replica.permissions.isRevoked(record) else { return checked }
    try replica.registry.requireRecords(in: answer)
    var known = replica.registry.incarnations
    for record in answer.records
    where replica.registry[record.incarnation]?.bytes != record.bytes
      && !replica.board.state.isRetired(record.incarnation)
    {
      try receiving { () throws(ReplicaError) in try record.verify(board: replica.author.board, with: replica.verifier)
      }
      known.insert(record.incarnation)
    }
    // The author of a move affects the game, so the author must be proven by a record. On an owned board, only changes
    // of authors with a record are valid.
    guard (replica.permissions.isOwned ? received.writers : received.movers).isSubset(of: known) else {
      throw .violation(.noAuthor)
    }
    return checked
  }

  /// Merges an answer. Returns false if the answer was ignored because its author's rights were revoked. If there is no
  /// room for the answer, the method throws and merges nothing. `buckets` are the buckets that the request asked for; 0
  /// unless the request was for a repair.
  private func mergeAnswer(_ answer: CheckedAnswer, repairing buckets: UInt16, from member: MemberID, _ now: Moment)
    throws(ReceiveError) -> Bool
  {
    guard replica.permissions.admitsAnswer(by: answer.author) else { return false }
    let merging = AnswerMerging(repairing: buckets, by: replica.author.role)
    let records = answer.records.filter { !replica.board.state.isRetired($0.incarnation) }
    let claimed = replica.board.state.withoutRetired(answer.difference)
    if claimed.context != answer.difference.context, let peer = replica.peers[member], !peer.mayNameRetired {
      // The member received every retirement before the request, but its answer still names retired incarnations.
      // Therefore, the member skips retirements, and its context stays different (AUT-17). Every further answer would
      // name the incarnations again.
      peer.postponeRequests(now.uptime)
    }
    let accepted = replica.claims.removingContradictedClaims(from: claimed, by: member, now)
    var authors: [Incarnation: MemberID] = [:]
    for record in records { authors[record.incarnation] = record.member }
    let difference = replica.board.withinShares(accepted, comparesAll: merging.comparesAll, and: authors)
    if difference.context != accepted.context {
      // The rest of the answer is merged, so that one author cannot block the changes of other authors. If the member
      // were asked again soon, the member would only send the same changes.
      reportFull(member, now)
      replica.peers[member]?.postponeRequests(now.uptime)
    }
    let (revision, known) = (replica.board.state.revision, replica.registry.count)
    // Keep the records of incarnations that have a dot in the local context or in the answer's context.
    let seen = records.filter { record in
      difference.context.contains(record.incarnation) || replica.board.state.context.contains(record.incarnation)
    }
    replica.permissions.limitBoard(for: seen)
    let changed = replica.board.shownObjects(changedOutside: claimed)
    try receiving { () throws(BoardError) in
      try replica.board.receive(difference, comparesAll: merging.comparesAll, replacing: merging.replacing)
    }
    for record in seen { replica.registry.insert(record) }
    if replica.registry.count != known { replica.board.noteSelections(in: difference) }
    if replica.board.state.revision != revision || replica.registry.count != known {
      // If a part of the answer was left out, the document must not contain that part either. The local author signs
      // the stored part.
      let isWhole = difference.context == answer.difference.context
      let stored =
        isWhole
        ? Signed(value: answer.bytes, request: nil)
        : Answer.make(records, difference, by: replica.author, as: replica.publisher.chain.incarnation)
      replica.actions.record(.answer(merging.bytes + stored.value), lacking: stored.gaps)
    }
    for (author, ids) in replica.board.deletions(of: changed) {
      replica.actions.append(.deletedUnseen(ids, by: author))
    }
    return true
  }
}

/// An answer that was checked and can be merged, unless the rights of its author were revoked.
private struct CheckedAnswer {
  let bytes: [UInt8]
  let author: AuthorRecord
  let records: [AuthorRecord]
  let difference: Difference

  init(_ bytes: [UInt8], _ answer: Answer, by author: AuthorRecord) {
    self.bytes = bytes
    self.author = author
    records = answer.records
    difference = answer.difference
  }
}
