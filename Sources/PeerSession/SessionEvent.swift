import PeerDiscovery
import PeerWire

/// One thing that happened in a session, in the order in which it happened.
public enum SessionEvent: Sendable {
  /// A peer asks to join and a person must decide: ``Session/respond(to:_:)``.
  indirect case invitation(Invitation)
  /// An invitation ended before it was answered: withdrawn, timed out, or its link was lost.
  indirect case invitationEnded(InvitationID, SessionError)
  /// A peer is in the session and can be sent to; again after each `peerLeft` that it comes back from.
  indirect case peerJoined(Peer)
  /// The connection to a peer of the session changed; its end is `peerLeft`.
  case peerStateChanged(PeerID, PeerState)
  /// A peer is out of the session; it did not confirm the last `undelivered` messages (LIV-4).
  ///
  /// ``SendReceipt/isConfirmed(by:)`` reports this for each message. A relayed peer confirms only
  /// on request (``Session/confirmation(of:by:)``), so messages sent after the last request count
  /// as undelivered.
  indirect case peerLeft(PeerID, DepartureReason, undelivered: Int)
  /// A reliable message: exactly once, in order per sender.
  case message([UInt8], from: PeerID)
  /// An unreliable message: at most once, in no order.
  case datagram([UInt8], from: PeerID)
  /// Unreliable messages to this peer now travel this way.
  case datagramPath(PeerID, DatagramPath)
  /// A transfer began, in either direction.
  indirect case resourceStarted(ResourceInfo)
  /// A transfer went on; at most ten times a second for each. The last one before a successful end
  /// has all bytes.
  case resourceProgress(TransferID, bytes: Int, of: Int)
  /// A transfer ended, in either direction; once for each that was accepted, and for all of ours.
  indirect case resourceFinished(ResourceInfo, Result<ReceivedResource, SessionError>)
  /// A peer opened a byte stream to us; letting go of it resets it.
  case streamOpened(PeerStream)
  /// Something a person should know.
  indirect case warning(SessionWarning)
}

/// Names one request to join, within one process.
public struct InvitationID: Hashable, Sendable, CustomStringConvertible {
  /// The number, from 1.
  public var number: Int
  /// Creates an identifier.
  public init(number: Int) { self.number = number }
  /// The number in decimal.
  public var description: String { String(number) }
}

/// A peer's request to join, which a person must answer.
public struct Invitation: Sendable {
  /// Names the invitation in ``Session/respond(to:_:)``.
  public var id: InvitationID
  /// Who asks.
  public var peer: PeerID
  /// What they call themselves; proves nothing.
  public var name: UntrustedText
  /// Three words that both screens show (ADM-7).
  public var words: [String]
  /// Whether this key was proved when the peer was admitted before, so that no words need comparing.
  public var isProved: Bool
  /// The application's bytes, from a stranger.
  public var context: [UInt8]
  /// How long they wait.
  public var timeout: Duration
}

/// The answer to an ``Invitation``.
public enum InvitationAnswer: Sendable, Equatable {
  /// Let them in.
  case accept
  /// Keep them out, saying why in at most 512 bytes.
  case decline(reason: String)
}

/// The words that a joiner's person sees, and compares where nothing else proves the host (ADM-8).
public struct Verification: Sendable {
  /// The key at the other end.
  public var peer: PeerID
  /// What it calls itself; proves nothing.
  public var name: UntrustedText
  /// Three words that both screens show.
  public var words: [String]
  /// Whether the answer counts, since the key is not proved in another way.
  public var mustBeCompared: Bool
}

/// A peer that is in the session.
public struct Peer: Sendable {
  /// Its key's hash.
  public var id: PeerID
  /// What it calls itself; proves nothing.
  public var name: UntrustedText
  /// This process of it.
  public var incarnation: SessionIncarnation
  /// Whether it says that it is a relay.
  public var isRelay: Bool
  /// The relay by way of which it is in the session; `nil` for a peer with a link.
  public var relay: PeerID?
  /// Where the link goes, or where the peer was reached last.
  public var address: PeerAddress?
  /// On what ground it was let in here; `nil` where nobody asked here, as when we dialled it.
  public var admission: PeerAdmission?
  /// Which of all the times it is that somebody came into this session.
  package var joining: UInt64
}

/// On what ground a peer was let in.
public enum PeerAdmission: Sendable, Equatable {
  /// We let it in; where it was by a code that ``Session/invite(_:label:for:)`` made, with that label.
  case here(label: String?)
  /// A member of the session, or we ourselves in earlier times, let it in and vouches for it.
  case vouched(by: PeerID)
}

/// The connection to one peer of the session.
public enum PeerState: String, Sendable {
  /// Being dialled for the first time.
  case connecting
  /// Heard lately.
  case connected
  /// Silent for 2 s (LIV-2).
  case suspect
  /// The link is broken; what is sent is kept.
  case reconnecting
}

/// How unreliable messages travel.
public enum DatagramPath: String, Sendable {
  /// Sealed UDP packets.
  case udp
  /// Inside the link, since UDP does not pass (DGM-9).
  case link
}

/// Why we end the connection with one peer.
public enum DisconnectionCause: Sendable {
  /// We want to.
  case choice
  /// It does not take what it is sent; it may try again later.
  case tooSlow
  /// It sends more than we can handle; it may try again later.
  case tooFast

  var code: CloseCode {
    switch self {
    case .choice: .disconnected
    case .tooSlow: .tooSlow
    case .tooFast: .tooFast
    }
  }
}

/// Why a peer is out of the session.
public enum DepartureReason: Sendable, Equatable {
  /// It said goodbye.
  case left
  /// Its program ended.
  case shuttingDown
  /// The host removed it, or us, saying why.
  case kicked(reason: UntrustedText)
  /// It, or we, disconnected from just each other.
  case disconnected
  /// It was silent for longer than ``TransportConfiguration/lostAfter``.
  case lost
  /// The peer, or the relay, gave up on this connection first; the peer may join again at once
  /// (RSM-6).
  case reset
  /// A new process of the same peer took its place (DUP-3).
  case restarted
  /// It is reached another way now, by a link or by way of a relay, and comes in anew (RLY-8).
  case rerouted
  /// Too much waited for one of us at the relay, which dropped it; it may come in anew (RLY-12).
  case overrun
  /// Its link was refused or broke a rule.
  case refused(SessionError)

  /// The word used in events and logs.
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

/// Something a person should know about a session.
public struct SessionWarning: Sendable {
  /// A stable word for programs.
  public var code: String
  /// A sentence for people; text of another peer in it is cleaned.
  public var message: String
  /// Whom it is about.
  public var peer: PeerID?
}

/// One peer as ``Session/peers()`` tells it.
public struct PeerStatus: Sendable {
  /// The peer.
  public var peer: Peer
  /// Its connection.
  public var state: PeerState
  /// How unreliable messages travel to it.
  public var datagramPath: DatagramPath
  /// Whether everything sent to it was acknowledged; by the relay, where it is reached by one.
  public var isDelivered: Bool
  /// The relay by way of which it is in the session; `nil` for a peer with a link.
  public var relay: PeerID? { peer.relay }
}
