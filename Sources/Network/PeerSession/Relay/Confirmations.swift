import PeerCore

/// The tasks that wait until relayed peers confirm earlier messages (RLY-9). A lock protects the state. The session's
/// event loop reports the answers.
final class Confirmations: Sendable {
  private struct State {
    var waits: [UInt64: (missing: Set<PeerID>, outcome: Outcome<Void>)] = [:]
    var lastToken: UInt64 = 0
    var end: SessionError?
  }

  private let state = Locked(State())

  /// Returns a token for a confirmation by the given peers; the caller must then call ``wait(for:)``.
  func begin(_ peers: [PeerID]) -> UInt64 {
    state.withLock { state in
      state.lastToken += 1
      let outcome = Outcome<Void>()
      if let end = state.end { outcome.set(.failure(end)) }
      state.waits[state.lastToken] = (Set(peers), outcome)
      return state.lastToken
    }
  }

  func wait(for token: UInt64) async throws(SessionError) {
    defer { abandon(token) }
    try await state.withLock { $0.waits[token]?.outcome }?.value()
  }

  func abandon(_ token: UInt64) { state.withLock { $0.waits[token] = nil } }

  func confirmed(_ token: UInt64, by peer: PeerID) {
    let wait = state.withLock { state in
      state.waits[token]?.missing.remove(peer) == nil ? nil : state.waits[token]
    }
    if let wait, wait.missing.isEmpty { wait.outcome.set(.success(())) }
  }

  func failed(_ peer: PeerID, _ error: SessionError) {
    let waits = state.withLock { state in state.waits.values.filter { $0.missing.contains(peer) } }
    for wait in waits { wait.outcome.set(.failure(error)) }
  }

  func end(_ error: SessionError) {
    let waits = state.withLock { state in
      state.end = error
      return Array(state.waits.values)
    }
    for wait in waits { wait.outcome.set(.failure(error)) }
  }
}
