import Whiteboard

/// Handles the messages, datagrams and answers of members, and rejects those that violate the protocol.
///
/// If the signatures of a message must be verified first, or a batch is early, it waits in the inbox of its
/// member. Later messages of that member wait behind it.
final class MessageHandler {
  let core: ReplicaCore
  /// The grants from a document that are not verified yet, in their order.
  var restoredGrants: [Grant] = []
  /// The results of the checks for the first of the restored grants.
  var grantVerification = VerificationState()

  init(_ core: ReplicaCore) { self.core = core }

  /// Handles a message, or adds it to the inbox if earlier messages of the member are waiting.
  func receive(_ message: [UInt8], from member: MemberID, _ now: Moment) {
    guard let peer = core.peers[member] else { return }
    if peer.inbox.isWaiting {
      core.begin(now)
      if !peer.inbox.append(message) {
        close(member, for: .malformed(.overLimit("unverified messages")))
      }
      core.finish(from: member, now)
    } else {
      handle(message, from: member, VerificationState(), now)
    }
    releaseEarlyBatches(now)
  }

  /// Handles the messages in the inbox of a member, up to the next message that must wait.
  func handleInbox(of member: MemberID, _ now: Moment) {
    while let message = core.peers[member]?.inbox.removeNext() {
      handle(message, from: member, VerificationState(), now)
    }
  }

  /// Handles a message of a member that has no earlier messages waiting.
  ///
  /// If its signatures are not verified yet, the message waits.
  func handle(
    _ bytes: [UInt8],
    from member: MemberID,
    _ verification: VerificationState,
    _ now: Moment
  ) {
    core.begin(now)
    handling(of: member, now) {
      if bytes.first == SyncMessage.batchKind {
        // Decode batches in place, because most messages are batches.
        try core.receiver.receiveBatch(bytes, at: 1, from: member, now)
      } else if bytes.first == SyncMessage.applicationKind {
        // Do not copy the message, because it can be large.
        core.outbox.append(.data(bytes.dropFirst(), from: member, isReliable: true))
      } else if let message = try SyncMessage.decode(bytes) {
        var verification = verification
        let checked = try core.checking(&verification, for: member) {
          () throws(ReplicaError) -> CheckedMessage in try check(message, from: member)
        }
        guard let checked else {
          core.peers[member]?.inbox.wait(bytes, for: verification)
          return
        }
        try handle(checked, from: member, now)
        core.requests.sendNext(now)
      }
    }
    core.finish(from: member, now)
  }

  /// Runs `body`, and handles an error that it throws as an error in a message of a member.
  private func handling(of member: MemberID, _ now: Moment, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as CodecError {
      close(member, for: .malformed(error))
    } catch let error as ReplicaError {
      if error == .viewer { core.permissions.viewerWasRefused() }
      close(member, for: error)
    } catch {
      reportFull(member, now)
    }
  }

  /// Reports that the board has no room for a member's changes.
  ///
  /// This is not a protocol violation, because other members may have filled the board.
  func reportFull(_ member: MemberID, _ now: Moment) {
    guard core.peers[member]?.beginFullReport(now.uptime) ?? false else { return }
    core.outbox.append(.full(member))
  }

  /// Requests that the session close the link of a member, and ignores further messages on the link.
  func close(_ member: MemberID, for error: ReplicaError) {
    core.peers[member]?.close()
    core.requests.remove(member)
    core.outbox.append(.protocolViolation(member, error))
  }

  /// Checks the signatures in a message, and whether the member may send it.
  ///
  /// Nothing is changed.
  private func check(
    _ message: SyncMessage,
    from member: MemberID
  ) throws(ReplicaError) -> CheckedMessage {
    switch message {
    case .author(let message):
      return .author(try core.receiver.check(message, from: member), message.head)
    case .head(let head):
      try core.receiver.check(head, from: member)
      return .head(head)
    case .grant(let bytes): return .grant(try core.permissions.checkGrant(bytes))
    case .revocation(let bytes): return .revocation(try core.permissions.checkRevocation(bytes))
    case .record(let bytes): return .record(try core.receiver.checkRecord(bytes))
    default: return .unsigned(message)
    }
  }

  private func handle(
    _ message: CheckedMessage,
    from member: MemberID,
    _ now: Moment
  ) throws {
    switch message {
    case .author(let record, let head):
      try core.receiver.receive(record, head, from: member)
      memberIntroducedItself(member, now)
    case .head(let head): core.receiver.receive(head, from: member)
    case .grant(let grant): core.permissions.receive(grant, now)
    case .revocation(let revocation): core.permissions.receive(revocation, from: member, now)
    case .record(let record): try core.receiver.receiveAhead(record, from: member)
    case .unsigned(let message): try handle(message, from: member, now)
    }
  }

  private func handle(
    _ message: SyncMessage,
    from member: MemberID,
    _ now: Moment
  ) throws {
    switch message {
    case .batch(let bytes): try core.receiver.receiveBatch(bytes, at: 0, from: member, now)
    case .request(let request): core.answerSender.receive(request, from: member, now)
    case .nothingLacking(let number): try receiveNothingLacking(number, from: member, now)
    case .state(let report): core.reports.receive(report, from: member, now)
    case .assetRequest(let id): core.photos.serve(id, to: member)
    case .assetUnavailable(let id): core.photos.unavailable(id, from: member, now)
    case .profile(let profile):
      core.outbox.append(.profile(member, name: profile.name, icon: profile.icon))
    case .application(let bytes):
      core.outbox.append(.data(bytes[...], from: member, isReliable: true))
    case .author, .head, .grant, .revocation, .record:
      preconditionFailure("signed messages are handled after their signatures are checked")
    }
  }

  private func memberIntroducedItself(_ member: MemberID, _ now: Moment) {
    core.presence.membersChanged()
    core.permissions.updateRole(of: member)
    core.permissions.sendGrant(to: member, now)
    // Do not ask a viewer. An editor can become a viewer under another incarnation.
    guard let peer = core.peers[member], peer.mayBeAsked, !peer.isAsked, now.uptime >= peer.askAgain
    else { return }
    core.requests.insert(member)
  }

  // MARK: - Early batches

  /// Handles the batches that are no longer early or have waited for too long, and the messages behind them.
  ///
  /// If a batch has waited for too long, its early purges are left out. If the objects are created later,
  /// boards differ until the repair (SYN-42) removes the objects.
  ///
  /// Call this function only after an input from outside. It uses a loop instead of recursion, because a member
  /// can let any number of early batches wait.
  func releaseEarlyBatches(_ now: Moment) {
    var isProgress = core.peers.states.contains { $0.inbox.earlyBatch != nil }
    while isProgress {
      isProgress = false
      for member in core.peers.members {
        guard let peer = core.peers[member], let early = peer.inbox.earlyBatch else { continue }
        let isOverdue = peer.inbox.isOverdue(now.uptime)
        guard isOverdue || !core.claims.isEarly(early.batch, now) else { continue }
        isProgress = true
        let last = isOverdue ? core.claims.lastWritten(now) : [:]
        peer.inbox.removeEarlyBatch()
        core.begin(now)
        handling(of: member, now) {
          try core.receiver.apply(early, purgingWithin: last, from: member, now)
        }
        core.finish(from: member, now)
        handleInbox(of: member, now)
      }
    }
  }
}

/// A message whose signatures were checked.
private enum CheckedMessage {
  case author(AuthorRecord, SignedHead)
  case head(SignedHead)
  case grant(Grant)
  case revocation(Revocation)
  case record(AuthorRecord)
  /// A message that contains no signatures.
  case unsigned(SyncMessage)
}
