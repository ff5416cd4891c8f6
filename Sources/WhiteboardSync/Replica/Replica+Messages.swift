import Whiteboard

/// Handles the messages and datagrams of members, and refuses invalid ones.
extension Replica {
  /// A reliable message arrived.
  ///
  /// After a breach, further messages of the member are ignored until it joins again.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member]?.isClosed == false else { return }
    presence.heard(member, now)
    begin(now)
    handling(of: member, now) {
      if let peer = peers[member], peer.held != nil {
        peer.held?.append(bytes)
      } else if bytes.first == SyncMessage.batchKind {
        // Most messages are batches; they are decoded in place.
        try receiver.receiveBatch(bytes, at: 1, from: member, now)
      } else if bytes.first == SyncMessage.applicationKind {
        // The message can be large, and is not copied.
        outbox.append(.data(bytes.dropFirst(), from: member, isReliable: true))
      } else if let message = try SyncMessage.decode(bytes) {
        try handle(message, from: member, now)
        requests.sendNext(now)
      }
    }
    finish(from: member, now)
    releaseHeldMessages(now)
  }

  /// A datagram arrived.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member]?.isClosed == false else { return }
    presence.heard(member, now)
    begin(now)
    do {
      switch try SyncDatagram.decode(bytes) {
      case .presence(let counter, let shown, let wall)?:
        presence.receive(shown, counter: counter, wall: wall, from: member, now)
      case .preview(let stroke, let first, let points)?:
        strokes.receivePreview(of: stroke, first: first, points, from: member)
      case .application(let bytes)?:
        outbox.append(.data(bytes[...], from: member, isReliable: false))
      case nil: break
      }
    } catch {
      close(member, for: .malformed(error))
    }
    finish(from: member, now)
  }

  /// Runs `body`, and handles its error as that of a message of a member.
  private func handling(of member: MemberID, _ now: Moment, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as CodecError {
      close(member, for: .malformed(error))
    } catch let error as ReplicaError {
      if error == .viewer { permissions.viewerWasRefused() }
      close(member, for: error)
    } catch {
      reportFull(member, now)
    }
  }

  /// Reports that what a member made did not fit.
  ///
  /// This is not a breach by the member, because other members may have filled the board.
  func reportFull(_ member: MemberID, _ now: Moment) {
    guard peers[member]?.beginFullReport(now.uptime) ?? false else { return }
    outbox.append(.full(member))
  }

  /// Requests that the session close the link of a member, and ignores further messages on it.
  func close(_ member: MemberID, for error: ReplicaError) {
    peers[member]?.close()
    requests.remove(member)
    outbox.append(.protocolViolation(member, error))
  }

  private func handle(
    _ message: SyncMessage,
    from member: MemberID,
    _ now: Moment
  ) throws {
    switch message {
    case .batch(let bytes): try receiver.receiveBatch(bytes, at: 0, from: member, now)
    case .author(let message):
      try receiver.receive(message, from: member)
      memberIntroducedItself(member, now)
    case .head(let head): try receiver.receive(head, from: member)
    case .request(let request): answerSender.receive(request, from: member, now)
    case .nothingLacking(let number): try receiveNothingLacking(number, from: member, now)
    case .state(let report): reports.receive(report, from: member, now)
    case .assetRequest(let id): photos.serve(id, to: member)
    case .assetUnavailable(let id): photos.unavailable(id, from: member, now)
    case .profile(let profile):
      outbox.append(.profile(member, name: profile.name, icon: profile.icon))
    case .grant(let bytes): try permissions.receiveGrant(bytes, now)
    case .revocation(let bytes): try permissions.receiveRevocation(bytes, from: member, now)
    case .record(let bytes): try receiver.receiveRecord(bytes, from: member)
    case .application(let bytes):
      outbox.append(.data(bytes[...], from: member, isReliable: true))
    }
  }

  private func memberIntroducedItself(_ member: MemberID, _ now: Moment) {
    presence.membersChanged()
    permissions.updateRole(of: member)
    permissions.sendGrant(to: member, now)
    // A viewer is not asked, and an editor can become a viewer under another incarnation.
    guard let peer = peers[member], peer.mayBeAsked, !peer.isAsked, now.uptime >= peer.askAgain
    else { return }
    requests.insert(member)
  }

  // MARK: - Held messages

  /// Handles the held batches that are no longer early, or have waited for too long, and the messages
  /// behind them.
  ///
  /// If a batch has waited for too long, its early purges are left out. If the objects are created after
  /// all, the boards differ, and the repair (SYN-42) removes them.
  func releaseHeldMessages(_ now: Moment) {
    var isProgress = peers.states.contains { $0.held != nil }
    while isProgress {
      isProgress = false
      for member in members {
        guard let peer = peers[member], let held = peer.held else { continue }
        let isOverdue = held.isFull || now.uptime >= held.deadline
        guard isOverdue || !claims.isEarly(held.batch.batch, now) else { continue }
        isProgress = true
        let last = isOverdue ? claims.lastWritten(now) : [:]
        peer.held = nil
        begin(now)
        handling(of: member, now) {
          try receiver.apply(held.batch, purgingWithin: last, from: member, now)
        }
        finish(from: member, now)
        for message in held.messages { received(message, from: member, now: now) }
      }
    }
  }
}
