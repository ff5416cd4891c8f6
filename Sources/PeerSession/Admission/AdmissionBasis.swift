import PeerWire

/// The ground on which a dialler was admitted, or a listener was trusted.
enum AdmissionBasis: Equatable, Sendable {
  /// The dialler resumes delivery state of an earlier link of the same incarnations (RSM-2).
  case resumed
  /// A member of the session vouches for the peer (5.2).
  case ticket
  /// The key was known before: a link or a member named it, or it was stored.
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

/// The times of `Protocol/session.md`, 3.2.
enum AdmissionTimes {
  /// The time for each step after HELLO that needs no user.
  static let step = Duration.seconds(5)
  /// The time for a relay's answer to `carry`, for which the relay asks its application (RLY-2).
  static let carry = Duration.seconds(10)
}
