/// A peer's board that was heard of on the network, with every way to reach it.
///
/// There is one of these for each peer and session, however many interfaces, protocols and names it
/// was heard under, and it stays the same when the peer restarts. It is a hint: connect to find out
/// whether the peer is there and is who it says.
public struct DiscoveredPeer: Hashable, Sendable, Identifiable {
  /// The identity of a discovered peer; sightings with the same id belong to the same peer.
  public struct ID: Hashable, Sendable {
    /// The claimed id of the peer.
    public let peer: AnnouncedPeerID
    /// The session that the peer belongs to.
    public let session: AnnouncedSessionID

    /// Joins the two parts.
    public init(peer: AnnouncedPeerID, session: AnnouncedSessionID) {
      self.peer = peer
      self.session = session
    }
  }

  /// The latest announcement of the peer.
  public let announcement: Announcement

  /// The ways to reach it, the one to try first in front; never empty.
  ///
  /// IPv4 comes before global IPv6, and that before link-local IPv6. Only what was heard with the
  /// newest incarnation is here.
  public let endpoints: [Endpoint]

  /// The peer and session that were announced.
  public var id: ID { ID(peer: announcement.peer, session: announcement.session) }

  /// Joins an announcement and the places it was heard from.
  public init(announcement: Announcement, endpoints: [Endpoint]) {
    self.announcement = announcement
    self.endpoints = endpoints
  }
}
