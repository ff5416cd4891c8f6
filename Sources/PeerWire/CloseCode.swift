/// The reason for closing a link, sent in a CLOSE frame (`Protocol/session.md`, 3.6).
public enum CloseCode: String, Sendable, CaseIterable {
  /// The sender left the session.
  case left
  /// The sender's program is shutting down.
  case shuttingDown = "shutting-down"
  /// The sender's application disconnected only this peer.
  case disconnected
  /// The host removed the receiver from the session.
  case kicked
  /// The listener's user declined the invitation.
  case declined
  /// The dialler withdrew its invitation.
  case withdrawn
  /// The user did not answer in time, or a step of admission took too long.
  case timedOut = "timed-out"
  /// The session has no room for another member.
  case full
  /// The listener has too many pending invitations or handshakes.
  case busy
  /// The two peers have no protocol version in common.
  case versionMismatch = "version-mismatch"
  /// The listener does not serve the requested session.
  case noSuchSession = "no-such-session"
  /// The listener is not a relay, or it does not relay this session.
  case notCarried = "not-carried"
  /// The dialler's proof of the join code does not verify.
  case wrongCode = "wrong-code"
  /// The listener received too many wrong proofs recently.
  case lockedOut = "locked-out"
  /// The listener admits only known peers.
  case notKnown = "not-known"
  /// The dialler requires a proof that the listener does not offer, or the listener's proof failed.
  case notVerified = "not-verified"
  /// The listener has never met the member that signed the dialler's ticket.
  case unknownAdmitter = "unknown-admitter"
  /// The bulk link does not belong to a control link, or its proof is wrong.
  case notAttached = "not-attached"
  /// The two peers dialed each other at the same time, and the other link is kept.
  case duplicateLink = "duplicate-link"
  /// A newer link between the two peers replaces this link.
  case replaced
  /// A frame does not decode or is not allowed at this point, or a message breaks the application's rules.
  case protocolError = "protocol-error"
  /// The sender received an unknown frame type below 0x80.
  case unknownFrame = "unknown-frame"
  /// A length exceeds its limit.
  case tooLarge = "too-large"
  /// A queue made no progress for 30 s, or a large message took too long (MSG-5).
  case tooSlow = "too-slow"
  /// The peer exceeded a relay's rate limit, or sent more than the receiver can handle.
  case tooFast = "too-fast"
  /// The peer dialed its own address.
  case `self`
  /// An error that no other code describes.
  case internalError = "internal-error"

  /// When the receiver of a close code may dial the sender again for the same session.
  public enum Redial: Sendable {
    /// The receiver may dial again only at its user's request.
    case never
    /// The receiver may dial again once the peer restarts, because a new process may answer differently.
    case afterRestart
    /// The receiver may dial again once it has a new proof of membership, or once the peer restarts.
    case withProof
    /// The receiver may dial again after the delays of LIV-3.
    ///
    /// This does not apply if ``CloseCode/timedOut`` ended an invitation that a user could have answered.
    case later
    /// The peer is still connected: the pair has another link, or will have one.
    case notApplicable
  }

  /// Creates a close code from a received string; an unknown string becomes ``internalError``.
  public init(received text: String) { self = CloseCode(rawValue: text) ?? .internalError }

  /// When the receiver of this code may dial the sender again.
  public var redial: Redial {
    switch self {
    case .timedOut, .busy, .lockedOut, .unknownAdmitter, .tooSlow, .tooFast, .internalError, .full, .noSuchSession:
      .later
    case .duplicateLink, .replaced: .notApplicable
    case .left, .shuttingDown, .disconnected, .versionMismatch, .notCarried, .notAttached, .protocolError,
      .unknownFrame, .tooLarge:
      .afterRestart
    case .withdrawn, .wrongCode, .notKnown, .notVerified: .withProof
    case .kicked, .declined, .self: .never
    }
  }
}
