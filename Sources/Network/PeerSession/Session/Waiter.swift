import PeerCore

/// A suspended task that waits for an answer. The owner stores the waiter in a value protected by a lock.
struct Waiter<Answer: Sendable>: Sendable {
  private let continuation: CheckedContinuation<Answer, Never>
  fileprivate let id: WaitID
  /// The number of bytes, or the sequence number, for which the task waits; 0 if no number is needed.
  var amount: UInt64 = 0

  fileprivate init(_ continuation: CheckedContinuation<Answer, Never>, _ id: WaitID) {
    self.continuation = continuation
    self.id = id
  }

  func resume(_ answer: Answer) { continuation.resume(returning: answer) }
}

final class WaitID: Sendable {}

extension Locked where Value: Sendable {
  /// Suspends the task until its waiter is resumed, or the task is canceled. `enter` returns the answer, or stores the
  /// waiter and returns `nil`. `remove` removes a stored waiter.
  func wait<Answer: Sendable>(
    isolation: isolated (any Actor)? = #isolation,
    ifCanceled canceled: Answer,
    _ enter: (inout Value, Waiter<Answer>) -> Answer?,
    remove: @escaping @Sendable (inout Value, WaitID) -> Waiter<Answer>?
  ) async -> Answer {
    let id = WaitID()
    return await withTaskCancellationHandler {
      // A closure is isolated only to an actor that it captures; otherwise, the task would change its executor twice.
      _ = isolation
      return await withCheckedContinuation { continuation in
        let answer: Answer? = withLock { state in
          if let answer = enter(&state, Waiter(continuation, id)) { return answer }
          return Task.isCancelled ? remove(&state, id).map { _ in canceled } : nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      withLock { remove(&$0, id) }?.resume(canceled)
    }
  }
}

extension Optional {
  mutating func remove<Answer>(_ id: WaitID) -> Waiter<Answer>? where Wrapped == Waiter<Answer> {
    self?.id === id ? take() : nil
  }
}

extension RangeReplaceableCollection {
  mutating func remove<Answer>(_ id: WaitID) -> Waiter<Answer>? where Element == Waiter<Answer> {
    firstIndex { $0.id === id }.map { remove(at: $0) }
  }
}

final class Outcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, SessionError>?
    var waiters: [Waiter<Result<Value, SessionError>>] = []
  }

  private let state = Locked(State())

  var isSet: Bool { state.withLock { $0.result != nil } }

  @discardableResult func set(_ result: Result<Value, SessionError>) -> Bool {
    let waiters: [Waiter<Result<Value, SessionError>>]? = state.withLock { state in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters ?? [] { waiter.resume(result) }
    return waiters != nil
  }

  func value() async throws(SessionError) -> Value {
    try await state.wait(ifCanceled: .failure(.cancelled)) { state, waiter in
      if state.result == nil { state.waiters.append(waiter) }
      return state.result
    } remove: {
      $0.waiters.remove($1)
    }.get()
  }
}
