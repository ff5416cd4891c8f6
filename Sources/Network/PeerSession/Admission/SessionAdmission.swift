import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// How a session admits diallers, and the invitations that wait for a user (4). Confined to the session's event loop.
final class SessionAdmission {
  unowned let session: SessionCore
  private(set) var policy: AdmissionPolicy
  /// The key of the code; `nil` until a dialler needs it, because a relay may have hundreds of sessions (ADM-5).
  private(set) var codeKey: CodeKey?
  private var keyWaiters: [() -> Void] = []
  /// The maximum number of peers in the session, including the local peer.
  var maximum: Int
  private var invitationCodes: [InvitationCode] = []
  var guests = GuestLinks()
  private var invitations: [InvitationID: ListenerHandshake] = [:]
  var queue = InvitationQueue<ObjectIdentifier>()
  /// The facts about admission that the local peer, as the host or its relay, sends to members; `nil` if the local peer
  /// sends no such facts.
  var sharing: Sharing?
  private var refusedCount = 0
  private var refusalReportAfter = NIODeadline.distantPast
  /// Whether the local policy follows the host's policy, because the local user chose no policy (MEM-17).
  var followsHost = false
  /// Whether a user can answer newcomers; used only if the policy follows the host's policy.
  var asksUser = true
  var terms: Terms?
  /// How the local peer admits newcomers if ACCEPT names it as the host; `nil` once the policy is in effect.
  var hosting: HostAdmission?
  let policyChanges: AsyncStream<AdmissionPolicy>
  let policySource: AsyncStream<AdmissionPolicy>.Continuation

  init(_ session: SessionCore, policy: AdmissionPolicy) {
    self.session = session
    self.policy = policy
    maximum = session.configuration.maximumPeers
    (policyChanges, policySource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  // MARK: Diallers

  func mode(for peer: PeerID) -> ListenerAdmission.Mode {
    // The host created the session, so its key is enough (HEL-8).
    if session.membership.needsNoAdmission(peer) { return .anyone }
    let transport = session.transport
    return switch policy {
    case .anyone: .anyone
    case .known: .known(isKnown: transport.known[peer] != nil)
    case .ask: transport.alwaysAdmitted.contains(peer) ? .known(isKnown: true) : .ask
    case .code: codeKey.map { .code($0, besides: codeChoices()) } ?? .codeWithoutKey
    }
  }

  func choices(for peer: PeerID, fromBrowser: Bool) -> [CodeChoice] {
    if fromBrowser { return guests.choices(for: peer) }
    guard case .code(let key, let besides) = mode(for: peer) else { return [] }
    return [CodeChoice(key: key)] + besides
  }

  /// Returns whether an invitation may use a reserved slot, because it comes from a known peer or contains the pass of
  /// this session's join link (HEL-5).
  func isExpected(_ peer: PeerID, with pass: InvitationPass?) -> Bool {
    if session.transport.known[peer] != nil { return true }
    guard let pass else { return false }
    let own = session.configuration.identity.invitationPass(for: session.id)
    return isEqualInConstantTime(pass.bytes, own.bytes)
  }

  func isFull(for peer: PeerID) -> Bool {
    session.entries[peer]?.isJoined != true && session.directory.peerCount >= maximum
  }

  /// If the local peer is the host, reports at most once a minute that newcomers were refused because the session is
  /// full.
  func refusedAsFull(_ name: UntrustedText, at address: String) {
    refusedCount += 1
    guard session.isHost, refusalReportAfter <= .now() else { return }
    refusalReportAfter = .now() + .minutes(1)
    let others = refusedCount > 1 ? " There were \(refusedCount - 1) other attempts since the last report." : ""
    refusedCount = 0
    session.emit(
      .warning(
        SessionWarning(
          code: SessionWarning.sessionFull,
          message: "\(name.escaped()) (\(address)) could not join, because the session is full. "
            + CloseMessage.full(maximum) + others
        )
      )
    )
    session.deliverEvents()
  }

  // MARK: Codes

  private func codeChoices() -> [CodeChoice] {
    let now = NIODeadline.now()
    invitationCodes.removeAll { $0.end.map { now >= $0 } ?? false }
    return invitationCodes.map { CodeChoice(key: $0.key, label: $0.label) }
  }

  /// The number of codes is limited, because each guess of an attacker is checked against all codes.
  func checkRoomForCode() throws(SessionError) {
    guard case .code = policy else { throw SessionError(.notByCode, "This session does not admit peers by code.") }
    guard codeChoices().count < Limits.invitationCodes else {
      throw SessionError(.busy, "This session already has \(Limits.invitationCodes) codes, which is the maximum.")
    }
  }

  func add(_ code: InvitationCode) { invitationCodes.append(code) }

  func replaceCode(with code: JoinCode) {
    setPolicy(.code(code))
    session.relaying.codeReplaced(with: code)
    termsChanged()
  }

  func replacePolicy(with policy: AdmissionPolicy) {
    setPolicy(policy)
    termsChanged()
  }

  private func setPolicy(_ policy: AdmissionPolicy) {
    guard policy != self.policy else { return }
    self.policy = policy
    codeKey = nil
    invitationCodes = []
  }

  /// Computes the key of the current code, unless it is known, and then calls `body`. Concurrent callers share one
  /// computation (ADM-5). If the transport ends, `body` is not called.
  func computeCodeKey(then body: @escaping () -> Void) {
    keyWaiters.append(body)
    if keyWaiters.count == 1 { computeCodeKey() }
  }

  private func computeCodeKey() {
    guard codeKey == nil, case .code(let code) = policy else {
      let waiters = keyWaiters
      keyWaiters = []
      for waiter in waiters { waiter() }
      return
    }
    session.transport.stretch(code, for: session.id).assumeIsolated().whenSuccess { [session] key in
      let admission = session.admission
      if admission.policy == .code(code) { admission.codeKey = key }
      admission.computeCodeKey()
    }
  }

  // MARK: Invitations

  func invitationBegan(_ id: InvitationID, _ handshake: ListenerHandshake) { invitations[id] = handshake }

  func invitationEnded(_ id: InvitationID) { invitations[id] = nil }

  /// Returns whether the peer's user is still comparing the words (ADM-16).
  func respond(to id: InvitationID, _ answer: InvitationAnswer) throws(SessionError) -> Bool {
    guard let handshake = invitations[id] else {
      throw SessionError(.unknown, "No invitation \(id) is waiting for an answer.")
    }
    return handshake.personAnswered(answer)
  }

  func end() {
    policySource.finish()
    keyWaiters = []
    for handshake in invitations.values { handshake.cancel(.shuttingDown) }
    invitations = [:]
  }

  // MARK: Known peers

  func remember(_ peer: PeerID, _ name: UntrustedText, _ verification: KnownPeer.Verification) {
    let transport = session.transport
    // Warn before the key is stored under this name.
    session.warnOfName(of: peer, name)
    transport.known[peer] = name.raw
    if verification != .anyone { transport.proved.insert(peer) }
    guard let store = session.configuration.peerStore else { return }
    let logger = session.logger
    // No code awaits this task. If the peer could not be saved, the peer is treated as unknown the next time.
    Task {
      do { try await store.remember(peer, name: name.raw, how: verification) } catch {
        logger.info("Cannot store a known peer.", metadata: ["error": "\(error)"])
      }
    }
  }

  func alwaysAdmit(_ peer: PeerID) { session.transport.alwaysAdmitted.insert(peer) }

  func forget(_ peer: PeerID) {
    let transport = session.transport
    transport.known[peer] = nil
    transport.proved.remove(peer)
    transport.alwaysAdmitted.remove(peer)
  }
}

/// The browser links of a session (WEB-5): the URLs with which browsers join it.
struct GuestLinks {
  private struct Link {
    let choice: CodeChoice
    let end: NIODeadline?
    /// The only guests that may use the browser link; `nil` means anyone with the browser link.
    let guests: Set<PeerID>?
    let limit: Int
    var joined: Set<PeerID>

    var isOpen: Bool { guests == nil && joined.count < limit }

    func admits(_ guest: PeerID) -> Bool { guests?.contains(guest) ?? (isOpen || joined.contains(guest)) }
  }

  var isOpen = false
  private var links: [GuestKey: Link] = [:]

  mutating func openCount(now: NIODeadline = .now()) -> Int {
    removeExpired(now)
    return links.values.count { $0.isOpen }
  }

  private mutating func removeExpired(_ now: NIODeadline = .now()) {
    links = links.filter { now < $0.value.end ?? .distantFuture }
  }

  mutating func choices(for guest: PeerID) -> [CodeChoice] {
    removeExpired()
    return links.values.filter { $0.admits(guest) }.map(\.choice)
  }

  /// Records that a guest joins with a key that the guest proved. Returns `false` if other guests have used up the link
  /// since that proof (WEB-57).
  mutating func use(_ key: GuestKey, by guest: PeerID) -> Bool {
    removeExpired()
    guard links[key]?.admits(guest) == true else { return false }
    links[key]?.joined.insert(guest)
    return true
  }

  func contains(_ key: GuestKey) -> Bool { links[key] != nil }

  /// Guests that joined with the previous link for this key count toward the limit.
  mutating func set(
    _ choice: CodeChoice,
    key: GuestKey,
    until end: NIODeadline?,
    for guests: Set<PeerID>? = nil,
    limit: Int = .max,
    joined: Set<PeerID> = []
  ) {
    let joined = joined.union(links[key]?.joined ?? [])
    links[key] = Link(choice: choice, end: end, guests: guests, limit: limit, joined: joined)
  }

  mutating func close(_ key: GuestKey, to guests: Set<PeerID>) {
    guard let link = links[key], link.guests == nil else { return }
    set(link.choice, key: key, until: link.end, for: guests)
  }

  mutating func remove(_ key: GuestKey) { links[key] = nil }
}

/// An additional code with which a session admits peers until the code expires (ADM-9).
struct InvitationCode {
  let key: CodeKey
  let label: String?
  let end: NIODeadline?
}

extension Session {
  /// Adds a join code to a session that admits by code.
  ///
  /// This call takes about 0.1 s.
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - label: The label in ``Peer/admission`` of the peers that join with this code.
  ///   - time: How long the code is valid; `nil` means as long as this process serves the session. An expired code is
  ///     rejected as wrong.
  /// - Throws: `notByCode` if the session does not admit by codes; `busy` if the session already has 15 additional
  ///   codes; `sessionEnded`.
  public func invite(_ code: JoinCode, label: String? = nil, for time: Duration? = nil) async throws(SessionError) {
    let threads = try await onLoop { (core: SessionCore) in
      try core.admission.checkRoomForCode()
      return core.transport.threads
    }
    let (id, peer) = (id, localPeer)
    let key = try await withSessionErrors {
      try await threads.runIfActive { CodeKey(code: code, session: id, listener: peer) }
    }
    try await onLoop { core in
      try core.admission.checkRoomForCode()
      let end = time.map { NIODeadline.now() + TimeAmount($0) }
      core.admission.add(InvitationCode(key: key, label: label, end: end))
    }
  }
  /// Replaces the join code of the session.
  ///
  /// The old code and all additional codes are rejected from then on. A relay of the session gets the new code. Other
  /// members still accept the code that they know.
  ///
  /// - Parameter code: The new code.
  /// - Throws: `notByCode` if the session does not admit by codes; `sessionEnded`.
  public func replaceCode(with code: JoinCode) async throws(SessionError) {
    try await onLoop { (core: SessionCore) in
      guard case .code = core.admission.policy else {
        throw SessionError(.notByCode, "This session does not admit peers by code.")
      }
      core.admission.replaceCode(with: code)
    }
  }
}
