import PeerWire

/// On what ground a link was let in, or the other end believed.
enum AdmissionBasis: Equatable, Sendable {
  /// Delivery state of an earlier link of the same incarnations (RSM-2).
  case resumed
  /// A member of the session vouches (5.2).
  case ticket
  /// The key was known before: named by a link, by a member, or stored.
  case known
  /// Nothing was proved.
  case anyone
  /// Both sides proved that they know the code.
  case code
  /// People compared words.
  case ask

  /// Whether the peer was admitted just now, so that it needs a ticket for the other members.
  var isNew: Bool {
    switch self {
    case .resumed, .ticket: false
    case .known, .anyone, .code, .ask: true
    }
  }

  /// What the peer store remembers, or `nil` when nothing new was learnt.
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
  /// For each step by a machine after HELLO.
  static let step = Duration.seconds(5)
  /// For a relay's answer to `carry`, for which it asks its application (RLY-2).
  static let carry = Duration.seconds(10)
}
