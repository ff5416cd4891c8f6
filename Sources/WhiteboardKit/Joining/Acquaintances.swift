import PeerDiscovery
import PeerSession

/// The peers and boards that this computer knows.
///
/// A search tries them first.
struct Acquaintances: Sendable {
  /// The peers whose keys were verified before.
  var peers: Set<PeerID> = []
  /// The boards with a copy on this computer.
  var boards: Set<SessionID> = []
  /// The known members of these boards.
  var members: [SessionID: Set<PeerID>] = [:]

  /// The browser preference for the known peers and boards.
  var preference: BrowserPreference {
    BrowserPreference(
      peers: Set(peers.map { AnnouncedPeerID($0) }),
      sessions: Set(boards.map { AnnouncedSessionID($0) })
    )
  }

  /// Returns the rank of a peer that announces a board: the likelihood that the user means this peer.
  func rank(of peer: PeerID, on board: SessionID) -> BrowserPreference.Rank {
    if peers.contains(peer) || members[board]?.contains(peer) ?? false { return .knownPeer }
    return boards.contains(board) ? .knownSession : .unknown
  }
}
