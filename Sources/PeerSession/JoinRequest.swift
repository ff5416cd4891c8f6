import PeerWire

/// Where and how to join.
public struct JoinRequest: Sendable {
  /// The session; `nil` means the only one that the listener serves.
  public var session: SessionID?
  /// Where the listener may be, best first.
  public var addresses: [PeerAddress]
  /// The key at the other end, when a link or discovery named one; another is refused (LNK-3).
  public var peer: PeerID?
  /// How to verify the key.
  public var trust: JoinTrust
  /// Whether a host that proves nothing is accepted, with a warning, where nothing named its key.
  ///
  /// Counts only with trust `unverified` and no code; otherwise such a host is refused (HEL-4).
  public var allowsUnproved = false
  /// The session's code, when we were given one.
  public var code: JoinCode?
  /// The pass of the join link, which reserves a place among the host's pending invitations (HEL-9).
  ///
  /// It is sent only with trust `pinnedByLink`.
  public var pass: InvitationPass?
  /// At most 1,024 bytes for the host's application.
  public var context: [UInt8] = []
  /// How long to wait for a person there, 1 s to 10 min.
  public var timeout: Duration = Control.InvitationRequest.defaultTimeout
  /// How long a listener that is busy, fails or does not answer HELLO is dialed again.
  ///
  /// The waits are those of LIV-3. A listener that takes no codes for a minute, since it was given too many
  /// wrong ones, is dialed again for 75 s. With zero every listener is dialed only once.
  public var redialLimit: Duration = .seconds(30)
  /// How long the listener may take to admit or refuse the peer, not counting the time in which a user is asked;
  /// nil for no limit but those of the protocol.
  ///
  /// If it takes longer, joining fails with `timedOut`.
  public var answerTimeout: Duration?
  /// How we admit those who come to us without a ticket, once we are in.
  public var admission: AdmissionPolicy = .known
  /// The stored membership, if this peer was in the session before (MEM-7).
  public var membership: MembershipRecord?

  /// Creates a request.
  public init(
    session: SessionID?,
    addresses: [PeerAddress],
    peer: PeerID?,
    trust: JoinTrust,
    code: JoinCode? = nil
  ) {
    self.session = session
    self.addresses = addresses
    self.peer = peer
    self.trust = trust
    self.code = code
  }
}
