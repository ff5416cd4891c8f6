import NIOConcurrencyHelpers

/// Who waits for peers behind relays to say that they have what was sent (RLY-9).
///
/// A lock around what is awaited: tasks wait, the session's event loop answers.
final class Confirmations: Sendable {
  private struct Wait {
    var missing: Set<PeerID>
    var continuation: CheckedContinuation<Result<Void, SessionError>, Never>?
    var result: Result<Void, SessionError>?
  }

  private struct State {
    var waits: [UInt64: Wait] = [:]
    var lastToken: UInt64 = 0
    var end: SessionError?
  }

  private let state = NIOLockedValueBox(State())

  /// A token for a confirmation of some peers, which ``wait(for:)`` must follow.
  func begin(_ peers: [PeerID]) -> UInt64 {
    state.withLockedValue { state in
      state.lastToken += 1
      let end = state.end.map { Result<Void, SessionError>.failure($0) }
      state.waits[state.lastToken] = Wait(missing: Set(peers), result: end)
      return state.lastToken
    }
  }

  /// Waits until all peers of a token have confirmed.
  ///
  /// - Throws: Why one of them will not; `cancelled`.
  func wait(for token: UInt64) async throws(SessionError) {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Result<Void, SessionError>? = state.withLockedValue { state in
          if let result = state.waits[token]?.result ?? (Task.isCancelled ? .cancelled : nil) {
            state.waits[token] = nil
            return result
          }
          state.waits[token]?.continuation = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      finish(token, .cancelled)
    }
    try result.get()
  }

  /// Forgets a token for which nobody will wait.
  func abandon(_ token: UInt64) { state.withLockedValue { $0.waits[token] = nil } }

  /// A peer has everything up to the token.
  func confirmed(_ token: UInt64, by peer: PeerID) {
    let isDone = state.withLockedValue { state in
      guard state.waits[token]?.missing.remove(peer) != nil else { return false }
      return state.waits[token]?.missing.isEmpty == true
    }
    if isDone { finish(token, .success(())) }
  }

  /// A peer left, so it confirms nothing any more.
  func failed(_ peer: PeerID, _ error: SessionError) {
    let tokens = state.withLockedValue { state in
      state.waits.filter { $0.value.missing.contains(peer) }.keys.sorted()
    }
    for token in tokens { finish(token, .failure(error)) }
  }

  /// The session is over.
  func end(_ error: SessionError) {
    let tokens = state.withLockedValue { state in
      state.end = error
      return state.waits.keys.sorted()
    }
    for token in tokens { finish(token, .failure(error)) }
  }

  private func finish(_ token: UInt64, _ result: Result<Void, SessionError>) {
    let continuation = state.withLockedValue { state in
      guard var wait = state.waits[token], wait.result == nil else {
        return nil as CheckedContinuation<Result<Void, SessionError>, Never>?
      }
      if let continuation = wait.continuation {
        state.waits[token] = nil
        return continuation
      }
      // Nobody waits yet: kept for who will.
      wait.result = result
      state.waits[token] = wait
      return nil
    }
    continuation?.resume(returning: result)
  }
}

extension Result<Void, SessionError> {
  fileprivate static var cancelled: Self { .failure(.cancelled) }
}
