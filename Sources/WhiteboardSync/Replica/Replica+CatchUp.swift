import Whiteboard

/// Requests for missing changes and their answers (SYN-11 to SYN-16, SYN-29, SYN-42).
extension Replica {
  // MARK: - Answers of members

  /// Returns whether a resource that a member offers is the answer to the request to it (SYN-13).
  public func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    answerReceiver.expectsAnswer(name, from: member)
  }

  /// A part of an answer arrived; the replica waits longer before it asks another member.
  public func answerProgressed(request: UInt64, from member: MemberID, now: Moment) {
    guard let peer = peers[member], peer.requestInFlight == request else { return }
    peer.noteProgress(now.uptime)
  }

  /// An answer did not arrive; its member is asked again after the others.
  public func answerFailed(request: UInt64, from member: MemberID, now: Moment) {
    guard peers[member]?.requestInFlight == request else { return }
    begin(now)
    requests.retry(member)
    requests.sendNext(now)
    finish(now)
  }

  /// All bytes of an expected answer arrived.
  ///
  /// The answer is applied whole or not at all. An answer to a request that was given up is ignored.
  public func receivedAnswer(
    _ bytes: [UInt8],
    request: UInt64,
    from member: MemberID,
    now: Moment
  ) {
    guard let peer = peers[member], peer.requestInFlight == request else { return }
    presence.heard(member, now)
    begin(now)
    let buckets = peer.requestBuckets
    peer.endRequest()
    do {
      if try answerReceiver.merge(bytes, repairing: buckets, from: member, now) {
        didApplyAnswer(to: request, of: member, now)
        reports.reportSoonToAll(now)
      }
    } catch let error as CodecError {
      close(member, for: .malformed(error))
    } catch let error as ReplicaError {
      close(member, for: error)
    } catch is UnrecordedAuthors {
      outbox.append(.unrecorded(member))
      peer.postponeRequests(now.uptime)
    } catch {
      reportFull(member, now)
      peer.postponeRequests(now.uptime)
    }
    // This comes last, so that the next request includes what this answer brought.
    requests.sendNext(now)
    finish(from: member, now)
  }

  func receiveNothingLacking(
    _ number: UInt64,
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    guard let peer = peers[member], number <= peer.lastRequest else { throw .unrequestedAnswer }
    guard number == peer.requestInFlight else { return }
    peer.endRequest()
    didApplyAnswer(to: number, of: member, now)
  }

  private func didApplyAnswer(to request: UInt64, of member: MemberID, _ now: Moment) {
    peers[member]?.didApplyAnswer(to: request)
    outbox.append(.caughtUp(member))
    peers[member]?.report(by: now.uptime)
  }

  // MARK: - Answers to members

  /// Sets whether so many bytes are queued for a member that it gets no answers (SYN-12).
  ///
  /// Its request remains, and is answered by a ``tick(now:)`` after the queue has become shorter.
  public func memberIsBacklogged(_ member: MemberID, _ isBacklogged: Bool) {
    answerSender.setBacklogged(member, isBacklogged)
  }

  /// A `sendAnswer` has ended, whether it succeeded or failed.
  public func answerSent(request: UInt64, to member: MemberID, now: Moment) {
    answerSender.ended(request, to: member)
  }

  // MARK: - Progress

  /// Starts or stops proving that boards are equal, for an application that waits for it (SYN-44).
  ///
  /// While this is on, the replica sends its sums at once to each member that reports the same
  /// context, and the member answers with its own sums.
  public func proveEquality(_ isWanted: Bool, now: Moment) { reports.proveEquality(isWanted, now) }

  /// Whether a member reported the context and the sums that this replica has now (SYN-44).
  public func isEqual(to member: MemberID) -> Bool { reports.isEqual(to: member) }

  /// Whether a member reported the context that this replica has now.
  public func hasSameContext(as member: MemberID) -> Bool { reports.hasSameContext(as: member) }

  /// Whether a member introduced itself as an author of this board (AUT-4).
  ///
  /// A member of the session that does not, such as another program, has no board to compare.
  public func hasIntroducedItself(_ member: MemberID) -> Bool { peers[member]?.link.role != nil }

  /// Whether photos are on their way to this replica, or from it to one of these members.
  public func isExchangingAssets(with members: [MemberID]) -> Bool {
    photos.isReceiving || members.contains { photos.isSending(to: $0) }
  }

  /// Whether this replica and every member have the same changes and assets.
  public func isSynced(now: Moment) -> Bool {
    members.allSatisfy { isSynced(with: $0, now: now) } && !photos.isReceiving && !photos.isSending
  }

  /// Whether this replica and a member have the same changes.
  ///
  /// Normally both contexts must be equal. While the board changes without a pause, contexts are rarely
  /// equal; then it is enough that catch-up is complete in both directions, since later changes are on
  /// their way.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard let peer = peers[member], peer.isCaughtUp,
      peer.hasCaughtUp || !author.role.mayWrite
    else { return false }
    return peer.contextHash == reports.currentContextHash || reports.isBusy(now)
  }
}
