import CommandLines
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import Testing
import WhiteboardKit

@testable import WhiteboardRelay

/// A test's own directory, with a relay and its members on loopback.
struct RelayRoom {
  let directory: String
  let identity = PeerIdentity.ephemeral()
  let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  var data: String { directory + "/relay" }

  /// Creates a directory that exists while `body` runs.
  static func make(_ body: (RelayRoom) async throws -> Void) async throws {
    let directory =
      FileManager.default.temporaryDirectory.path + "/whiteboard-relay-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(
      atPath: directory + "/relay",
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(RelayRoom(directory: directory))
  }

  func relay(in place: String? = nil, _ change: (inout RelayConfiguration) -> Void = { _ in }) throws -> Relay {
    let data = place ?? data
    var configuration = RelayConfiguration(
      name: "attic",
      identity: try PeerIdentity.loadOrCreate(inDirectory: data),
      peerStore: try PeerStore(file: data + "/peers.json"),
      dataDirectory: data,
      logger: logger
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    // On a busy machine, a step may take a long time, in particular stretching a code.
    configuration.stepTimeout = .seconds(60)
    configuration.openingLimit = .seconds(60)
    change(&configuration)
    return try Relay(configuration)
  }

  /// Runs a relay while `body` runs.
  func running(_ relay: Relay, _ body: (Relay) async throws -> Void) async throws {
    let (states, state) = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { state.finish() }
        try await relay.run { _ in state.yield() }
      }
      var isReady = false
      for await _ in states {
        isReady = true
        break
      }
      guard isReady else {
        // A body without a relay could wait forever.
        try await group.waitForAll()
        throw CancellationError()
      }
      try await body(relay)
      await relay.requestEnd()
      try await group.waitForAll()
    }
  }

  /// Hosts a board that moves to a relay, while `body` runs.
  func hosted(
    at relay: Relay,
    isOwned: Bool = false,
    _ body: (ScriptedBoard) async throws -> Void
  ) async throws {
    let port = try #require(await relay.transport?.port)
    var hosting = BoardConfiguration(
      part: .host(boardName: "standup"),
      displayName: "ada",
      identity: try PeerIdentity.loadOrCreate(inDirectory: directory + "/ada"),
      dataDirectory: directory + "/ada",
      logger: logger
    )
    hosting.listen = PeerAddress(host: "127.0.0.1", port: 0)
    hosting.isOwned = isOwned
    hosting.carrier = .at(
      try #require(HostPort(host: "127.0.0.1", port: port)),
      await relay.configuration.identity.peerID
    )
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { [hosting] group in
      group.addTask { try await host.run(hosting) }
      if await host.ready() == nil { try await group.next() }
      try await body(host)
      await host.end()
      try await group.waitForAll()
    }
  }

  /// Joins a board by its link while `body` runs.
  func joined(
    _ link: String?,
    as name: String = "ben",
    identity: PeerIdentity = .ephemeral(),
    _ body: (ScriptedBoard) async throws -> Void
  ) async throws {
    let link = try BoardLink(try #require(link))
    var joining = BoardConfiguration(
      part: .join(.link(link), patience: .seconds(10)),
      displayName: name,
      identity: identity,
      dataDirectory: "\(directory)/\(name)",
      logger: logger
    )
    joining.listen = PeerAddress(host: "127.0.0.1", port: 0)
    joining.stepTimeout = .seconds(60)
    let guest = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { [joining] group in
      group.addTask { try await guest.run(joining) }
      if await guest.ready() == nil { try await group.next() }
      try await guest.perform("wait peers=1 timeout=30")
      try await body(guest)
      await guest.end()
      try await group.waitForAll()
    }
  }
}

extension Relay {
  /// The report of the relay's only board.
  var onlyReport: BoardReport? {
    let reports = reports()
    return reports.count == 1 ? reports[0] : nil
  }
}
