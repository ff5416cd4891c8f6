public import PeerDiscovery

/// A network on which an implementation of discovery is tested against its contract.
public protocol DiscoveryWorld: Sendable {
  /// Creates a host: a new machine, or a new program if there is only one machine.
  func makeHost(named name: String) async -> any Discovery

  /// Returns a service type that no other program advertises or has recently advertised.
  func makeService() async -> ServiceType

  /// Returns the current time in this world.
  func now() async -> Duration

  /// Runs a check, and cancels it after the timeout of this world.
  func run(_ check: @escaping @Sendable () async throws -> Void) async throws
}

/// An in-memory world in virtual time, in which a check over minutes takes almost no real time.
public struct InMemoryDiscoveryWorld: DiscoveryWorld {
  private static let step = Duration.milliseconds(100)
  private static let patience = 10_000

  /// The network, so that a test can simulate faults.
  public let network: InMemoryNetwork
  private let clock = StepClock()

  private actor StepClock {
    var now = Duration.zero
    func advance(by step: Duration) { now += step }
  }

  /// Creates a network without hosts; see `InMemoryNetwork.init`.
  public init(seed: UInt64, latency: Duration) { network = InMemoryNetwork(seed: seed, latency: latency) }

  /// Creates a host on the network.
  public func makeHost(named name: String) async -> any Discovery { await network.host(named: name) }

  /// Returns the default service type, because no other program uses this network.
  public func makeService() async -> ServiceType { .whiteboard }

  /// Returns the virtual time that `run` has let pass.
  public func now() async -> Duration { await clock.now }

  /// Advances the time in steps until the check is done.
  public func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await check() }
      group.addTask {
        for _ in 0..<Self.patience where !Task.isCancelled {
          await network.advance(by: Self.step)
          await clock.advance(by: Self.step)
          // A check needs several executor hops to read one event, so yield many times in each step.
          for _ in 0..<20 { await Task.yield() }
        }
        if !Task.isCancelled { throw DiscoveryContractFailure("a check took 1000 virtual seconds") }
      }
      try await group.next()
      group.cancelAll()  // The other task ends as soon as it is canceled. Ignore its result.
    }
  }
}

/// A difference between the behavior of an implementation and its contract.
public struct DiscoveryContractFailure: Error, CustomStringConvertible {
  /// The expected and the actual behavior.
  public let description: String

  /// Creates a failure that describes the expected and the actual behavior.
  public init(_ description: String) { self.description = description }
}
