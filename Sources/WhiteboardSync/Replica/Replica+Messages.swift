import Whiteboard

/// Handling received messages, and refusing invalid ones.
extension Replica {
  /// A reliable message arrived.
  ///
  /// After a breach nothing more of that link counts, until its member joins anew.
  public func received(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member]?.isClosed == false else { return }
    heard(member, now)
    begin(now)
    handling(of: member, now) {
      if let peer = peers[member], peer.held != nil {
        peer.held?.append(bytes)
      } else if bytes.first == SyncMessage.batchKind {
        // Most messages are batches: they are read where they are.
        try receiveBatch(bytes, at: 1, from: member, now)
      } else if bytes.first == SyncMessage.applicationKind {
        // It can be large, and is not copied.
        actions.append(.data(bytes.dropFirst(), from: member, isReliable: true))
      } else if let message = try SyncMessage.decode(bytes) {
        try handle(message, from: member, now)
        sendNextRequest(now)
      }
    }
    finish(from: member, now)
    releaseHeld(now)
  }

  /// Runs `body`, and handles its error as that of a message of a member.
  func handling(of member: MemberID, _ now: Moment, _ body: () throws -> Void) {
    do {
      try body()
    } catch let error as CodecError {
      violated(member, .malformed(error))
    } catch let error as ReplicaError {
      if error == .viewer { refusals.viewer += 1 }
      violated(member, error)
    } catch {
      hasNoRoom(for: member, now)
    }
  }

  /// A datagram arrived.
  public func receivedDatagram(_ bytes: [UInt8], from member: MemberID, now: Moment) {
    guard peers[member]?.isClosed == false else { return }
    heard(member, now)
    begin(now)
    do {
      switch try SyncDatagram.decode(bytes) {
      case .presence(let counter, let shown, let wall)?:
        takePresence(counter, shown, of: member)
        if let wall { takeClock(wall, counter, of: member, now) }
      case .preview(let stroke, let first, let points)?:
        preview(stroke, first, points, from: member)
      case .application(let bytes)?:
        actions.append(.data(bytes[...], from: member, isReliable: false))
      case nil: break
      }
    } catch {
      violated(member, .malformed(error))
    }
    finish(from: member, now)
  }

  /// Has users told that what a member made did not fit.
  ///
  /// That is nobody's breach: what filled the board may have come from others.
  func hasNoRoom(for member: MemberID, _ now: Moment) {
    guard peers[member]?.mayTellFull(now.uptime) ?? false else { return }
    actions.append(.full(member))
  }

  /// Requests that the session close the link of a member, and ignores further messages on it.
  func violated(_ member: MemberID, _ error: ReplicaError) {
    peers[member]?.close()
    requestQueue.removeAll { $0 == member }
    actions.append(.protocolViolation(member, error))
  }

  private func handle(
    _ message: SyncMessage,
    from member: MemberID,
    _ now: Moment
  ) throws {
    switch message {
    case .batch(let bytes): try receiveBatch(bytes, at: 0, from: member, now)
    case .author(let message): try receive(message, from: member, now)
    case .head(let head): try receive(head, from: member)
    case .request(let request): receive(request, from: member, now)
    case .nothingLacking(let number): try receiveNothingLacking(number, from: member, now)
    case .state(let report): receive(report, from: member, now)
    case .assetRequest(let id): serveAsset(id, to: member)
    case .assetUnavailable(let id):
      perform(exchange.unavailable(id, from: member, now: now.uptime))
    case .profile(let profile):
      actions.append(.profile(member, name: profile.name, icon: profile.icon))
    case .grant(let bytes): try receiveGrant(bytes, from: member, now)
    case .revocation(let bytes): try receiveRevocation(bytes, from: member, now)
    case .record(let bytes): try receiveRecord(bytes, from: member)
    case .application(let bytes):
      actions.append(.data(bytes[...], from: member, isReliable: true))
    }
  }
}
