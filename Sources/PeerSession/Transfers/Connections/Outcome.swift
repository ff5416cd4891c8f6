import PeerCore

/// A result that is set once and can be awaited by any number of tasks.
final class Outcome<Value: Sendable>: Sendable {
  private typealias Waiter = CheckedContinuation<Result<Value, SessionError>, Never>

  private struct State {
    var result: Result<Value, SessionError>?
    var waiters: [Int: Waiter] = [:]
    var cancelled: Set<Int> = []
    var nextID = 0
  }

  private let state = Locked(State())

  var isSet: Bool { state.withLock { $0.result != nil } }

  /// Sets the result, unless it was set before; returns whether this call set the result.
  @discardableResult func set(_ result: Result<Value, SessionError>) -> Bool {
    let waiters: [Waiter]? = state.withLock { state in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters ?? [] { waiter.resume(returning: result) }
    return waiters != nil
  }

  /// Waits for the result; throws the error that was set, or `cancelled` if the waiting task is canceled.
  func value() async throws(SessionError) -> Value {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (waiter: Waiter) in
        let ready: Result<Value, SessionError>? = state.withLock { state in
          if let result = state.result { return result }
          if state.cancelled.contains(id) { return .failure(.cancelled) }
          state.waiters[id] = waiter
          return nil
        }
        if let ready { waiter.resume(returning: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.cancelled.insert(id)
        return state.waiters.removeValue(forKey: id)
      }
      waiter?.resume(returning: .failure(.cancelled))
    }
    state.withLock { _ = $0.cancelled.remove(id) }
    return try result.get()
  }
}
