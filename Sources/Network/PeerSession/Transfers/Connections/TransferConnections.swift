import Crypto
import NIOCore
import NIOPosix
import NIOSSL
import PeerCore
import PeerWire

/// Opens the bulk links of a session (8.1). This object dials and attaches links, accepts links dialed by other peers,
/// and passes each link to the endpoint of its peer. Confined to the session's event loop. The session owns this
/// object, so the functions get the session from their caller.
final class TransferConnections {
  let tunnels = Tunnels()
  private let inbox: ResourceInbox
  /// The endpoints, for callers on any thread.
  let endpoints = Locked<[PeerID: BulkEndpoint]>([:])
  private var running: [PeerID: BulkEndpoint] = [:]
  /// The callers that wait for the control link to return, or for a link that the other side must dial.
  private var linkWaiters: [PeerID: [EventLoopPromise<Void>]] = [:]
  private var attachWaiters: [PeerID: [AttachWaiter]] = [:]
  private var nextWaiter = 0
  /// The number of links that are being dialed because a peer requested them (BLK-4).
  private var dialling: [PeerID: Int] = [:]
  /// The attach secrets of each peer's current and previous control link (BLK-1).
  private var secrets: [PeerID: (current: [UInt8], previous: [UInt8]?, replacedAt: NIODeadline)] = [:]

  init(inbox: ResourceInbox) { self.inbox = inbox }

  // MARK: Events of the session

  func linkOpened(_ entry: PeerEntry, _ link: ControlLink, in session: SessionCore) {
    guard let secret = link.facts.exporter?.export(.attach) else { return }
    secrets[entry.id] = (secret, secrets[entry.id]?.current, .now())
    if let endpoint = running[entry.id] { endpoint.reconnected() } else { start(entry.id, in: session) }
    for waiter in linkWaiters.removeValue(forKey: entry.id) ?? [] { waiter.succeed(()) }
    askAgain(entry.id, nil, entry, link, in: session)
    for far in session.entries.values where far.relayed?.route.relay == entry.id {
      running[far.id]?.reconnected()
      askAgain(far.id, far.id, entry, link, in: session)
    }
  }

  /// Starts the bulk endpoint of a peer that joined through a relay (11.6).
  func routeOpened(_ peer: PeerID, in session: SessionCore) { start(peer, in: session) }

  /// Repeats the requests that were sent on the previous link, because the peer might not have read them (BLK-5).
  private func askAgain(
    _ peer: PeerID,
    _ route: PeerID?,
    _ entry: PeerEntry,
    _ link: ControlLink,
    in session: SessionCore
  ) {
    guard let waiters = attachWaiters[peer], !waiters.isEmpty else { return }
    if link.side == .listener {
      let request = Control.BulkRequest(count: 1, route: route).encoded()
      for _ in waiters { link.send(.bulkRequest, request) }
    } else {
      attachWaiters[peer] = nil
      for waiter in waiters {
        waiter.promise.completeWith(dial(entry, link, opener: .dialler, route: route, in: session, BulkLink.wrap))
      }
    }
  }

  private func start(_ peer: PeerID, in session: SessionCore) {
    let bridge = BulkBridge(NIOLoopBound(session, eventLoop: session.eventLoop), session.eventLoop)
    let endpoint = BulkEndpoint(peer: peer, session: session.id, inbox: inbox, links: bridge, events: bridge)
    session.transport.run(endpoint)
    running[peer] = endpoint
    endpoints.withLock { $0[peer] = endpoint }
  }

  func peerLeft(
    _ peer: PeerID,
    _ error: SessionError = SessionError(.peerLost, "The peer is no longer in the session.")
  ) {
    tunnels.closed(peer)
    endpoints.withLock { $0[peer] = nil }
    running.removeValue(forKey: peer)?.close(error)
    for waiter in linkWaiters.removeValue(forKey: peer) ?? [] { waiter.fail(error) }
    for waiter in attachWaiters.removeValue(forKey: peer) ?? [] { waiter.promise.fail(error) }
    secrets[peer] = nil
  }

  /// Dials the links that the other side requests because it cannot dial the local peer (8.1).
  func linksRequested(
    _ request: Control.BulkRequest,
    _ entry: PeerEntry,
    _ link: ControlLink,
    in session: SessionCore
  ) {
    if let far = request.route, !isRelayed(far, by: entry.id, in: session) {
      return tunnels.requested(request.count, from: entry, to: far, in: session)
    }
    let peer = request.route ?? entry.id
    guard let endpoint = running[peer] else { return }
    for _ in 0..<request.count where endpoint.linkCount + dialling[peer, default: 0] < Limits.bulkLinks {
      dialling[peer, default: 0] += 1
      let dialled = dial(entry, link, opener: .listener, route: request.route, in: session, BulkLink.wrap)
      dialled.assumeIsolated().whenComplete { [self] result in
        let left = dialling[peer, default: 1] - 1
        dialling[peer] = left > 0 ? left : nil
        if case .success(let link) = result { endpoint.accept(link) }
      }
    }
  }

  // MARK: Outgoing links

  func openLink(to peer: PeerID, in session: SessionCore) -> EventLoopFuture<BulkLink> {
    // If there is no endpoint, the peer has left, and a wait would never end.
    guard let entry = session.entries[peer], entry.isJoined, running[peer] != nil else {
      return session.eventLoop.makeFailedFuture(SessionError.notInSession(peer))
    }
    let route = entry.relayed == nil ? nil : peer
    // For a relayed peer, use the link to its relay.
    guard let hop = session.hop(to: entry) else {
      return session.eventLoop.makeFailedFuture(SessionError.notInSession(peer))
    }
    guard let link = hop.link else {
      let promise = session.eventLoop.makePromise(of: Void.self)
      linkWaiters[hop.id, default: []].append(promise)
      return promise.futureResult.assumeIsolated().flatMap { [self] in
        openLink(to: peer, in: session)
      }.nonisolated()
    }
    if link.side == .dialler { return dial(hop, link, opener: .dialler, route: route, in: session, BulkLink.wrap) }
    let promise = session.eventLoop.makePromise(of: BulkLink.self)
    nextWaiter += 1
    let number = nextWaiter
    attachWaiters[peer, default: []].append(AttachWaiter(number: number, promise: promise))
    link.send(.bulkRequest, Control.BulkRequest(count: 1, route: route).encoded())
    let timeout = session.eventLoop.assumeIsolated().scheduleTask(in: .seconds(10)) { [self] in
      // Remove the waiter, so that the next link is not given to a caller that no longer waits.
      attachWaiters[peer]?.removeAll { $0.number == number }
      promise.fail(SessionError(.timedOut, "The peer did not open an additional connection."))
    }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    return promise.futureResult
  }

  private func isRelayed(_ peer: PeerID, by relay: PeerID, in session: SessionCore) -> Bool {
    session.entries[peer]?.relayed?.route.relay == relay
  }

  func linkCount(_ peer: PeerID) -> Int { running[peer]?.linkCount ?? 0 }

  func isIdle(_ peer: PeerID) -> Bool { running[peer]?.isIdle ?? true }

  /// `route` is the member at the far end if the link is a leg of a tunnel.
  func dial<Attached: Sendable>(
    _ entry: PeerEntry,
    _ link: ControlLink,
    opener: Control.Opener,
    route: PeerID?,
    in session: SessionCore,
    _ wrap: @escaping @Sendable (any Channel) throws -> Attached
  ) -> EventLoopFuture<Attached> {
    guard let remote = link.remote, let secret = secrets[entry.id]?.current else {
      return session.eventLoop.makeFailedFuture(SessionError.notInSession(entry.id))
    }
    let means = session.transport.means(on: session.transport.bulkGroup.next())
    let attach = Control.Attach(session: session.id, incarnation: session.incarnation, opener: opener, route: route)
    let peer = entry.id
    return means.eventLoop.flatSubmit {
      BulkDial(attach, secret: secret, eventLoop: means.eventLoop, wrap: wrap).start(means, to: remote, peer: peer)
    }.hop(to: session.eventLoop)
  }

  // MARK: Incoming links

  func attach(_ link: ControlLink, _ attach: Control.Attach, in session: SessionCore) {
    guard let peer = link.facts.peer, let entry = session.entries[peer], let control = entry.link,
      control.side == .listener, entry.delivery?.incarnation == attach.incarnation, let known = secrets[peer],
      let exported = link.facts.exporter?.export(.attach)
    else { return link.close(.notAttached) }
    var accepted = [known.current]
    if let previous = known.previous, .now() - known.replacedAt < .seconds(10) { accepted.append(previous) }
    let isRight = accepted.contains { secret in
      isEqualInConstantTime(attachProof(secret, exported).bytes, attach.proof.bytes)
    }
    guard isRight else { return link.close(.notAttached) }
    if let far = attach.route, !isRelayed(far, by: peer, in: session) {
      return tunnels.attach(link, attach.opener, from: peer, to: far, in: session)
    }
    let owner = attach.route ?? peer
    guard let endpoint = running[owner] else { return link.close(.notAttached) }
    guard endpoint.linkCount < Limits.bulkLinks else { return link.close(.busy) }
    link.send(.attached, Control.Attached().encoded())
    makeBulkLink(link, BulkLink.wrap).assumeIsolated().whenSuccess { [self] bulk in
      switch attach.opener {
      case .dialler: endpoint.accept(bulk)
      case .listener: give(bulk, owner)
      }
    }
  }

  private func give(_ link: BulkLink, _ peer: PeerID) {
    if attachWaiters[peer]?.isEmpty == false {
      attachWaiters[peer]?.removeFirst().promise.succeed(link)
      return
    }
    // No code awaits this task; it only closes the channel.
    Task { await link.discard() }
  }
}

private struct AttachWaiter {
  let number: Int
  let promise: EventLoopPromise<BulkLink>
}

func attachProof(_ secret: [UInt8], _ exported: [UInt8]) -> ProofBytes {
  let input = Array("whiteboard-p2p attach 1\0".utf8) + exported
  guard let proof = ProofBytes(HMAC<SHA256>.authenticationCode(for: input, using: SymmetricKey(data: secret))) else {
    preconditionFailure("the result of HMAC-SHA256 has 32 bytes")
  }
  return proof
}

/// Turns a control link into a bulk link after the current frame is handled.
func makeBulkLink<Attached: Sendable>(_ link: ControlLink, _ wrap: @escaping @Sendable (any Channel) throws -> Attached)
  -> EventLoopFuture<Attached>
{
  guard let channel = link.handOver() else { preconditionFailure("only an open link can be handed over") }
  // Run this in the next event loop tick, because the link is currently handling a read and still holds the remaining
  // bytes.
  return channel.eventLoop.assumeIsolated().submit {
    let bulk = try wrap(channel)
    link.leave()
    return bulk
  }
}

private struct BulkBridge: BulkLinkProvider, BulkEvents {
  let session: NIOLoopBound<SessionCore>
  let eventLoop: any EventLoop

  init(_ session: NIOLoopBound<SessionCore>, _ eventLoop: any EventLoop) {
    self.session = session
    self.eventLoop = eventLoop
  }

  func openLink(to peer: PeerID) async throws(SessionError) -> BulkLink {
    let session = session
    return try await withSessionErrors {
      try await eventLoop.flatSubmit {
        session.value.bulk.openLink(to: peer, in: session.value)
      }.get()
    }
  }

  func isRequested(_ info: ResourceInfo) async -> Bool {
    let session = session
    let asked = try? await eventLoop.submit { (session.value.configuration.isRequestedResource, session.value.id) }
      .get()
    guard let (isRequested, id) = asked else { return false }
    return await isRequested?(id, info) ?? false
  }

  func wants(_ info: ResourceInfo) async -> Bool {
    let session = session
    let asked = try? await eventLoop.submit { (session.value.configuration.wantsResource, session.value.id) }.get()
    guard let (wants, id) = asked else { return false }
    return await wants?(id, info) ?? true
  }

  func emit(_ event: SessionEvent) {
    let session = session
    eventLoop.execute {
      session.value.emit(event)
      session.value.deliverEvents()
    }
  }
}
