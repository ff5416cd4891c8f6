/// Whom a session lets in (`Protocol/session.md`, 4).
public enum AdmissionPolicy: Sendable {
  /// Whoever asks.
  case anyone
  /// Peers that the peer store held when the transport began, and those met since.
  case known
  /// Whoever proves to know the code; the proof goes both ways.
  case code(JoinCode)
  /// Whomever a person lets in, comparing words first.
  case ask
}

/// What a joiner knows of the key it dials, before it dials.
public enum JoinTrust: Sendable, Equatable {
  /// The key is verified: a link, a member of the session or an earlier admission named it.
  case pinnedByLink
  /// Discovery named the key: it is compared, but proves nothing.
  case discovered
  /// Nothing named the key: a code or compared words must prove it (HEL-4).
  case unverified
}
