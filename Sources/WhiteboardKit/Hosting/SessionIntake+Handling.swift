import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// The handling of single events.
extension SessionIntake {
  private var replica: Replica { board.replica }
  private var members: Members { board.members }

  /// Passes an event to the component that is responsible for it.
  func dispatch(_ event: SessionEvent) {
    switch event {
    case .invitation(let invitation): invitations.received(invitation)
    case .invitationEnded(let id, let error): invitations.end(id.description, because: error)
    case .peerJoined(let peer): joined(peer)
    case .peerStateChanged(let peer, let state): changed(peer, to: state)
    case .peerLeft(let peer, let reason, _): left(peer, reason)
    case .message(let bytes, let peer):
      let member = MemberID(peer)
      board.perform(replica.received(bytes, from: member, now: runtime.now))
    case .datagram(let bytes, let peer):
      let member = MemberID(peer)
      board.perform(replica.receivedDatagram(bytes, from: member, now: runtime.now))
    case .datagramPath(let peer, let path):
      guard path == .link else { return }
      runtime.emit(
        .note(
          .init(
            code: "datagrams-over-link",
            message:
              "UDP does not reach \(members.label(of: peer)). Its pointer and unfinished lines appear with a delay."
          )
        )
      )
    case .resourceStarted(let info): board.transfers.resourceStarted(info)
    case .resourceProgress(let id, let bytes, let size): board.transfers.resourceProgressed(id, bytes, size)
    case .resourceFinished(let info, let result): board.transfers.resourceFinished(info, result)
    case .streamOpened(let stream):
      runtime.spawn { sharedBoard in
        if let readStream = sharedBoard.configuration.readStream {
          await readStream(stream, sharedBoard)
        } else {
          await sharedBoard.transfers.readStream(stream)
        }
      }
    case .warning(let warning):
      var message = UntrustedText(warning.message).escaped()
      switch warning.code {
      case SessionWarning.identityInUse: message += " (`whiteboard-peer identity new` on one of the two computers)"
      case SessionWarning.reachedThroughMember:
        message += " `whiteboard-peer doctor` names the command for the firewall; --relay auto finds a relay."
      default: break
      }
      runtime.emit(.warning(.init(code: warning.code, message: message)))
    }
  }

  // MARK: - Members

  private func joined(_ peer: Peer) {
    let id = peer.id
    invitations.joined(id)
    // If the peer's process restarted, messages to the old process can no longer be confirmed.
    board.outbox.leave(id)
    board.messages.endDeliveries(to: id, reason: DepartureReason.restarted.word)
    let member = Members.Member(
      name: peer.name,
      state: .connected,
      address: peer.address?.description,
      relay: peer.relay,
      since: runtime.clock.now
    )
    let isNew = members.add(id, member)
    board.outbox.join(peer, session)
    runtime.emit(.peerState(.init(peer: id.text, name: peer.name, state: .connected)))
    var event = BoardEvent.Joined(peer: id.text, name: peer.name)
    event.through = peer.relay?.text
    event.throughName = peer.relay.map(members.name(of:))
    runtime.emit(.joined(event))
    board.publisher.publish(.joined(board.publisher.member(id)))
    board.persistence.recordName(peer.name, of: id.text)
    board.perform(replica.peerJoined(MemberID(id), now: runtime.now))
    if id == session.hostPeer { localRemoval.readmitted() }
    board.roles.admit(peer)
    board.browsers.links.joined(peer)
    if isNew { discovery.membersChanged() }
    runtime.call { $0.admissionChanged() }
  }

  private func changed(_ peer: PeerID, to state: PeerState) {
    let shown: BoardEvent.PeerState.State =
      switch state {
      case .connecting: .connecting
      case .connected: .connected
      case .suspect: .suspect
      case .reconnecting: .reconnecting
      }
    guard members.setState(shown, of: peer) else { return }
    runtime.emit(.peerState(.init(peer: peer.text, name: members.name(of: peer), state: shown)))
    // The member may have been accepting data too slowly for some time, so check the deadlines now.
    runtime.wakeNow()
  }

  private func left(_ peer: PeerID, _ reason: DepartureReason) {
    let name = members.name(of: peer)
    // Only the host can remove members, so the same message from another member is not a removal.
    var isAboutUs = false
    switch reason {
    case .kicked(let words) where peer == session.hostPeer:
      isAboutUs = true
      localRemoval.removed(by: peer, reason: UntrustedText(words.displayed(width: EventText.wordsLimit)))
    case .refused(let error) where error.code == .kicked: localRemoval.reportRefusal(by: peer, because: error)
    default: break
    }
    if reason == .lost {
      runtime.emit(.peerState(.init(peer: peer.text, name: name, state: .lost)))
      members.remember(lost: peer)
    }
    let message: UntrustedText? =
      switch reason {
      case .refused(let error): UntrustedText(error.message)
      case .kicked(let words) where !words.isEmpty: UntrustedText(words.displayed)
      default: nil
      }
    board.publisher.publish(.left(board.publisher.member(peer)))
    board.messages.endDeliveries(to: peer, reason: reason.word) { undelivered in
      runtime.emit(
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
    remove(peer)
  }

  /// Removes a member that left.
  func remove(_ peer: PeerID) {
    board.outbox.leave(peer)
    guard members.remove(peer) else { return }
    board.perform(replica.peerLeft(MemberID(peer), now: runtime.now))
    discovery.membersChanged()
    runtime.call { $0.admissionChanged() }
  }
}
