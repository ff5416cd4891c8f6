import PeerCore

/// The work runs in child tasks of the task that called ``run()``.
///
/// All submitted work runs, even if it is already canceled.
final class WorkScope: Sendable {
  typealias Work = @Sendable () async -> Void

  private struct State {
    var pending: [Work] = []
    var waiter: CheckedContinuation<[Work]?, Never>?
    var isClosed = false
  }

  private let state = Locked(State())

  /// Submits `work`, which starts soon; returns `false` if the scope is closed, so that `work` never runs.
  func submit(_ work: @escaping Work) -> Bool {
    let (isOpen, waiter): (Bool, CheckedContinuation<[Work]?, Never>?) = state.withLock { state in
      guard !state.isClosed else { return (false, nil) }
      guard let waiter = state.waiter else {
        state.pending.append(work)
        return (true, nil)
      }
      state.waiter = nil
      return (true, waiter)
    }
    waiter?.resume(returning: [work])
    return isOpen
  }

  func close() {
    let waiter = state.withLock { state in
      state.isClosed = true
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: nil)
  }

  /// Runs the submitted work until ``close()`` is called or the task is canceled, and waits for all work to end.
  func run() async {
    await withTaskCancellationHandler {
      await withDiscardingTaskGroup { group in
        while let batch = await next() { for work in batch { group.addTask { await work() } } }
        group.cancelAll()
      }
    } onCancel: {
      close()
    }
  }

  private func next() async -> [Work]? {
    await withCheckedContinuation { continuation in
      let batch: [Work]?? = state.withLock { state in
        if !state.pending.isEmpty {
          defer { state.pending = [] }
          return .some(state.pending)
        }
        if state.isClosed { return .some(nil) }
        state.waiter = continuation
        return .none
      }
      if case .some(let batch) = batch { continuation.resume(returning: batch) }
    }
  }
}
