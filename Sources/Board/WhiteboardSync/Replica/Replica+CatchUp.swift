import Whiteboard

extension Replica {
  // MARK: - Answers of members

  /// Returns whether a resource that a member offers is the answer that the replica expects from the member (SYN-13).
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

  /// Handles an expected answer that was decoded after all its bytes had arrived.
  ///
  /// The answer is applied completely or not at all. An answer to a request that was given up is ignored.
  public func receivedAnswer(_ answer: ReceivedAnswer, request: UInt64, from member: MemberID, now: Moment)
    -> [ReplicaAction]
  {
    guard let peer = peers[member], peer.requestInFlight == request, peer.unverifiedAnswer == nil else { return [] }
    presence.heard(member, now)
    begin(now)
    messages.handleAnswer(answer, to: request, from: member, VerificationState(), now)
    return removeActions()
  }

  /// Decodes an expected answer and handles it, after all its bytes have arrived.
  public func receivedAnswer(_ bytes: [UInt8], request: UInt64, from member: MemberID, now: Moment) -> [ReplicaAction] {
    guard peers[member]?.requestInFlight == request else { return [] }
    return receivedAnswer(ReceivedAnswer(bytes), request: request, from: member, now: now)
  }

  // MARK: - Answers to members

  /// Sets whether too many bytes are queued for a member, so that the member gets no answers for now (SYN-12).
  ///
  /// The member's request is stored. A ``tick(now:)`` answers the request when the queue is shorter.
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
  /// While equality is being proved, the replica immediately sends its bucket sums to each member that reports the same
  /// context. The member answers with its own bucket sums.
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

  /// Returns whether this replica and a member have the same changes, and all of them are reported.
  ///
  /// Normally, both contexts must be equal. While the board changes without a pause, contexts are rarely equal. In that
  /// case, it is enough that catch-up is complete in both directions, because later changes are on their way.
  public func isSynced(with member: MemberID, now: Moment) -> Bool {
    guard !isAwaitingSignature, !changes.isReporting, let peer = peers[member], !peer.inbox.isVerifying,
      peer.isCaughtUp, peer.hasCaughtUp || !author.role.mayWrite
    else { return false }
    return reports.isBusy(now) || peer.contextHash.map { $0 == reports.currentContextHash } ?? false
  }
}

extension Replica {
  /// The local role on the board.
  public var role: Role { author.role }

  /// Whether the board has an owner that decides which members may write.
  public var isOwned: Bool { permissions.isOwned }

  /// The owner of an owned board; nil on an open board, or until a grant or record with the owner's key has arrived.
  public var owner: MemberID? { permissions.owner }

  /// Whether the local member may make other members editors.
  public var mayGrant: Bool { author.mayGrant }

  /// Returns whether a member may make other members editors, according to the record that this replica has.
  public func mayGrant(_ member: MemberID) -> Bool { permissions.mayGrant(member) }

  /// Returns the role of a joined member; nil until the member has introduced itself.
  public func role(of member: MemberID) -> Role? { peers[member]?.link.role }

  /// The numbers of changes that were refused since this replica was created.
  public var refusals: Refusals { permissions.refusals }

  /// Sets the rights with which a member was admitted.
  ///
  /// If the local member may grant these rights, the local member grants them immediately, or when the member joins. A
  /// viewer is informed of its role. A member that may already write remains an editor.
  /// - Parameters:
  ///   - member: The member.
  ///   - rights: The rights; nil for a viewer.
  ///   - isAsked: Whether a user chose these rights. If not, the rights do not replace chosen rights. A member whose
  ///     rights were revoked becomes a viewer, so that the member does not regain these rights by joining again.
  ///   - now: The time.
  /// - Returns: The actions.
  public func admit(_ member: MemberID, for rights: Rights?, isAsked: Bool = false, now: Moment) -> [ReplicaAction] {
    guard mayGrant, member != author.member else { return [] }
    begin(now)
    permissions.admit(member, for: rights, isChosen: isAsked, now)
    return finish(now)
  }

  /// Revokes the rights of a member.
  ///
  /// Changes of the member that have already arrived on this replica remain valid. Later changes are ignored. Only a
  /// member that may grant rights can revoke rights. Only the owner can revoke the rights of another member that may
  /// grant. A board has room for 4,096 revocations.
  /// - Parameters:
  ///   - member: The member.
  ///   - isGuest: Whether the member joined from a browser. A quarter of the room for revocations is reserved for other
  ///     members, because guests with many keys could use up all the room.
  ///   - now: The time.
  /// - Returns: Whether the rights were revoked, and the actions.
  public func revoke(_ member: MemberID, isGuest: Bool = false, now: Moment) -> (
    isRevoked: Bool, actions: [ReplicaAction]
  ) {
    guard permissions.mayRevoke(member, isGuest: isGuest) else { return (false, []) }
    begin(now)
    let isRevoked = permissions.revoke(member, now)
    return (isRevoked, finish(now))
  }

  /// Frees the room that removed members use up: retires their incarnations that left nothing on the board (AUT-17).
  ///
  /// Only the host named by the board's id, or the owner, can retire incarnations. If there are only a few such
  /// incarnations, the method does nothing.
  /// - Returns: The number of retired incarnations, and the actions.
  /// - Complexity: O(*n*), where *n* is the number of cells on the board.
  public func giveBackRoom(ofRemoved members: Set<MemberID>, now: Moment) -> (count: Int, actions: [ReplicaAction]) {
    begin(now)
    let count = retirements.retire(of: members, now)
    return (count, finish(now))
  }

  /// Returns whether this replica knows a certificate of a member, or admitted the member with rights.
  public func knowsRights(of member: MemberID) -> Bool { permissions.knowsRights(of: member) }

  /// Makes the local member the owner of the board.
  ///
  /// - Returns: Whether the local member is the owner, and the actions. The local member is not the owner if the id of
  ///   the board belongs to a different key.
  public func own(_ grant: Grant, now: Moment) -> (isOwner: Bool, actions: [ReplicaAction]) {
    guard permissions.isOwners(grant) else { return (false, []) }
    guard permissions.isBetter(grant) else { return (true, []) }
    begin(now)
    permissions.own(grant, now)
    return (true, finish(now))
  }
}
