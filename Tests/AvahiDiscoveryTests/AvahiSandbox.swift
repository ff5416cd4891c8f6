import Foundation
import PeerDiscovery
import PeerTestKit
import Testing

@testable import AvahiDiscovery

/// The private daemon that `Tests/avahi-sandbox` started for these tests.
enum AvahiSandbox {
  static let isAvailable = ProcessInfo.processInfo.environment["WHITEBOARD_TEST_AVAHI"] == "1"
  static let explanation: Comment = """
    No Avahi daemon to test with. Run the tests by: Tests/avahi-sandbox swift test
    """

  /// Starts or stops the daemons; `Tests/avahi-sandbox` documents the arguments.
  static func control(_ words: String...) async throws { try await control(words) }

  /// Starts or stops the daemons; `Tests/avahi-sandbox` documents the arguments.
  static func control(_ words: [String]) async throws {
    guard let path = ProcessInfo.processInfo.environment["WHITEBOARD_TEST_AVAHI_CONTROL"] else {
      throw DiscoveryContractFailure("WHITEBOARD_TEST_AVAHI_CONTROL is not set")
    }
    let status = try await run(path, words)
    guard status == 0 else { throw DiscoveryContractFailure("control \(words) ended with \(status)") }
  }

  /// Runs a program until it ends.
  static func run(_ path: String, _ arguments: [String]) async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }

  /// Runs a program while `body` runs.
  nonisolated(nonsending) static func withProgram(
    _ path: String,
    _ arguments: [String],
    _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let (ends, end) = AsyncStream<Void>.makeStream()
    process.terminationHandler = { _ in end.finish() }
    try process.run()
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    // Use KILL: the threads of the concurrency pool block TERM, and programs inherit the blocked signals of the thread
    // that starts them.
    kill(process.processIdentifier, SIGKILL)
    // Do not block a thread of the pool, because all tests share its few threads.
    for await _ in ends {}
    try result.get()
  }
}

/// A world with a real daemon, in real time. All of its hosts are this machine.
struct AvahiDiscoveryWorld: DiscoveryWorld {
  private static let patience = Duration.seconds(60)
  private let start = ContinuousClock.now

  func makeHost(named name: String) async -> any Discovery { AvahiDiscovery() }

  /// A random service type, because the shared daemon remembers a removed service for a second.
  func makeService() async -> ServiceType { Self.randomService() }

  static func randomService() -> ServiceType {
    let letters = (0..<8).map { _ in "abcdefghijklmnop".randomElement() ?? "a" }
    do { return try ServiceType("wb-" + String(letters)) } catch { preconditionFailure("letters make a service type") }
  }

  func now() async -> Duration { start.duration(to: .now) }

  func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await check() }
      // This is a timeout, not a wait for an event.
      group.addTask {
        try await Task.sleep(for: Self.patience)
        throw DiscoveryContractFailure("a check took \(Self.patience)")
      }
      defer { group.cancelAll() }
      do { try await group.next() } catch let failure {
        // The timeout cancels the check. The error of the check then names the awaited event.
        group.cancelAll()
        do { try await group.next() } catch let other where !(other is CancellationError) { throw other } catch {}
        throw failure
      }
    }
  }
}
