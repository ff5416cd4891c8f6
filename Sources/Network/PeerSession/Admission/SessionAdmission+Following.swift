import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

// Members that admit newcomers as the host does (MEM-17).
extension SessionAdmission {
  struct Sharing: Equatable, Sendable {
    var sharesCode: Bool
    /// Whether members may admit newcomers if the host asks its user about newcomers (TCK-6).
    var givesRight: Bool

    init(sharesCode: Bool, givesRight: Bool) {
      self.sharesCode = sharesCode
      self.givesRight = givesRight
    }

    /// Members of an owned board do not learn its code, because viewers could use the code to become editors.
    init(_ admission: HostAdmission, of session: SessionID) {
      sharesCode = !session.isOfOwnedBoard
      givesRight = admission.membersAdmit ?? !session.isOfOwnedBoard
    }
  }

  struct Terms: Equatable, Sendable {
    var mode: Control.AdmissionMode
    var code: JoinCode?
  }

  // MARK: The host

  func share(_ sharing: Sharing) {
    self.sharing = sharing
    termsChanged()
  }

  /// Admits newcomers as the host, if the local peer is the host of the session that it joined. Call this before the
  /// local peer dials the members that ACCEPT named. A member that was admitted in the host's absence can prove its
  /// membership only if the host gives members the right to admit newcomers (TCK-6).
  func hostIfOwn() {
    guard membership.needsNoAdmission(session.localPeer), let own = hosting.take() else { return }
    sharing = Sharing(own, of: session.id)
    guard own.policy != policy else { return termsChanged() }
    followPolicy(own.policy)
  }

  func termsChanged() {
    guard sharing != nil else { return }
    updateRight()
    for entry in session.entries.values { sendTerms(to: entry) }
  }

  var ownTerms: Terms? {
    guard let sharing, session.isHost || session.relaying.isRelaying else { return nil }
    return switch policy {
    case .code(let code): Terms(mode: .code, code: sharing.sharesCode ? code : nil)
    case .anyone: Terms(mode: .anyone)
    // A relay has no user, so its mode may differ from the host's.
    case .known: session.isHost ? Terms(mode: .known) : nil
    case .ask: session.isHost ? Terms(mode: .ask) : nil
    }
  }

  func sendTerms(to entry: PeerEntry) {
    guard let link = entry.link, !entry.member.isGuest else { return }
    let (own, topology) = (ownTerms, session.relaying.statedTopology)
    let relays = session.relaying.recommendations(for: entry.id)
    guard own != nil || topology != nil || relays != nil else { return }
    var terms = Control.Members(members: [])
    (terms.admission, terms.code, terms.topology, terms.relays) = (own?.mode, own?.code, topology, relays)
    if membership.givesRight,
      let ticket = membership.renewed(for: entry.id, showing: entry.shownTicket, by: session.configuration.identity)
    {
      entry.shownTicket = ticket
      terms.ticket = ticket
    }
    link.send(.members, terms.encoded())
  }

  /// Gives members the right to admit only while a user is asked (TCK-6).
  private func updateRight() {
    let isAsking = if case .ask = policy { true } else { false }
    session.directory.setGivesRight(sharing?.givesRight == true && isAsking && session.isHost)
  }

  private var membership: Membership { session.membership }

  // MARK: Members

  func received(_ mode: Control.AdmissionMode?, _ code: JoinCode?) {
    guard let mode, !session.isHost else { return }
    terms = Terms(mode: mode, code: mode == .code ? code : nil)
    follow()
  }

  func beginFollowing(asksUser: Bool) {
    followsHost = true
    self.asksUser = asksUser
    follow()
  }

  /// Chooses the policy of a peer that has just joined. A code that the listener did not check admits no peer. The code
  /// with which the local peer joined before may be outdated, so this code is used only if the host did not send its
  /// terms.
  func joined(isCodeProved: Bool, earlier: JoinCode?) {
    if followsHost, !session.isHost, !isCodeProved, case .code = policy {
      followPolicy(terms == nil ? earlier.map { .code($0) } ?? .known : .known)
    }
    follow()
  }

  func follow() {
    guard followsHost, !session.isHost else { return }
    switch (terms?.mode, policy) {
    case (.code, _):
      if let code = terms?.code { return followPolicy(.code(code)) }
      if case .code = policy { return }
      followPolicy(.known)
    case (.ask, _): followPolicy(mayAsk ? .ask : .known)
    case (.known, _): followPolicy(.known)
    case (.anyone, _): followPolicy(.anyone)
    case (nil, .known) where mayAsk: followPolicy(.ask)
    // A member named the local peer as the host of an owned board that belongs to another peer.
    case (nil, .ask) where !mayAsk: followPolicy(.known)
    case (nil, _): break
    }
  }

  private var mayAsk: Bool { asksUser && membership.mayAdmitNewcomers }

  /// Replaces the policy by the host's, and reports the change to the application.
  func followPolicy(_ new: AdmissionPolicy) {
    guard new != policy else { return }
    replacePolicy(with: new)
    policySource.yield(new)
  }
}

extension Session {
  /// From now on, informs members how the local peer, as the host or its relay, admits newcomers (MEM-17).
  package func shareAdmission(membersAdmit: Bool?) {
    execute { core in
      let admission = core.admission
      admission.share(.init(.init(policy: admission.policy, membersAdmit: membersAdmit), of: core.id))
    }
  }

  /// Lets the local peer admit newcomers as the host does, from now on (MEM-17).
  package func followHost(asksUser: Bool = true) { execute { $0.admission.beginFollowing(asksUser: asksUser) } }

  package func admissionPolicy() async throws(SessionError) -> AdmissionPolicy {
    try await onLoop { $0.admission.policy }
  }
}
