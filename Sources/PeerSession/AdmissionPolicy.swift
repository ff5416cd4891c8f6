/// How a session admits newcomers (`Protocol/session.md`, 4).
public enum AdmissionPolicy: Sendable, Equatable {
  /// Admits every peer that asks.
  case anyone
  /// Admits the peers in the peer store, and those met since the transport started.
  case known
  /// Admits peers that prove that they know the code; the host proves it too.
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
