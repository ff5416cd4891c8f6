import PeerCore
import PeerDiscovery
import PeerWire

/// An event of a session; events come in the order in which they happened.
public enum SessionEvent: Sendable {
  /// A peer asks to join and a user must decide; answer with ``Session/respond(to:_:)``.
  indirect case invitation(Invitation)
  /// An invitation ended, and its peer was not admitted: the invitation was withdrawn or timed out, or the link was
  /// lost.
  ///
  /// This event also follows an answer that accepted the peer, if the peer's user did not confirm the verification
  /// words (ADM-16).
  indirect case invitationEnded(InvitationID, SessionError)
  /// A peer joined the session and can receive messages. The event repeats if the peer returns after `peerLeft`.
  indirect case peerJoined(Peer)
  /// The state of the connection to a peer changed. The end of the connection is reported as `peerLeft`.
  case peerStateChanged(PeerID, PeerState)
  /// A peer left the session without confirming the last `undelivered` messages (LIV-4).
  ///
  /// ``SendReceipt/isConfirmed(by:)`` returns whether a message was confirmed. A relayed peer confirms only on request
  /// (``Session/confirmation(of:by:)``), so `undelivered` includes all messages sent after the last request.
  indirect case peerLeft(PeerID, DepartureReason, undelivered: Int)
  /// A reliable message arrived. Messages are delivered exactly once, and in order for each sender.
  case message([UInt8], from: PeerID)
  /// An unreliable message arrived. Such messages are delivered at most once, and in any order.
  case datagram([UInt8], from: PeerID)
  /// The path of unreliable messages to a peer changed.
  case datagramPath(PeerID, DatagramPath)
  /// A transfer began, in either direction.
  indirect case resourceStarted(ResourceInfo)
  /// A transfer progressed. There are at most ten reports per second for each transfer. The last report before a
  /// successful end counts all bytes.
  case resourceProgress(TransferID, bytes: Int, of: Int)
  /// A transfer ended, in either direction. This event occurs once for each accepted transfer, for each outgoing
  /// transfer, and with `diskFull` for each requested resource that the disk has no space for.
  indirect case resourceFinished(ResourceInfo, Result<ReceivedResource, SessionError>)
  /// A peer opened a byte stream. Releasing the stream object resets the stream.
  case streamOpened(PeerStream)
  /// A warning for the user.
  indirect case warning(SessionWarning)
}

/// The identifier of a request to join, within one process.
public struct InvitationID: Hashable, Sendable, CustomStringConvertible {
  /// The number of the request, starting at 1.
  public var number: Int
  /// Creates an identifier.
  public init(number: Int) { self.number = number }
  /// The number of the request in decimal.
  public var description: String { String(number) }
}

/// A peer's request to join, which a user must answer.
public struct Invitation: Sendable {
  /// The identifier for ``Session/respond(to:_:)``.
  public var id: InvitationID
  /// The peer that asks to join.
  public var peer: PeerID
  /// The joiner's display name, which is not verified.
  public var name: UntrustedText
  /// Three words that both users see (ADM-7).
  public var words: [String]
  /// Whether the peer's key was verified at an earlier admission, so that the user need not compare words.
  public var isProved: Bool
  /// Bytes from the joiner's application; do not trust them.
  public var context: [UInt8]
  /// How long the joiner waits.
  public var timeout: Duration
}

/// The answer to an ``Invitation``.
public enum InvitationAnswer: Sendable, Equatable {
  /// Admit the peer.
  case accept
  /// Refuse the peer, with a reason of at most 512 bytes.
  case decline(reason: String)
}

/// The verification words for a joiner's user, who must compare them if nothing else proves the host's key (ADM-8).
public struct Verification: Sendable {
  /// The key of the other peer.
  public var peer: PeerID
  /// The other peer's display name, which is not verified.
  public var name: UntrustedText
  /// Three words that both users see.
  public var words: [String]
  /// Whether the user must compare the words, because nothing else proves the key.
  public var mustBeCompared: Bool
}

/// The result of showing the verification words to the user who must compare them.
package enum WordComparison: Sendable {
  case same
  case different
  case noUser
  /// The attempt to join ended before the user answered.
  case stopped
}

/// A peer that is in the session.
public struct Peer: Sendable {
  /// The hash of the peer's key.
  public var id: PeerID
  /// The peer's display name, which is not verified.
  public var name: UntrustedText
  /// The current incarnation of the peer.
  public var incarnation: SessionIncarnation
  /// Whether the peer calls itself a relay.
  public var isRelay: Bool
  /// The relay through which the peer is in the session; `nil` if there is a link to the peer.
  public var relay: PeerID?
  /// The address of the peer's link, or the last address at which the peer was reached.
  public var address: PeerAddress?
  /// How the local peer admitted this peer; `nil` if the local peer did not admit this peer, for example because the
  /// local peer opened the connection.
  public var admission: PeerAdmission?
  /// The key with which the peer joined from a browser through the local peer; `nil` for any other peer.
  public var guestKey: GuestKey?
  package var joinGeneration: UInt64
}

/// The basis on which a peer was admitted.
public enum PeerAdmission: Sendable, Equatable {
  /// The local peer admitted the peer. If the peer used a code from ``Session/invite(_:label:for:)``, `label` is that
  /// code's label.
  case here(label: String?)
  /// A member or the local peer itself admitted the peer earlier and vouches for the peer. The value is the id of that
  /// member or of the local peer.
  case vouched(by: PeerID)
}

/// The connection to one peer of the session.
public enum PeerState: String, Sendable {
  /// The peer is being dialed for the first time.
  case connecting
  /// The link is open, and the peer is not silent.
  case connected
  /// The peer was silent for 2 s (LIV-2).
  case suspect
  /// The link is broken; sent messages are retained.
  case reconnecting
}

/// The path of unreliable messages.
public enum DatagramPath: String, Sendable {
  /// Sealed UDP packets.
  case udp
  /// Frames on the control link, because UDP packets do not arrive (DGM-9).
  case link
}

/// The reason for disconnecting one peer.
public enum DisconnectionCause: Sendable {
  /// The application no longer wants the peer to be connected.
  case choice
  /// The peer does not read its messages; the peer may try again later.
  case tooSlow
  /// The peer sends more than the application can handle; the peer may try again later.
  case tooFast

  var code: CloseCode {
    switch self {
    case .choice: .disconnected
    case .tooSlow: .tooSlow
    case .tooFast: .tooFast
    }
  }
}

/// The reason why a peer left the session.
public enum DepartureReason: Sendable, Equatable {
  /// The peer left the session.
  case left
  /// The peer's program shut down.
  case shuttingDown
  /// The host removed the peer or the local peer, for this reason.
  case kicked(reason: UntrustedText)
  /// One of the two peers disconnected the other.
  case disconnected
  /// The peer was silent for longer than ``TransportConfiguration/lostAfter``.
  case lost
  /// The peer or the relay discarded its delivery state first; the peer may join again immediately (RSM-6).
  case reset
  /// A new process of the same peer replaced the previous process (DUP-3).
  case restarted
  /// The peer is now reached through another link or relay, and joins again (RLY-8).
  case rerouted
  /// The relay dropped messages, because too many bytes were queued for one of the two peers. The peer may join again
  /// (RLY-12).
  case overrun
  /// A link to the peer was refused, or the peer violated the protocol.
  case refused(SessionError)

  /// The name of the reason in events and logs.
  public var word: String {
    switch self {
    case .left: "left"
    case .shuttingDown: "shutting-down"
    case .kicked: "kicked"
    case .disconnected: "disconnected"
    case .lost: "lost"
    case .reset: "reset"
    case .restarted: "restarted"
    case .rerouted: "rerouted"
    case .overrun: "overrun"
    case .refused(let error): error.code.rawValue
    }
  }
}

/// A warning about a session, for the user.
public struct SessionWarning: Sendable {
  /// The code of the warning that a peer is reached only through another member (RLY-15).
  public static let reachedThroughMember = "reached-through-member"
  /// The code of the warning that a mesh has many members, for which a star is better (RLY-18).
  public static let largeMesh = "large-mesh"
  /// The code of the warning that a newcomer was refused because the session is full (HEL-5).
  public static let sessionFull = "session-full"
  /// The code of the warning that two programs use one identity at the same time (DUP-6, DUP-7).
  public static let identityInUse = "identity-in-use"
  /// The code of the warning that a peer has the name of a known peer, but another key.
  public static let changedKey = "changed-key"

  /// A stable code for programs.
  public var code: String
  /// A sentence for users; text from other peers in the sentence is made safe for display.
  public var message: String
  /// The peer that the warning is about.
  public var peer: PeerID?
}

/// The state of one peer in ``Session/peers()``.
public struct PeerStatus: Sendable {
  /// The peer.
  public var peer: Peer
  /// The state of the connection to the peer.
  public var state: PeerState
  /// The path of unreliable messages to the peer.
  public var datagramPath: DatagramPath
  /// Whether all messages sent to the peer were acknowledged. For a relayed peer, the relay acknowledges the messages.
  public var isDelivered: Bool
  /// The relay through which the peer is in the session; `nil` if there is a link to the peer.
  public var relay: PeerID? { peer.relay }
}
