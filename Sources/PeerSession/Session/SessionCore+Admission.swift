import NIOCore
import PeerDiscovery
import PeerWire

// What a session decides about links that are not open yet.
extension SessionCore {
  /// How the dialler of a new link is admitted (4).
  func mode(for peer: PeerID) -> ListenerAdmission.Mode {
    // The host made the session: its key admits it (HEL-8).
    if peer == host { return .anyone }
    return switch policy {
    case .anyone: .anyone
    case .known: .known(isKnown: transport.known[peer] != nil)
    case .ask: transport.alwaysAdmitted.contains(peer) ? .known(isKnown: true) : .ask
    case .code:
      codeKey.map { .code($0, besides: invitationChoices()) } ?? .notReady
    }
  }

  /// Whether an invitation may take one of the reserved places: from a known peer, or one that shows
  /// the pass of our join link (HEL-5).
  func isExpected(_ peer: PeerID, with pass: InvitationPass?) -> Bool {
    if transport.known[peer] != nil { return true }
    guard let pass else { return false }
    let own = transport.configuration.identity.invitationPass(for: id)
    return isEqualInConstantTime(pass.bytes, own.bytes)
  }

  /// The codes that let in besides that of the session, now.
  private func invitationChoices() -> [CodeChoice] {
    let now = NIODeadline.now()
    invitationCodes.removeAll { $0.end.map { now >= $0 } ?? false }
    return invitationCodes.map { CodeChoice(key: $0.key, label: $0.label) }
  }

  /// Whether one more code has room: each that there is takes its time of whoever guesses.
  func checkRoomForCode() throws(SessionError) {
    guard case .code = policy else {
      throw SessionError(.notByCode, "This session does not let in by codes.")
    }
    guard invitationChoices().count < Limits.invitationCodes else {
      throw SessionError(.busy, "There are \(Limits.invitationCodes) codes already.")
    }
  }

  /// Whether the dialler comes back with the delivery state that we hold, too (RSM-2).
  func canResume(_ hello: Control.DiallerHello, from peer: PeerID) -> Bool {
    guard let delivery = entries[peer]?.delivery, !membership.isRemoved(peer) else { return false }
    return hello.resumes(
      deliveryOf: delivery.incarnation,
      since: delivery.since,
      at: incarnation
    )
  }

  /// Whether the dialler began before a link that the local peer dialled was open (DUP-1).
  ///
  /// Even if that link broke again, the delivery state in the dialler's HELLO is outdated.
  func isDuplicate(_ hello: Control.DiallerHello, from peer: PeerID) -> Bool {
    guard let delivery = entries[peer]?.delivery,
      delivery.incarnation == hello.introduction.incarnation
    else { return false }
    return hello.introduction.links < delivery.lastDialled
  }

  /// Whether the delivery state in the dialler's HELLO was outdated when ACCEPT arrived (DUP-5).
  ///
  /// - Parameters:
  ///   - hello: The HELLO that the local peer sent.
  ///   - accept: The answer.
  ///   - theirs: The listener's introduction.
  ///   - peer: The listener.
  /// - Returns: Whether the link must be closed and the peer dialled again.
  func isOutdated(
    _ hello: Control.DiallerHello,
    _ accept: Control.Accept,
    _ theirs: Control.Introduction,
    of peer: PeerID
  ) -> Bool {
    guard let entry = entries[peer] else { return hello.resume != nil && accept.resume != nil }
    if entry.link == nil, entry.linkNumber > hello.introduction.links { return true }
    let meant = hello.resume.flatMap { $0.incarnation == theirs.incarnation ? $0.since : nil }
    let present = entry.delivery.flatMap { $0.incarnation == theirs.incarnation ? $0 : nil }
    if meant == present?.since { return false }
    return accept.resume != nil || present?.isUntouched == false
  }

  /// Whether the local dial must give way to a link that the peer dialled in the meantime (DUP-2).
  func mustYield(to peer: PeerID, _ theirs: Control.Introduction) -> Bool {
    guard let entry = entries[peer], let link = entry.link, link.side == .listener,
      entry.delivery?.incarnation == theirs.incarnation
    else { return false }
    return peer < localPeer
  }

  /// Whether a newcomer finds no room (HEL-5).
  func isFull(for peer: PeerID) -> Bool {
    entries[peer]?.isJoined != true && peerCount >= maximum
  }

  /// Tells everyone of a newcomer (MEM-1).
  func announce(_ newcomer: PeerID) {
    guard let member = entries[newcomer]?.member else { return }
    for entry in entries.values where entry.id != newcomer {
      entry.link?.send(.members, Control.Members(members: [member]).encoded())
    }
  }

  /// Whether a member announced this address, so that a connection from there has a reserved place
  /// (LNK-6).
  func hasMember(at host: String) -> Bool {
    entries.values.contains { $0.addresses.contains { $0.host == host } }
  }

  /// Answers an invitation for a person.
  func respond(to id: InvitationID, _ answer: InvitationAnswer) throws(SessionError) {
    guard let handshake = invitations[id] else {
      throw SessionError(.unknown, "No invitation \(id) waits for an answer.")
    }
    handshake.personAnswered(answer)
  }

  func endAdmissions(_ error: SessionError) {
    for handshake in invitations.values { handshake.cancel(.shuttingDown) }
    invitations = [:]
  }

  /// Takes over what the host said of the session.
  func joined(as id: SessionID, host: PeerID, maximum: Int) {
    guard self.id == .unnamed || self.id == id else { return }
    let wasUnnamed = self.id == .unnamed
    membership.session = id
    if !hasJoined {
      hasJoined = true
      membership.host = host
      self.maximum = min(maximum, Limits.members)
    }
    if wasUnnamed { transport.add(self) }
    if let stored = storedMembership.take() { restore(stored) }
  }

  /// Notes in the peer store whom we admitted, or who admitted us.
  func remember(_ peer: PeerID, _ name: UntrustedText, _ verification: KnownPeer.Verification) {
    transport.known[peer] = name.raw
    if verification != .anyone { transport.proved.insert(peer) }
    guard let store = configuration.peerStore else { return }
    let logger = logger
    // Nobody waits: a peer that could not be stored is asked for again next time.
    Task {
      do {
        try await store.remember(peer, name: name.raw, how: verification)
      } catch {
        logger.info("cannot store a known peer", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Admits a peer from now on without asking, wherever this program asks a person (ADM-10).
  func alwaysAdmit(_ peer: PeerID) { transport.alwaysAdmitted.insert(peer) }

  /// Forgets a peer that the person removed, so that `known` and `ask` do not admit it (MEM-12).
  func forget(_ peer: PeerID) {
    transport.known[peer] = nil
    transport.proved.remove(peer)
    transport.alwaysAdmitted.remove(peer)
  }

  /// Replaces the code of the session, and ends all additional codes (MEM-12).
  func replaceCode(with code: JoinCode, _ key: CodeKey?) {
    policy = .code(code)
    codeKey = key
    invitationCodes = []
    for (relay, terms) in relaying.carriers {
      guard case .code = terms.admission else { continue }
      relaying.carriers[relay]?.admission = .code(code)
      // A new link carries the new code to the relay (RLY-2).
      if let entry = entries[relay], entry.link != nil { renewLink(entry) }
    }
  }

  // MARK: Dialling members

  /// Dials a member with everything that may admit the local peer: delivery state, ticket and code.
  func dial(_ entry: PeerEntry) {
    entry.plan.began()
    let dial = LinkDial(transport, entry.addresses, expecting: entry.id) { [unowned self] result in
      switch result {
      case .failure(let error):
        self.dialFailed(entry, error, redial: .later)
      case .success(let link): self.shake(link, entry)
      }
    }
    dial.start()
  }

  private func shake(_ link: ControlLink, _ entry: PeerEntry) {
    guard !hasEnded, !membership.isRemoved(entry.id), let exporter = link.facts.exporter else {
      entry.plan.ended()
      return link.abort()
    }
    var code: JoinCode?
    if case .code(let ours) = policy, !entry.hasRefusedCode { code = ours }
    let handshake = DiallerHandshake(
      self,
      link,
      facts: .init(
        local: localPeer,
        remote: entry.id,
        binding: exporter.export(.binding),
        trust: .pinnedByLink,
        code: code,
        codeKey: nil,
        hello: hello(to: entry.id),
        membership: MemberDial(
          membership,
          mustProve: !entry.isVouched,
          admitters: policy.admitters
        )
      ),
      verify: nil
    ) { [unowned self] result in
      self.handshakes[ObjectIdentifier(link)] = nil
      entry.plan.ended()
      if case .failure(let failure) = result {
        // Also where another link stays: it may be gone again.
        self.dialFailed(entry, failure.error, redial: failure.redial)
      }
    }
    handshakes[ObjectIdentifier(link)] = handshake
    handshake.start()
  }
}
