/// The known peers and sessions, which a browser resolves first and forgets last (DSC-26).
public struct BrowserPreference: Hashable, Sendable {
  /// The peers whose keys the local peer knows.
  public let peers: Set<AnnouncedPeerID>
  /// The sessions that the local peer has a copy of.
  public let sessions: Set<AnnouncedSessionID>

  /// Creates a preference; without arguments, all peers have the same rank.
  ///
  /// - Parameters:
  ///   - peers: The peers whose keys the local peer knows.
  ///   - sessions: The sessions that the local peer has a copy of.
  public init(peers: Set<AnnouncedPeerID> = [], sessions: Set<AnnouncedSessionID> = []) {
    self.peers = peers
    self.sessions = sessions
  }

  /// The rank of a discovered peer; a browser prefers greater ranks.
  package enum Rank: Int, Comparable, Sendable {
    case unknown
    case knownSession
    case knownPeer

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  func rank(of id: DiscoveredPeer.ID) -> Rank {
    if peers.contains(id.peer) { return .knownPeer }
    return sessions.contains(id.session) ? .knownSession : .unknown
  }
}
