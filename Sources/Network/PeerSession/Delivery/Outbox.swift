import NIOCore
import PeerCore
import PeerWire

/// The reliable messages to one peer. An outbox wraps ``DeliverySender``, tracks the tasks that wait for room or for an
/// acknowledgement, and outlives links. Any thread may append messages; the session's event loop writes them to the
/// link.
final class Outbox: Sendable {
  private typealias Waiter = PeerSession.Waiter<Result<Void, SessionError>>

  private struct State {
    var sender: DeliverySender
    var roomWaiters = CircularBuffer<Waiter>()
    var acknowledgementWaiters: [Waiter] = []
    var isFlushScheduled = false
    var failure: SessionError?
  }

  let peer: PeerID
  let joinGeneration: UInt64
  private let state: Locked<State>
  private let eventLoop: any EventLoop
  private let onWork: @Sendable () -> Void

  init(
    peer: PeerID,
    joinGeneration: UInt64,
    capacity: Int,
    eventLoop: any EventLoop,
    onWork: @escaping @Sendable () -> Void
  ) {
    self.peer = peer
    self.joinGeneration = joinGeneration
    self.state = Locked(State(sender: DeliverySender(capacity: capacity)))
    self.eventLoop = eventLoop
    self.onWork = onWork
  }

  /// Waits while the outbox is full. The message is delivered when the returned part is acknowledged.
  nonisolated(nonsending) func append(_ message: [UInt8], acknowledgeAtOnce: Bool) async throws(SessionError) -> UInt64
  {
    // A caller that has already waited takes precedence over new callers, so that one sender's messages stay in order.
    var hasWaited = false
    while true {
      if let sequence = try appendNow(message, acknowledgeAtOnce: acknowledgeAtOnce, hasWaited: hasWaited) {
        return sequence
      }
      try await waitForRoom(message.count, first: hasWaited)
      hasWaited = true
    }
  }

  /// Appends one message if the outbox has room for the message. Returns `nil` if the caller must wait. Throws the
  /// reason why the peer is out of the session.
  func appendNow(_ message: [UInt8], acknowledgeAtOnce: Bool, isRelays: Bool = false, hasWaited: Bool = false)
    throws(SessionError) -> UInt64?
  {
    let attempt: (sequence: UInt64?, mustFlush: Bool, failure: SessionError?) = state.withLock { state in
      if let failure = state.failure { return (nil, false, failure) }
      guard hasWaited || state.roomWaiters.isEmpty, state.sender.hasRoom(for: message.count) else {
        return (nil, false, nil)
      }
      let sequence = state.sender.append(message, acknowledgeAtOnce: acknowledgeAtOnce, isRelays: isRelays)
      let mustFlush = !state.isFlushScheduled
      state.isFlushScheduled = true
      return (sequence, mustFlush, nil)
    }
    if let failure = attempt.failure { throw failure }
    if attempt.mustFlush { eventLoop.execute(onWork) }
    return attempt.sequence
  }

  func acknowledgement(of sequence: UInt64) async throws(SessionError) {
    try await wait(for: sequence) { state, waiter in
      if state.sender.acknowledged >= sequence { return .success(()) }
      state.acknowledgementWaiters.append(waiter)
      return nil
    }
  }

  /// Waits until a message of `count` bytes may fit. If `first` is true, the caller waits ahead of all other callers.
  func waitForRoom(_ count: Int, first: Bool) async throws(SessionError) {
    try await wait(for: UInt64(count)) { state, waiter in
      if first || state.roomWaiters.isEmpty, state.sender.hasRoom(for: count) { return .success(()) }
      if first { state.roomWaiters.prepend(waiter) } else { state.roomWaiters.append(waiter) }
      return nil
    }
  }

  /// Suspends unless `register` returns a result immediately; cancellation ends the wait.
  private func wait(
    for amount: UInt64,
    _ register: (inout State, Waiter) -> Result<Void, SessionError>?
  ) async throws(SessionError) {
    try await state.wait(ifCanceled: .failure(.cancelled)) { state, waiter in
      var waiter = waiter
      waiter.amount = amount
      return state.failure.map { .failure($0) } ?? register(&state, waiter)
    } remove: {
      $0.roomWaiters.remove($1) ?? $0.acknowledgementWaiters.remove($1)
    }.get()
  }

  // MARK: The session's side, on its event loop

  /// Appends a control message to a relay, even if the outbox is full; returns whether the message was appended. The
  /// message is rejected if the unacknowledged bytes far exceed the capacity, so that a relay that does not read cannot
  /// fill the memory.
  func appendControl(_ message: [UInt8]) -> Bool {
    let (isTaken, mustFlush) = state.withLock { state in
      guard state.failure == nil else { return (true, false) }
      guard state.sender.usedBytes <= state.sender.capacity + 1_048_576 else { return (false, false) }
      _ = state.sender.append(message, acknowledgeAtOnce: false, isRelays: true)
      defer { state.isFlushScheduled = true }
      return (true, !state.isFlushScheduled)
    }
    if mustFlush { eventLoop.execute(onWork) }
    return isTaken
  }

  /// Returns the unsent bytes, to be written to the link. If there are no unsent bytes, the next
  /// ``append(_:acknowledgeAtOnce:)`` calls `onWork` again.
  func dequeueUnsent() -> ByteBuffer? {
    state.withLock { state in
      let bytes = state.sender.dequeueUnsent()
      if bytes == nil { state.isFlushScheduled = false }
      return bytes
    }
  }

  func acknowledge(_ sequence: UInt64) throws(AcknowledgementError) {
    try update { sender throws(AcknowledgementError) in _ = try sender.acknowledge(sequence) }
  }

  func resume(received: UInt64) throws(AcknowledgementError) {
    try update { sender throws(AcknowledgementError) in try sender.resume(received: received) }
  }

  private func update(_ change: (inout DeliverySender) throws(AcknowledgementError) -> Void)
    throws(AcknowledgementError)
  {
    let result: Result<[Waiter], AcknowledgementError> = state.withLock { state in
      do throws(AcknowledgementError) { try change(&state.sender) } catch { return .failure(error) }
      var woken: [Waiter] = []
      let acknowledged = state.sender.acknowledged
      if !state.acknowledgementWaiters.isEmpty {
        woken = state.acknowledgementWaiters.filter { $0.amount <= acknowledged }
        state.acknowledgementWaiters.removeAll { $0.amount <= acknowledged }
      }
      // Every waiting task whose message may fit tries again, in order. A task that finds no room waits again.
      var free = state.sender.capacity - state.sender.usedBytes
      while let first = state.roomWaiters.first, state.sender.isEmpty || Int(first.amount) <= free {
        free -= Int(first.amount)
        woken.append(state.roomWaiters.removeFirst())
        if free <= 0 { break }
      }
      return .success(woken)
    }
    for waiter in try result.get() { waiter.resume(.success(())) }
  }

  /// Closes the outbox because the peer left, so that later calls fail with `error`; returns the number of the
  /// application's unacknowledged messages.
  @discardableResult func fail(_ error: SessionError) -> Int {
    let (woken, owed): ([Waiter], Int) = state.withLock { state in
      guard state.failure == nil else { return ([], 0) }
      state.failure = error
      let woken = Array(state.roomWaiters) + state.acknowledgementWaiters
      state.roomWaiters.removeAll()
      state.acknowledgementWaiters.removeAll()
      return (woken, state.sender.unacknowledgedMessages)
    }
    for waiter in woken { waiter.resume(.failure(error)) }
    return owed
  }

  var isUntouched: Bool { state.withLock { $0.sender.acknowledged == 0 } }

  /// Returns whether the peer may have received all parts up to `sequence` (RSM-2).
  func hasSent(_ sequence: UInt64) -> Bool { state.withLock { sequence <= $0.sender.lastSequence } }

  var acknowledged: UInt64 { state.withLock { $0.sender.acknowledged } }

  var isDelivered: Bool { state.withLock { $0.sender.unacknowledgedParts == 0 } }

  var hasUnsent: Bool { state.withLock { $0.sender.hasUnsent } }
}
