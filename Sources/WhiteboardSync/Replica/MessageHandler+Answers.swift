import Whiteboard

/// Handles answers and datagrams of members.
extension MessageHandler {
  /// Handles a datagram.
  func receiveDatagram(_ bytes: [UInt8], from member: MemberID, _ now: Moment) {
    guard core.peers[member]?.isClosed == false else { return }
    core.presence.heard(member, now)
    core.begin(now)
    do {
      switch try SyncDatagram.decode(bytes) {
      case .presence(let counter, let shown, let wall)?:
        core.presence.receive(shown, counter: counter, wall: wall, from: member, now)
      case .preview(let stroke, let first, let points)?:
        core.strokes.receivePreview(of: stroke, first: first, points, from: member)
      case .application(let bytes)?:
        core.outbox.append(.data(bytes[...], from: member, isReliable: false))
      case nil: break
      }
    } catch {
      close(member, for: .malformed(error))
    }
    core.finish(from: member, now)
  }

  /// Handles the answer to the request in flight.
  ///
  /// If its signatures are not verified yet, the answer waits.
  func handleAnswer(
    _ bytes: [UInt8],
    to request: UInt64,
    from member: MemberID,
    _ verification: VerificationState,
    _ now: Moment
  ) {
    guard let peer = core.peers[member], peer.requestInFlight == request else { return }
    core.begin(now)
    do {
      var verification = verification
      let checked = try core.checking(&verification, for: member) {
        () throws -> CheckedAnswer in try core.answerReceiver.check(bytes, from: member)
      }
      guard let checked else {
        peer.unverifiedAnswer = UnverifiedAnswer(bytes: bytes, verification: verification)
        return core.finish(from: member, now)
      }
      let buckets = peer.requestBuckets
      peer.endRequest()
      if try core.answerReceiver.merge(checked, repairing: buckets, from: member, now) {
        didApplyAnswer(to: request, of: member, now)
        core.reports.reportSoonToAll(now)
      }
    } catch let error as CodecError {
      close(member, for: .malformed(error))
    } catch let error as ReplicaError {
      close(member, for: error)
    } catch is UnrecordedAuthors {
      peer.endRequest()
      core.outbox.append(.unrecorded(member))
      peer.postponeRequests(now.uptime)
    } catch {
      peer.endRequest()
      reportFull(member, now)
      peer.postponeRequests(now.uptime)
    }
    // Send the next request last, so that its context includes the changes of this answer.
    core.requests.sendNext(now)
    core.finish(from: member, now)
  }

  func receiveNothingLacking(
    _ number: UInt64,
    from member: MemberID,
    _ now: Moment
  ) throws(ReplicaError) {
    guard let peer = core.peers[member], number <= peer.lastRequest else {
      throw .unrequestedAnswer
    }
    guard number == peer.requestInFlight else { return }
    peer.endRequest()
    didApplyAnswer(to: number, of: member, now)
  }

  private func didApplyAnswer(to request: UInt64, of member: MemberID, _ now: Moment) {
    core.peers[member]?.didApplyAnswer(to: request)
    core.outbox.append(.caughtUp(member))
    core.peers[member]?.report(by: now.uptime)
  }
}
