import NIOCore
import PeerWire

// A host's request to relay its session, which the application answers (RLY-2).
extension ListenerHandshake {
  /// Asks the application whether to relay the session of the dialler (RLY-2).
  func askApplication(_ link: ControlLink, _ peer: PeerID, _ hello: Control.DiallerHello, _ carry: Control.Carry) {
    guard transport.configuration.isRelay, let carries = transport.configuration.carries else {
      return link.close(.notCarried, "This peer is not a relay.")
    }
    let question: CarryQuestion
    do throws(CarryQuestion.Refusal) {
      question = try CarryQuestion(carry, hello, from: peer, address: AddressBlock(host: host), at: transport.localPeer)
    } catch { return link.close(error.code, error.reason) }
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
      transport.carriedSessions.yield(CarriedSession(session: Session(session), request: request))
    }
    rearm(in: TimeAmount(transport.configuration.stepTimeout)) { $0.close(.timedOut) }
    helloReceived(link, hello)
  }
}

/// A host's request to relay its session, which the application has not answered yet.
struct CarryQuestion: Sendable {
  var request: CarryRequest

  /// Checks the request in a HELLO; throws the reason for closing the link.
  init(
    _ carry: Control.Carry,
    _ hello: Control.DiallerHello,
    from host: PeerID,
    address: AddressBlock,
    at relay: PeerID
  ) throws(Refusal) {
    let session = hello.introduction.session
    guard session != .unnamed, carry.grant.isValid(session: session, host: host, relay: relay) else {
      throw Refusal(code: .protocolError, reason: "The signature of the relay grant is not valid.")
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

  /// The reason why the request is refused without asking the application.
  struct Refusal: Error, Equatable {
    var code: CloseCode
    var reason: String
  }
}
