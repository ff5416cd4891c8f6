import PeerCore

/// The tasks that wait until relayed peers confirm earlier messages (RLY-9).
///
/// A lock protects the awaited confirmations. Tasks wait for them, and the session's event loop reports the answers.
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

  private let state = Locked(State())

  /// Returns a token for a confirmation by the given peers; the caller must then call ``wait(for:)``.
  func begin(_ peers: [PeerID]) -> UInt64 {
    state.withLock { state in
      state.lastToken += 1
      let end = state.end.map { Result<Void, SessionError>.failure($0) }
      state.waits[state.lastToken] = Wait(missing: Set(peers), result: end)
      return state.lastToken
    }
  }

  /// Waits until all peers for which a token was issued have confirmed; throws the reason why a peer will not confirm,
  /// or `cancelled`.
  func wait(for token: UInt64) async throws(SessionError) {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Result<Void, SessionError>? = state.withLock { state in
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

  /// Discards a token that no task will wait for.
  func abandon(_ token: UInt64) { state.withLock { $0.waits[token] = nil } }

  /// Records that a peer has all messages sent before the token.
  func confirmed(_ token: UInt64, by peer: PeerID) {
    let isDone = state.withLock { state in
      guard state.waits[token]?.missing.remove(peer) != nil else { return false }
      return state.waits[token]?.missing.isEmpty == true
    }
    if isDone { finish(token, .success(())) }
  }

  func failed(_ peer: PeerID, _ error: SessionError) {
    let tokens = state.withLock { state in state.waits.filter { $0.value.missing.contains(peer) }.keys.sorted() }
    for token in tokens { finish(token, .failure(error)) }
  }

  /// Fails all waits, because the session is over.
  func end(_ error: SessionError) {
    let tokens = state.withLock { state in
      state.end = error
      return state.waits.keys.sorted()
    }
    for token in tokens { finish(token, .failure(error)) }
  }

  private func finish(_ token: UInt64, _ result: Result<Void, SessionError>) {
    let continuation = state.withLock { state in
      guard var wait = state.waits[token], wait.result == nil else {
        return nil as CheckedContinuation<Result<Void, SessionError>, Never>?
      }
      if let continuation = wait.continuation {
        state.waits[token] = nil
        return continuation
      }
      // No task waits yet, so the result is stored.
      wait.result = result
      state.waits[token] = wait
      return nil
    }
    continuation?.resume(returning: result)
  }
}

extension Result<Void, SessionError> { fileprivate static var cancelled: Self { .failure(.cancelled) } }
