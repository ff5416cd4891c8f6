public import PeerDiscovery

/// A network to hold an implementation of discovery to its contract on.
public protocol DiscoveryWorld: Sendable {
  /// A new machine, or a new program on the one machine there is.
  func makeHost(named name: String) async -> any Discovery

  /// A type of service that nobody else advertises, nor did a moment ago.
  func makeService() async -> ServiceType

  /// The time in this world.
  func now() async -> Duration

  /// Runs a check for as long as the world has patience, and then cancels it.
  func run(_ check: @escaping @Sendable () async throws -> Void) async throws
}

/// The world of `InMemoryNetwork`, where a check of minutes takes no time.
public struct InMemoryDiscoveryWorld: DiscoveryWorld {
  private static let step = Duration.milliseconds(100)
  private static let patience = 10_000

  /// The network, for the faults that a test wants.
  public let network: InMemoryNetwork
  private let clock = StepClock()

  private actor StepClock {
    var now = Duration.zero
    func advance(by step: Duration) { now += step }
  }

  /// Makes a network without hosts; see `InMemoryNetwork.init`.
  public init(seed: UInt64, latency: Duration) {
    network = InMemoryNetwork(seed: seed, latency: latency)
  }

  /// A new host on the network.
  public func makeHost(named name: String) async -> any Discovery {
    await network.host(named: name)
  }

  /// The usual type; nobody else is on this network.
  public func makeService() async -> ServiceType { .whiteboard }

  /// The time that `run` has let pass.
  public func now() async -> Duration { await clock.now }

  /// Lets time pass, step by step, until the check is done.
  public func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await check() }
      group.addTask {
        for _ in 0..<Self.patience where !Task.isCancelled {
          await network.advance(by: Self.step)
          await clock.advance(by: Self.step)
          // A check hops between executors to read one event; let it have many chances a step.
          for _ in 0..<20 { await Task.yield() }
        }
        if !Task.isCancelled { throw DiscoveryContractFailure("a check took 1000 virtual seconds") }
      }
      try await group.next()
      group.cancelAll()
      // The other one is done as soon as it sees that it is cancelled; what it says is old news.
    }
  }
}

/// What an implementation of discovery did against its contract.
public struct DiscoveryContractFailure: Error, CustomStringConvertible {
  /// What was expected and what was found.
  public let description: String

  /// Says what was expected and what was found.
  public init(_ description: String) { self.description = description }
}
