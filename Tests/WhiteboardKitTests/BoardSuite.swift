import CommandLines
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import PeerTestKit
import Testing

@testable import WhiteboardKit

/// A test's own directory, and the boards that run in it.
struct BoardRoom {
  let directory: String
  let network = InMemoryNetwork(seed: 26_273)

  func configuration(_ part: BoardConfiguration.Part, _ name: String) async -> BoardConfiguration {
    var configuration = BoardConfiguration(
      part: part,
      displayName: name,
      identity: .ephemeral(),
      dataDirectory: "\(directory)/\(name)",
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.discovery = await host()
    configuration.files = .accept
    // On a busy machine, a step may take a long time, in particular stretching a code.
    configuration.stepTimeout = .seconds(60)
    return configuration
  }

  func host() async -> InMemoryHost {
    let host = await network.host(named: "\(UInt64.random(in: 0...UInt64.max))")
    return InMemoryHost(
      name: host.name,
      interface: host.interface,
      addresses: [NetworkAddress(127, 0, 0, 1)],
      network: network
    )
  }

  func joining(_ ready: SharedBoard.News.Ready) async throws -> BoardConfiguration {
    await configuration(.join(.link(try BoardLink(ready.link)), patience: .seconds(10)), "ben")
  }

  func path(_ name: String) -> String { "\(directory)/\(name)" }
}

/// Tests that run real boards over real sessions on loopback, found through a network in memory.
protocol BoardSuite {}

extension BoardSuite {
  func withRoom(_ body: (BoardRoom) async throws -> Void) async throws {
    let directory =
      FileManager.default.temporaryDirectory.path + "/whiteboard-board-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try await body(BoardRoom(directory: directory))
  }

  /// Runs a host and a guest that joins by link, and ends both.
  func withPair(
    guestFiles: BoardConfiguration.FilePolicy = .accept,
    guest configure: (BoardRoom, inout BoardConfiguration) throws -> Void = { _, _ in },
    _ body: (BoardRoom, ScriptedBoard, ScriptedBoard) async throws -> Void
  ) async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      let guest = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var part = try await room.joining(ready)
        part.files = guestFiles
        try configure(room, &part)
        let joining = part
        group.addTask { try await guest.run(joining) }
        if await guest.ready() == nil {
          // The error of the first task is more informative than the end of the other tasks.
          try await group.next()
        }
        try await host.perform("wait peers=1 timeout=30")
        try await guest.perform("wait peers=1 timeout=30")
        try await body(room, host, guest)
        await guest.end()
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  func error(_ scriptedBoard: ScriptedBoard, _ line: String) async -> CommandError.Code? {
    do throws(CommandError) {
      try await scriptedBoard.perform(line)
      return nil
    } catch { return error.code }
  }

  func digest(_ scriptedBoard: ScriptedBoard) async throws -> String {
    try await scriptedBoard.perform("digest")
    var last: String?
    for case .answer(.digest(let digest, _), _) in await scriptedBoard.events { last = digest }
    return try #require(last)
  }

  /// Runs a host without guests, with or without a document on disk, and ends it.
  func withHost(
    isKept: Bool = true,
    configure: (inout BoardConfiguration) -> Void = { _ in },
    _ body: (ScriptedBoard) async throws -> Void
  ) async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.remembersBoards = isKept
        configure(&hosting)
        let configuration = hosting
        group.addTask { try await host.run(configuration) }
        if await host.ready() == nil { try await group.next() }
        try await body(host)
        await host.end()
        try await group.waitForAll()
      }
    }
  }
}
