import NIOCore
import PeerDiscovery

/// Decides which links of a session are read (MSG-5, RLY-14).
///
/// It has no clock; the caller passes the time and pauses or resumes the links.
struct ReadingControl {
  /// Whether the application is so far behind that no link is read (MSG-5).
  var isApplicationBehind = false
  /// The peers that exceed this relay's rate limit (RLY-14).
  private var throttled: Set<PeerID> = []
  /// The peers whose links are not read at the application's request (MSG-5).
  private var stopped: Set<PeerID> = []
  private var room = MessageRoom()

  /// Returns whether the link of a peer must be read.
  func reads(_ peer: PeerID) -> Bool {
    !isApplicationBehind && !throttled.contains(peer) && !stopped.contains(peer) && !room.stops(peer)
  }

  // MARK: Throttling

  func isThrottled(_ peer: PeerID) -> Bool { throttled.contains(peer) }

  mutating func throttle(_ peer: PeerID) { throttled.insert(peer) }

  mutating func endThrottle(_ peer: PeerID) { throttled.remove(peer) }

  // MARK: The application

  mutating func stop(_ peer: PeerID) { stopped.insert(peer) }

  /// Resumes reading from a peer at the application's request.
  mutating func start(_ peer: PeerID) { stopped.remove(peer) }

  /// Records that the application handled a large message of a peer; returns the peers whose links may be read again.
  ///
  /// The room of the message becomes free, unless the application stopped reading from the peer. In that case, the
  /// message still waits in the application's own queue.
  mutating func messageHandled(of peer: PeerID, now: NIODeadline) -> [PeerID] {
    stopped.contains(peer) ? [] : room.handled(peer, now: now)
  }

  // MARK: Large messages

  /// Handles the first part of a message of `total` bytes.
  mutating func messageBegan(_ total: Int, from peer: PeerID, now: NIODeadline) {
    room.began(total, from: peer, now: now)
  }

  mutating func messageCompleted(by peer: PeerID) { room.completed(by: peer) }

  /// Records that the local relay handled a large message addressed to it; returns the peers whose links may be read
  /// again.
  ///
  /// The room of the message becomes free even if the application stopped reading from the peer.
  mutating func relayMessageHandled(of peer: PeerID, now: NIODeadline) -> [PeerID] { room.handled(peer, now: now) }

  /// Records that a peer left the session; returns the peers whose links may be read again.
  mutating func departed(_ peer: PeerID, now: NIODeadline) -> [PeerID] { room.removed(peer, now: now) }

  /// Records that a link is read again.
  ///
  /// The time limit of its large message restarts, because no bytes could arrive during the pause.
  mutating func resumed(_ peer: PeerID, now: NIODeadline) { room.resumed(peer, now: now) }

  /// The time at which the first large message is overdue; `nil` if none can become overdue.
  var nextDue: NIODeadline? { room.nextDue }

  /// Returns the peers whose large messages arrive too slowly while others wait for room.
  func overdue(_ now: NIODeadline) -> [PeerID] { room.overdue(now) }
}
