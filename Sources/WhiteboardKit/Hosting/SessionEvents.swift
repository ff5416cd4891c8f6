import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Handles the events of the session of an open board.
///
/// Confined to the actor of its board.
final class SessionEvents {
  private let runtime: BoardRuntime
  private let board: ActiveBoard
  private let invitations: Invitations
  private let localRemoval: LocalRemoval
  private let discovery: BoardDiscovery
  private let reader: SessionReader
  /// Whether no event will be handled any more.
  private var hasEnded = false
  private var endWaiter: CheckedContinuation<Void, Never>?

  private var session: Session { board.session }
  private var replica: Replica { board.replica }
  private var members: Members { board.members }

  init(
    _ runtime: BoardRuntime,
    _ board: ActiveBoard,
    invitations: Invitations,
    localRemoval: LocalRemoval,
    discovery: BoardDiscovery
  ) {
    self.runtime = runtime
    self.board = board
    self.invitations = invitations
    self.localRemoval = localRemoval
    self.discovery = discovery
    reader = SessionReader(runtime, board.persistence, board.session)
  }

  /// Reads events until the session ends, while ``handle()`` handles them.
  nonisolated(nonsending) func read() async { await reader.read() }

  /// Handles events until the session ends, and then removes all members and ends their deliveries.
  nonisolated(nonsending) func handle() async {
    defer { ended() }
    await reader.handleEvents { handle($0) }
    let reason = session.endReason?.code.rawValue ?? "ending"
    for peer in members.ids {
      board.messages.endDeliveries(to: peer, reason: reason)
      remove(peer)
    }
    invitations.endRequests()
    if let end = session.endReason, end.code == .kicked {
      localRemoval.removed(by: session.hostPeer, reason: end.remark)
    }
    discovery.stopAnnouncing()
    runtime.changed()
  }

  /// Waits until the events of the ended session are handled, so that none of them changes the board later.
  ///
  /// - Parameter limit: The time at which the remaining events are dropped. Other members have the
  ///   changes in them.
  nonisolated(nonsending) func finish(before limit: ContinuousClock.Instant) async {
    defer { checkIsolation(#isolation) }
    guard !hasEnded else { return }
    runtime.spawn { [clock = runtime.clock] board in
      try? await clock.sleep(until: limit)
      board.serving?.events.drop()
    }
    await withCheckedContinuation { endWaiter = $0 }
  }

  private func drop() {
    reader.dropEvents()
    ended()
  }

  private func ended() {
    hasEnded = true
    endWaiter?.resume()
    endWaiter = nil
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .invitation(let invitation): invitations.received(invitation)
    case .invitationEnded(let id, let error): invitations.end(id.description, because: error)
    case .peerJoined(let peer): joined(peer)
    case .peerStateChanged(let peer, let state): changed(peer, to: state)
    case .peerLeft(let peer, let reason, _): left(peer, reason)
    case .message(let bytes, let peer):
      guard let member = MemberID(peer.bytes) else { return }
      board.perform(replica.received(bytes, from: member, now: runtime.now))
    case .datagram(let bytes, let peer):
      guard let member = MemberID(peer.bytes) else { return }
      board.perform(replica.receivedDatagram(bytes, from: member, now: runtime.now))
    case .datagramPath(let peer, let path):
      guard path == .link else { return }
      runtime.emit(
        .note(
          .init(
            code: "datagrams-over-link",
            message:
              "UDP does not reach \(members.label(of: peer)), so its drawing appears a little later."
          )
        )
      )
    case .resourceStarted(let info): board.transfers.resourceStarted(info)
    case .resourceProgress(let id, let bytes, let size):
      board.transfers.resourceProgressed(id, bytes, size)
    case .resourceFinished(let info, let result): board.transfers.resourceFinished(info, result)
    case .streamOpened(let stream):
      runtime.spawn { node in await node.transfers.readStream(stream) }
    case .warning(let warning):
      runtime.emit(
        .warning(.init(code: warning.code, message: TerminalText.cleaned(warning.message)))
      )
    }
  }

  // MARK: - Members

  private func joined(_ peer: Peer) {
    let id = peer.id
    // If the peer's process restarted, messages to the old process can no longer be confirmed.
    board.outbox.leave(id)
    board.messages.endDeliveries(to: id, reason: DepartureReason.restarted.word)
    let member = Members.Member(
      name: peer.name.raw,
      state: .connected,
      address: peer.address?.description,
      since: runtime.clock.now
    )
    let isNew = members.add(id, member)
    board.outbox.join(peer, session)
    runtime.emit(.peerState(.init(peer: id.text, name: peer.name.raw, state: .connected)))
    runtime.emit(.joined(.init(peer: id.text, name: peer.name.raw)))
    board.publisher.publish(.joined(board.publisher.member(id)))
    board.persistence.recordName(peer.name.raw, of: id.text)
    if let member = MemberID(id.bytes) {
      board.perform(replica.peerJoined(member, now: runtime.now))
      if id == session.hostPeer { localRemoval.readmitted() }
      board.roles.admit(peer)
    }
    if isNew { discovery.membersChanged() }
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
    // The member may already have accepted data too slowly for too long, so check the deadlines
    // now.
    runtime.wakeNow()
  }

  private func left(_ peer: PeerID, _ reason: DepartureReason) {
    let name = members.name(of: peer)
    // Only the host can remove members, so the same message of another member is not a removal.
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
      runtime.emit(.peerState(.init(peer: peer.text, name: name, state: .lost)))
      members.remember(lost: peer)
    }
    let message: String? =
      switch reason {
      case .refused(let error): error.message
      case .kicked(let words) where !words.isEmpty: words.displayed
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

  private func remove(_ peer: PeerID) {
    board.outbox.leave(peer)
    guard members.remove(peer) else { return }
    if let member = MemberID(peer.bytes) {
      board.perform(replica.peerLeft(member, now: runtime.now))
    }
    discovery.membersChanged()
  }
}
