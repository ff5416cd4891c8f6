import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import PeerTestKit
import Testing
import WhiteboardPrograms

@Suite(.serialized, .timeLimit(.minutes(5))) struct DemoTests {
  @Test("the demo ends with one digest, by discovery") func demo() async throws {
    try await withDemo { demo in
      let digest = try await demo.run()
      #expect(digest.count == 64)
    }
  }

  @Test("a demo that is stopped ends, also if it is stopped before it starts") func stopping() async throws {
    try await withDemo { demo in
      await demo.stop()
      await #expect(throws: (any Error).self) { try await demo.run() }
    }
    let (lines, line) = AsyncStream<String>.makeStream()
    try await withDemo {
      line.yield($0)
    } body: { demo in
      let running = Task {
        defer { line.finish() }
        return try await demo.run()
      }
      // Both peers are drawing by now.
      for await text in lines where text.contains("Drawing a wave") { break }
      await demo.stop()
      await #expect(throws: (any Error).self) { try await running.value }
      #expect(await demo.isStopped)
    }
  }

  private func withDemo(
    narrate: @escaping @Sendable (String) -> Void = { _ in },
    body: (Demo) async throws -> Void
  ) async throws {
    let directory =
      FileManager.default.temporaryDirectory.path + "/whiteboard-demo-\(UInt64.random(in: 0...UInt64.max))"
    try FileManager.default.createDirectory(
      atPath: directory,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let network = InMemoryNetwork(seed: 26_273)
    let host = await network.host(named: "demo")
    let demo = Demo(
      discovery: InMemoryHost(
        name: host.name,
        interface: host.interface,
        addresses: [NetworkAddress(127, 0, 0, 1)],
        network: network
      ),
      directory: directory,
      listen: PeerAddress(host: "127.0.0.1", port: 0),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) { _, line in narrate(line) }
    try await body(demo)
  }
}
