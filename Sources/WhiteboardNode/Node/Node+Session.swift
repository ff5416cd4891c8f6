import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// The events of the session.
extension Node {
  /// Handles the events of the session until it ends, and the departure of all members then.
  func follow(_ session: Session) async {
    await configuration.beforeSessionEvents?(self)
    let reader = SessionReader(runtime, persistence, session)
    sessionReader = reader
    spawn { node in await node.sessionReader?.read() }
    await reader.handleEvents { handle($0, session) }
    let reason = session.endReason?.code.rawValue ?? "ending"
    for peer in members.ids {
      board?.messages.endDeliveries(to: peer, reason: reason)
      forget(peer)
    }
    invitations.endRequests()
    if let end = session.endReason, end.code == .kicked {
      localRemoval.removed(by: session.hostPeer, reason: end.remark)
    }
    discovery.stopAnnouncing()
    changed()
    // A user may still look at the board, but the other commands of a script would reach no member.
    if case .run = configuration.script, let reason = session.endReason, reason.code == .kicked {
      let message = localRemoval.event?.message ?? reason.message
      end(.failed(NodeError(.notAllowed, message, isRemoval: true)))
    }
  }

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
              "UDP does not reach \(members.label(of: peer)), so its drawing appears a little later."
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
    // If the process of the peer restarted, messages to the former process can no longer be confirmed.
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
      discovery.membersChanged()
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
    // A member that accepts no messages may now be overdue for removal.
    runtime.wakeNow()
  }

  private func left(_ peer: PeerID, _ reason: DepartureReason, _ session: Session) {
    let name = members.name(of: peer)
    // Only the host removes members, so only its message removes the local peer.
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
    discovery.membersChanged()
  }
}
