import PeerWire

/// The basis on which a dialler was admitted, or a listener was trusted.
enum AdmissionBasis: Equatable, Sendable {
  /// The dialler resumes the delivery state of an earlier link between the same incarnations (RSM-2).
  case resumed
  /// A member of the session vouches for the peer (5.2).
  case ticket
  /// The key was already known from a join link, from a member or from the peer store.
  case known
  /// The peer proved nothing.
  case anyone
  /// Both sides proved that they know the code.
  case code
  /// Users compared verification words.
  case ask

  /// Whether this link admitted the peer for the first time.
  ///
  /// If so, the peer needs a ticket to show to the other members.
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
  /// The time limit for each step after HELLO that does not wait for a user.
  ///
  /// The limit for TLS (LNK-6), and for a relay's answer to `carry` (RLY-2), is twice as long.
  static let step = Duration.seconds(5)

  /// Returns how long a listener may hold its answer to HELLO; the dialler gives up after `step`.
  static func hold(_ step: Duration) -> Duration { step * 4 / 5 }
}
