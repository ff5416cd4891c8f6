import PeerWire

/// A request to join a session, with the listener's addresses and the data for admission.
public struct JoinRequest: Sendable {
  /// The session; `nil` means the only session that the listener serves.
  public var session: SessionID?
  /// The possible addresses of the listener, best first.
  public var addresses: [PeerAddress]
  /// The listener's key, if a join link or discovery named it.
  ///
  /// Any other key is refused (LNK-3).
  public var peer: PeerID?
  /// How to verify the key.
  public var trust: JoinTrust
  /// Whether to accept, with a warning, a host that does not prove its identity and whose key is unknown.
  ///
  /// The setting applies only if the trust is `unverified` and there is no code. Otherwise, such a host is refused
  /// (HEL-4).
  public var allowsUnproved = false
  /// The session's code, if the user has one.
  public var code: JoinCode?
  /// The pass from the join link, to reserve a slot among the host's pending invitations (HEL-9).
  ///
  /// The pass is sent only if `trust` is `pinnedByLink`.
  public var pass: InvitationPass?
  /// Data for the host's application; at most 1,024 bytes.
  public var context: [UInt8] = []
  /// How long to wait for the host's user, 1 s to 10 min.
  public var timeout: Duration = Control.InvitationRequest.defaultTimeout
  /// How long to keep dialing a listener that is busy, fails, or does not answer HELLO.
  ///
  /// The delays between dials follow LIV-3. A listener that received too many wrong codes accepts no code for a minute.
  /// Such a listener is dialed again for at least 75 s. Zero always means to dial only once.
  public var redialLimit: Duration = .seconds(30)
  /// How long the listener may take to admit or refuse the peer, not counting the time in which a user decides.
  ///
  /// If the listener takes longer, joining fails with `timedOut`. `nil` means that only the protocol's limits apply.
  public var answerTimeout: Duration?
  /// How the local peer admits newcomers without a ticket after it has joined.
  public var admission: AdmissionPolicy = .known
  /// Whether the local peer admits newcomers as the host does (MEM-17). If so, `admission` is only the first policy,
  /// and a code in `admission` is used only if the listener has checked the code.
  package var followsHost = false
  /// Whether a user or a program can answer peers that ask to join, if the local peer admits newcomers as the host
  /// does.
  package var asksUser = true
  /// How the local peer admits newcomers if it is the host of the session that it joins.
  package var hosting: HostAdmission?
  /// The code with which the local peer joined the session before; the code may be outdated.
  package var earlierCode: JoinCode?
  /// The peers that announce the session, which are dialed too; `nil` means to dial only ``addresses`` (DSC-28).
  package var announced: AnnouncedListeners?
  /// The stored membership, if this peer was in the session before (MEM-7).
  public var membership: MembershipRecord?

  /// Creates a request.
  public init(session: SessionID?, addresses: [PeerAddress], peer: PeerID?, trust: JoinTrust, code: JoinCode? = nil) {
    self.session = session
    self.addresses = addresses
    self.peer = peer
    self.trust = trust
    self.code = code
  }
}

/// How the host of a session admits newcomers, and whether the members may admit them.
package struct HostAdmission: Sendable {
  package var policy: AdmissionPolicy
  /// Whether members may admit newcomers if the host's user is asked; nil means that members may, unless the session
  /// belongs to an owned board (TCK-6).
  package var membersAdmit: Bool?

  package init(policy: AdmissionPolicy, membersAdmit: Bool?) {
    self.policy = policy
    self.membersAdmit = membersAdmit
  }
}
