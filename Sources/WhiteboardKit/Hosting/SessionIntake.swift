import PeerCore
import PeerSession

/// Reads and handles the events of the session of an open board.
///
/// The events of each member are handled in order. The members take turns, so that no member uses more than its share
/// of processor time. Confined to the actor of its board.
final class SessionIntake {
  /// The processor time, in seconds, after which the intake lets other tasks of the board run.
  private static let workAtOnce = 0.005
  /// The estimated processor time, in seconds, for writing a byte of output.
  private static let workPerByte = 40e-9

  let runtime: BoardRuntime
  let board: ActiveBoard
  let invitations: Invitations
  let localRemoval: LocalRemoval
  let discovery: BoardDiscovery
  private var incoming = IncomingEvents()
  /// A stream that yields an element whenever there may be an event to handle.
  ///
  /// It ends when the session ends.
  private let signals: AsyncStream<Void>
  private let signalSource: AsyncStream<Void>.Continuation
  /// Whether event handling has ended.
  private var hasEnded = false
  private var endWaiter: CheckedContinuation<Void, Never>?

  var session: Session { board.session }

  init(
    _ runtime: BoardRuntime,
    _ board: ActiveBoard,
    invitations: Invitations,
    localRemoval: LocalRemoval,
    discovery: BoardDiscovery
  ) {
    self.runtime = runtime
    self.board = board
    self.invitations = invitations
    self.localRemoval = localRemoval
    self.discovery = discovery
    (signals, signalSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Reads events until the session ends, while ``handleEvents()`` handles them.
  nonisolated(nonsending) func readEvents() async {
    for await event in session.events {
      switch incoming.append(event, now: runtime.uptime) {
      case .pass: break
      case .stopReading(let peer): session.setReading(false, from: peer)
      // A relayed member has no link of its own, so reading cannot stop. The member may also have left in the meantime.
      case .disconnect(let peer): try? await session.disconnect(peer, because: .tooFast)
      }
      signalSource.yield()
      _ = await runtime.wait { self.incoming.hasRoom }
    }
    signalSource.finish()
  }

  /// Handles events until the session ends, and then removes all members and ends their deliveries.
  nonisolated(nonsending) func handleEvents() async {
    defer { markEnded() }
    await handleIncoming()
    let reason = session.endReason?.code.rawValue ?? "ending"
    for peer in board.members.ids {
      board.messages.endDeliveries(to: peer, reason: reason)
      remove(peer)
    }
    invitations.endRequests()
    if let end = session.endReason, end.code == .kicked {
      localRemoval.removed(by: session.hostPeer, reason: UntrustedText(end.remark))
    }
    discovery.stopAnnouncing()
    runtime.changed()
  }

  /// Handles events until the session has ended and all events are handled or dropped.
  private nonisolated(nonsending) func handleIncoming() async {
    defer { checkIsolation(#isolation) }
    var signal = signals.makeAsyncIterator()
    var work = 0.0
    while !hasEnded {
      switch incoming.nextStep(now: runtime.uptime) {
      case .handle(let event, let peer):
        let caused = measureWork { dispatch(event) }
        if let peer, event.isUnasked { incoming.charge(caused, to: peer, now: runtime.uptime) }
        board.persistence.recordTraffic()
        runtime.changed()
        await runtime.room()
        await board.persistence.room()
        // The output of this message must be written before the next large message arrives (MSG-5).
        if let peer, incoming.resume(peer) { session.setReading(true, from: peer) }
        work += caused
        guard work >= Self.workAtOnce else { continue }
        work = 0
        await Task.yield()
      case .wait(let due):
        // This task is canceled below, so no code awaits it.
        let timer = Task { [clock = runtime.clock, start = runtime.start, signalSource] in
          try await clock.sleep(until: start + due)
          signalSource.yield()
        }
        if await signal.next(isolation: #isolation) == nil { incoming.ignoresShares = true }
        timer.cancel()
      case .none:
        incoming.trim(now: runtime.uptime)
        guard await signal.next(isolation: #isolation) != nil else {
          if incoming.isEmpty { return }
          incoming.ignoresShares = true
          continue
        }
      }
    }
  }

  /// Returns the processor time of `work`, in seconds, including an estimate for writing its output.
  private func measureWork(_ work: () -> Void) -> Double {
    let (start, bytes) = (SystemTime.processorTime, runtime.emittedBytes)
    work()
    return SystemTime.processorTime - start + Double(runtime.emittedBytes - bytes) * Self.workPerByte
  }

  // MARK: - The end

  /// Waits until the events of the ended session are handled, so that none of them changes the board later.
  ///
  /// - Parameter limit: The time at which the remaining events are dropped. Their changes are not lost, because other
  ///   members have them.
  nonisolated(nonsending) func finish(before limit: ContinuousClock.Instant) async {
    defer { checkIsolation(#isolation) }
    guard !hasEnded else { return }
    runtime.spawn { [clock = runtime.clock] sharedBoard in
      try? await clock.sleep(until: limit)
      sharedBoard.serving?.intake.dropEvents()
    }
    await withCheckedContinuation { endWaiter = $0 }
  }

  /// Drops all events that are not handled yet, and all later ones.
  private func dropEvents() {
    markEnded()
    signalSource.finish()
  }

  private func markEnded() {
    hasEnded = true
    endWaiter?.resume()
    endWaiter = nil
  }
}
