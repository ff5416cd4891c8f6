import PeerCore

/// The known frame types (`Protocol/session.md`, 2).
///
/// The numbers in parentheses are sections or rules of that document.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// Opens a control link and introduces its sender (3.1).
  case hello = 0x01
  /// Ends a link, with a reason (3.6).
  case close = 0x02
  /// Admits the dialler to the session (3.3).
  case accept = 0x03
  /// Proves that the dialler knows the join code (4.2).
  case codeProof = 0x04
  /// Commits the dialler to its nonce (4.3).
  case sasCommit = 0x05
  /// Carries the listener's nonce (4.3).
  case sasNonce = 0x06
  /// Reveals the dialler's nonce (4.3).
  case sasReveal = 0x07
  /// Asks a browser to prove its key (WEB-3).
  case webChallenge = 0x08
  /// Proves the key of a browser (WEB-3).
  case webProof = 0x09
  /// Lists members that the receiver might not know (MEM-1).
  case members = 0x10
  /// Contains the host's order to remove a peer (MEM-3).
  case kick = 0x11
  /// Contains the sender's new addresses (MEM-4).
  case addresses = 0x12
  /// Asks the other side to dial bulk links (8.1).
  case bulkRequest = 0x13
  /// Proves that the host made the sender a relay of the session (11.1).
  case relayGrant = 0x14
  /// Names the control link that a bulk link belongs to (8.1).
  case attach = 0x20
  /// Confirms a valid ATTACH (8.1).
  case attached = 0x21
  /// Offers a resource to the receiver (8.2).
  case resourceOffer = 0x22
  /// Accepts a resource, with the offset at which to resume (8.2).
  case resourceAccept = 0x23
  /// Starts a transfer, with the offset at which the sender begins (RES-2).
  case resourceStart = 0x24
  /// Ends the chunks of a resource, with the hash of all its bytes (8.2).
  case resourceEnd = 0x25
  /// Confirms that the receiver has the complete, verified resource (8.2).
  case resourceDone = 0x26
  /// Cancels an incomplete transfer (RES-4).
  case resourceCancel = 0x27
  /// Opens a byte stream (8.3).
  case streamOpen = 0x28
  /// Resets a byte stream (8.3).
  case streamReset = 0x29
  /// Carries a message or a part of a message (6).
  case message = 0x40
  /// Acknowledges message parts (MSG-4).
  case ack = 0x41
  /// Checks whether the other side still answers (LIV-1).
  case ping = 0x42
  /// Answers PING (LIV-1).
  case pong = 0x43
  /// Carries a datagram while UDP does not work (DGM-9).
  case datagram = 0x44
  /// Carries a datagram between a member and a relay while UDP does not work (11.4).
  case relayDatagram = 0x45
  /// Carries bytes of a resource (8.2).
  case chunk = 0x50
  /// Carries bytes of a stream (8.3).
  case streamData = 0x51
  /// Ends one direction of a stream (8.3).
  case streamFin = 0x52
  /// Reports whether the sender's user has confirmed the verification words (ADM-15).
  ///
  /// A peer that does not know this type skips the frame (FRM-3).
  case deciding = 0x82

  /// Whether the payload is a JSON object (FRM-5).
  public var isControl: Bool { rawValue < 0x40 }
}

/// The reason why bytes are not a valid frame.
public enum FrameError: Error, Equatable, Sendable {
  /// The length is not an integer in its shortest encoding (FRM-2).
  case malformedLength
  /// The length exceeds the limit that currently applies to the link (FRM-1).
  case tooLarge(length: UInt64, limit: Int)
  /// The frame type is unknown and below 0x80 (FRM-3).
  case unknownType(UInt8)
}

/// The header of a frame: its type and the length of its payload.
public struct FrameHeader: Equatable, Sendable {
  /// The frame type, or `nil` for an unknown type that must be skipped (FRM-3).
  public var type: FrameType?
  /// The length of the payload in bytes.
  public var length: Int

  /// The maximum length of a header in bytes.
  public static let maximumLength = 1 + Varint.maximumLength

  /// Reads the header at `offset` and moves `offset` to the payload, which might not have arrived yet.
  ///
  /// The length is checked as soon as it is read, so that the caller never buffers a payload that exceeds `limit`.
  ///
  /// - Parameters:
  ///   - bytes: The bytes received so far.
  ///   - offset: The offset of the header.
  ///   - limit: The maximum length of a payload in bytes. The maximum also applies to skipped frames.
  /// - Returns: The header; `nil`, with `offset` unchanged, if the header needs more bytes.
  /// - Throws: ``FrameError`` as soon as the received bytes are invalid; the caller must then close the link.
  @inlinable public static func read(from bytes: Span<UInt8>, at offset: inout Int, limit: Int) throws(FrameError)
    -> FrameHeader?
  {
    guard offset < bytes.count else { return nil }
    let raw = bytes[offset]
    let type = FrameType(rawValue: raw)
    if type == nil && raw < 0x80 { throw .unknownType(raw) }
    var position = offset + 1
    let length: UInt64?
    do { length = try Varint.read(from: bytes, at: &position) } catch { throw .malformedLength }
    guard let length else { return nil }
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: limit) }
    offset = position
    return FrameHeader(type: type, length: Int(length))
  }

  /// Creates a header for a payload of `length` bytes.
  @inlinable public init(type: FrameType?, length: Int) {
    self.type = type
    self.length = length
  }
}

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
    /// This value does not apply if ``CloseCode/timedOut`` ended an invitation that a user could have answered.
    case later
    /// The peer is still connected through another link, or soon will be.
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
