import Foundation
import PeerDiscovery
import PeerTestKit
import Testing

@testable import AvahiDiscovery

/// The daemon that `Tests/avahi-sandbox` started for us alone.
enum AvahiSandbox {
  static let isAvailable = ProcessInfo.processInfo.environment["WHITEBOARD_TEST_AVAHI"] == "1"
  static let explanation: Comment = """
    No Avahi daemon to test with. Run the tests by: Tests/avahi-sandbox swift test
    """

  /// Starts and stops the daemons; see the script for the words.
  static func control(_ words: String...) async throws { try await control(words) }

  /// Starts and stops the daemons; see the script for the words.
  static func control(_ words: [String]) async throws {
    guard let path = ProcessInfo.processInfo.environment["WHITEBOARD_TEST_AVAHI_CONTROL"] else {
      throw DiscoveryContractFailure("WHITEBOARD_TEST_AVAHI_CONTROL is not set")
    }
    let status = try await run(path, words)
    guard status == 0 else {
      throw DiscoveryContractFailure("control \(words) ended with \(status)")
    }
  }

  /// Runs a program to its end.
  static func run(_ path: String, _ arguments: [String]) async throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
  }

  /// Runs a program for as long as the body.
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
    // Threads of the concurrency pool have TERM blocked, and so has what they start.
    kill(process.processIdentifier, SIGKILL)
    // Who waits on a thread keeps it from the tasks of all tests, and there are few of those.
    for await _ in ends {}
    try result.get()
  }
}

/// The world of a real daemon, in real time; its hosts are all this one machine.
struct AvahiDiscoveryWorld: DiscoveryWorld {
  private static let patience = Duration.seconds(60)
  private let start = ContinuousClock.now

  func makeHost(named name: String) async -> any Discovery { AvahiDiscovery() }

  /// On one daemon for all tests, what said goodbye is known for another second.
  func makeService() async -> ServiceType { Self.randomService() }

  static func randomService() -> ServiceType {
    let letters = (0..<8).map { _ in "abcdefghijklmnop".randomElement() ?? "a" }
    do {
      return try ServiceType("wb-" + String(letters))
    } catch {
      preconditionFailure("letters make a service type")
    }
  }

  func now() async -> Duration { start.duration(to: .now) }

  func run(_ check: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { try await check() }
      // Not a wait for something to have happened, but the end of patience with what did not.
      group.addTask {
        try await Task.sleep(for: Self.patience)
        throw DiscoveryContractFailure("a check took \(Self.patience)")
      }
      defer { group.cancelAll() }
      do {
        try await group.next()
      } catch let failure {
        // The end of patience cancels the check, whose own words then say what it waited for.
        group.cancelAll()
        do { try await group.next() } catch let other where !(other is CancellationError) {
          throw other
        } catch {}
        throw failure
      }
    }
  }
}
