import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Handles the events of the session of an open board. The events of each member are handled in order, and the members
/// take turns, so no member uses more than its share of processor time. Confined to the actor of its board.
final class SessionIntake {
  /// The processor time, in seconds, after which the intake lets other tasks of the board run.
  private static let workAtOnce = 0.005
  /// The estimated processor time for writing a byte of output, in seconds.
  private static let workPerByte = 40e-9

  let runtime: BoardRuntime
  let board: ActiveBoard
  let invitations: Invitations
  let localRemoval: LocalRemoval
  let discovery: BoardDiscovery
  private var incoming = IncomingEvents()
  /// Whether an event may have arrived since the handler last waited.
  private var isSignaled = false
  private var handler: CheckedContinuation<Void, Never>?
  /// Whether the session has no more events.
  private var isReadToEnd = false
  private var hasEnded = false
  private var endWaiter: CheckedContinuation<Void, Never>?

  var session: Session { board.session }

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
  }

  nonisolated(nonsending) func readEvents() async {
    for await event in session.events {
      switch incoming.append(event, now: runtime.uptime) {
      case .pass: break
      case .stopReading(let peer): session.setReading(false, from: peer)
      // A relayed member has no link of its own, so reading cannot stop. The member may also have left in the meantime.
      case .disconnect(let peer): try? await session.disconnect(peer, because: .tooFast)
      }
      signal()
      _ = await runtime.wait { self.incoming.hasRoom }
    }
    endReading()
  }

  private func endReading() {
    isReadToEnd = true
    signal()
  }

  fileprivate func signal() {
    isSignaled = true
    handler?.resume()
    handler = nil
  }

  /// Waits until there may be an event to handle, or the session has no more events.
  private nonisolated(nonsending) func untilSignaled() async {
    defer { checkIsolation(#isolation) }
    if !isSignaled { await withCheckedContinuation { handler = $0 } }
    isSignaled = isReadToEnd
  }

  nonisolated(nonsending) func handleEvents() async {
    defer { markEnded() }
    await handleIncoming()
    let reason = session.endReason?.code.rawValue ?? "ending"
    for peer in board.members.ids {
      board.messages.endDeliveries(to: peer, reason: reason)
      remove(peer)
    }
    invitations.endRequests()
    if let end = session.endReason, end.code == .kicked {
      localRemoval.removed(by: session.hostPeer, reason: UntrustedText(end.remark))
    }
    discovery.stopAnnouncing()
    runtime.changed()
  }

  private nonisolated(nonsending) func handleIncoming() async {
    defer { checkIsolation(#isolation) }
    var work = 0.0
    while !hasEnded {
      switch incoming.nextStep(now: runtime.uptime) {
      case .handle(let event, let peer):
        let caused = measureWork { dispatch(event) }
        if let peer, event.isUnasked { incoming.charge(caused, to: peer, now: runtime.uptime) }
        board.persistence.recordTraffic()
        runtime.changed()
        await runtime.room()
        await board.persistence.room()
        // The output of this message must be written before the next large message arrives (MSG-5).
        if let peer, incoming.resume(peer) { session.setReading(true, from: peer) }
        work += caused
        guard work >= Self.workAtOnce else { continue }
        work = 0
        await runtime.yield()
      case .wait(let due):
        // This task is canceled below, so no code awaits it.
        let timer = Task { [clock = runtime.clock, start = runtime.start, sharedBoard = runtime.sharedBoard] in
          try await clock.sleep(until: start + due)
          await sharedBoard.signalIntake()
        }
        await untilSignaled()
        timer.cancel()
        if isReadToEnd { incoming.ignoresShares = true }
      case .none:
        incoming.trim(now: runtime.uptime)
        guard !isReadToEnd else { return }
        await untilSignaled()
      }
    }
  }

  /// Returns the processor time of `work` in seconds, including an estimate for writing its output.
  private func measureWork(_ work: () -> Void) -> Double {
    let (start, bytes) = (SystemTime.processorTime, runtime.emittedBytes)
    work()
    return SystemTime.processorTime - start + Double(runtime.emittedBytes - bytes) * Self.workPerByte
  }

  // MARK: - The end

  /// Waits until the events of the ended session are handled, so that none of them changes the board later. At `limit`,
  /// the remaining events are dropped. Other members have their changes, so no change is lost.
  nonisolated(nonsending) func finish(before limit: ContinuousClock.Instant) async {
    defer { checkIsolation(#isolation) }
    guard !hasEnded else { return }
    runtime.spawn { [clock = runtime.clock] sharedBoard in
      try? await clock.sleep(until: limit)
      sharedBoard.serving?.intake.dropEvents()
    }
    await withCheckedContinuation { endWaiter = $0 }
  }

  private func dropEvents() {
    markEnded()
    endReading()
  }

  private func markEnded() {
    hasEnded = true
    endWaiter?.resume()
    endWaiter = nil
  }
}

extension SharedBoard {
  fileprivate func signalIntake() { serving?.intake.signal() }
}

extension SessionIntake {
  private var replica: Replica { board.replica }
  private var members: Members { board.members }

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
    case .streamOpened(let stream) where BroadcastRequest.isMeant(by: stream.name):
      runtime.spawn { sharedBoard in await sharedBoard.broadcasts.serve(stream) }
    case .streamOpened(let stream):
      runtime.spawn { sharedBoard in
        if let readStream = sharedBoard.configuration.readStream {
          // The program's function may block its thread.
          await withTaskExecutorPreference(globalConcurrentExecutor) { await readStream(stream, sharedBoard) }
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
      case SessionWarning.largeMesh:
        message += " To change it, close the board, and host it again with --topology star."
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
    let route = peer.relay.map { (member: MemberID($0), name: members.name(of: $0)) }
    runtime.report(.joined(members.described(id)), .init(member: MemberID(id), name: peer.name, route: route))
    board.persistence.recordName(peer.name, of: id.text)
    board.perform(replica.peerJoined(MemberID(id), now: runtime.now))
    if id == session.hostPeer { localRemoval.readmitted() }
    board.roles.admit(peer)
    if peer.isRelay, board.configuration.isHosting(board.session) { admitRelay(id) }
    board.browsers.links.joined(peer)
    if isNew { discovery.announcementChanged() }
    runtime.call { $0.admissionChanged() }
  }

  /// Gives the rights of a relay to a peer that the session asked to relay it, perhaps because another relay recommended
  /// it (RLY-22).
  private func admitRelay(_ peer: PeerID) {
    runtime.spawn { [session = board.session] sharedBoard in
      guard await session.isCarried(by: peer) else { return }
      sharedBoard.board?.roles.admit(relay: peer)
    }
  }

  private func changed(_ peer: PeerID, to state: PeerState) {
    let shown: SharedBoard.News.PeerState.State =
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
    board.messages.endDeliveries(to: peer, reason: reason.word) { undelivered in
      let departure = SharedBoard.ChangeDetails.Departure(
        reason: reason.word,
        message: message,
        undelivered: undelivered,
        removedUs: isAboutUs
      )
      runtime.report(.left(members.described(peer)), .init(member: MemberID(peer), name: name, departure: departure))
    }
    remove(peer)
  }

  func remove(_ peer: PeerID) {
    board.outbox.leave(peer)
    guard members.remove(peer) else { return }
    board.perform(replica.peerLeft(MemberID(peer), now: runtime.now))
    discovery.announcementChanged()
    runtime.call { $0.admissionChanged() }
  }
}
