import NIOConcurrencyHelpers
import NIOCore
import PeerWire

/// One peer's delivery state for those who send: a lock around ``DeliverySender`` and the tasks that
/// wait for room or for an acknowledgement.
///
/// It outlives links. Any thread appends; the event loop of the session drains it.
final class Outbox: Sendable {
  private struct Waiter {
    var id: UInt64
    /// The number whose acknowledgement is waited for, or the size of the room.
    var amount: UInt64
    var continuation: CheckedContinuation<Result<Void, SessionError>, Never>
  }

  private struct State {
    var sender: DeliverySender
    var roomWaiters = CircularBuffer<Waiter>()
    var acknowledgementWaiters: [Waiter] = []
    var nextWaiter: UInt64 = 0
    var isFlushScheduled = false
    var failure: SessionError?
  }

  /// The peer that receives the messages.
  let peer: PeerID
  /// Which of all the times it is that somebody came into the session.
  let joining: UInt64
  private let state: NIOLockedValueBox<State>
  private let eventLoop: any EventLoop
  private let onWork: @Sendable () -> Void

  /// Creates an outbox that calls `onWork` on `eventLoop` when there is something to write.
  init(
    peer: PeerID,
    joining: UInt64,
    capacity: Int,
    eventLoop: any EventLoop,
    onWork: @escaping @Sendable () -> Void
  ) {
    self.peer = peer
    self.joining = joining
    self.state = NIOLockedValueBox(State(sender: DeliverySender(capacity: capacity)))
    self.eventLoop = eventLoop
    self.onWork = onWork
  }

  /// Takes one message, waiting while the outbox is full.
  ///
  /// - Returns: The number whose acknowledgement means delivered.
  nonisolated(nonsending) func append(
    _ message: [UInt8],
    acknowledgeAtOnce: Bool
  ) async throws(SessionError) -> UInt64 {
    // Who has waited goes before who comes now, so that one sender's messages stay in order.
    var hasWaited = false
    while true {
      if let sequence = try appendNow(
        message,
        acknowledgeAtOnce: acknowledgeAtOnce,
        hasWaited: hasWaited
      ) {
        return sequence
      }
      try await waitForRoom(message.count, first: hasWaited)
      hasWaited = true
    }
  }

  /// Takes one message if there is room for it.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - acknowledgeAtOnce: Whether the peer is asked to acknowledge without delay (MSG-4).
  ///   - isRelays: Whether the message is between a member and a relay (11.2).
  ///   - hasWaited: Whether the caller may go before those who wait.
  /// - Returns: The number whose acknowledgement means delivered, or `nil` when the caller must wait.
  /// - Throws: Why the peer is gone.
  func appendNow(
    _ message: [UInt8],
    acknowledgeAtOnce: Bool,
    isRelays: Bool = false,
    hasWaited: Bool = false
  ) throws(SessionError) -> UInt64? {
    let attempt: (sequence: UInt64?, mustFlush: Bool, failure: SessionError?) =
      state.withLockedValue { state in
        if let failure = state.failure { return (nil, false, failure) }
        guard hasWaited || state.roomWaiters.isEmpty, state.sender.hasRoom(for: message.count)
        else {
          return (nil, false, nil)
        }
        let sequence = state.sender.append(
          message,
          acknowledgeAtOnce: acknowledgeAtOnce,
          isRelays: isRelays
        )
        let mustFlush = !state.isFlushScheduled
        state.isFlushScheduled = true
        return (sequence, mustFlush, nil)
      }
    if let failure = attempt.failure { throw failure }
    if attempt.mustFlush { eventLoop.execute(onWork) }
    return attempt.sequence
  }

  /// Waits until the peer holds everything up to `sequence`.
  func acknowledgement(of sequence: UInt64) async throws(SessionError) {
    try await wait { state, waiter in
      if state.sender.acknowledged >= sequence { return .success(()) }
      state.acknowledgementWaiters.append(
        Waiter(id: waiter.id, amount: sequence, continuation: waiter.continuation)
      )
      return nil
    }
  }

  /// Waits until a message of `count` bytes may fit; `first` goes before those who wait already.
  func waitForRoom(_ count: Int, first: Bool) async throws(SessionError) {
    try await wait { state, waiter in
      if first || state.roomWaiters.isEmpty, state.sender.hasRoom(for: count) {
        return .success(())
      }
      let waiter = Waiter(id: waiter.id, amount: UInt64(count), continuation: waiter.continuation)
      if first { state.roomWaiters.prepend(waiter) } else { state.roomWaiters.append(waiter) }
      return nil
    }
  }

  /// Suspends unless `register` answers at once; cancellation ends the wait.
  private func wait(
    _ register: (inout State, Waiter) -> Result<Void, SessionError>?
  ) async throws(SessionError) {
    let id = state.withLockedValue { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(id: id, amount: 0, continuation: continuation)
        let answer: Result<Void, SessionError>? = state.withLockedValue { state in
          if Task.isCancelled { return .failure(.cancelled) }
          if let failure = state.failure { return .failure(failure) }
          return register(&state, waiter)
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let cancelled = state.withLockedValue { state -> Waiter? in
        if let index = state.roomWaiters.firstIndex(where: { $0.id == id }) {
          return state.roomWaiters.remove(at: index)
        }
        if let index = state.acknowledgementWaiters.firstIndex(where: { $0.id == id }) {
          return state.acknowledgementWaiters.remove(at: index)
        }
        return nil
      }
      cancelled?.continuation.resume(returning: .failure(.cancelled))
    }
    try result.get()
  }

  // MARK: The session's side, on its event loop

  /// Takes what the session itself says to a relay, whether there is room or not.
  ///
  /// - Returns: Whether it was taken: not when far more than the capacity is owed, so that who does
  ///   not read what it makes us say costs no memory.
  func appendControl(_ message: [UInt8]) -> Bool {
    let (isTaken, mustFlush) = state.withLockedValue { state in
      guard state.failure == nil else { return (true, false) }
      guard state.sender.usedBytes <= state.sender.capacity + 1_048_576 else {
        return (false, false)
      }
      _ = state.sender.append(message, acknowledgeAtOnce: false, isRelays: true)
      defer { state.isFlushScheduled = true }
      return (true, !state.isFlushScheduled)
    }
    if mustFlush { eventLoop.execute(onWork) }
    return isTaken
  }

  /// Takes the next bytes to write.
  ///
  /// When there are none, the next ``append(_:acknowledgeAtOnce:)`` calls `onWork` again.
  func takeUnsent() -> ByteBuffer? {
    state.withLockedValue { state in
      let bytes = state.sender.takeUnsent()
      if bytes == nil { state.isFlushScheduled = false }
      return bytes
    }
  }

  /// Notes an acknowledgement and wakes who waited for it or for room.
  func acknowledge(_ sequence: UInt64) throws(AcknowledgementError) {
    try update { sender throws(AcknowledgementError) in _ = try sender.acknowledge(sequence) }
  }

  /// Prepares for a new link on which the peer has told what it holds.
  func resume(received: UInt64) throws(AcknowledgementError) {
    try update { sender throws(AcknowledgementError) in try sender.resume(received: received) }
  }

  private func update(
    _ change: (inout DeliverySender) throws(AcknowledgementError) -> Void
  ) throws(AcknowledgementError) {
    let result: Result<[Waiter], AcknowledgementError> = state.withLockedValue { state in
      do throws(AcknowledgementError) {
        try change(&state.sender)
      } catch {
        return .failure(error)
      }
      var woken: [Waiter] = []
      let acknowledged = state.sender.acknowledged
      if !state.acknowledgementWaiters.isEmpty {
        woken = state.acknowledgementWaiters.filter { $0.amount <= acknowledged }
        state.acknowledgementWaiters.removeAll { $0.amount <= acknowledged }
      }
      // Every waiter that may fit tries again, in order; one that lost the room waits anew.
      var free = state.sender.capacity - state.sender.usedBytes
      while let first = state.roomWaiters.first,
        state.sender.isEmpty || Int(first.amount) <= free
      {
        free -= Int(first.amount)
        woken.append(state.roomWaiters.removeFirst())
        if free <= 0 { break }
      }
      return .success(woken)
    }
    for waiter in try result.get() { waiter.continuation.resume(returning: .success(())) }
  }

  /// Closes the outbox because the peer left.
  ///
  /// Later calls fail with `error`.
  ///
  /// - Returns: The number of the application's unacknowledged messages.
  @discardableResult
  func fail(_ error: SessionError) -> Int {
    let (woken, owed): ([Waiter], Int) = state.withLockedValue { state in
      guard state.failure == nil else { return ([], 0) }
      state.failure = error
      let woken = Array(state.roomWaiters) + state.acknowledgementWaiters
      state.roomWaiters.removeAll()
      state.acknowledgementWaiters.removeAll()
      return (woken, state.sender.unacknowledgedMessages)
    }
    for waiter in woken { waiter.continuation.resume(returning: .failure(error)) }
    return owed
  }

  /// Whether the peer never acknowledged anything (RSM-4).
  var isUntouched: Bool { state.withLockedValue { $0.sender.acknowledged == 0 } }

  /// Whether the peer may have received everything up to `sequence` (RSM-2).
  func hasSent(_ sequence: UInt64) -> Bool {
    state.withLockedValue { sequence <= $0.sender.lastSequence }
  }

  /// The highest number that the peer acknowledged.
  var acknowledged: UInt64 { state.withLockedValue { $0.sender.acknowledged } }

  /// Whether all sent messages were acknowledged.
  var isDelivered: Bool { state.withLockedValue { $0.sender.unacknowledgedParts == 0 } }

  /// Whether unsent bytes are queued.
  var hasUnsent: Bool { state.withLockedValue { $0.sender.hasUnsent } }
}
