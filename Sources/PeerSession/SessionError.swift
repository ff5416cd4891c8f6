import PeerWire

/// What went wrong in a session, with a sentence that says what to do.
///
/// Equality is on ``code`` alone.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure a caller may want to tell apart.
  public enum Code: String, Sendable, CaseIterable {
    /// The proof of the code did not verify.
    case wrongCode = "wrong-code"
    /// Too many wrong codes; wait a minute.
    case lockedOut = "locked-out"
    /// A person said no.
    case declined
    /// Nobody decided, or nobody answered, in time.
    case timedOut = "timed-out"
    /// The invitation was taken back.
    case withdrawn
    /// The session holds as many peers as it may.
    case full
    /// The other end has too much to do; try later.
    case busy
    /// No protocol version in common.
    case versionMismatch = "version-mismatch"
    /// The other end does not serve this session.
    case noSuchSession = "no-such-session"
    /// The relay does not carry the session; its message says why.
    case notCarried = "not-carried"
    /// The host admits only peers it knows.
    case notKnown = "not-known"
    /// The other end's key is not proved to be the right one.
    case notVerified = "not-verified"
    /// The key at the other end is not the one that was named.
    case wrongPeer = "wrong-peer"
    /// The host removed us.
    case kicked
    /// The peer left the session.
    case left
    /// The peer's program ended.
    case shuttingDown = "shutting-down"
    /// The peer disconnected us alone.
    case disconnected
    /// No address of the peer answered.
    case unreachable
    /// The peer was silent too long and is given up.
    case peerLost = "peer-lost"
    /// The peer is not in the session.
    case notConnected = "not-connected"
    /// The session is over here.
    case sessionEnded = "session-ended"
    /// A message or datagram over its limit.
    case messageTooLarge = "message-too-large"
    /// A name over its limit, or with a character that is not allowed.
    case invalidName = "invalid-name"
    /// The caller cancelled.
    case cancelled
    /// The other end, or we, cancelled the transfer.
    case transferCancelled = "transfer-cancelled"
    /// The file changed while it was sent.
    case sourceChanged = "source-changed"
    /// The file cannot be read.
    case sourceUnreadable = "source-unreadable"
    /// No space left at the receiver.
    case diskFull = "disk-full"
    /// The receiver's quota is used up.
    case quota
    /// What arrived is not what was sent.
    case hashMismatch = "hash-mismatch"
    /// The stream was reset by the other end.
    case reset
    /// The dialled address is our own.
    case selfDialled = "self"
    /// The other end broke the protocol.
    case protocolError = "protocol-error"
    /// Only the host may do this.
    case notHost = "not-host"
    /// The session does not let in by codes.
    case notByCode = "not-by-code"
    /// No such invitation, transfer or peer.
    case unknown
    /// The operating system refused.
    case system
    /// The link of a stream broke.
    case linkLost = "link-lost"
    /// Anything else.
    case internalError = "internal-error"
  }

  /// Which failure.
  public var code: Code
  /// A sentence that says what happened and what to do.
  ///
  /// Text from another peer in it is made safe for display.
  public var message: String
  /// What the close code behind it says about dialing the peer again; nil without one (3.6).
  var redial: CloseCode.Redial?
  /// What the other side wrote when it closed or refused, cleaned; empty if it wrote nothing.
  public var remark = ""

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The caller's task was cancelled.
  public static let cancelled = SessionError(.cancelled, "The operation was cancelled.")

  /// Whether the codes are the same.
  public static func == (left: SessionError, right: SessionError) -> Bool {
    left.code == right.code
  }

  /// Feeds the code alone.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(code)
  }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension SessionError {
  /// What a CLOSE means to the one who dialled or was connected.
  ///
  /// - Parameters:
  ///   - closeCode: Its code.
  ///   - message: What the other side added, cleaned.
  ///   - isOurs: Whether we sent it ourselves.
  init(closeCode: CloseCode, message: String, isOurs: Bool = false) {
    let (code, sentence): (Code, String) =
      switch closeCode {
      case .left: (.left, "The peer left the session.")
      case .shuttingDown: (.shuttingDown, "The peer's program ended.")
      case .disconnected: (.disconnected, "The peer disconnected us.")
      case .kicked: (.kicked, "The host removed this peer from the session.")
      case .declined: (.declined, "The invitation was declined.")
      case .withdrawn: (.withdrawn, "The invitation was taken back.")
      case .timedOut: (.timedOut, "The peer did not answer in time.")
      case .full: (.full, "The session is full.")
      case .busy: (.busy, "The peer has too many requests at once; try again later.")
      case .versionMismatch: (.versionMismatch, "The peers speak no common protocol version.")
      case .noSuchSession: (.noSuchSession, "The peer does not serve that session.")
      case .notCarried: (.notCarried, "The relay does not carry this session.")
      case .wrongCode: (.wrongCode, "The code is wrong.")
      case .lockedOut: (.lockedOut, "Too many wrong codes; try again in a minute.")
      case .notKnown: (.notKnown, "The host admits only peers it knows.")
      case .notVerified:
        (
          .notVerified,
          isOurs
            ? "The host did not prove to be the right one; join by its link, or with its code."
            : "The peer asked for a proof that was not given."
        )
      case .unknownAdmitter: (.busy, "The peer does not know yet who admitted us.")
      case .notAttached: (.notConnected, "The further link was refused.")
      case .duplicateLink, .replaced: (.busy, "Another link with the peer took over.")
      case .tooFast:
        (
          .busy,
          isOurs
            ? "The peer sent more than a relay passes on."
            : "We sent more than the relay passes on; try again later."
        )
      case .tooSlow:
        (
          .busy,
          isOurs
            ? "The peer did not take what it was sent."
            : "This peer could not process the data; try again later."
        )
      case .self: (.selfDialled, "That address is this peer's own.")
      case .protocolError, .unknownFrame, .tooLarge:
        (
          .protocolError,
          isOurs ? "The peer broke the protocol." : "The peer says that we broke the protocol."
        )
      case .internalError: (.internalError, "The peer had an internal error.")
      }
    self.init(code, message.isEmpty ? sentence : "\(sentence) (\(message))")
    redial = closeCode.redial
    if !isOurs { remark = message }
  }
}
