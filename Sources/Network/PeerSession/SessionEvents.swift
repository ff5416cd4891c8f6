import PeerCore

/// The events of one session, in order.
///
/// The sequence supports one consumer. If 1,000 events or 16 MiB of messages are waiting, the session stops reading its
/// links until the events are read (MSG-5). A slow consumer therefore slows down the senders, but no event is lost or
/// reordered.
///
/// Messages larger than 1 MiB share a limit of 16 MiB while they arrive or wait. A message is included in this limit
/// until the consumer requests the next event.
///
/// The sequence ends when the session is over or the reading task is canceled.
public struct SessionEvents: AsyncSequence, Sendable {
  let queue: EventQueue
  let observation: TrafficObservation

  /// An iterator over the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let queue: EventQueue
    let observation: TrafficObservation
    /// The events that were taken from the queue but not returned yet, in reverse order.
    ///
    /// Removing an event from the end releases it immediately.
    private var batch: [SessionEvent] = []
    private var sender: PeerID?

    init(queue: EventQueue, observation: TrafficObservation) {
      self.queue = queue
      self.observation = observation
    }

    /// Returns the next event, or `nil` when the session is over or the task is canceled.
    public mutating func next() async -> SessionEvent? { await next(isolation: #isolation) }

    /// Returns the next event, or `nil` when the session is over or the task is canceled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> SessionEvent? {
      if let sender = sender.take() { queue.handled(sender) }
      if batch.isEmpty { batch = await queue.removeAll(isolation: actor).reversed() }
      guard let event = batch.popLast() else { return nil }
      observation.report(event)
      if case .message(let bytes, from: let peer) = event, bytes.count > MessageRoom.threshold { sender = peer }
      return event
    }
  }

  /// Creates an iterator over the events.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(queue: queue, observation: observation) }
}

final class EventQueue: Sendable {
  private struct State {
    var events: [SessionEvent] = []
    var heldMessages = 0
    var heldBytes = 0
    var isPaused = false
    var isFinished = false
    var consumer: Waiter<[SessionEvent]>?
    var onProgress: (@Sendable (Progress) -> Void)?
  }

  private let state = Locked(State())
  private let maximumMessages: Int
  private let maximumBytes: Int

  enum Progress {
    case tookAll
    case handledMessage(of: PeerID)
  }

  init(maximumMessages: Int, maximumBytes: Int) {
    self.maximumMessages = maximumMessages
    self.maximumBytes = maximumBytes
  }

  /// Calls `body` on the thread of the consumer until the queue finishes.
  func onProgress(_ body: @escaping @Sendable (Progress) -> Void) { state.withLock { $0.onProgress = body } }

  private func report(_ progress: Progress) { state.withLock { $0.onProgress }?(progress) }

  fileprivate func handled(_ peer: PeerID) { report(.handledMessage(of: peer)) }

  /// Moves the events from `events` to the queue, and leaves an empty array; returns whether the session must stop
  /// reading its links until ``Progress/tookAll``.
  func push(_ events: inout [SessionEvent], bytes: Int) -> Bool {
    let (consumer, mustPause): (Waiter<[SessionEvent]>?, Bool) = state.withLock { state in
      guard !state.isFinished else { return (nil, false) }
      if let consumer = state.consumer.take() { return (consumer, false) }
      state.heldMessages += events.count
      state.heldBytes += bytes
      if state.events.isEmpty { swap(&state.events, &events) } else { state.events.append(contentsOf: events) }
      if state.heldMessages >= maximumMessages || state.heldBytes >= maximumBytes { state.isPaused = true }
      return (nil, state.isPaused)
    }
    if let consumer {
      var taken: [SessionEvent] = []
      swap(&taken, &events)
      consumer.resume(taken)
    }
    events.removeAll(keepingCapacity: true)
    return mustPause
  }

  func finish() {
    let consumer = state.withLock { state in
      state.isFinished = true
      // Break a reference cycle: the closure refers to the session, and the session refers to the queue.
      state.onProgress = nil
      return state.consumer.take()
    }
    consumer?.resume([])
  }

  func removeAll(isolation: isolated (any Actor)?) async -> [SessionEvent] {
    var mustResume = false
    let events = await state.wait(isolation: isolation, ifCanceled: []) { state, waiter in
      if state.events.isEmpty && !state.isFinished {
        precondition(state.consumer == nil, "a session's events can have only one consumer")
        state.consumer = waiter
        return nil
      }
      let events = state.events
      mustResume = state.isPaused
      state.events = []
      state.heldMessages = 0
      state.heldBytes = 0
      state.isPaused = false
      return events
    } remove: {
      $0.consumer.remove($1)
    }
    if mustResume { report(.tookAll) }
    return events
  }
}

/// Traffic between an application and a session, as `Session.observeTraffic(_:)` reports it.
public enum SessionTraffic: Sendable {
  /// The application received an event.
  indirect case event(SessionEvent)
  /// A message to these peers was accepted.
  case message([UInt8], to: [PeerID])
  /// A datagram to these peers was accepted.
  case datagram([UInt8], to: [PeerID])
  /// The application opened a stream. A stream opened by a peer is reported as an event.
  case openedStream(PeerStream)
  /// Bytes of a stream were written or read.
  case streamBytes([UInt8], of: PeerStream, isSent: Bool)
  /// One direction of a stream ended.
  case streamFinished(PeerStream, isSent: Bool)
  /// A stream broke or was reset. This case may occur more than once for a stream.
  indirect case streamBroke(PeerStream, SessionError)
}

final class TrafficObservation: Sendable {
  private let observer = Locked<(@Sendable (SessionTraffic) -> Void)?>(nil)

  func set(_ observer: (@Sendable (SessionTraffic) -> Void)?) { self.observer.withLock { $0 = observer } }

  func report(_ traffic: @autoclosure () -> SessionTraffic) {
    guard let observer = observer.withLock({ $0 }) else { return }
    let traffic = traffic()
    switch traffic {
    case .openedStream(let stream), .event(.streamOpened(let stream)): stream.observation.set(observer)
    default: break
    }
    observer(traffic)
  }

  func report(_ event: SessionEvent) { report(.event(event)) }
}
