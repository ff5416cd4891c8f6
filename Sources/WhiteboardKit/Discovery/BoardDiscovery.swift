import PeerCore
import PeerDiscovery
import PeerSession

/// The boards that discovery finds, and the announcement of the local board.
///
/// Reports boards that appear and disappear, and passes peers of the local board to the session.
/// Confined to the actor of its board.
final class BoardDiscovery {
  private let runtime: BoardRuntime
  private let configuration: BoardConfiguration
  private let members: Members

  /// The boards of other peers that are announced now.
  private(set) var nearby = Nearby()
  /// The name of a board that another program announces with the local key.
  private(set) var ownBoard: UntrustedText?
  /// The reason why boards cannot be discovered; nil if they can.
  private(set) var problem: DiscoveryProblem?
  /// Whether the local board is announced.
  private(set) var isAnnouncing = false
  private let memberChanges: AsyncStream<Void>
  private let memberChangeSource: AsyncStream<Void>.Continuation

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, members: Members) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    (memberChanges, memberChangeSource) = AsyncStream.makeStream(
      bufferingPolicy: .bufferingNewest(1)
    )
  }

  // MARK: - Browsing

  /// Searches for boards until the local board closes.
  ///
  /// A relay does not search.
  ///
  /// - Parameters:
  ///   - own: The local peer. When it joins a board, it also receives announcements of its own
  ///     boards, so that it can explain why it finds no other board.
  ///   - known: The peers and boards to prefer.
  func browse(own: PeerID, preferring known: Acquaintances) {
    guard let discovery = configuration.discovery, !configuration.isRelay else { return }
    let query = BrowserQuery(
      excluding: configuration.isGuest ? nil : AnnouncedPeerID(bytes: own.bytes),
      preferring: known.preference
    )
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
      ownBoard = peer.announcement.boardName
    case .lost(let peer) where peer.announcement.peer.bytes == own.bytes:
      ownBoard = nil
    case .found(let peer):
      nearby.insert(peer)
      runtime.emit(.peerFound(BoardEvent.FoundBoard(peer)))
      report(peer)
    case .updated(let peer):
      nearby.insert(peer)
      runtime.emit(.peerUpdated(BoardEvent.FoundBoard(peer)))
      report(peer)
    case .lost(let peer):
      nearby.remove(peer)
      // A lost announcement is only a hint to the session: the link to the peer may still work.
      session(of: peer)?.vanished(PeerID(claimed: peer.announcement.peer))
      runtime.emit(.peerLost(BoardEvent.LostBoard(peer)))
    case .unavailable(let problem):
      self.problem = problem
      runtime.emit(
        .warning(.init(code: BoardEvent.Remark.discoveryUnavailable, message: problem.description))
      )
    case .available:
      if problem != nil {
        let message = "Boards nearby can be found."
        runtime.emit(
          .note(.init(code: BoardEvent.Remark.discoveryAvailable, message: message))
        )
      }
      problem = nil
    }
    runtime.changed()
  }

  // MARK: - Peers of the local board

  /// Passes the peers that announce the board of a session to the session (MEM-9).
  func reportPeers(to session: Session) {
    for peer in nearby.announcers(of: session.id) { report(peer, to: session) }
  }

  private func report(_ peer: DiscoveredPeer) {
    if let session = session(of: peer) { report(peer, to: session) }
  }

  private func report(_ peer: DiscoveredPeer, to session: Session) {
    let id = PeerID(claimed: peer.announcement.peer)
    session.found(
      id,
      at: peer.addresses,
      as: SessionIncarnation(peer.announcement.incarnation.value)
    )
  }

  /// Returns the current session if the peer announces its board; nil otherwise.
  private func session(of peer: DiscoveredPeer) -> Session? {
    guard let session = runtime.call({ $0.session }),
      peer.announcement.session.bytes == session.id.bytes
    else { return nil }
    return session
  }

  // MARK: - Announcing

  /// Announces the local board until the session ends, unless the configuration disables
  /// announcements.
  func announce(_ board: BoardSession, _ transport: PeerTransport) {
    guard configuration.isAnnounced, let discovery = configuration.discovery,
      let port = UInt16(exactly: transport.port)
    else { return }
    isAnnouncing = true
    var announcement = Announcement(
      peer: AnnouncedPeerID(transport.peerID),
      session: AnnouncedSessionID(board.session.id),
      incarnation: AnnouncedIncarnation(board.session.incarnation.value),
      role: configuration.isRelay ? .relay : .member,
      boardName: board.name,
      hostName: configuration.displayName,
      participants: 1
    )
    announcement.admission = board.admission
    let first = announcement
    runtime.spawn { sharedBoard in
      let changes = sharedBoard.discovery.memberChanges
      await discovery.advertise(Advertisement(port: port, announcement: first)) { advertising in
        var announcement = first
        for await _ in changes {
          announcement.participants = UInt16(clamping: sharedBoard.members.count + 1)
          announcement.admission = sharedBoard.phase.board?.admission
          await advertising.update(announcement)
        }
      }
    }
  }

  /// Updates the number of participants in the announcement.
  func membersChanged() { memberChangeSource.yield() }

  /// Stops the announcement, because the local peer no longer admits peers.
  func stopAnnouncing() {
    memberChangeSource.finish()
    isAnnouncing = false
  }
}

extension DiscoveredPeer {
  /// The announced addresses.
  var addresses: [PeerAddress] {
    endpoints.map { PeerAddress(host: $0.host, port: Int($0.port)) }
  }
}
