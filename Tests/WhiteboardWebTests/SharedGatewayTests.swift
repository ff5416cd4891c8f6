import Foundation
import PeerSession
import Testing
import WhiteboardKit

@testable import WhiteboardWeb

@Suite("The gateway that the boards of a program share")
struct SharedGatewayTests {
  /// Runs a body with a transport, and the settings of a gateway on a free port.
  private func withTransport(
    _ body: (PeerTransport, WebGateway.Configuration) async throws -> Void
  ) async throws {
    let directory = NSTemporaryDirectory() + "whiteboard-gateway-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var transport = TransportConfiguration(
      identity: .ephemeral(),
      displayName: "gateway",
      inboxDirectory: directory + "/inbox"
    )
    transport.listen = PeerAddress(host: "127.0.0.1", port: 0)
    try await PeerTransport.withTransport(transport) { transport in
      var settings = WebGateway.Configuration(directory: directory)
      settings.host = "127.0.0.1"
      settings.port = 0
      try await body(transport, settings)
    }
  }

  @Test("[WEB-9] boards that let browsers join at the same time get the same gateway")
  func together() async throws {
    try await withTransport { transport, settings in
      let shared = SharedGateway(settings)
      let pages = try await withThrowingTaskGroup(of: BrowserPage.self) { group in
        for _ in 0..<8 { group.addTask { try await shared.open(on: transport) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(pages.map(\.origins)).count == 1)
      for page in pages { await page.close() }
    }
  }

  @Test("a gateway can be opened again on the same port while the last board closes it")
  func again() async throws {
    try await withTransport { transport, settings in
      let found = SharedGateway(settings)
      let first = try await found.open(on: transport)
      var settings = settings
      settings.port = try #require(first.origins.first.flatMap { URL(string: $0)?.port })
      await first.close()
      let shared = SharedGateway(settings)
      for _ in 0..<20 {
        let page = try await shared.open(on: transport)
        async let closing: Void = page.close()
        let next = try await shared.open(on: transport)
        await closing
        await next.close()
      }
    }
  }

  @Test("after a failure, the gateway can be opened")
  func failure() async throws {
    try await withTransport { transport, settings in
      let other = try await WebGateway.open(settings, on: transport)
      var settings = settings
      settings.port = try #require(other.origins.first.flatMap { URL(string: $0)?.port })
      let shared = SharedGateway(settings)
      let error = await #expect(throws: WhiteboardError.self) {
        try await shared.open(on: transport)
      }
      #expect(error?.message.contains("Address already in use; choose another port") == true)
      await other.close()
      let page = try await shared.open(on: transport)
      await page.close()
    }
  }
}
