import PeerCore
import PeerDiscovery
import PeerWire

/// How a session admits newcomers (`Protocol/session.md`, 4).
public enum AdmissionPolicy: Sendable, Equatable {
  /// Admits every peer that asks.
  case anyone
  /// Admits the peers in the peer store, and the peers that became known since the transport started.
  case known
  /// Admits peers that prove that they know the code; the host proves the same.
  case code(JoinCode)
  /// Admits the peers that a user accepts after comparing verification words.
  case ask

  /// The peers whose tickets are accepted under this policy (TCK-1, TCK-5).
  var admitters: Membership.Admitters {
    switch self {
    case .anyone, .code: .members
    case .known, .ask: .host
    }
  }
}

/// How far a joiner trusts the key of the peer that it dials.
public enum JoinTrust: Sendable, Equatable {
  /// The key is verified: a join link, a member of the session or an earlier admission named it.
  case pinnedByLink
  /// Discovery announced the key. Any other key is refused, but the announced key is not verified.
  case discovered
  /// The key is unknown: a join code or verification words must verify it (HEL-4).
  case unverified
}

enum AdmissionBasis: Equatable, Sendable {
  /// The dialler resumes the delivery state of an earlier link between the same incarnations (RSM-2).
  case resumed
  /// A member of the session vouches for the peer (5.2).
  case ticket
  case known
  case anyone
  case code
  case ask

  /// Whether the admission is new. A newly admitted peer needs a ticket to show to the other members.
  var isNew: Bool {
    switch self {
    case .resumed, .ticket: false
    case .known, .anyone, .code, .ask: true
    }
  }

  /// The verification to save in the peer store; `nil` if there is nothing new to save.
  var verification: KnownPeer.Verification? {
    switch self {
    case .resumed: nil
    case .ticket, .known: .link
    case .anyone: .anyone
    case .code: .code
    case .ask: .ask
    }
  }
}

/// The time limits of `Protocol/session.md`, 3.2.
enum AdmissionTimes {
  /// The time limit for each step after HELLO that does not wait for a user. The limit for TLS (LNK-6), and for a
  /// relay's answer to `carry` (RLY-2), is twice as long.
  static let step = Duration.seconds(5)

  /// Returns how long a listener may hold its answer to HELLO; the dialler gives up after `step`.
  static func hold(_ step: Duration) -> Duration { step * 4 / 5 }
}

/// One step of an attempt to join, to show to a waiting user.
public enum JoinStep: Equatable, Sendable {
  /// The local peer dials an address.
  case connecting(PeerAddress)
  /// A program at the address accepted the connection, but has not answered yet.
  case awaitingAnswer(PeerAddress)
  /// The peer asked for the code; the local peer sends a proof that it knows the code.
  case provingCode
  /// The other peer's user is deciding; the value is the user's display name.
  case awaitingAcceptance(UntrustedText)
  /// A peer that discovery found, but that the join link does not name, refused the local peer. The local peer dials
  /// the next peer.
  case refused(by: PeerID, SessionError)
  /// The attempt failed for a temporary reason, and the local peer will soon dial the listener again.
  case retrying(SessionError)
}
