import PeerCore
import PeerDiscovery

/// The last reported availability of the discovery system.
///
/// The thread that calls libavahi shares it with ``StallWatch``.
final class Availability: Sendable {
  private enum State: Equatable {
    case unknown
    case available
    case unavailable(DiscoveryProblem)
  }

  private let said = Locked(State.unknown)

  /// Records that the system is available, and returns whether this is a change.
  func becameAvailable() -> Bool { say(.available) }

  /// Records a problem, and returns whether it differs from the previous state.
  func becameUnavailable(_ problem: DiscoveryProblem) -> Bool { say(.unavailable(problem)) }

  private func say(_ state: State) -> Bool {
    said.withLock { said in
      defer { said = state }
      return said != state
    }
  }
}

/// Reports that a call into libavahi does not return.
///
/// Such a call blocks its thread for up to 25 s if the daemon or the bus does not answer.
final class StallWatch: Sendable {
  private struct State {
    var timer: Task<Void, Never>?
    var isReported = false
  }

  private let limit: Duration
  private let report: @Sendable () -> Void
  private let state = Locked(State())

  /// Creates a watch that calls `report`, on any thread, after `limit`.
  init(_ limit: Duration, report: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.report = report
  }

  /// Records that the thread begins calls that may block.
  func begin() {
    // No code awaits this task; ``end()`` cancels it.
    let timer = Task.detached { [self] in
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      state.withLock { state in
        guard !Task.isCancelled else { return }
        state.isReported = true
        report()
      }
    }
    state.withLock { $0.timer = timer }
  }

  /// Records that the calls returned; returns whether they took so long that the stall was reported.
  func end() -> Bool {
    state.withLock { state in
      state.timer?.cancel()
      defer { state = State() }
      return state.isReported
    }
  }
}
