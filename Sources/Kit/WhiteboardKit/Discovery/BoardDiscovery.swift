import PeerCore
import PeerDiscovery
import PeerSession

/// Reports boards that appear and disappear, and passes peers of the local board to the session. Confined to the actor
/// of its board.
final class BoardDiscovery {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let members: Members
  private(set) var nearby = Nearby()
  private var own: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
  var ownBoard: UntrustedText? { own.values.first?.announcement.boardName }
  private(set) var problem: DiscoveryProblem?
  private(set) var isAnnounced = false {
    didSet { runtime.call { [isAnnounced] in $0.serving?.setAnnounced(isAnnounced) } }
  }
  private var announcingProblem: DiscoveryProblem?
  private var ownAddresses: [PeerAddress]?
  private var announcedSession: SessionID?
  private var isReadyReported = false
  private let announcementChanges: AsyncStream<Void>
  private let announcementChangeSource: AsyncStream<Void>.Continuation

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    (announcementChanges, announcementChangeSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: - Browsing

  /// Searches for boards until the local board closes. Announcements with the local key are not reported. They show
  /// whether other computers can find the local board, or why a guest finds no other board. They also reveal another
  /// computer with the same key.
  func browse(own: PeerID, preferring known: KnownPeers) {
    guard let discovery = configuration.discovery, !configuration.isRelay else { return }
    let query = BrowserQuery(excluding: nil, preferring: known.preference)
    runtime.spawn { sharedBoard in
      await discovery.browse(query) { events in
        for await event in events {
          sharedBoard.discovery.handle(event, own)
          await sharedBoard.runtime.room()
        }
      }
    }
  }

  private func handle(_ event: BrowserEvent, _ own: PeerID) {
    switch event {
    case .found(let peer) where peer.announcement.peer.bytes == own.bytes,
      .updated(let peer) where peer.announcement.peer.bytes == own.bytes:
      self.own[peer.id] = peer
      if isAnnouncement(peer) { ownAddresses = peer.addresses }
      reportCopy(peer)
    case .lost(let peer) where peer.announcement.peer.bytes == own.bytes:
      self.own[peer.id] = nil
      if isAnnouncement(peer) { ownAddresses = nil }
    case .found(let peer):
      nearby.insert(peer)
      runtime.emit(.peerFound(SharedBoard.News.FoundBoard(peer)))
      report(peer)
    case .updated(let peer):
      nearby.insert(peer)
      runtime.emit(.peerUpdated(SharedBoard.News.FoundBoard(peer)))
      report(peer)
    case .lost(let peer):
      nearby.remove(peer)
      // A lost announcement is only a hint to the session: the link to the peer may still work.
      session(of: peer)?.vanished(PeerID(claimed: peer.announcement.peer))
      runtime.emit(.peerLost(SharedBoard.News.FoundBoard(peer)))
    case .unavailable(let problem):
      self.problem = problem
      if isWanted, problem != announcingProblem { warn(problem.description) }
    case .available:
      if problem != nil, isWanted {
        let message = "Boards nearby can be found."
        runtime.emit(.note(.init(code: SharedBoard.News.Remark.discoveryAvailable, message: message)))
      }
      problem = nil
    }
    runtime.changed()
  }

  /// Whether to inform the user if discovery does not work. A host that does not announce its board, and does not look
  /// for a relay nearby, does not depend on discovery. A guest with a link or an address does not depend on it either:
  /// its host announces the board.
  private var isWanted: Bool {
    switch configuration.part {
    case .join(.link, _), .join(.address, _): false
    case .join: true
    case .host, .keep: configuration.isAnnounced || configuration.carrier == .nearby
    }
  }

  private func warn(_ message: String) {
    runtime.emit(.warning(.init(code: SharedBoard.News.Remark.discoveryUnavailable, message: message)))
  }

  // MARK: - Peers of the local board

  /// Passes the peers that announce the session's board to the session (MEM-9).
  func reportPeers(to session: Session) {
    for peer in nearby.announcers(of: session.id) { report(peer, to: session) }
    for peer in own.values { reportCopy(peer) }
  }

  /// Lets the session check whether another computer announces its board with the local key (DSC-14).
  private func reportCopy(_ peer: DiscoveredPeer) {
    guard let session = session(of: peer),
      SessionIncarnation(peer.announcement.incarnation.value) != session.incarnation
    else { return }
    session.foundOwnKey(at: peer.addresses)
  }

  private func report(_ peer: DiscoveredPeer) { if let session = session(of: peer) { report(peer, to: session) } }

  private func report(_ peer: DiscoveredPeer, to session: Session) {
    let id = PeerID(claimed: peer.announcement.peer)
    session.found(id, at: peer.addresses, as: SessionIncarnation(peer.announcement.incarnation.value))
  }

  private func session(of peer: DiscoveredPeer) -> Session? {
    guard let session = runtime.call({ $0.session }), peer.announcement.session.bytes == session.id.bytes else {
      return nil
    }
    return session
  }

  // MARK: - Announcing

  func announce(_ board: BoardSession, _ transport: PeerTransport) {
    guard configuration.isAnnounced, let discovery = configuration.discovery, let port = UInt16(exactly: transport.port)
    else { return }
    announcedSession = board.session.id
    var announcement = Announcement(
      peer: AnnouncedPeerID(transport.peerID),
      session: AnnouncedSessionID(board.session.id),
      incarnation: AnnouncedIncarnation(board.session.incarnation.value),
      role: configuration.isRelay ? .relay : .member,
      boardName: board.name,
      hostName: members.ownName,
      participants: 1
    )
    announcement.admission = board.admission
    let first = announcement
    runtime.spawn { sharedBoard in
      let changes = sharedBoard.discovery.announcementChanges
      await discovery.advertise(Advertisement(port: port, announcement: first)) { advertising in
        sharedBoard.runtime.spawn { sharedBoard in
          for await event in advertising.events { sharedBoard.discovery.handle(event, transport) }
        }
        var announcement = first
        for await _ in changes {
          announcement.participants = UInt16(clamping: sharedBoard.members.count + 1)
          announcement.hostName = UntrustedText(sharedBoard.members.ownName)
          announcement.admission = sharedBoard.phase.board?.admission
          await advertising.update(announcement)
        }
      }
    }
  }

  /// Call this function after each change of the members, of the admission policy or of the local display name.
  func announcementChanged() { announcementChangeSource.yield() }

  func stopAnnouncing() {
    announcementChangeSource.finish()
    announcedSession = nil
    isAnnounced = false
  }

  func readyReported() { isReadyReported = true }

  private func handle(_ event: AdvertiserEvent, _ transport: PeerTransport) {
    guard announcedSession != nil else { return }
    switch event {
    case .announced:
      announcingProblem = nil
      guard !isAnnounced else { return }
      isAnnounced = true
      // If the announcement is confirmed before the event `ready`, that event reports the confirmation.
      if isReadyReported {
        let code = runtime.call { $0.phase.board?.code }.map { " --code \($0.text)" } ?? ""
        let message = "On this network: whiteboard-peer join\(code)"
        runtime.emit(.note(.init(code: SharedBoard.News.Remark.announced, message: message)))
      }
      runtime.spawn { sharedBoard in await sharedBoard.discovery.checkAnnouncement(await transport.addresses()) }
    case .renamed: isAnnounced = false
    case .unavailable(let problem):
      isAnnounced = false
      if isWanted, problem != announcingProblem, problem != self.problem { warn(problem.description) }
      announcingProblem = problem
    case .available: announcingProblem = nil
    }
    runtime.changed()
  }

  private func isAnnouncement(_ peer: DiscoveredPeer) -> Bool {
    peer.announcement.session.bytes == announcedSession?.bytes
  }

  /// Warns if other computers cannot find the local board, although the service has confirmed its announcement.
  private nonisolated(nonsending) func checkAnnouncement(_ addresses: [String]) async {
    defer { checkIsolation(#isolation) }
    // A relay does not search, and no other computer can find a computer without a network.
    guard !configuration.isRelay, addresses.contains(where: { !HostPort.isLoopback($0) }) else { return }
    _ = await runtime.wait(timeout: .seconds(5)) { !self.isAnnounced || self.isFoundByOthers }
    guard runtime.ending == nil, isAnnounced, !isFoundByOthers else { return }
    isAnnounced = false
    warn(
      "Avahi announces the board, but not at an address of this computer's network, so others cannot "
        + "find it. Check publish-addresses, allow-interfaces and deny-interfaces in "
        + "/etc/avahi/avahi-daemon.conf, or give others your HOST:PORT or join link."
    )
  }

  private var isFoundByOthers: Bool { ownAddresses?.contains { !HostPort.isLoopback($0.host) } ?? false }
}

extension DiscoveredPeer {
  var addresses: [PeerAddress] { endpoints.map { PeerAddress(host: $0.host, port: Int($0.port)) } }
}

extension Announcement {
  private static let admissionKey = "admit"

  var admission: BoardConfiguration.Admission? {
    get {
      extra[Self.admissionKey].flatMap { bytes in
        BoardConfiguration.Admission(rawValue: String(decoding: bytes, as: UTF8.self))
      }
    }
    set {
      var info = DiscoveryInfo()
      do throws(DiscoveryInfoError) {
        if let newValue { try info.append(Self.admissionKey, Array(newValue.rawValue.utf8)) }
        try setExtra(info)
      } catch { preconditionFailure("an announcement always has room for this short entry") }
    }
  }
}
