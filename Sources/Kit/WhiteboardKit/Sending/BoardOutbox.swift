import Logging
import PeerSession

/// The messages that the session has not accepted yet. Each route has one queue, so a slow peer delays
/// only the members that are reached through this peer. Confined to the actor of its board.
final class BoardOutbox {
  private let runtime: BoardRuntime
  private let logger: Logger
  private let handleReceipt: (Int, SendReceipt) -> Void
  private let handleSent: () -> Void
  /// The queue of each route, by the directly connected peer of the route.
  private var queues: [PeerID: SendQueue] = [:]
  private var lastNumber = 0
  /// The directly connected peer through which each member is reached.
  private var routes: [PeerID: PeerID] = [:]

  init(
    _ runtime: BoardRuntime,
    logger: Logger,
    handleReceipt: @escaping (_ number: Int, SendReceipt) -> Void,
    handleSent: @escaping () -> Void
  ) {
    self.runtime = runtime
    self.logger = logger
    self.handleReceipt = handleReceipt
    self.handleSent = handleSent
  }

  // MARK: - Members

  /// Adds a peer, which receives the messages that are queued from now on.
  func join(_ peer: Peer, _ session: Session) {
    let route = peer.relay ?? peer.id
    routes[peer.id] = route
    if queues[route]?.isClosed ?? true {
      lastNumber += 1
      let number = lastNumber
      queues[route] = SendQueue(number: number)
      runtime.spawn { sharedBoard in await sharedBoard.outbox.sendMessages(by: route, number, session) }
    }
    queues[route]?.enter(peer.id, joining: peer.joinGeneration)
  }

  /// Removes a peer; its queue remains if other members are reached through the same peer.
  func leave(_ peer: PeerID) {
    guard let route = routes.removeValue(forKey: peer) else { return }
    guard let queue = queues[route], queue.isLast(peer) else {
      queues[route]?.leave(peer)
      return
    }
    queues[route]?.close()
    queues[route] = nil
  }

  func close() {
    for route in Array(queues.keys) { queues[route]?.close() }
  }

  /// Disconnects peers that accept data too slowly (MSG-5). The peers may reconnect and catch up.
  func dropSlowPeers(of session: Session, where isReached: (PeerID) -> Bool) {
    for (route, queue) in queues where isReached(route) && queue.isTooSlow {
      queues[route]?.close()
      // The peer may have left in the meantime.
      runtime.spawn { _ in try? await session.disconnect(route, because: .tooSlow) }
    }
  }

  // MARK: - State

  func load(to peer: PeerID) -> SendQueue.Load { routes[peer].flatMap { queues[$0]?.load } ?? .light }

  func isEmpty(to peer: PeerID) -> Bool { routes[peer].flatMap { queues[$0]?.isEmpty } ?? true }

  func nextDeadline(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    queues.values.compactMap { $0.nextDeadline(after: now) }.min()
  }

  /// Waits until no queue is long, except the queues of stalled routes: a stalled peer must not block the commands on
  /// the board.
  nonisolated(nonsending) func room() async {
    defer { checkIsolation(#isolation) }
    _ = await runtime.wait {
      self.queues.values.allSatisfy { $0.load == .light || $0.isStalled(for: SendQueue.standstill) }
    }
  }

  // MARK: - Messages

  func enqueue(_ bytes: [UInt8], to peers: [PeerID], as number: Int? = nil) {
    for (route, recipients) in Dictionary(grouping: peers, by: { routes[$0] ?? $0 }) {
      let load = queues[route]?.load
      queues[route]?.append(bytes, to: recipients, as: number)
      if queues[route]?.load != load { runtime.wakeNow() }
    }
  }

  private nonisolated(nonsending) func sendMessages(by route: PeerID, _ number: Int, _ session: Session) async {
    while let message = await nextMessage(by: route, number) {
      do throws(SessionError) {
        let receipt = try await session.send(message.bytes, to: message.joinings)
        if let number = message.number { handleReceipt(number, receipt) }
      } catch {
        // All recipients left, or the session ended. The event that reports the departure or the end also ends the
        // deliveries.
        logger.debug("A message was not accepted.", metadata: ["peer": "\(route.short)", "code": "\(error.code)"])
      }
      handleSent()
      guard queues[route]?.number == number else { return }
      let load = queues[route]?.load
      queues[route]?.sent(message.bytes.count)
      if queues[route]?.load != load { runtime.wakeNow() }
      runtime.changed()
    }
  }

  private nonisolated(nonsending) func nextMessage(by route: PeerID, _ number: Int) async -> SendQueue.Message? {
    defer { checkIsolation(#isolation) }
    return await withCheckedContinuation { continuation in
      guard queues[route]?.number == number else {
        continuation.resume(returning: nil)
        return
      }
      queues[route]?.dequeue(continuation)
    }
  }
}
