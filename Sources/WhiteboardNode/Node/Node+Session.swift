import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

extension Node {
  /// Takes in what happens in the session, for as long as it lasts.
  func followSession(_ session: Session) async {
    await configuration.beforeSessionEvents?(self)
    await handleEvents(of: session)
    // Left, or ended from outside: what is on the board stays on it.
    let reason = session.endReason?.code.rawValue ?? "ending"
    for peer in members.ids {
      board?.messages.endDeliveries(to: peer, reason: reason)
      forget(peer)
    }
    invitations.endRequests()
    if let end = session.endReason, end.code == .kicked {
      localRemoval.removed(by: session.hostPeer, reason: end.remark)
    }
    // Nobody can join here any more, so nobody should find the board through us.
    participantSource.finish()
    isAnnouncing = false
    changed()
    // A user may still look at the board, but the remaining commands of a script would reach no
    // member.
    if case .run = configuration.script, let reason = session.endReason, reason.code == .kicked {
      let message = localRemoval.event?.message ?? reason.message
      end(.failed(NodeError(.notAllowed, message, isRemoval: true)))
    }
  }

  /// Handles the events of the session until it is over.
  ///
  /// The events of each member are handled in their order, and the members take turns.
  private func handleEvents(of session: Session) async {
    incoming = IncomingEvents()
    let (signals, source) = AsyncStream.makeStream(
      of: Void.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    async let isOver: Void = handleWaiting(session, signals, source)
    for await event in session.events {
      switch incoming.append(event, now: runtime.uptime) {
      case .pass: break
      case .stopReading(let peer): session.setReading(false, from: peer)
      // A relayed member has no link of its own that could be stopped. It may be gone meanwhile.
      case .disconnect(let peer): try? await session.disconnect(peer, because: .tooFast)
      }
      source.yield()
      _ = await wait { self.incoming.hasRoom }
    }
    source.finish()
    await isOver
  }

  private func handleWaiting(
    _ session: Session,
    _ signals: AsyncStream<Void>,
    _ source: AsyncStream<Void>.Continuation
  ) async {
    var signal = signals.makeAsyncIterator()
    var work = 0.0
    while true {
      switch incoming.next(now: runtime.uptime) {
      case .handle(let event, let peer):
        let caused = handleMeasured(event, session)
        if let peer, event.isUnasked { incoming.charge(caused, to: peer, now: runtime.uptime) }
        persistence.recordTraffic()
        changed()
        await runtime.room()
        await persistence.room()
        // The next large message must not arrive before the output of this one is written (MSG-5).
        if let peer, incoming.resume(peer) { session.setReading(true, from: peer) }
        work += caused
        guard work >= Self.workAtOnce else { continue }
        work = 0
        await Task.yield()
      case .wait(let due):
        let timer = Task { [clock = runtime.clock, start = runtime.start] in
          try await clock.sleep(until: start + due)
          source.yield()
        }
        if await signal.next(isolation: self) == nil { incoming.ignoresShares = true }
        timer.cancel()
      case .none:
        incoming.trim(now: runtime.uptime)
        guard await signal.next(isolation: self) != nil else {
          if incoming.isEmpty { return }
          incoming.ignoresShares = true
          continue
        }
      }
    }
  }

  /// Handles an event.
  /// - Returns: The processor time that it took, in seconds, including an estimate for its output.
  private func handleMeasured(_ event: SessionEvent, _ session: Session) -> Double {
    let (began, bytes) = (SystemTime.processorTime, runtime.emittedBytes)
    handle(event, session)
    return SystemTime.processorTime - began + Double(runtime.emittedBytes - bytes)
      * Self.workPerByte
  }

  /// How many seconds of work the node does before it lets commands and other tasks run.
  private static let workAtOnce = 0.005
  /// The estimated processor time, in seconds, for writing a byte of output.
  private static let workPerByte = 40e-9

  private func handle(_ event: SessionEvent, _ session: Session) {
    switch event {
    case .invitation(let invitation):
      invitations.received(invitation)
    case .invitationEnded(let id, let error):
      invitations.end(id.description, because: error)
    case .peerJoined(let peer):
      joined(peer, session)
    case .peerStateChanged(let peer, let state):
      changed(peer, to: state)
    case .peerLeft(let peer, let reason, _):
      left(peer, reason, session)
    case .message(let bytes, let peer):
      guard let member = MemberID(peer.bytes) else { return }
      replica?.received(bytes, from: member, now: now)
      performActions()
    case .datagram(let bytes, let peer):
      guard let member = MemberID(peer.bytes) else { return }
      replica?.receivedDatagram(bytes, from: member, now: now)
      performActions()
    case .datagramPath(let peer, let path):
      guard path == .link else { return }
      emit(
        .note(
          .init(
            code: "datagrams-over-link",
            message:
              "UDP does not pass to \(members.label(of: peer)); what is drawn there shows a little "
              + "later."
          )
        )
      )
    case .resourceStarted(let info):
      transfers.resourceStarted(info)
    case .resourceProgress(let id, let bytes, let size):
      transfers.resourceProgressed(id, bytes, size)
    case .resourceFinished(let info, let result):
      transfers.resourceFinished(info, result)
    case .streamOpened(let stream):
      spawn { node in await node.transfers.readStream(stream) }
    case .warning(let warning):
      emit(
        .warning(.init(code: warning.code, message: TerminalText.cleaned(warning.message)))
      )
    }
  }

  // MARK: - Members

  private func joined(_ peer: Peer, _ session: Session) {
    // A process that took another's place is owed nothing of what that one was.
    outbox.leave(peer.id)
    board?.messages.endDeliveries(to: peer.id, reason: DepartureReason.restarted.word)
    let member = Members.Member(
      name: peer.name.raw,
      state: .connected,
      address: peer.address?.description,
      since: clock.now
    )
    let isNew = members.add(peer.id, member)
    outbox.join(peer, session)
    let id = peer.id
    emit(.peerState(.init(peer: id.text, name: peer.name.raw, state: .connected)))
    emit(.joined(.init(peer: id.text, name: peer.name.raw)))
    persistence.recordName(peer.name.raw, of: id.text)
    if let member = MemberID(id.bytes) {
      replica?.peerJoined(member, now: now)
      performActions()
      if id == session.hostPeer { localRemoval.readmitted() }
      board?.roles.admit(peer)
    }
    if isNew {
      participantSource.yield()
    }
  }

  private func changed(_ peer: PeerID, to state: PeerState) {
    let shown: NodeEvent.PeerState.State =
      switch state {
      case .connecting: .connecting
      case .connected: .connected
      case .suspect: .suspect
      case .reconnecting: .reconnecting
      }
    guard members.setState(shown, of: peer) else { return }
    emit(.peerState(.init(peer: peer.text, name: members.name(of: peer), state: shown)))
    // One that takes nothing may be dropped, now that it is there.
    runtime.wakeNow()
  }

  private func left(_ peer: PeerID, _ reason: DepartureReason, _ session: Session) {
    let name = members.name(of: peer)
    // Only the host removes members, so this is its word about us.
    var isAboutUs = false
    switch reason {
    case .kicked(let words) where peer == session.hostPeer:
      isAboutUs = true
      localRemoval.removed(by: peer, reason: words.displayed(width: EventText.wordsLimit))
    case .refused(let error) where error.code == .kicked && peer != session.hostPeer:
      localRemoval.reportRefusal(by: peer, because: error)
    default: break
    }
    if reason == .lost {
      emit(.peerState(.init(peer: peer.text, name: name, state: .lost)))
      members.remember(lost: peer)
    }
    var message: String?
    switch reason {
    case .refused(let error): message = error.message
    case .kicked(let words) where !words.isEmpty: message = words.displayed
    default: break
    }
    board?.messages.endDeliveries(to: peer, reason: reason.word) { undelivered in
      emit(
        .left(
          .init(
            peer: peer.text,
            name: name,
            reason: reason.word,
            message: message,
            undelivered: undelivered,
            removedUs: isAboutUs ? true : nil
          )
        )
      )
    }
    forget(peer)
  }

  private func forget(_ peer: PeerID) {
    outbox.leave(peer)
    guard members.remove(peer) else { return }
    if let member = MemberID(peer.bytes) {
      replica?.peerLeft(member, now: now)
      performActions()
    }
    participantSource.yield()
  }
}
