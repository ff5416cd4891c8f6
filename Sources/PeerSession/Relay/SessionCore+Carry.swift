import NIOCore
import PeerWire

// How a session moves to a relay (RLY-2): the host's side, and the relay's.
extension SessionCore {
  /// Dials a relay and asks it to carry this session.
  func carry(
    by addresses: [PeerAddress],
    relay: PeerID?,
    _ terms: CarryTerms
  ) -> EventLoopFuture<PeerID> {
    let promise = eventLoop.makePromise(of: PeerID.self)
    guard !hasEnded else {
      promise.fail(SessionError(.sessionEnded, "The session was left."))
      return promise.futureResult
    }
    guard host == localPeer else {
      promise.fail(
        SessionError(.notHost, "Only the host of the session can move it to a relay.")
      )
      return promise.futureResult
    }
    let dial = LinkDial(transport, addresses, expecting: relay) { [unowned self] result in
      switch result {
      case .failure(let error): promise.fail(error)
      case .success(let link): self.offer(link, terms, promise, isProved: relay != nil)
      }
    }
    dial.start()
    return promise.futureResult
  }

  private func offer(
    _ link: ControlLink,
    _ terms: CarryTerms,
    _ promise: EventLoopPromise<PeerID>,
    isProved: Bool
  ) {
    guard let peer = link.facts.peer, let exporter = link.facts.exporter, !hasEnded else {
      promise.fail(SessionError(.internalError, "TLS ended without a key."))
      return link.abort()
    }
    guard peer != localPeer else {
      promise.fail(SessionError(.selfDialled, "That address is this peer's own."))
      return link.close(.self)
    }
    let former = relaying.carriers[peer]
    relaying.carriers[peer] = terms
    let handshake = DiallerHandshake(
      self,
      link,
      facts: .init(
        local: localPeer,
        remote: peer,
        binding: exporter.export(.binding),
        trust: isProved ? .pinnedByLink : .discovered,
        code: nil,
        codeKey: nil,
        hello: hello(to: peer)
      ),
      verify: nil
    ) { [unowned self] result in
      self.handshakes[ObjectIdentifier(link)] = nil
      switch result {
      case .success: promise.succeed(peer)
      case .failure(let failure):
        self.relaying.carriers[peer] = former
        promise.fail(failure.error)
      }
    }
    handshakes[ObjectIdentifier(link)] = handshake
    handshake.start()
  }

  /// What we say first to a peer that we dial: what we hold of it, who admitted us, and to a relay
  /// that carries our session how it shall.
  func hello(to peer: PeerID) -> Control.DiallerHello {
    let entry = entries[peer]
    let resume = entry?.delivery.map { delivery in
      Control.Resume(
        incarnation: delivery.incarnation,
        received: delivery.assembler.received,
        since: delivery.since
      )
    }
    let carry = relaying.carriers[peer].map { terms in
      Control.Carry(
        terms,
        RelayGrant.make(by: configuration.identity, session: id, relay: peer)
      )
    }
    return Control.DiallerHello(
      introduction: introduction(for: entry),
      resume: resume,
      ended: entry?.unreportedEnd,
      ticket: membership.ticket,
      carry: carry
    )
  }

  /// Takes what the host says to the relay that carries its session.
  func carried(_ policy: AdmissionPolicy, _ codeKey: CodeKey?, _ grant: RelayGrant) {
    self.policy = policy
    self.codeKey = codeKey
    let wasRelaying = relaying.isRelaying
    relaying.grant = grant
    guard !wasRelaying else { return }
    for entry in entries.values {
      guard let delivery = entry.delivery else { continue }
      relaying.began(entry, delivery.incarnation)
      if let link = entry.link { relaying.linkOpened(entry, link) }
    }
  }
}

extension TransportCore {
  /// Makes a session that another peer hosts and we carry.
  func makeCarried(
    _ id: SessionID,
    host: PeerID,
    _ policy: AdmissionPolicy,
    _ codeKey: CodeKey?,
    _ grant: RelayGrant
  ) -> SessionCore {
    let session = SessionCore(transport: self, id: id, host: host, policy: policy)
    session.codeKey = codeKey
    session.bulk = TransferConnections(session, inbox: inbox)
    session.hasJoined = true
    session.relaying.grant = grant
    add(session)
    return session
  }
}

/// A host's question whether we carry its session, while the application thinks about it.
struct CarryQuestion: Sendable {
  var request: CarryRequest

  /// Checks what a HELLO asks for.
  ///
  /// - Throws: Why the link is closed.
  init(
    _ carry: Control.Carry,
    _ hello: Control.DiallerHello,
    from host: PeerID,
    address: AddressBlock,
    at relay: PeerID
  ) throws(Refusal) {
    let session = hello.introduction.session
    guard session != .unnamed,
      carry.grant.isValid(session: session, host: host, relay: relay)
    else { throw Refusal(code: .protocolError, reason: "The relay grant does not verify.") }
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

  /// The reason for not sending the request.
  struct Refusal: Error, Equatable {
    var code: CloseCode
    var reason: String
  }
}
