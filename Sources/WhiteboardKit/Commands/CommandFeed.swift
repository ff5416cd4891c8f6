import PeerCore

/// A queue through which a program passes commands to a board.
package final class CommandFeed: CommandSource {
  private struct State {
    var inputs: [CommandInput] = []
    var isFinished = false
    var waiter: CheckedContinuation<CommandInput?, Never>?
  }

  private let state = Locked(State())

  package init() {}

  /// Adds a command at the end; never waits, even if many commands are queued.
  package func push(_ request: CommandRequest) { push(.request(request)) }

  /// Adds an item of input at the end; never waits.
  package func push(_ input: CommandInput) {
    let waiter = state.withLock { state in
      guard let waiter = state.waiter.take() else {
        state.inputs.append(input)
        return nil as CheckedContinuation<CommandInput?, Never>?
      }
      return waiter
    }
    waiter?.resume(returning: input)
  }

  package func finish() {
    let waiter = state.withLock { state in
      state.isFinished = true
      return state.waiter.take()
    }
    waiter?.resume(returning: nil)
  }

  /// Returns the next command; nil after the last one, or if the task is canceled.
  ///
  /// Canceling the task also ends the feed.
  package func nextInput() async -> CommandInput? {
    await withCancellation {
      await withCheckedContinuation { continuation in
        let next: CommandInput?? = state.withLock { state in
          guard state.inputs.isEmpty else { return state.inputs.removeFirst() }
          guard !state.isFinished else { return .some(nil) }
          state.waiter = continuation
          return nil
        }
        if let next { continuation.resume(returning: next) }
      }
    } onCancel: {
      finish()
    }
  }
}
