import PeerCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

private typealias World = AdmissionWorld

struct AdmissionByPolicyTests {
  @Test("in the mode `anyone`, a dialler is admitted at once and knows that nothing was proved") func anyone() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.types == [-1, 1])
    #expect(world.admitted == .anyone)
    #expect(world.opening?.basis == .anyone)
    #expect(world.opening?.hello.introduction.name.raw == "Lena")
    #expect(world.dialler.deadline == nil)
    #expect(world.listener.deadline == nil)
  }

  @Test("known peers are admitted; others are refused with the reason") func known() {
    var world = World(
      dialler: World.diallerFacts(trust: .pinnedByLink),
      listener: World.listenerFacts(.known(isKnown: true))
    )
    world.run()
    #expect(world.admitted == .known)
    #expect(world.opening?.basis == .known)

    world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.known(isKnown: false)))
    world.run()
    #expect(world.listenerClosed == .notKnown)
    #expect(world.diallerWanted == [.ended(.notKnown, UntrustedText("This session admits only known peers."))])
  }

  @Test("[HEL-4] a dialler that requires a proof refuses a listener that asks for none") func insists() {
    let cases: [(JoinTrust, JoinCode?, isRefused: Bool)] = [
      (.unverified, nil, true), (.unverified, World.code, true), (.discovered, World.code, true),
      (.discovered, nil, false), (.pinnedByLink, World.code, false), (.pinnedByLink, nil, false),
    ]
    for (trust, code, isRefused) in cases {
      var world = World(dialler: World.diallerFacts(trust: trust, code: code), listener: World.listenerFacts(.anyone))
      world.run()
      #expect(world.diallerClosed == (isRefused ? .notVerified : nil), "\(trust)")
      #expect((world.opening == nil) == isRefused, "\(trust)")
    }
  }

  @Test("[HEL-7] a dialler with a code accepts no comparison of words, unless a link names the key")
  func neverFallsBack() {
    for trust in [JoinTrust.discovered, .unverified, .pinnedByLink] {
      var world = World(
        dialler: World.diallerFacts(trust: trust, code: World.code),
        listener: World.listenerFacts(.ask)
      )
      world.run()
      #expect(world.diallerClosed == (trust == .pinnedByLink ? nil : .notVerified))
      #expect((world.shownWords == nil) == (trust != .pinnedByLink))
    }
  }

  @Test("[HEL-1] peers without a common version close with version-mismatch") func versions() {
    var facts = World.diallerFacts()
    facts.hello.introduction.versions = Control.VersionRange(lowest: 3, highest: 9)
    var world = World(dialler: facts, listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.listenerClosed == .versionMismatch)

    facts.hello.introduction.versions = Control.VersionRange(lowest: 0, highest: 9)
    world = World(dialler: facts, listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.opening != nil)
  }

  @Test("[HEL-2] another session is refused; a request without a name means the only session") func sessions() {
    var facts = World.diallerFacts()
    facts.hello.introduction.session = .random()
    var world = World(dialler: facts, listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.listenerClosed == .noSuchSession)

    facts = World.diallerFacts(code: World.code)
    facts.hello.introduction.session = .unnamed
    world = World(dialler: facts, listener: World.listenerFacts(.code(World.codeKey)))
    world.run()
    #expect(world.opening?.basis == .code)

    facts.code = nil
    world = World(dialler: facts, listener: World.listenerFacts(.ask))
    world.run()
    #expect(world.shownWords?.words.count == 3)
    #expect(world.shownWords?.words == world.invitation?.words)
  }

  @Test("[HEL-5] full sessions, kicked peers and too many invitations have different errors") func refusals() {
    func closed(_ change: (inout ListenerAdmission.Facts) -> Void) -> CloseCode? {
      var facts = World.listenerFacts(.ask)
      change(&facts)
      var world = World(dialler: World.diallerFacts(), listener: facts)
      world.run()
      #expect(!world.listener.isPendingInvitation || world.listenerClosed == nil)
      return world.listenerClosed
    }
    #expect(closed { $0.isFull = true } == .full)
    #expect(closed { $0.wasKicked = true } == .kicked)
    #expect(closed { ($0.wasKicked, $0.isResuming) = (true, true) } == .kicked)
    #expect(closed { $0.invitation = .busy } == .busy)
    #expect(closed { $0.invitation = .silenced } == .busy)
    #expect(closed { $0.invitation = .ask } == nil)
    #expect(closed { $0.remote = $0.local } == .`self`)
  }

  @Test("[ADM-11] a peer whose address was just declined learns the reason, and what to do") func silencedReason() {
    var facts = World.listenerFacts(.ask)
    facts.invitation = .silenced
    var world = World(dialler: World.diallerFacts(), listener: facts)
    world.run()
    guard case .ended(let code, let message)? = world.diallerWanted.last else {
      Issue.record("the dialler did not end")
      return
    }
    let error = SessionError(closeCode: code, message: message.escaped())
    #expect(error.code == .busy && error.redial == .later)
    #expect(error.message == SessionError.justDeclinedAdvice)
    let other = SessionError(closeCode: .busy, message: "This peer is not ready yet.")
    #expect(other.message == "The peer is busy; try again later. (This peer is not ready yet.)")
  }

  @Test("[HEL-5] an invitation that loses its place ends for the dialler and for the user") func placeLost() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    #expect(world.listener.placeLost() == [])
    world.run()
    #expect(world.listener.isPendingInvitation)
    let message = "Too many invitations are waiting for an answer."
    #expect(world.listener.placeLost() == [.invitationEnded(.busy, UntrustedText(message)), .close(.busy, message)])
    #expect(!world.listener.isPendingInvitation)
    #expect(world.listener.personAnswered(.accept, now: world.now) == [])
  }

  @Test("[HEL-3] a dialler that resumes is asked for nothing, in any mode, even by a full session") func resuming() {
    for mode in [ListenerAdmission.Mode.anyone, .known(isKnown: false), .code(World.codeKey), .ask] {
      var facts = World.listenerFacts(mode)
      facts.isResuming = true
      facts.isFull = true
      var world = World(dialler: World.diallerFacts(trust: .pinnedByLink), listener: facts)
      world.run()
      #expect(world.admitted == .resumed)
      #expect(world.opening != nil)
    }
  }

  @Test("[HEL-3] [TCK-2] a valid ticket admits; with any other the mode decides as without a ticket") func tickets() {
    let good = Ticket.make(by: World.middle, session: World.sessionID, member: World.dialler.peerID)
    let stolen = Ticket.make(by: World.middle, session: World.sessionID, member: World.middle.peerID)
    let outcomes: [(ListenerAdmission.Mode, CloseCode?, AdmissionBasis?)] = [
      (.anyone, nil, .anyone), (.known(isKnown: true), nil, .known), (.known(isKnown: false), .unknownAdmitter, nil),
      (.code(World.codeKey), nil, .code), (.ask, .unknownAdmitter, nil), (.codeWithoutKey, nil, .code),
    ]
    for (mode, closed, admitted) in outcomes {
      var facts = World.diallerFacts(trust: .pinnedByLink, code: World.code)
      facts.hello.ticket = good
      facts.hello.invitation = nil
      var world = World(dialler: facts, listener: World.listenerFacts(mode))
      _ = world.membership.met(.init(peer: World.middle.peerID, name: UntrustedText("Mia")))
      world.run()
      // In the modes `ask` and `known`, a member's ticket has no effect (TCK-5).
      let admits = mode.admitters == .members
      #expect(world.admitted == (admits ? .ticket : admitted))
      #expect(world.listenerClosed == (admits ? nil : closed))
      #expect(world.opening?.basis == (world.admitted == nil ? nil : .known))

      world = World(dialler: facts, listener: World.listenerFacts(mode))
      world.run()
      #expect(world.listenerClosed == closed)
      #expect(world.admitted == admitted)

      facts.hello.ticket = stolen
      world = World(dialler: facts, listener: World.listenerFacts(mode))
      world.run()
      #expect(world.listenerClosed == .protocolError)
      #expect(world.admitted == nil)
    }
  }

  @Test("[TCK-3] a ticket with a chain to the host admits even if its signers are unknown") func chain() throws {
    let identities = (0..<7).map { _ in PeerIdentity.ephemeral() }
    var ticket: Ticket?
    for (index, identity) in identities.enumerated() {
      let admitter = index == 0 ? World.middle : identities[index - 1]
      ticket = Ticket.make(by: admitter, session: World.sessionID, member: identity.peerID, own: ticket)
      let shown = try #require(ticket)
      let listener = Membership(local: World.listener.peerID, session: World.sessionID, host: World.middle.peerID)
      #expect(listener.proves(shown, of: identity.peerID) == (index < Limits.ticketChain))
      #expect(!listener.proves(shown, of: World.dialler.peerID))
      // If any of the signers is removed, the chain does not admit the member.
      if (1..<Limits.ticketChain).contains(index) {
        var other = listener
        other.remove(identities[index / 2].peerID)
        #expect(!other.proves(shown, of: identity.peerID) || index / 2 == index)
      }
    }
  }

  @Test("[TCK-5] in the modes `ask` and `known`, only the host, a relay or the listener itself admits")
  func admittersForHost() {
    let host = PeerIdentity.ephemeral()
    let relay = PeerIdentity.ephemeral()
    let member = World.middle
    for mode in [ListenerAdmission.Mode.known(isKnown: false), .ask] {
      for (signer, admits) in [(host, true), (relay, true), (World.listener, true), (member, false)] {
        var facts = World.diallerFacts(trust: .pinnedByLink)
        facts.hello.invitation = nil
        // The chain of the member leads to the host, but the member does not become an admitter.
        let own = Ticket.make(by: host, session: World.sessionID, member: signer.peerID)
        facts.hello.ticket = Ticket.make(
          by: signer,
          session: World.sessionID,
          member: World.dialler.peerID,
          own: signer.peerID == host.peerID ? nil : own
        )
        var world = World(dialler: facts, listener: World.listenerFacts(mode))
        world.membership.host = host.peerID
        _ = world.membership.met(.init(peer: member.peerID, name: UntrustedText("Mia")))
        world.membership.vouched(for: relay.peerID)
        world.run()
        #expect(world.admitted == (admits ? .ticket : nil))
        #expect(world.listenerClosed == (admits ? nil : .unknownAdmitter))
      }
    }
  }

  @Test("[TCK-5] a member of an `ask` session cannot admit invented keys without the listener's user")
  func sockPuppets() {
    let host = World.listener
    let member = World.middle
    let own = Ticket.make(by: host, session: World.sessionID, member: member.peerID)
    for _ in 0..<14 {
      let scriptedNode = PeerIdentity.ephemeral()
      let ticket = Ticket.make(by: member, session: World.sessionID, member: scriptedNode.peerID, own: own)
      for invites in [false, true] {
        var facts = World.diallerFacts(trust: .pinnedByLink)
        facts.local = scriptedNode.peerID
        facts.hello.ticket = ticket
        if !invites { facts.hello.invitation = nil }
        var listening = World.listenerFacts(.ask)
        listening.remote = scriptedNode.peerID
        var world = World(dialler: facts, listener: listening)
        _ = world.membership.met(.init(peer: member.peerID, name: UntrustedText("Mia")))
        world.run()
        #expect(world.admitted == nil)
        #expect((world.invitation != nil) == invites)
      }
      // The host does not accept the ticket from a listener that the host dials either.
      var membership = Membership(local: host.peerID, session: World.sessionID, host: host.peerID)
      _ = membership.met(.init(peer: member.peerID, name: UntrustedText("Mia")))
      #expect(membership.proves(ticket, of: scriptedNode.peerID))
      #expect(!membership.proves(ticket, of: scriptedNode.peerID, by: .host))
    }
  }

  @Test("[TCK-4] a member's ticket does not replace one by the host or a relay") func keepsTicketOfRelay() {
    let (host, relay, member) = (World.listener, PeerIdentity.ephemeral(), World.middle)
    var membership = Membership(local: World.dialler.peerID, session: World.sessionID, host: host.peerID)
    membership.vouched(for: relay.peerID)
    func ticket(by signer: PeerIdentity) -> Ticket {
      let own = Ticket.make(by: host, session: World.sessionID, member: signer.peerID)
      return Ticket.make(by: signer, session: World.sessionID, member: World.dialler.peerID, own: own)
    }
    let steps = [(member, true), (relay, true), (member, false), (relay, true)]
    for (signer, isStored) in steps { #expect(membership.received(ticket(by: signer)) == isStored) }
  }

  @Test("[ADM-5] a dialler waits until the key of the code is computed, and if that takes too long, may come again")
  func awaitsKey() {
    func waiting() -> ListenerAdmission {
      var listener = ListenerAdmission(facts: World.listenerFacts(.codeWithoutKey))
      let actions = listener.helloReceived(
        World.diallerFacts(code: World.code).hello,
        answering: World.introduction("Lena"),
        membership: Membership(local: World.listener.peerID, session: World.sessionID, host: World.listener.peerID),
        now: .zero
      )
      #expect(actions == [.computeCodeKey])
      return listener
    }
    func isBusy(_ actions: [ListenerAction]) -> Bool {
      if case .close(.busy, _)? = actions.first { actions.count == 1 } else { false }
    }
    var listener = waiting()
    guard case .send(.hello, _)? = listener.codeKeyComputed([CodeChoice(key: World.codeKey)], now: .seconds(1)).first
    else {
      Issue.record("no HELLO")
      return
    }
    #expect(listener.codeKeyComputed([CodeChoice(key: World.codeKey)], now: .seconds(1)).isEmpty)

    // The dialler must receive the answer before it gives up.
    listener = waiting()
    #expect(listener.deadline.map { $0 < AdmissionTimes.step } == true)
    #expect(isBusy(listener.timePassed(now: AdmissionTimes.hold(AdmissionTimes.step))))
    #expect(listener.codeKeyComputed([CodeChoice(key: World.codeKey)], now: .seconds(5)).isEmpty)

    // The session no longer admits by code.
    listener = waiting()
    #expect(isBusy(listener.codeKeyComputed([], now: .seconds(1))))
  }

  @Test("[MEM-7] a member that the listener met before is admitted by its key, in every mode") func metBefore() {
    for mode in [ListenerAdmission.Mode.anyone, .known(isKnown: false), .code(World.codeKey), .ask, .codeWithoutKey] {
      var facts = World.diallerFacts(trust: .pinnedByLink)
      facts.hello.invitation = nil
      var world = World(dialler: facts, listener: World.listenerFacts(mode))
      _ = world.membership.met(.init(peer: World.dialler.peerID, name: UntrustedText("Dora")))
      world.run()
      #expect(world.admitted == .ticket)

      world.membership.remove(World.dialler.peerID)
      #expect(!world.membership.mayAdmit(World.dialler.peerID))
    }
  }

  @Test("[MEM-8] a peer that only discovery reported must prove its membership") func mustProve() {
    let host = World.middle.peerID
    let known = Membership(local: World.dialler.peerID, session: World.sessionID, host: host)
    let signers: [(PeerIdentity, isProof: Bool)] = [(World.middle, true), (World.dialler, true), (.ephemeral(), false)]
    for (signer, isProof) in signers {
      var facts = World.diallerFacts(trust: .pinnedByLink)
      facts.hello.invitation = nil
      facts.membership = MemberDial(known, mustProve: true)
      var world = World(dialler: facts, listener: World.listenerFacts(.anyone))
      world.membership = Membership(local: World.listener.peerID, session: World.sessionID, host: host)
      let ticket = Ticket.make(by: signer, session: World.sessionID, member: World.listener.peerID)
      let isKept = world.membership.received(ticket)
      #expect(isKept)
      world.run()
      #expect((world.opening != nil) == isProof)
      #expect(world.diallerClosed == (isProof ? nil : .notVerified))
    }
    var facts = World.diallerFacts(trust: .pinnedByLink)
    facts.hello.invitation = nil
    facts.membership = MemberDial(known, mustProve: true)
    var world = World(dialler: facts, listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.opening == nil)
    #expect(world.diallerClosed == .notVerified)
  }

  @Test("[LNK-5] a dialler that reaches itself closes the link") func meetsItself() {
    var facts = World.diallerFacts()
    facts.remote = facts.local
    var world = World(dialler: facts, listener: World.listenerFacts(.anyone))
    world.run()
    #expect(world.diallerClosed == .`self`)
    #expect(world.types == [])
  }
}

struct AdmissionByCodeTests {
  @Test("[ADM-1] both sides prove that they know the code; the dialler is first") func right() {
    for trust in [JoinTrust.pinnedByLink, .discovered, .unverified] {
      var world = World(
        dialler: World.diallerFacts(trust: trust, code: World.code),
        listener: World.listenerFacts(.code(World.codeKey))
      )
      world.run()
      #expect(world.types == [-1, 1, -4])
      #expect(world.admitted == .code)
      #expect(world.opening?.basis == .code)
      #expect(
        world.diallerWanted.first == .computeCodeKey(World.code, World.sessionID, listener: World.listener.peerID)
      )
    }
  }

  @Test("a derived code key is reused only for the same listener and session") func madeBefore() {
    var facts = World.diallerFacts(code: World.code)
    facts.codeKey = World.codeKey
    var world = World(dialler: facts, listener: World.listenerFacts(.code(World.codeKey)))
    world.run()
    #expect(world.diallerWanted.count == 1)
    #expect(world.opening?.basis == .code)

    facts.codeKey = CodeKey(code: World.code, session: World.sessionID, listener: World.middle.peerID)
    world = World(dialler: facts, listener: World.listenerFacts(.code(World.codeKey)))
    world.run()
    #expect(world.diallerWanted.count == 2)
    #expect(world.opening?.basis == .code)
  }

  @Test("[ADM-2] after a wrong code, the listener closes with wrong-code and proves nothing") func wrong() throws {
    var world = World(
      dialler: World.diallerFacts(code: try JoinCode(words: "zoo zoo zoo zone")),
      listener: World.listenerFacts(.code(World.codeKey))
    )
    world.run()
    #expect(world.listenerWanted == [.close(.wrongCode, "")])
    #expect(world.diallerWanted.last == .ended(.wrongCode, UntrustedText("")))
    #expect(world.types == [-1, 1, -4])
  }

  @Test("[ADM-9] each of several codes admits with its own role, and the listener proves that code") func several()
    throws
  {
    let other = try JoinCode(words: "zoo zoo zoo zone")
    let key = CodeKey(code: other, session: World.sessionID, listener: World.listener.peerID)
    let choices = [CodeChoice(key: key, label: "view")]
    for (code, label) in [(World.code, nil), (other, "view")] as [(JoinCode, String?)] {
      var world = World(
        dialler: World.diallerFacts(trust: .unverified, code: code),
        listener: World.listenerFacts(.code(World.codeKey, besides: choices))
      )
      world.run()
      #expect(world.admitted == .code && world.opening?.basis == .code)
      #expect(world.listener.admission == .here(label: label))
    }
    // A member whose timeout has passed is not listed.
    var world = World(dialler: World.diallerFacts(code: other), listener: World.listenerFacts(.code(World.codeKey)))
    world.run()
    #expect(world.listenerWanted == [.close(.wrongCode, "")])
    #expect(world.listener.admission == nil)
  }

  @Test("without a code, the dialler withdraws its invitation and reports that the code is missing") func none() {
    var world = World(
      dialler: World.diallerFacts(trust: .unverified),
      listener: World.listenerFacts(.code(World.codeKey))
    )
    world.run()
    #expect(world.diallerClosed == .withdrawn)
    #expect(
      world.listenerWanted.last.map { action in if case .ended(.withdrawn, _) = action { true } else { false } } == true
    )
  }

  @Test("a host that cannot prove the code is not trusted") func falseHost() {
    for proof in [
      nil, ProofBytes([UInt8](repeating: 0, count: 32)),
      World.codeKey.proof(of: .joiner, binding: World.binding, dialler: World.dialler.peerID),
      World.codeKey.proof(of: .host, binding: World.binding, dialler: World.middle.peerID),
    ] {
      var dialler = DiallerAdmission(facts: World.diallerFacts(trust: .discovered, code: World.code))
      _ = dialler.begin(now: .zero)
      let hello = Control.ListenerHello(introduction: World.introduction("Lena"), admission: .code)
      _ = dialler.frameReceived(.hello, hello.encoded(), now: .zero)
      _ = dialler.codeKeyComputed(World.codeKey, now: .zero)
      var accept = World.accept
      accept.proof = proof
      #expect(
        dialler.frameReceived(.accept, accept.encoded(), now: .zero) == [
          .close(.notVerified, "The host could not prove that it knows the code.")
        ]
      )
    }
  }

  @Test("[ADM-3] after three wrong proofs, even the right one is refused for a minute") func lockedOut() throws {
    let wrong = try JoinCode(words: "zoo zoo zoo zone")
    let wrongKey = CodeKey(code: wrong, session: World.sessionID, listener: World.listener.peerID)
    var limiter = AttemptLimiter()
    var now = Duration.seconds(5_000)
    func attempt(_ key: CodeKey) -> CloseCode? {
      var facts = World.diallerFacts(code: World.code)
      facts.codeKey = key
      var world = World(dialler: facts, listener: World.listenerFacts(.code(World.codeKey)))
      world.limiter = limiter
      world.now = now
      world.run()
      limiter = world.limiter
      return world.listenerClosed
    }
    for _ in 0..<3 { #expect(attempt(wrongKey) == .wrongCode) }
    #expect(attempt(World.codeKey) == .lockedOut)
    now += .seconds(59)
    #expect(attempt(World.codeKey) == .lockedOut)
    now += .seconds(1)
    #expect(attempt(World.codeKey) == nil)
  }

  @Test("[ADM-3] a member with an outdated code locks out no newcomer at its address") func outdated() throws {
    let outdated = try JoinCode(words: "zoo zoo zoo zone")
    let wrongKey = CodeKey(code: outdated, session: World.sessionID, listener: World.listener.peerID)
    var limiter = AttemptLimiter()
    for expected in [CloseCode.wrongCode, .wrongCode, .wrongCode, .lockedOut] {
      var facts = World.diallerFacts(code: outdated)
      facts.codeKey = wrongKey
      var world = World(dialler: facts, listener: World.listenerFacts(.code(World.codeKey)))
      world.limiter = limiter
      let member = MembershipRecord.Member(peer: World.dialler.peerID, name: UntrustedText("Dora"), addresses: [])
      _ = world.membership.met(member)
      world.run()
      limiter = world.limiter
      #expect(world.listenerClosed == expected)
    }
    #expect(!limiter.isLocked(address: "192.0.2.7", peer: World.middle.peerID, now: .seconds(1_000)))
  }
}

struct AdmissionByPeopleTests {
  @Test("[ADM-7] both users see the same words, and the listener's user admits") func accepted() throws {
    var world = World(dialler: World.diallerFacts(trust: .pinnedByLink), listener: World.listenerFacts(.ask))
    world.run()
    #expect(world.types == [-1, 1, -5, 6, -0x82, -7, 0x82])
    let invitation = try #require(world.invitation)
    #expect(invitation.words.count == 3)
    #expect(invitation.words == world.shownWords?.words)
    #expect(invitation.peer == World.dialler.peerID)
    #expect(invitation.name.raw == "Dora")
    #expect(invitation.context == [1, 2, 3])
    #expect(invitation.timeout == .seconds(60))
    #expect(world.shownWords?.mustBeCompared == false)
    #expect(world.listener.isPendingInvitation)
    #expect(world.opening == nil)
    world.perform(world.listener.personAnswered(.accept, now: world.now))
    world.carry()
    #expect(world.admitted == .ask)
    #expect(world.opening?.basis == .ask)
    #expect(!world.listener.isPendingInvitation)
  }

  @Test("if a user declines, the dialler gets the reason") func declined() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    world.perform(world.listener.personAnswered(.decline(reason: "Not now"), now: world.now))
    world.carry()
    #expect(world.listenerClosed == .declined)
    #expect(world.diallerWanted.last == .ended(.declined, UntrustedText("Not now")))
    #expect(world.opening == nil)
  }

  @Test("[ADM-8] a dialler without a proved key also waits for its own user, in either order") func bothPeople() {
    for trust in [JoinTrust.discovered, .unverified] {
      for ownFirst in [true, false] {
        var world = World(dialler: World.diallerFacts(trust: trust), listener: World.listenerFacts(.ask))
        world.run()
        #expect(world.shownWords?.mustBeCompared == true)
        if ownFirst {
          world.perform(world.dialler.personAnswered(true, now: world.now))
          #expect(world.opening == nil)
        }
        world.perform(world.listener.personAnswered(.accept, now: world.now))
        world.carry()
        if !ownFirst {
          #expect(world.opening == nil)
          world.perform(world.dialler.personAnswered(true, now: world.now))
          world.carry()
        }
        #expect(world.opening?.basis == .ask)
        #expect(world.admitted == .ask)
      }
    }
  }

  @Test("[ADM-16] the listener admits a dialler only after both users have decided") func bothDecide() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    world.perform(world.listener.personAnswered(.accept, now: world.now))
    world.carry()
    #expect(world.admitted == nil)
    #expect(world.listener.isAwaitingDialler && world.listener.isPendingInvitation)
    // Another answer replaces the first answer.
    var declined = world
    declined.perform(declined.listener.personAnswered(.decline(reason: "no"), now: world.now))
    declined.carry()
    #expect(declined.diallerWanted.last == .ended(.declined, UntrustedText("no")))
    world.perform(world.dialler.personAnswered(true, now: world.now))
    world.carry()
    #expect(world.admitted == .ask)
    #expect(!world.listener.isAwaitingDialler)
    #expect(world.opening?.held.isEmpty == true)
  }

  @Test("[ADM-16] a dialler that does not report its decision is admitted when our user accepts") func olderDialler() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.dropsReports = true
    world.run()
    world.perform(world.listener.personAnswered(.accept, now: world.now))
    world.carry()
    #expect(world.admitted == .ask)
    #expect(world.opening == nil)
    world.perform(world.dialler.personAnswered(true, now: world.now))
    #expect(world.opening?.basis == .ask)
  }

  @Test("[ADM-15] a dialler without a user says so, also after the host's user accepted") func noUser() {
    for acceptedBefore in [true, false] {
      var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
      world.run()
      if acceptedBefore {
        world.perform(world.listener.personAnswered(.accept, now: world.now))
        world.carry()
      }
      #expect(!world.listener.diallerHasNoUser)
      world.perform(world.dialler.userMissing())
      world.carry()
      #expect(world.diallerClosed == .withdrawn && world.listener.diallerHasNoUser)
      #expect(world.opening == nil && world.admitted == nil)
      #expect(world.dialler.userMissing().isEmpty)
    }
  }

  @Test("[ADM-8] if our user sees other words, the link ends, even after the host's user accepted") func otherWords() {
    for acceptedBefore in [true, false] {
      var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
      world.run()
      if acceptedBefore {
        world.perform(world.listener.personAnswered(.accept, now: world.now))
        world.carry()
      }
      world.perform(world.dialler.personAnswered(false, now: world.now))
      world.carry()
      #expect(world.diallerClosed == .notVerified)
      #expect(world.opening == nil)
      #expect(world.admitted == nil)
      #expect(
        world.listenerWanted.suffix(2) == [
          .invitationEnded(.notVerified, UntrustedText("The verification words are not the same.")),
          .ended(.notVerified, UntrustedText("The verification words are not the same.")),
        ]
      )
    }
  }

  @Test("frames that arrive while our user compares words are buffered, but PING is answered") func held() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    // An older listener sends ACCEPT as soon as its user has accepted.
    _ = world.dialler.frameReceived(.accept, World.accept.encoded(), now: world.now)
    #expect(
      world.dialler.frameReceived(.ping, [1, 2, 3, 4, 5, 6, 7, 8], now: world.now) == [
        .send(.pong, [1, 2, 3, 4, 5, 6, 7, 8])
      ]
    )
    #expect(world.dialler.frameReceived(.message, [1, 3, 9], now: world.now) == [])
    #expect(world.dialler.frameReceived(.members, [5], now: world.now) == [])
    let opened = world.dialler.personAnswered(true, now: world.now)
    guard case .opened(let opening)? = opened.first else {
      Issue.record("\(opened)")
      return
    }
    #expect(opening.held.map(\.type) == [.message, .members])
    #expect(opening.held.map(\.payload) == [[1, 3, 9], [5]])
  }

  @Test("reading stops when many frames are buffered for a user's answer") func holdsNoMore() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    _ = world.dialler.frameReceived(.accept, World.accept.encoded(), now: world.now)
    var frames = 0
    while world.dialler.shouldRead && frames < 100_000 {
      _ = world.dialler.frameReceived(.message, [1, 2, 3], now: world.now)
      frames += 1
    }
    #expect(frames < 100_000 && frames > 1_000)
  }

  @Test("[ADM-6] a reveal that does not match its commitment ends the link") func otherReveal() throws {
    var listener = ListenerAdmission(facts: World.listenerFacts(.ask))
    var limiter = AttemptLimiter()
    let nonce = ProofBytes.random()
    _ = listener.helloReceived(
      World.diallerFacts().hello,
      answering: World.introduction("Lena"),
      membership: Membership(local: World.listener.peerID, session: World.sessionID, host: World.listener.peerID),
      now: .zero
    )
    let commit = Control.ShortWordsCommit(commit: ShortWords.commitment(binding: World.binding, nonce: nonce))
    _ = listener.frameReceived(.sasCommit, commit.encoded(), limiter: &limiter, now: .zero)
    let other = Control.ShortWordsReveal(nonce: .random())
    #expect(
      listener.frameReceived(.sasReveal, other.encoded(), limiter: &limiter, now: .zero) == [
        .close(.protocolError, "The nonce does not match the commitment.")
      ]
    )
  }

  @Test("an invitation that its dialler withdraws also ends for the user who was asked") func withdrawn() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    world.perform(world.dialler.withdraw())
    world.carry()
    #expect(
      world.listenerWanted.suffix(2) == [
        .invitationEnded(.withdrawn, UntrustedText("The invitation was withdrawn.")),
        .ended(.withdrawn, UntrustedText("The invitation was withdrawn.")),
      ]
    )
    #expect(world.listener.personAnswered(.accept, now: world.now) == [])
    #expect(world.dialler.withdraw() == [])
  }

  @Test("if a link breaks, the question to the user ends") func lost() {
    var world = World(dialler: World.diallerFacts(), listener: World.listenerFacts(.ask))
    world.run()
    #expect(world.listener.linkLost() == [.invitationEnded(.withdrawn, UntrustedText("The connection broke."))])
    #expect(world.listener.linkLost() == [])
    #expect(world.listener.personAnswered(.accept, now: world.now) == [])
  }
}

struct AdmissionTimesTests {
  @Test("[LNK-6] each step without a user has a limit of 5 s, on both sides") func steps() {
    for mode in [ListenerAdmission.Mode.code(World.codeKey), .ask] {
      var listener = ListenerAdmission(facts: World.listenerFacts(mode))
      _ = listener.helloReceived(
        World.diallerFacts().hello,
        answering: World.introduction("Lena"),
        membership: Membership(local: World.listener.peerID, session: World.sessionID, host: World.listener.peerID),
        now: .seconds(10)
      )
      #expect(listener.deadline == .seconds(15))
      #expect(listener.timePassed(now: .seconds(14.9)) == [])
      #expect(listener.timePassed(now: .seconds(15)) == [.close(.timedOut, "This step of admission took too long.")])
      #expect(listener.timePassed(now: .seconds(16)) == [])
    }
    var dialler = DiallerAdmission(facts: World.diallerFacts())
    _ = dialler.begin(now: .seconds(10))
    #expect(dialler.deadline == .seconds(15))
    #expect(dialler.timePassed(now: .seconds(14)) == [])
    #expect(dialler.timePassed(now: .seconds(15)) == [.close(.timedOut, "This step of admission took too long.")])
    #expect(!dialler.hasAskedPerson)
  }

  @Test("a user has the time that the invitation states; then the question ends") func people() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(30)), listener: World.listenerFacts(.ask))
    world.run()
    #expect(world.dialler.hasAskedPerson)
    let end = world.now + .seconds(30)
    world.pass(.seconds(29))
    #expect(world.listenerClosed == nil && world.diallerClosed == nil)
    #expect(world.listener.deadline == end)
    #expect(world.dialler.deadline == end)
    #expect(
      world.listener.timePassed(now: end) == [
        .invitationEnded(.timedOut, UntrustedText("The user who was asked did not answer in time.")),
        .close(.timedOut, "The user who was asked did not answer in time."),
      ]
    )
    #expect(world.dialler.awaitsOwnPerson)
    #expect(
      world.dialler.timePassed(now: end) == [
        .close(.timedOut, "The joining user did not confirm the verification words in time.")
      ]
    )
  }

  @Test(
    "[ADM-15] users may take as long as the invitation states, in either order",
    arguments: [1, 5, 6, 8, 25, 60, 299]
  ) func patience(_ seconds: Int) {
    for isHostFirst in [true, false] {
      for isLateTogether in [true, false] {
        var world = World(dialler: World.diallerFacts(timeout: .seconds(300)), listener: World.listenerFacts(.ask))
        world.run()
        let before = world.types.count
        if isLateTogether { world.pass(.seconds(seconds)) }
        for isHost in [isHostFirst, !isHostFirst] {
          if isHost {
            world.perform(world.listener.personAnswered(.accept, now: world.now))
          } else {
            world.perform(world.dialler.personAnswered(true, now: world.now))
          }
          world.carry()
          if isHost == isHostFirst {
            #expect(world.admitted == nil && world.opening == nil)
            if !isLateTogether { world.pass(.seconds(seconds)) }
          }
        }
        #expect(world.admitted == .ask)
        #expect(world.opening?.basis == .ask)
        // Each side sent a frame each second, so that neither the link nor a NAT times out.
        let reports = world.types.dropFirst(before)
        for type in [0x82, -0x82] { #expect(reports.count { $0 == type } >= seconds - 1, "\(reports)") }
      }
    }
  }

  @Test("[ADM-15] a side that hears nothing for 30 s ends the invitation; a stop does not count") func silence() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(300)), listener: World.listenerFacts(.ask))
    world.run()
    world.pass(.seconds(10))
    var (dialler, listener) = (world.dialler, world.listener)
    var now = world.now
    // Both processes are stopped for a minute.
    now += .seconds(60)
    #expect(dialler.timePassed(now: now).count == 1)
    #expect(listener.timePassed(now: now).count == 1)
    let stopped = now
    var ends: [Duration] = []
    while ends.count < 2, now < stopped + .seconds(100) {
      now += .seconds(1)
      if dialler.timePassed(now: now) == [.lost] { ends.append(now - stopped) }
      let broken = UntrustedText("The connection broke.")
      if listener.timePassed(now: now) == [.invitationEnded(.withdrawn, broken), .ended(.withdrawn, broken)] {
        ends.append(now - stopped)
      }
    }
    #expect(ends == [.seconds(30), .seconds(30)])
    #expect(dialler.deadline == nil && listener.deadline == nil)
  }

  @Test("[ADM-15] the question ends even if the dialler is gone right after it was asked") func goneAtOnce() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(300)), listener: World.listenerFacts(.ask))
    world.run()
    for second in 1...30 { world.perform(world.listener.timePassed(now: world.now + .seconds(second))) }
    let broken = UntrustedText("The connection broke.")
    #expect(world.listenerWanted.last == .ended(.withdrawn, broken))
    #expect(!world.listener.isPendingInvitation)
  }

  @Test("[ADM-15] a side that sends no DECIDING is not treated as silent") func olderPeer() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(300)), listener: World.listenerFacts(.ask))
    world.dropsReports = true
    world.run()
    world.pass(.seconds(299))
    world.perform(world.dialler.personAnswered(true, now: world.now))
    world.perform(world.listener.personAnswered(.accept, now: world.now))
    world.carry()
    #expect(world.opening?.basis == .ask)
  }

  @Test("an answer that comes after the time limit admits no peer") func late() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(30)), listener: World.listenerFacts(.ask))
    world.run()
    let actions = world.listener.personAnswered(.accept, now: world.now + .seconds(30))
    #expect(actions.last == .close(.timedOut, "The user who was asked did not answer in time."))
  }

  @Test("if the dialler's own user never answers, the invitation ends on both sides") func ownPerson() {
    var world = World(dialler: World.diallerFacts(timeout: .seconds(30)), listener: World.listenerFacts(.ask))
    world.run()
    world.perform(world.listener.personAnswered(.accept, now: world.now))
    world.carry()
    world.pass(.seconds(30))
    #expect(world.diallerClosed == .timedOut)
    #expect(world.opening == nil)
    #expect(world.admitted == nil)
    let message = UntrustedText("The joining user did not confirm the verification words in time.")
    #expect(world.listenerWanted.contains(.invitationEnded(.timedOut, message)))
  }
}

/// A man in the middle that terminates TLS on both sides with its own key and relays frames.
struct ManInTheMiddleTests {
  /// Each side sees the man in the middle's key, and has a different TLS exporter.
  private func relay(trust: JoinTrust, code: JoinCode?, _ mode: ListenerAdmission.Mode) -> AdmissionWorld {
    var dialler = World.diallerFacts(trust: trust, code: code)
    dialler.remote = World.middle.peerID
    dialler.binding = [UInt8](repeating: 1, count: 32)
    var listener = World.listenerFacts(mode)
    listener.remote = World.middle.peerID
    listener.binding = [UInt8](repeating: 2, count: 32)
    return AdmissionWorld(dialler: dialler, listener: listener)
  }

  @Test("mode `code`: a proof that a middle relays does not verify, and no peer is admitted") func code() {
    for trust in [JoinTrust.discovered, .unverified] {
      var world = relay(trust: trust, code: World.code, .code(World.codeKey))
      world.run()
      #expect(world.listenerClosed == .wrongCode)
      #expect(world.admitted == nil)
      #expect(world.opening == nil)
    }
  }

  @Test("mode `code`: a middle that admits the dialler itself cannot prove the code") func falseHost() {
    var facts = World.diallerFacts(trust: .unverified, code: World.code)
    facts.remote = World.middle.peerID
    var dialler = DiallerAdmission(facts: facts)
    _ = dialler.begin(now: .zero)
    let hello = Control.ListenerHello(introduction: World.introduction("Lena"), admission: .code)
    _ = dialler.frameReceived(.hello, hello.encoded(), now: .zero)
    let key = CodeKey(code: World.code, session: World.sessionID, listener: World.middle.peerID)
    guard case .send(.codeProof, let payload)? = dialler.codeKeyComputed(key, now: .zero).first,
      let sent = try? Control.CodeProof.decode(payload)
    else {
      Issue.record("no proof")
      return
    }
    var accept = World.accept
    accept.proof = sent.proof
    #expect(
      dialler.frameReceived(.accept, accept.encoded(), now: .zero) == [
        .close(.notVerified, "The host could not prove that it knows the code.")
      ]
    )
  }

  @Test("mode `ask`: relayed frames break the commitment, because each link has its own exporter") func carried() {
    var world = relay(trust: .discovered, code: nil, .ask)
    world.run()
    #expect(world.listenerClosed == .protocolError)
    #expect(world.admitted == nil)
    #expect(world.opening == nil)
  }

  @Test("mode `ask`: a middle with a separate exchange on each link shows different words to the users")
  func ownNonces() throws {
    // To the dialler, the man in the middle is the listener.
    var left = World.listenerFacts(.ask)
    left.local = World.middle.peerID
    var toMiddle = World.diallerFacts()
    toMiddle.remote = World.middle.peerID
    var one = AdmissionWorld(dialler: toMiddle, listener: left)
    one.run()
    // The man in the middle dials the listener.
    var right = World.listenerFacts(.ask)
    right.remote = World.middle.peerID
    right.binding = [UInt8](repeating: 2, count: 32)
    var fromMiddle = World.diallerFacts()
    fromMiddle.local = World.middle.peerID
    fromMiddle.binding = right.binding
    var other = AdmissionWorld(dialler: fromMiddle, listener: right)
    other.run()
    let shownToDialler = try #require(one.shownWords)
    let shownToListener = try #require(other.invitation)
    #expect(shownToDialler.words != shownToListener.words)
    // The dialler's user is asked and declines, and no message is sent.
    #expect(shownToDialler.mustBeCompared)
    one.perform(one.listener.personAnswered(.accept, now: one.now))
    one.carry()
    one.perform(one.dialler.personAnswered(false, now: one.now))
    #expect(one.opening == nil)
    #expect(one.diallerClosed == .notVerified)
  }

  @Test("[HEL-4] a middle that asks for nothing is refused by a dialler that has no key from a link") func none() {
    for code in [nil, World.code] {
      var world = relay(trust: .unverified, code: code, .anyone)
      world.run()
      #expect(world.diallerClosed == .notVerified)
      #expect(world.opening == nil)
    }
  }

  @Test("mode `known`: the middle's key is not the stored one") func known() {
    var world = relay(trust: .discovered, code: nil, .known(isKnown: false))
    world.run()
    #expect(world.listenerClosed == .notKnown)
    #expect(world.opening == nil)
  }

  @Test("a ticket that a middle relays is not valid for the middle") func ticket() {
    var dialler = World.diallerFacts(trust: .discovered)
    dialler.hello.ticket = Ticket.make(by: World.listener, session: World.sessionID, member: World.dialler.peerID)
    var listener = World.listenerFacts(.ask)
    listener.remote = World.middle.peerID
    var world = AdmissionWorld(dialler: dialler, listener: listener)
    world.run()
    #expect(world.listenerClosed == .protocolError)
    #expect(world.admitted == nil)
  }
}

/// Every frame in every state in which it is not allowed.
struct AdmissionWrongOrderTests {
  private static let nonce = ProofBytes.random()

  enum ListenerState: CaseIterable {
    case proof
    case commit
    case reveal
    case person

    var expected: FrameType? {
      switch self {
      case .proof: .codeProof
      case .commit: .sasCommit
      case .reveal: .sasReveal
      case .person: nil
      }
    }

    func make() -> ListenerAdmission {
      var limiter = AttemptLimiter()
      var listener = ListenerAdmission(facts: World.listenerFacts(self == .proof ? .code(World.codeKey) : .ask))
      _ = listener.helloReceived(
        World.diallerFacts().hello,
        answering: World.introduction("Lena"),
        membership: Membership(local: World.listener.peerID, session: World.sessionID, host: World.listener.peerID),
        now: .zero
      )
      if self == .proof || self == .commit { return listener }
      let commit = Control.ShortWordsCommit(commit: ShortWords.commitment(binding: World.binding, nonce: nonce))
      _ = listener.frameReceived(.sasCommit, commit.encoded(), limiter: &limiter, now: .zero)
      if self == .reveal { return listener }
      let reveal = Control.ShortWordsReveal(nonce: nonce)
      _ = listener.frameReceived(.sasReveal, reveal.encoded(), limiter: &limiter, now: .zero)
      return listener
    }
  }

  enum DiallerState: CaseIterable {
    case hello
    case key
    case accept
    case proof
    case nonce
    case person

    var expected: FrameType? {
      switch self {
      case .hello: .hello
      case .key: nil
      case .nonce: .sasNonce
      case .accept, .proof, .person: .accept
      }
    }

    func make() -> DiallerAdmission {
      var facts = World.diallerFacts(
        trust: self == .accept ? .pinnedByLink : .discovered,
        code: self == .key || self == .proof ? World.code : nil
      )
      if self == .proof { facts.codeKey = World.codeKey }
      var dialler = DiallerAdmission(facts: facts)
      _ = dialler.begin(now: .zero)
      if self == .hello { return dialler }
      let step: Control.AdmissionStep =
        switch self {
        case .accept: .none
        case .key, .proof: .code
        default: .ask
        }
      let hello = Control.ListenerHello(introduction: World.introduction("Lena"), admission: step)
      _ = dialler.frameReceived(.hello, hello.encoded(), now: .zero)
      if self == .person {
        let reply = Control.ShortWordsNonce(nonce: AdmissionWrongOrderTests.nonce)
        _ = dialler.frameReceived(.sasNonce, reply.encoded(), now: .zero)
      }
      return dialler
    }
  }

  /// Returns a valid payload of the frame type, so that only its position is wrong.
  private func payload(_ type: FrameType) -> [UInt8] {
    switch type {
    case .hello: World.diallerFacts().hello.encoded()
    case .accept: World.accept.encoded()
    case .codeProof: Control.CodeProof(proof: Self.nonce).encoded()
    case .sasCommit: Control.ShortWordsCommit(commit: Self.nonce).encoded()
    case .sasNonce: Control.ShortWordsNonce(nonce: Self.nonce).encoded()
    case .sasReveal: Control.ShortWordsReveal(nonce: Self.nonce).encoded()
    case .ping, .pong: [1, 2, 3, 4, 5, 6, 7, 8]
    case .deciding: [0]
    default: Array("{}".utf8)
    }
  }

  @Test("[FRM-4] a listener accepts each frame only in its state", arguments: ListenerState.allCases) func listener(
    _ state: ListenerState
  ) {
    for type in FrameType.allCases where type != state.expected && type != .close {
      if type == .deciding, state == .reveal || state == .person { continue }
      var listener = state.make()
      var limiter = AttemptLimiter()
      let actions = listener.frameReceived(type, payload(type), limiter: &limiter, now: .zero)
      guard case .close(.protocolError, _)? = actions.last else {
        Issue.record("\(state) took \(type): \(actions)")
        continue
      }
      #expect(actions.count == (state == .person ? 2 : 1))
      #expect(listener.frameReceived(type, payload(type), limiter: &limiter, now: .zero) == [])
      #expect(listener.deadline == nil)
    }
  }

  @Test("[FRM-4] a dialler accepts each frame only in its state", arguments: DiallerState.allCases) func dialler(
    _ state: DiallerState
  ) {
    for type in FrameType.allCases where type != state.expected && type != .close {
      if type == .deciding, state == .person { continue }
      var dialler = state.make()
      let actions = dialler.frameReceived(type, payload(type), now: .zero)
      guard case .close(.protocolError, _)? = actions.last, actions.count == 1 else {
        Issue.record("\(state) took \(type): \(actions)")
        continue
      }
      #expect(dialler.frameReceived(type, payload(type), now: .zero) == [])
      #expect(dialler.deadline == nil)
    }
  }

  @Test("CLOSE ends either side in any state; a malformed CLOSE is a protocol-error") func close() {
    let good = Control.Close(.declined, "no").encoded()
    for state in ListenerState.allCases {
      var limiter = AttemptLimiter()
      var listener = state.make()
      #expect(
        listener.frameReceived(.close, good, limiter: &limiter, now: .zero).last
          == .ended(.declined, UntrustedText("no"))
      )
      listener = state.make()
      let actions = listener.frameReceived(.close, [1], limiter: &limiter, now: .zero)
      guard case .close(.protocolError, _)? = actions.last else {
        Issue.record("\(state): \(actions)")
        continue
      }
    }
    for state in DiallerState.allCases {
      var dialler = state.make()
      #expect(dialler.frameReceived(.close, good, now: .zero) == [.ended(.declined, UntrustedText("no"))])
    }
  }

  @Test("unexpected answers and keys have no effect") func unexpectedAnswers() {
    for state in ListenerState.allCases where state != .person {
      var listener = state.make()
      #expect(listener.personAnswered(.accept, now: .zero) == [])
      #expect(listener.deadline != nil)
    }
    for state in DiallerState.allCases {
      var dialler = state.make()
      if state != .key { #expect(dialler.codeKeyComputed(World.codeKey, now: .zero) == []) }
      if state != .person { #expect(dialler.personAnswered(true, now: .zero) == []) }
      #expect(dialler.deadline != nil)
      #expect(dialler.begin(now: .zero) == [])
    }
  }

  @Test("random frames end both sides, never trap, and never admit a peer") func random() {
    let seed: UInt64 = 20_261_121
    var generator = SeededGenerator(seed: seed)
    var closed = 0
    for _ in 0..<2_000 {
      var limiter = AttemptLimiter()
      var listener = ListenerState.allCases.randomElement(using: &generator)?.make() ?? ListenerState.proof.make()
      var dialler = DiallerState.allCases.randomElement(using: &generator)?.make() ?? DiallerState.hello.make()
      for _ in 0..<4 {
        guard let type = FrameType.allCases.randomElement(using: &generator) else { continue }
        var bytes = payload(type)
        bytes.mutate(using: &generator)
        for action in listener.frameReceived(type, bytes, limiter: &limiter, now: .zero) {
          switch action {
          case .accept: Issue.record("seed \(seed): admitted by \(type)")
          case .close: closed += 1
          default: break
          }
        }
        _ = dialler.frameReceived(type, bytes, now: .zero)
      }
    }
    #expect(closed > 1_000)
  }
}
