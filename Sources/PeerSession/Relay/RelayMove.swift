import NIOCore
import PeerDiscovery
import PeerWire

/// One attempt of a host to move its session to a relay (RLY-2).
///
/// Confined to the session's event loop.
final class RelayMove {
  private let session: SessionCore
  private let terms: CarryTerms
  private let promise: EventLoopPromise<PeerID>
  private var handshake: DiallerHandshake?

  init(_ session: SessionCore, _ terms: CarryTerms) {
    self.session = session
    self.terms = terms
    promise = session.eventLoop.makePromise()
  }

  /// Dials the relay and asks it to relay the session; returns the relay's id, available after the relay has begun to
  /// relay the session.
  func start(_ addresses: [PeerAddress], relay: PeerID?) -> EventLoopFuture<PeerID> {
    guard !session.hasEnded else {
      promise.fail(SessionError(.sessionEnded, "This peer left the session."))
      return promise.futureResult
    }
    // The owner of an owned board may not be confirmed yet.
    let local = session.localPeer
    guard session.host == local, session.id.mayBeHosted(by: local) else {
      promise.fail(SessionError(.notHost, "Only the host of the session can move it to a relay."))
      return promise.futureResult
    }
    let dial = LinkDial(session.transport, addresses, expecting: relay) { [self] result in
      switch result {
      case .failure(let error): promise.fail(error)
      case .success(let link): connected(link, isProved: relay != nil)
      }
    }
    dial.start()
    return promise.futureResult
  }

  private func connected(_ link: ControlLink, isProved: Bool) {
    guard let peer = link.facts.peer, let exporter = link.facts.exporter, !session.hasEnded else {
      promise.fail(SessionError(.internalError, "The TLS handshake ended without the peer's key."))
      return link.abort()
    }
    guard peer != session.localPeer else {
      promise.fail(SessionError(.selfDialled, "That address belongs to this peer itself."))
      return link.close(.self)
    }
    let former = session.relaying.carriers[peer]
    session.relaying.carriers[peer] = terms
    let handshake = DiallerHandshake(
      session,
      link,
      facts: .init(
        local: session.localPeer,
        remote: peer,
        binding: exporter.export(.binding),
        trust: isProved ? .pinnedByLink : .discovered,
        code: nil,
        codeKey: nil,
        hello: session.dialler.hello(to: peer)
      ),
      verify: nil
    ) { [self] result in
      switch result {
      case .success: promise.succeed(peer)
      case .failure(let failure):
        session.relaying.carriers[peer] = former
        promise.fail(failure.error)
      }
      self.handshake = nil
    }
    self.handshake = handshake
    handshake.start()
  }
}
