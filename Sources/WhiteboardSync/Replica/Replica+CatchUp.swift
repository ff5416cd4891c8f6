import Whiteboard

/// Requests for missing changes and their answers (SYN-11 to SYN-16, SYN-29, SYN-42).
extension Replica {
  // MARK: - Answers of members

  /// Returns whether a resource that a member offers is the answer that the replica expects from it (SYN-13).
  public func expectsAnswer(_ name: ResourceDTO, from member: MemberID) -> Bool {
    messages.expectsAnswer(name, from: member)
  }

  /// Records that a part of an answer arrived, so that the replica waits longer before it asks another member.
  public func answerProgressed(request: UInt64, from member: MemberID, now: Moment) {
    guard let peer = peers[member], peer.requestInFlight == request else { return }
    peer.noteProgress(now.uptime)
  }

  /// Records that an answer did not arrive.
  ///
  /// The member is asked again after the other members.
  public func answerFailed(request: UInt64, from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.requestInFlight == request else { return [] }
    begin(now)
    requests.retry(member)
    requests.sendNext(now)
    return finish(now)
  }

  /// Handles an expected answer after all its bytes have arrived.
  ///
  /// The answer is applied completely or not at all. An answer to a request that was given up is ignored.
  public func receivedAnswer(_ bytes: [UInt8], request: UInt64, from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard let peer = peers[member], peer.requestInFlight == request, peer.unverifiedAnswer == nil else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.handleAnswer(bytes, to: request, from: member, VerificationState(), now)
    return removeActions()
  }

  // MARK: - Answers to members

  /// Sets whether too many bytes are queued for a member, so that the member gets no answers for now (SYN-12).
  ///
  /// The member's request is stored. A ``tick(now:)`` answers it when the queue is shorter.
  public func memberIsBacklogged(_ member: MemberID, _ isBacklogged: Bool) {
    answerSender.setBacklogged(member, isBacklogged)
  }

  /// Records that a `sendAnswer` action has ended, whether it succeeded or failed.
  public func answerSent(request: UInt64, to member: MemberID, now: Moment) -> [ReplicaAction] {
    begin(now)
    answerSender.ended(request, to: member)
    return finish(now)
  }

  // MARK: - Progress

  /// Starts or stops proving that boards are equal, for an application that waits for equality (SYN-44).
  ///
  /// While it is on, the replica immediately sends its bucket sums to each member that reports the same context. The
  /// member answers with its own bucket sums.
  public func proveEquality(_ isWanted: Bool, now: Moment) -> [ReplicaAction] {
    begin(now)
    reports.proveEquality(isWanted, now)
    return finish(now)
  }

  /// Returns whether a member reported the same context and bucket sums that this replica has now (SYN-44).
  public func isEqual(to member: MemberID) -> Bool { reports.isEqual(to: member) }

  /// Returns whether a member reported the same context that this replica has now.
  public func hasSameContext(as member: MemberID) -> Bool { reports.hasSameContext(as: member) }

  /// Returns whether a member introduced itself as an author of this board (AUT-4).
  ///
  /// A member that does not introduce itself, such as another program in the session, has no board to compare.
  public func hasIntroducedItself(_ member: MemberID) -> Bool { peers[member]?.link.role != nil }

  /// Returns whether photos are being received, or are being sent to one of these members.
  public func isExchangingAssets(with members: [MemberID]) -> Bool {
    photos.isReceiving || members.contains { photos.isSending(to: $0) }
  }

  /// Returns whether this replica and every member have the same changes and assets.
  public func isSynced(now: Moment) -> Bool {
    !isAwaitingSignature && members.allSatisfy { isSynced(with: $0, now: now) } && !photos.isReceiving
      && !photos.isSending
  }

  /// Returns whether this replica and a member have the same changes.
  ///
  /// Normally, both contexts must be equal. While the board changes without a pause, contexts are rarely equal. In that
  /// case, it is enough that catch-up is complete in both directions, because later changes are on their way.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard !isAwaitingSignature, let peer = peers[member], !peer.inbox.isVerifying, peer.isCaughtUp,
      peer.hasCaughtUp || !author.role.mayWrite
    else { return false }
    return peer.contextHash == reports.currentContextHash || reports.isBusy(now)
  }
}
