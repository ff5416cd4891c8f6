import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardSync

extension MemberID {
  /// Creates the member id of a peer.
  public init(_ peer: PeerID) { self.init(peer.value) }
}

extension PeerID {
  /// Creates the peer id of a member.
  public init(_ member: MemberID) { self.init(member.value) }

  package init(claimed id: AnnouncedPeerID) { self.init(id.value) }
}

extension BoardID {
  /// Creates the id of the board of a session.
  public init(_ session: SessionID) { self.init(session.value) }
}

extension SessionID {
  /// Creates the id of the session of a board.
  public init(_ board: BoardID) { self.init(board.value) }

  package init(claimed id: AnnouncedSessionID) { self.init(id.value) }
}

extension AnnouncedPeerID {
  package init(_ peer: PeerID) { self.init(peer.value) }
}

extension AnnouncedSessionID {
  package init(_ session: SessionID) { self.init(session.value) }
}
