import PeerDiscovery

/// Whether the discovery system was available at the last report.
struct Availability {
  private enum State: Equatable {
    case unknown
    case available
    case unavailable(DiscoveryProblem)
  }

  private var said = State.unknown

  /// Whether this is news.
  mutating func becameAvailable() -> Bool { say(.available) }

  /// Returns whether the state changed; a different problem counts as a change.
  mutating func becameUnavailable(_ problem: DiscoveryProblem) -> Bool {
    say(.unavailable(problem))
  }

  private mutating func say(_ state: State) -> Bool {
    defer { said = state }
    return said != state
  }
}
