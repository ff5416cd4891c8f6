/// A peer and one of its sessions, found on the network, with all addresses to reach it.
///
/// There is one value for each pair of peer and session, even if the peer is announced on several interfaces, over
/// several protocols or under several names. If the peer restarts, the id remains the same. The value is only a hint:
/// to verify the identity of the peer and that it is reachable, connect to it.
public struct DiscoveredPeer: Hashable, Sendable, Identifiable {
  /// The identity of a discovered peer: its claimed peer id and its session.
  public struct ID: Hashable, Sendable {
    /// The claimed id of the peer.
    public let peer: AnnouncedPeerID
    /// The session that the peer belongs to.
    public let session: AnnouncedSessionID

    /// Creates an id from a peer and a session.
    public init(peer: AnnouncedPeerID, session: AnnouncedSessionID) {
      self.peer = peer
      self.session = session
    }
  }

  /// The latest announcement of the peer.
  public let announcement: Announcement

  /// The addresses of the peer, best first; never empty.
  ///
  /// IPv4 comes before global IPv6, and link-local IPv6 comes last. Only addresses announced with the peer's newest
  /// incarnation are included.
  public let endpoints: [Endpoint]

  /// The announced peer and session.
  public var id: ID { ID(peer: announcement.peer, session: announcement.session) }

  /// Creates a discovered peer from an announcement and the addresses of the peer.
  public init(announcement: Announcement, endpoints: [Endpoint]) {
    self.announcement = announcement
    self.endpoints = endpoints
  }
}
