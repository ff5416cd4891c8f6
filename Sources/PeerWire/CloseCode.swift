/// Why a link is closed (`Protocol/session.md`, 3.6).
public enum CloseCode: String, Sendable, CaseIterable {
  /// It left the session.
  case left
  /// Its program ends.
  case shuttingDown = "shutting-down"
  /// It disconnects this peer alone, as its application wishes.
  case disconnected
  /// The host removed this peer.
  case kicked
  /// A person said no.
  case declined
  /// The dialler took its invitation back.
  case withdrawn
  /// Nobody decided in time, or a step of admission took too long.
  case timedOut = "timed-out"
  /// The session has no room.
  case full
  /// Too many invitations or handshakes are pending.
  case busy
  /// There is no common version.
  case versionMismatch = "version-mismatch"
  /// The session is not served here.
  case noSuchSession = "no-such-session"
  /// No relay here, or it does not carry this session.
  case notCarried = "not-carried"
  /// The proof does not verify.
  case wrongCode = "wrong-code"
  /// There were too many wrong proofs lately.
  case lockedOut = "locked-out"
  /// Only known peers are admitted.
  case notKnown = "not-known"
  /// The dialler insists on a proof that is not offered, or the proof failed.
  case notVerified = "not-verified"
  /// The ticket's signer is not, or not yet, a member here.
  case unknownAdmitter = "unknown-admitter"
  /// A bulk link without a control link, or with a wrong proof.
  case notAttached = "not-attached"
  /// Both sides dialled at once, and the other link stays.
  case duplicateLink = "duplicate-link"
  /// A newer link takes this one's place.
  case replaced
  /// A frame that does not decode or does not belong, or a message that breaks the rules of its
  /// application.
  case protocolError = "protocol-error"
  /// An unknown frame type below 0x80 was received.
  case unknownFrame = "unknown-frame"
  /// A length over its limit.
  case tooLarge = "too-large"
  /// A queue made no progress for 30 s.
  case tooSlow = "too-slow"
  /// More by way of a relay than it passes on.
  case tooFast = "too-fast"
  /// The peer dialled itself.
  case `self`
  /// Anything else.
  case internalError = "internal-error"

  /// Whether whoever receives a code may dial that peer for that session again.
  public enum Redial: Sendable {
    /// Not unless a person asks for it.
    case never
    /// Not until the peer starts again, since a new process may answer differently.
    case afterRestart
    /// Not until either side has a new proof of membership, or the peer starts again.
    case withProof
    /// Yes, with the back-off of LIV-3; but for ``CloseCode/timedOut`` where a person had the time.
    case later
    /// The peer is not gone: another link of the pair is, or comes.
    case notApplicable
  }

  /// Reads a received code; one that this version does not know is ``internalError``.
  public init(received text: String) {
    self = CloseCode(rawValue: text) ?? .internalError
  }

  /// What the receiver of the code does about dialling again.
  public var redial: Redial {
    switch self {
    case .timedOut, .busy, .lockedOut, .unknownAdmitter, .tooSlow, .tooFast, .internalError, .full,
      .noSuchSession:
      .later
    case .duplicateLink, .replaced: .notApplicable
    case .left, .shuttingDown, .disconnected, .versionMismatch, .notCarried, .notAttached,
      .protocolError, .unknownFrame, .tooLarge:
      .afterRestart
    case .withdrawn, .wrongCode, .notKnown, .notVerified: .withProof
    case .kicked, .declined, .self: .never
    }
  }
}
