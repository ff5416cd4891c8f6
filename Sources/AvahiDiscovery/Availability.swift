import PeerDiscovery

/// The last reported availability of the discovery system.
struct Availability {
  private enum State: Equatable {
    case unknown
    case available
    case unavailable(DiscoveryProblem)
  }

  private var said = State.unknown

  /// Records that the system is available, and returns whether this is a change.
  mutating func becameAvailable() -> Bool { say(.available) }

  /// Records a problem, and returns whether it differs from the previous state.
  mutating func becameUnavailable(_ problem: DiscoveryProblem) -> Bool {
    say(.unavailable(problem))
  }

  private mutating func say(_ state: State) -> Bool {
    defer { said = state }
    return said != state
  }
}
