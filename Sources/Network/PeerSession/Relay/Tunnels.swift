import NIOCore
import PeerWire

/// One leg of a tunnel: a bulk link whose bytes are forwarded without being read. The owner must pass the leg to a
/// ``Tunnel`` or end it with ``discard()``.
struct TunnelLeg: Sendable {
  let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

  /// Call this function on the channel's event loop, after ATTACHED.
  @Sendable static func wrap(_ channel: any Channel) throws -> TunnelLeg {
    try BulkLink.prepare(channel)
    return TunnelLeg(
      channel: try NIOAsyncChannel(
        wrappingChannelSynchronously: channel,
        configuration: .init(backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2))
      )
    )
  }

  func discard() async {
    // The leg is unused, so an error in closing it does not matter.
    try? await channel.executeThenClose { _, _ in }
  }
}

/// A tunnel that forwards the bytes of a bulk link between two members through this relay. Each direction is read only
/// as fast as the receiver reads the bytes. Only the bytes being written are in memory.
final class Tunnel: Sendable {
  let ends: [PeerID]
  private let near: TunnelLeg
  private let far: TunnelLeg

  init(_ ends: [PeerID], _ near: TunnelLeg, _ far: TunnelLeg) {
    self.ends = ends
    self.near = near
    self.far = far
  }

  func run() async {
    let (near, far) = (near.channel, far.channel)
    // Ignore errors here, because the peers at both ends of the tunnel detect them.
    try? await near.executeThenClose { fromNear, _ in
      try await far.executeThenClose { fromFar, _ in
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await Self.pass(fromNear, to: far.channel) }
          group.addTask { await Self.pass(fromFar, to: near.channel) }
          await group.next()
          group.cancelAll()
        }
      }
    }
  }

  func close() {
    near.channel.channel.close(promise: nil)
    far.channel.channel.close(promise: nil)
  }

  private static func pass(_ bytes: NIOAsyncChannelInboundStream<ByteBuffer>, to channel: any Channel) async {
    do {
      // Write each piece before reading the next piece. This order applies back-pressure, and ensures that no byte is
      // lost at the end.
      for try await piece in bytes { try await channel.writeAndFlush(piece).get() }
    } catch {
      // The other leg broke, so this leg ends too.
    }
  }
}

/// The tunnels of a relay in one session (11.6). Confined to the session's event loop. The session owns this object, so
/// the functions get the session from their caller.
final class Tunnels {
  private struct Key: Hashable {
    var member: PeerID
    var other: PeerID
  }

  private struct Waiter {
    let number: Int
    let promise: EventLoopPromise<TunnelLeg>
  }

  private var waiters: [Key: [Waiter]] = [:]
  private var nextWaiter = 0
  private var running: [ObjectIdentifier: Tunnel] = [:]
  private var opening: [[PeerID]] = []

  func attach(
    _ link: ControlLink,
    _ opener: Control.Opener,
    from member: PeerID,
    to far: PeerID,
    in session: SessionCore
  ) {
    switch opener {
    case .listener:
      let key = Key(member: member, other: far)
      guard waiters[key]?.isEmpty == false, let waiter = waiters[key]?.removeFirst() else {
        return link.close(.notAttached)
      }
      link.send(.attached, Control.Attached().encoded())
      waiter.promise.completeWith(makeBulkLink(link, TunnelLeg.wrap))
    case .dialler:
      guard session.relaying.table.isOpen(member, far) else { return link.close(.notAttached) }
      open(member, far, in: session) {
        link.close(.busy, "The peer cannot be reached now.")
      } near: {
        guard link.isOpen else { return session.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        link.send(.attached, Control.Attached().encoded())
        return makeBulkLink(link, TunnelLeg.wrap)
      }
    }
  }

  /// Opens tunnels for a member that asks the relay to dial the member's legs. The relay first opens the far legs.
  func requested(_ count: Int, from entry: PeerEntry, to far: PeerID, in session: SessionCore) {
    guard session.relaying.table.isOpen(entry.id, far) else { return }
    for _ in 0..<count {
      open(entry.id, far, in: session) {
      } near: {
        guard let link = entry.link else {
          return session.eventLoop.makeFailedFuture(SessionError.notInSession(entry.id))
        }
        return session.bulk.dial(entry, link, opener: .listener, route: far, in: session, TunnelLeg.wrap)
      }
    }
  }

  func closed(_ peer: PeerID) {
    for tunnel in running.values where tunnel.ends.contains(peer) { tunnel.close() }
    for (key, gone) in waiters where key.member == peer || key.other == peer {
      waiters[key] = nil
      for waiter in gone { waiter.promise.fail(SessionError.notInSession(peer)) }
    }
  }

  private func open(
    _ member: PeerID,
    _ far: PeerID,
    in session: SessionCore,
    refused: @escaping () -> Void,
    near: @escaping () -> EventLoopFuture<TunnelLeg>
  ) {
    guard hasRoom(member, in: session), hasRoom(far, in: session), running.count + opening.count < Limits.tunnels else {
      return refused()
    }
    let ends = [member, far]
    opening.append(ends)
    leg(to: far, from: member, in: session).assumeIsolated().flatMap { farLeg in
      near().flatMapErrorThrowing { error in
        // No code awaits this task; it only closes the channel.
        Task { await farLeg.discard() }
        throw error
      }.map { ($0, farLeg) }
    }.whenComplete { [self] result in
      if let index = opening.firstIndex(of: ends) { opening.remove(at: index) }
      switch result {
      case .success(let (near, far)):
        let tunnel = Tunnel(ends, near, far)
        // The session may have ended in the meantime.
        if session.hasEnded { tunnel.close() }
        start(tunnel, in: session)
      case .failure: refused()
      }
    }
  }

  private func hasRoom(_ peer: PeerID, in session: SessionCore) -> Bool {
    let passing = running.values.count { $0.ends.contains(peer) }
    let planned = opening.count { $0.contains(peer) }
    return session.bulk.linkCount(peer) + passing + planned < Limits.bulkLinks
  }

  private func leg(to member: PeerID, from other: PeerID, in session: SessionCore) -> EventLoopFuture<TunnelLeg> {
    guard let entry = session.entries[member], let link = entry.link else {
      return session.eventLoop.makeFailedFuture(SessionError.notInSession(member))
    }
    if link.side == .dialler {
      return session.bulk.dial(entry, link, opener: .dialler, route: other, in: session, TunnelLeg.wrap)
    }
    let promise = session.eventLoop.makePromise(of: TunnelLeg.self)
    nextWaiter += 1
    let number = nextWaiter
    let key = Key(member: member, other: other)
    waiters[key, default: []].append(Waiter(number: number, promise: promise))
    link.send(.bulkRequest, Control.BulkRequest(count: 1, route: other).encoded())
    let timeout = session.eventLoop.assumeIsolated().scheduleTask(in: .seconds(10)) { [self] in
      // Remove the waiter, so that the next leg is not given to a caller that no longer waits.
      waiters[key]?.removeAll { $0.number == number }
      promise.fail(SessionError(.timedOut, "The peer did not open an additional connection."))
    }
    promise.futureResult.whenComplete { _ in timeout.cancel() }
    return promise.futureResult.hop(to: session.eventLoop)
  }

  private func start(_ tunnel: Tunnel, in session: SessionCore) {
    let id = ObjectIdentifier(tunnel)
    running[id] = tunnel
    let bound = NIOLoopBound(self, eventLoop: session.eventLoop)
    let eventLoop = session.eventLoop
    session.transport.run(id) {
      await tunnel.run()
      eventLoop.execute { bound.value.running[id] = nil }
    }
  }
}
