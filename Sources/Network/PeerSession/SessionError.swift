import PeerWire

/// An error of a session, with a sentence that states what to do.
///
/// Two errors are equal if they have the same ``code``.
public struct SessionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of failure that a caller may want to distinguish.
  public enum Code: String, Sendable, CaseIterable {
    /// The proof of the code did not verify.
    case wrongCode = "wrong-code"
    /// Too many wrong codes were sent; wait a minute.
    case lockedOut = "locked-out"
    /// A user declined the request.
    case declined
    /// No answer arrived in time.
    case timedOut = "timed-out"
    /// The invitation was withdrawn.
    case withdrawn
    /// The joining program has no user who could compare the verification words.
    case noUser = "no-user"
    /// The session has its maximum number of peers.
    case full
    /// The other end is busy; try later.
    case busy
    /// The two sides support no common protocol version.
    case versionMismatch = "version-mismatch"
    /// The other end does not serve this session.
    case noSuchSession = "no-such-session"
    /// The relay does not relay the session; the relay's message states the reason.
    case notCarried = "not-carried"
    /// The host admits only peers that it knows.
    case notKnown = "not-known"
    /// Another program with the local key is in the session.
    case identityInUse = "identity-in-use"
    /// The other end's key could not be verified.
    case notVerified = "not-verified"
    /// The key at the other end is not the expected key.
    case wrongPeer = "wrong-peer"
    /// The host removed the local peer.
    case kicked
    /// The peer left the session.
    case left
    /// The peer's program shut down.
    case shuttingDown = "shutting-down"
    /// The peer disconnected only the local peer.
    case disconnected
    /// No address of the peer answered.
    case unreachable
    /// The peer was silent for too long and is considered lost.
    case peerLost = "peer-lost"
    /// The peer is not in the session.
    case notConnected = "not-connected"
    /// The session is over.
    case sessionEnded = "session-ended"
    /// A message or datagram exceeds its limit.
    case messageTooLarge = "message-too-large"
    /// A name exceeds its limit, or has a character that is not allowed.
    case invalidName = "invalid-name"
    /// The caller canceled.
    case cancelled
    /// Either side canceled the transfer.
    case transferCancelled = "transfer-cancelled"
    /// The file changed while it was sent.
    case sourceChanged = "source-changed"
    /// The file cannot be read.
    case sourceUnreadable = "source-unreadable"
    /// The receiver has no space left.
    case diskFull = "disk-full"
    /// The receiver's quota is used up.
    case quota
    /// The received bytes differ from the sent bytes.
    case hashMismatch = "hash-mismatch"
    /// The stream was reset by the other end.
    case reset
    /// The dialed address is the local peer's own.
    case selfDialled = "self"
    /// The other end broke the protocol.
    case protocolError = "protocol-error"
    /// Only the host may perform this operation.
    case notHost = "not-host"
    /// The session does not admit peers by code.
    case notByCode = "not-by-code"
    /// There is no such invitation, transfer or peer.
    case unknown
    /// A system call failed.
    case system
    /// The link of a stream broke.
    case linkLost = "link-lost"
    /// An error that no other code describes.
    case internalError = "internal-error"
  }

  /// The kind of failure.
  public var code: Code
  /// A sentence that states what happened and what to do.
  ///
  /// Text from another peer in the sentence is made safe for display.
  public var message: String
  /// When to dial the peer again, according to the error's close code; `nil` if there is no close code (3.6).
  var redial: CloseCode.Redial?
  /// The message that the other side sent when it closed or refused the link, made safe for display; empty if there is
  /// no message.
  public var remark = ""

  /// Creates an error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The caller's task was canceled.
  public static let cancelled = SessionError(.cancelled, "The operation was canceled.")

  /// Returns whether two errors have the same code.
  public static func == (left: SessionError, right: SessionError) -> Bool { left.code == right.code }

  /// Hashes only the code.
  public func hash(into hasher: inout Hasher) { hasher.combine(code) }

  /// Code and message.
  public var description: String { "\(code.rawValue): \(message)" }
}

extension SessionError {
  init(closeCode: CloseCode, message: String, isOurs: Bool = false) {
    let (code, sentence): (Code, String) =
      switch closeCode {
      case .left: (.left, "The peer left the session.")
      case .shuttingDown: (.shuttingDown, "The peer's program exited.")
      case .disconnected: (.disconnected, "The peer disconnected from this peer.")
      case .kicked: (.kicked, "The host removed this peer from the session.")
      case .declined: (.declined, "The invitation was declined.")
      case .withdrawn: (.withdrawn, "The invitation was withdrawn.")
      case .timedOut: (.timedOut, "The peer did not answer in time.")
      case .full: (.full, "The session is full.")
      case .busy where message == Self.justDeclined: (.busy, Self.justDeclinedAdvice)
      case .busy: (.busy, "The peer is busy; try again later.")
      case .versionMismatch: (.versionMismatch, "The peers have no common protocol version.")
      case .noSuchSession: (.noSuchSession, "The peer does not serve that session.")
      case .notCarried: (.notCarried, "The relay does not relay this session.")
      case .wrongCode: (.wrongCode, "The code is wrong.")
      case .lockedOut: (.lockedOut, "Too many wrong codes; try again in a minute.")
      case .notKnown: (.notKnown, "The host admits only peers that it knows.")
      case .notVerified where isOurs && message == Self.codeNotAsked:
        (.notVerified, Self.codeNotAskedAdvice)
      case .notVerified:
        (
          .notVerified,
          isOurs
            ? "The host did not prove its identity. Join by its link, or with its code."
            : "The peer asked for a proof that was not given."
        )
      case .unknownAdmitter: (.busy, "The peer does not yet know the member that admitted this peer; try again later.")
      case .notAttached: (.notConnected, "The peer refused an additional connection.")
      case .duplicateLink: (.busy, "Another connection with the peer replaced this connection.")
      case .replaced:
        (.identityInUse, "Another program with this program's identity is connected; give one of them a new identity.")
      case .tooFast:
        (
          .busy,
          isOurs
            ? "The peer sent data faster than this relay forwards it."
            : "This peer sent data faster than the relay forwards it; try again later."
        )
      case .tooSlow:
        (
          .busy,
          isOurs ? "The peer did not read its messages." : "This peer could not process the data; try again later."
        )
      case .self: (.selfDialled, "That address belongs to this peer itself.")
      case .protocolError, .unknownFrame, .tooLarge:
        (
          .protocolError,
          isOurs ? "The peer broke the protocol." : "The peer reports that this program broke the protocol."
        )
      case .internalError: (.internalError, "The peer had an internal error.")
      }
    let isWhole = message.isEmpty || [Self.codeNotAskedAdvice, Self.justDeclinedAdvice].contains(sentence)
    self.init(code, isWhole ? sentence : "\(sentence) (\(message))")
    redial = closeCode.redial
    if !isOurs { remark = message }
  }
}

extension SessionError {
  /// The message of a dialler that closes a link because it has a code, but the listener asks its user (HEL-7).
  static let codeNotAsked = "A code was given, but the listener does not ask for a code."
  package static let codeNotAskedAdvice =
    "This board does not use a join code: its host answers each request to join. Join again without the code, and "
    + "compare the words on both screens."
  /// The message of a listener whose user just declined another invitation from the address of the dialler (ADM-11).
  static let justDeclined = "An invitation from this address was just declined. Try again in a minute."
  package static let justDeclinedAdvice =
    "The host just declined a request from this address, and answers no other one for a minute. Ask the host to accept "
    + "you, then join again."
}
