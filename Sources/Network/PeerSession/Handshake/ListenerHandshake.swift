import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// The handshake on one accepted connection, until it becomes a control link or a bulk link, or is closed. Confined to
/// the control event loop. ``ListenerAdmission`` makes the decisions.
final class ListenerHandshake: LinkDelegate {
  let transport: TransportCore
  /// The dialler's IP address, for limits.
  let host: String
  private(set) var link: ControlLink?
  private var session: SessionCore?
  private var admission: ListenerAdmission?
  private var hello: Control.DiallerHello?
  private var number = 0
  private var ownRole = Control.Role.member
  private var timer: Scheduled<Void>?
  private var invitation: InvitationID?
  /// Whether the answer to HELLO waits for a session that is being opened (HEL-2).
  private var isAwaitingSession = false
  var relayRequest = RelayRequest.none

  /// The state of the dialler's request to relay its session (RLY-2).
  enum RelayRequest {
    case none
    case asked
    case granted
  }

  init(_ transport: TransportCore, host: String) {
    self.transport = transport
    self.host = host
  }

  /// Begins to wait for TLS to complete (LNK-6).
  func start(_ link: ControlLink) {
    self.link = link
    rearm(in: TimeAmount(transport.configuration.stepTimeout * 2)) { $0.abort() }
  }

  /// Closes the connection immediately, without sending CLOSE, because another address needs the slot of the connection
  /// (LNK-6).
  func drop() {
    // This handshake no longer exists when the link ends, so report the lost link now.
    advance { $0.linkLost() }
    link?.abort()
    finish()
  }

  func cancel(_ code: CloseCode) {
    link?.close(code)
    finish()
  }

  private func finish() {
    timer?.cancel()
    timer = nil
    if let invitation { session?.admission.invitationEnded(invitation) }
    invitation = nil
    session?.admission.queue.leave(ObjectIdentifier(self))
    link = nil
    transport.handshakeEnded(self)
  }

  func rearm(in delay: TimeAmount, _ action: @escaping (ControlLink) -> Void) {
    timer?.cancel()
    timer = transport.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
      if let link { action(link) }
    }
  }

  // MARK: LinkDelegate

  func linkSecured(_ link: ControlLink) {
    rearm(in: TimeAmount(transport.configuration.stepTimeout)) { $0.close(.timedOut, "No HELLO arrived in time.") }
    guard link.facts.peer == transport.localPeer else { return }
    // Another computer has the local key (DUP-7).
    if !transport.isLocal(host) { for session in transport.sessions.values { session.reportOwnCopy() } }
    link.close(.self)
  }

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    let bytes = Array(payload.readableBytesView)
    if admission != nil {
      guard var admission else { return }
      // Since HELLO arrived, the host may have removed the peer (MEM-3), or the code or browser link may have ended.
      if type == .codeProof, let session, let peer = link.facts.peer {
        if let reason = session.membership.removed[peer] { return link.close(.kicked, reason.raw) }
        if link.isFromBrowser, !session.admission.guests.isOpen { return link.close(.noSuchSession) }
        admission.limitChoices(to: session.admission.choices(for: peer, fromBrowser: link.isFromBrowser))
      }
      let actions = admission.frameReceived(type, bytes, limiter: &transport.limiter, now: .uptime)
      self.admission = admission
      return perform(actions)
    }
    guard relayRequest == .none, !isAwaitingSession else {
      return link.close(.protocolError, "A frame arrived before the answer to HELLO.")
    }
    do throws(ControlMessageError) {
      switch type {
      case .hello: helloReceived(link, try Control.DiallerHello.decode(bytes))
      case .attach:
        let attach = try Control.Attach.decode(bytes)
        guard let session = transport.sessions[attach.session] else { return link.close(.notAttached) }
        session.bulk.attach(link, attach, in: session)
        finish()
      default: link.close(.protocolError, "The first frame is neither HELLO nor ATTACH.")
      }
    } catch { link.close(.protocolError, CloseMessage.invalid(type, error)) }
  }

  func linkReadComplete(_ link: ControlLink) { session?.deliverEvents() }
  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    if var admission {
      let actions =
        if case .closed(let code, let message) = reason { admission.linkLost(code, UntrustedText(message)) } else {
          admission.linkLost()
        }
      self.admission = admission
      perform(actions)
    }
    session?.deliverEvents()
    finish()
  }

  // MARK: Admission

  func helloReceived(_ link: ControlLink, _ hello: Control.DiallerHello) {
    var hello = hello
    guard let peer = link.facts.peer, let exporter = link.facts.exporter else { return link.abort() }
    guard hello.introduction.versions.common(with: Control.versions) != nil else {
      return link.close(.versionMismatch, "This peer supports protocol version 1.")
    }
    if let session = transport.openingSession(for: hello.introduction.session) {
      return awaitSession(session, link, hello)
    }
    if link.isFromBrowser {
      // A browser cannot host a session, and joins only with a browser link (WEB-27).
      guard hello.carry == nil else { return link.close(.protocolError, "A browser cannot move a session to a relay.") }
      guard transport.sessions[hello.introduction.session]?.admission.guests.isOpen == true else {
        return link.close(.noSuchSession)
      }
      // A browser does not listen, so the gateway must not dial an address that a guest names (WEB-28).
      hello.introduction.port = 0
      hello.introduction.addresses = []
      hello.introduction.role = .member
      hello.ticket = nil
    }
    if let carry = hello.carry, relayRequest == .none { return askApplication(link, peer, hello, carry) }
    guard let session = transport.session(for: hello.introduction.session), !session.hasEnded else {
      // The session may be one that the local peer is joining right now (HEL-2).
      return link.close(transport.joining.isEmpty ? .noSuchSession : .busy)
    }
    guard session.directory.hasJoined else { return link.close(.busy, "This peer is not ready yet.") }
    guard !session.isDuplicate(hello, from: peer) else { return link.close(.duplicateLink) }
    guard link.isFromBrowser || !session.mustPause(hello, from: peer, now: .now()) else {
      return link.close(.replaced, "Another program uses the same identity.")
    }
    self.session = session
    self.hello = hello
    let entry = session.entries[peer]
    let isResuming = session.canResume(hello, from: peer, fromBrowser: link.isFromBrowser)
    if isResuming, let received = hello.resume?.received, let outbox = entry?.delivery?.outbox,
      !outbox.hasSent(received)
    {
      return link.close(.protocolError, "The peer acknowledges messages that were never sent.")
    }
    let introduction = session.introduction(for: entry)
    number = Control.linkNumber(after: introduction.links, hello.introduction.links)
    ownRole = introduction.role
    let block = AddressBlock(host: host)
    let isExpected = session.admission.isExpected(peer, with: hello.invitation?.pass)
    let reception = session.admission.queue.reception(of: peer, from: block, isExpected: isExpected, now: .uptime)
    var admission = ListenerAdmission(
      facts: .init(
        local: transport.localPeer,
        remote: peer,
        address: host,
        binding: exporter.export(.binding),
        mode: link.isFromBrowser
          ? .guest(session.admission.guests.choices(for: peer)) : session.admission.mode(for: peer),
        isResuming: isResuming,
        wasKicked: session.membership.isRemoved(peer),
        kickReason: session.membership.removed[peer]?.raw ?? "",
        isFull: !isResuming && session.admission.isFull(for: peer),
        maximum: session.admission.maximum,
        invitation: reception,
        step: transport.configuration.stepTimeout
      )
    )
    let actions = admission.helloReceived(hello, answering: introduction, membership: session.membership, now: .uptime)
    self.admission = admission
    if admission.wasRefusedAsFull { session.admission.refusedAsFull(hello.introduction.name, at: host) }
    if admission.isPendingInvitation {
      let id = ObjectIdentifier(self)
      let evicted = session.admission.queue.enter(id, peer: peer, from: block, isExpected: isExpected)
      if let evicted { transport.handshake(evicted)?.advance { $0.placeLost() } }
    }
    perform(actions)
  }

  private func awaitSession(_ id: SessionID, _ link: ControlLink, _ hello: Control.DiallerHello) {
    if !isAwaitingSession {
      isAwaitingSession = true
      rearm(in: TimeAmount(AdmissionTimes.hold(transport.configuration.stepTimeout))) {
        $0.close(.busy, "This peer is not ready yet.")
      }
    }
    transport.waitForOpening(of: id) { [self] in
      guard self.link === link, link.isOpen else { return }
      if let next = transport.openingSession(for: hello.introduction.session) {
        return awaitSession(next, link, hello)
      }
      isAwaitingSession = false
      rearm(in: TimeAmount(transport.configuration.stepTimeout)) { $0.close(.timedOut) }
      helloReceived(link, hello)
    }
  }

  private func advance(_ event: (inout ListenerAdmission) -> [ListenerAction]) {
    guard var admission else { return }
    let actions = event(&admission)
    self.admission = admission
    perform(actions)
  }

  /// Returns whether the dialler's user is still comparing the words (ADM-16).
  func personAnswered(_ answer: InvitationAnswer) -> Bool {
    if case .decline = answer { session?.admission.queue.declined(AddressBlock(host: host), now: .uptime) }
    advance { $0.personAnswered(answer, now: .uptime) }
    return admission?.isAwaitingDialler ?? false
  }

  private func perform(_ actions: [ListenerAction]) {
    guard let link, let session else { return }
    for action in actions {
      switch action {
      case .send(let type, let payload): link.send(type, payload)
      case .computeCodeKey:
        session.admission.computeCodeKey { [self] in
          advance { admission in
            let choices = link.facts.peer.map { session.admission.choices(for: $0, fromBrowser: false) } ?? []
            return admission.codeKeyComputed(choices, now: .uptime)
          }
        }
      case .askPerson(let question):
        let id = transport.nextInvitationID()
        invitation = id
        session.admission.invitationBegan(id, self)
        session.warnOfName(of: question.peer, question.name)
        session.emit(
          .invitation(
            Invitation(
              id: id,
              peer: question.peer,
              name: question.name,
              words: question.words,
              isProved: transport.proved.contains(question.peer),
              context: question.context,
              timeout: question.timeout
            )
          )
        )
      case .invitationEnded(let code, let message):
        let error =
          switch code {
          case .timedOut: SessionError(.timedOut, "No user answered the invitation in time.")
          case .withdrawn where admission?.diallerHasNoUser == true:
            SessionError(.noUser, "The joining program has no user to compare the verification words.")
          default: SessionError(closeCode: code, message: message.displayed)
          }
        endInvitation(session, error)
      case .accept(let proof, let basis):
        accept(link, session, proof, basis)
        // If `accept` closed the link, for example because the session is full by now, the invitation ends here.
        endInvitation(session, SessionError(.busy, "The peer could not be admitted."))
        return
      case .close(let code, let message):
        // The secret in a browser link cannot be guessed, so a wrong proof comes from an old link.
        if !link.isFromBrowser, code == .wrongCode || code == .lockedOut {
          session.emit(
            .warning(
              SessionWarning(
                code: code.rawValue,
                message: "A peer at \(host) sent a wrong code.",
                peer: link.facts.peer
              )
            )
          )
        }
        link.close(code, message)
      case .ended: link.abort()
      }
    }
    if admission?.isPendingInvitation != true { session.admission.queue.leave(ObjectIdentifier(self)) }
    rearmDeadline()
    session.deliverEvents()
  }

  private func endInvitation(_ session: SessionCore, _ error: SessionError) {
    guard let id = invitation.take() else { return }
    session.admission.invitationEnded(id)
    session.emit(.invitationEnded(id, error))
    session.deliverEvents()
  }

  private func rearmDeadline() {
    guard let deadline = admission?.deadline else {
      timer?.cancel()
      return
    }
    rearm(in: TimeAmount(max(.zero, deadline - .uptime))) { [self] _ in
      advance { $0.timePassed(now: .uptime) }
    }
  }

  private func accept(_ link: ControlLink, _ session: SessionCore, _ proof: ProofBytes?, _ basis: AdmissionBasis) {
    guard let peer = link.facts.peer, let hello else { return link.abort() }
    guard !session.hasEnded else { return link.close(.noSuchSession) }
    // The host may have removed the peer in the meantime (MEM-3).
    if let reason = session.membership.removed[peer] { return link.close(.kicked, reason.raw) }
    guard !session.isDuplicate(hello, from: peer) else { return link.close(.duplicateLink) }
    let resumes = session.canResume(hello, from: peer, fromBrowser: link.isFromBrowser)
    guard resumes || !session.admission.isFull(for: peer) else {
      session.admission.refusedAsFull(hello.introduction.name, at: host)
      return link.close(.full, CloseMessage.full(session.admission.maximum))
    }
    if let key = admission?.guestKey, !session.admission.guests.use(key, by: peer) { return link.close(.wrongCode) }
    var accept = Control.Accept(
      host: session.host,
      maximum: session.admission.maximum,
      members: session.directory.members(besides: peer),
      proof: proof
    )
    // With a ticket, other members would admit the guest even after its access has ended (WEB-33).
    if !link.isFromBrowser {
      accept.ticket = session.membership.renewed(for: peer, showing: hello.ticket, by: transport.configuration.identity)
    }
    if resumes, let delivery = session.entries[peer]?.delivery {
      accept.resume = .init(received: delivery.inbox.received)
    } else if hello.resume?.incarnation == session.incarnation {
      accept.ended = session.entries[peer]?.unreportedEnd
    }
    if !session.name.isEmpty { accept.name = session.name }
    if session.isHost, !link.isFromBrowser, let terms = session.admission.ownTerms {
      (accept.admission, accept.code) = (terms.mode, terms.code)
    }
    accept.topology = session.relaying.acceptedTopology
    let (fitting, rest) = accept.fitting(Limits.acceptPayload)
    link.send(.accept, fitting.encoded())
    for members in Control.Members.split(rest) { link.send(.members, members.encoded()) }
    link.delegate = session
    link.isAdmittedByPerson = basis == .ask
    // A guest does not become a known peer, neither in this session nor in another session of the local user (WEB-34).
    if let verification = basis.verification, !link.isFromBrowser {
      session.admission.remember(peer, hello.introduction.name, verification)
    }
    session.open(
      link,
      .init(
        peer: peer,
        introduction: hello.introduction,
        ownRole: ownRole,
        number: number,
        received: resumes ? hello.resume?.received : nil,
        ended: resumes ? nil : hello.ended,
        admission: admission?.admission,
        guestKey: admission?.guestKey,
        ticket: accept.ticket ?? hello.ticket
      )
    )
    if let id = invitation.take() { session.admission.invitationEnded(id) }
    finish()
  }
}

extension Duration {
  /// The time since the system started, for state machines that only compare times.
  static var uptime: Duration { .nanoseconds(Int64(NIODeadline.now().uptimeNanoseconds)) }
}

// A host's request to relay its session, which the application answers (RLY-2).
extension ListenerHandshake {
  func askApplication(_ link: ControlLink, _ peer: PeerID, _ hello: Control.DiallerHello, _ carry: Control.Carry) {
    guard transport.configuration.isRelay, let carries = transport.configuration.carries else {
      return link.close(.notCarried, "This peer is not a relay.")
    }
    let question: CarryQuestion
    do throws(LinkViolation) {
      question = try CarryQuestion(carry, hello, from: peer, address: AddressBlock(host: host), at: transport.localPeer)
    } catch { return link.close(error.code, error.message) }
    let request = question.request
    if let session = transport.sessions[request.session], session.host != peer {
      return link.close(.notCarried, "On this relay, that session has a different host.")
    }
    guard !request.session.namesHost || request.session.names(peer) else {
      return link.close(.notCarried, "Only the host of a session can move it to a relay.")
    }
    relayRequest = .asked
    rearm(in: TimeAmount(transport.configuration.stepTimeout * 2)) {
      $0.close(.timedOut, "The relay did not decide in time.")
    }
    let bound = NIOLoopBound((self, hello), eventLoop: transport.eventLoop)
    let eventLoop = transport.eventLoop
    // No code awaits this task. If the link ended in the meantime, the answer has no effect.
    Task {
      let answer = await carries(request)
      eventLoop.execute {
        let (handshake, hello) = bound.value
        handshake.answered(answer, request, hello)
      }
    }
  }

  private func answered(_ answer: CarryAnswer, _ request: CarryRequest, _ hello: Control.DiallerHello) {
    guard let link, link.isOpen, !transport.isClosing else { return }
    if case .refuse(let reason) = answer { return link.close(.notCarried, reason) }
    relayRequest = .granted
    if let session = transport.sessions[request.session] {
      guard session.host == request.host else { return link.close(.notCarried) }
      session.relaying.carried(request.admission, request.grant)
    } else {
      let session = transport.makeCarried(request.session, host: request.host, request.admission, request.grant)
      transport.carriedSessions.continuation.yield(CarriedSession(session: Session(session), request: request))
    }
    rearm(in: TimeAmount(transport.configuration.stepTimeout)) { $0.close(.timedOut) }
    helloReceived(link, hello)
  }
}

struct CarryQuestion: Sendable {
  var request: CarryRequest

  init(
    _ carry: Control.Carry,
    _ hello: Control.DiallerHello,
    from host: PeerID,
    address: AddressBlock,
    at relay: PeerID
  ) throws(LinkViolation) {
    let session = hello.introduction.session
    guard session != .unnamed, carry.grant.isValid(session: session, host: host, relay: relay) else {
      throw .protocolError("The signature of the relay grant is not valid.")
    }
    request = CarryRequest(
      session: session,
      host: host,
      hostName: hello.introduction.name,
      name: carry.name,
      admission: carry.policy,
      grant: carry.grant,
      addressBlock: address.text
    )
  }
}
