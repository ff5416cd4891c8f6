import Whiteboard

/// Requests for missing changes and their answers (SYN-11 to SYN-16, SYN-29, SYN-42).
extension Replica {
  // MARK: - Answers of members

  /// Returns whether a resource that a member offers is the answer to the request to it (SYN-13).
  public func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    core.answerReceiver.expectsAnswer(name, from: member)
  }

  /// A part of an answer arrived; the replica waits longer before it asks another member.
  public func answerProgressed(request: UInt64, from member: MemberID, now: Moment) {
    guard let peer = core.peers[member], peer.requestInFlight == request else { return }
    peer.noteProgress(now.uptime)
  }

  /// An answer did not arrive; its member is asked again after the others.
  public func answerFailed(request: UInt64, from member: MemberID, now: Moment) {
    guard core.peers[member]?.requestInFlight == request else { return }
    core.begin(now)
    core.requests.retry(member)
    core.requests.sendNext(now)
    core.finish(now)
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
    guard let peer = core.peers[member], peer.requestInFlight == request,
      peer.unverifiedAnswer == nil
    else { return }
    core.presence.heard(member, now)
    messages.handleAnswer(bytes, to: request, from: member, VerificationState(), now)
  }

  // MARK: - Answers to members

  /// Sets whether so many bytes are queued for a member that it gets no answers (SYN-12).
  ///
  /// Its request remains, and is answered by a ``tick(now:)`` after the queue has become shorter.
  public func memberIsBacklogged(_ member: MemberID, _ isBacklogged: Bool) {
    core.answerSender.setBacklogged(member, isBacklogged)
  }

  /// A `sendAnswer` has ended, whether it succeeded or failed.
  public func answerSent(request: UInt64, to member: MemberID, now: Moment) {
    core.answerSender.ended(request, to: member)
  }

  // MARK: - Progress

  /// Starts or stops proving that boards are equal, for an application that waits for it (SYN-44).
  ///
  /// While this is on, the replica sends its sums at once to each member that reports the same
  /// context, and the member answers with its own sums.
  public func proveEquality(_ isWanted: Bool, now: Moment) {
    core.reports.proveEquality(isWanted, now)
  }

  /// Whether a member reported the context and the sums that this replica has now (SYN-44).
  public func isEqual(to member: MemberID) -> Bool { core.reports.isEqual(to: member) }

  /// Whether a member reported the context that this replica has now.
  public func hasSameContext(as member: MemberID) -> Bool {
    core.reports.hasSameContext(as: member)
  }

  /// Whether a member introduced itself as an author of this board (AUT-4).
  ///
  /// A member of the session that does not, such as another program, has no board to compare.
  public func hasIntroducedItself(_ member: MemberID) -> Bool {
    core.peers[member]?.link.role != nil
  }

  /// Whether photos are on their way to this replica, or from it to one of these members.
  public func isExchangingAssets(with members: [MemberID]) -> Bool {
    core.photos.isReceiving || members.contains { core.photos.isSending(to: $0) }
  }

  /// Whether this replica and every member have the same changes and assets.
  public func isSynced(now: Moment) -> Bool {
    !isAwaitingSignature && members.allSatisfy { isSynced(with: $0, now: now) }
      && !core.photos.isReceiving && !core.photos.isSending
  }

  /// Whether this replica and a member have the same changes.
  ///
  /// Normally both contexts must be equal. While the board changes without a pause, contexts are rarely
  /// equal; then it is enough that catch-up is complete in both directions, since later changes are on
  /// their way.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard !isAwaitingSignature, let peer = core.peers[member], !peer.inbox.isVerifying,
      peer.isCaughtUp,
      peer.hasCaughtUp || !core.author.role.mayWrite
    else { return false }
    return peer.contextHash == core.reports.currentContextHash || core.reports.isBusy(now)
  }
}
