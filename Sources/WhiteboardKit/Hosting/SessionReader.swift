import PeerSession

/// Reads the events of a session so that no member uses more than its share of processor time.
///
/// The events of each member are handled in order, and the members take turns. Confined to the
/// actor of its board.
final class SessionReader {
  /// The processor time, in seconds, after which other tasks of the board may run.
  private static let workAtOnce = 0.005
  /// The estimated processor time, in seconds, for writing a byte of output.
  private static let workPerByte = 40e-9

  private let runtime: BoardRuntime
  private let persistence: Persistence
  private let session: Session
  private var incoming = IncomingEvents()
  /// A stream that yields an element whenever there may be an event to handle; ends with the
  /// session.
  private let signals: AsyncStream<Void>
  private let signalSource: AsyncStream<Void>.Continuation
  /// Whether the remaining events are dropped.
  private var dropsEvents = false

  init(_ runtime: BoardRuntime, _ persistence: Persistence, _ session: Session) {
    self.runtime = runtime
    self.persistence = persistence
    self.session = session
    (signals, signalSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Reads events until the session ends, while ``handleEvents(_:)`` handles them.
  nonisolated(nonsending) func read() async {
    for await event in session.events {
      switch incoming.append(event, now: runtime.uptime) {
      case .pass: break
      case .stopReading(let peer): session.setReading(false, from: peer)
      // A relayed member has no link of its own on which reading could stop. It may also have left
      // in the meantime.
      case .disconnect(let peer): try? await session.disconnect(peer, because: .tooFast)
      }
      signalSource.yield()
      _ = await runtime.wait { self.incoming.hasRoom }
    }
    signalSource.finish()
  }

  /// Drops all events that are not handled yet, and all later ones.
  func dropEvents() {
    dropsEvents = true
    signalSource.finish()
  }

  /// Handles events until the session has ended and all events are handled or dropped.
  ///
  /// - Parameter handle: A function that handles one event.
  nonisolated(nonsending) func handleEvents(_ handle: (SessionEvent) -> Void) async {
    var signal = signals.makeAsyncIterator()
    var work = 0.0
    while !dropsEvents {
      switch incoming.next(now: runtime.uptime) {
      case .handle(let event, let peer):
        let caused = measureWork { handle(event) }
        if let peer, event.isUnasked { incoming.charge(caused, to: peer, now: runtime.uptime) }
        persistence.recordTraffic()
        runtime.changed()
        await runtime.room()
        await persistence.room()
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

  /// Returns the processor time of `work`, in seconds, including an estimate for writing its
  /// output.
  private func measureWork(_ work: () -> Void) -> Double {
    let (start, bytes) = (SystemTime.processorTime, runtime.emittedBytes)
    work()
    return SystemTime.processorTime - start + Double(runtime.emittedBytes - bytes)
      * Self.workPerByte
  }
}
