import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PeerCore
import PeerSession
import Testing
import WhiteboardKit

@testable import WhiteboardWeb

@Suite("The gateway that the boards of a program share") struct SharedGatewayTests {
  /// Runs a body with a transport, and the settings of a gateway on a free port.
  private func withTransport(_ body: (PeerTransport, WebGateway.Configuration) async throws -> Void) async throws {
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

  /// Runs a body with a transport, the settings of a gateway on all addresses, and a function that changes the
  /// addresses of the machine.
  private func withAddresses(
    _ first: [String],
    _ body: (PeerTransport, WebGateway.Configuration, ([String]) -> Void) async throws -> Void
  ) async throws {
    let addresses = Addresses(first)
    try await withTransport { transport, settings in
      var settings = settings
      settings.host = nil
      settings.addresses = { _ in addresses.current.withLock { $0 } }
      try await body(transport, settings) { new in addresses.current.withLock { $0 = new } }
    }
  }

  private final class Addresses: Sendable {
    let current: Locked<[String]>
    init(_ first: [String]) { current = Locked(first) }
  }

  @Test("[WEB-9] boards that let browsers join at the same time get the same gateway") func together() async throws {
    try await withTransport { transport, settings in
      let shared = SharedGateway(settings)
      let pages = try await withThrowingTaskGroup(of: OpenGateway.self) { group in
        for _ in 0..<8 { group.addTask { try await shared.open(on: transport, for: .random(), invite: noInvitation) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(pages.map(\.page.origins)).count == 1)
      for page in pages { await page.close() }
    }
  }

  @Test("a gateway can be opened again on the same port while the last board closes it", .timeLimit(.minutes(5)))
  func again() async throws {
    try await withTransport { transport, settings in
      var settings = settings
      // The system assigns no port of this range to another test between two gateways.
      let port = Int.random(in: 20_000..<30_000)
      settings.port = port
      let shared = SharedGateway(settings)
      for _ in 0..<20 {
        let page = try await open(shared, port, on: transport)
        async let closing: Void = page.close()
        let next = try await open(shared, port, on: transport)
        await closing
        await next.close()
      }
    }
  }

  /// Opens a gateway, and tries again while only another process listens on the gateway's port.
  ///
  /// If another test starts a child process, the child has all sockets of this process until it runs its program, even
  /// sockets that this process has closed meanwhile.
  private func open(_ shared: SharedGateway, _ port: Int, on transport: PeerTransport) async throws -> OpenGateway {
    while true {
      do { return try await shared.open(on: transport, for: .random(), invite: noInvitation) } catch {
        guard error.message.contains("Address already in use"), try !listensHere(port) else { throw error }
        await Task.yield()
      }
    }
  }

  /// Whether a socket of this process listens on a port of 127.0.0.1.
  private func listensHere(_ port: Int) throws -> Bool {
    let digits = String(port, radix: 16, uppercase: true)
    let local = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
    var sockets: Set<String> = []
    for line in try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8).split(separator: "\n") {
      let fields: [Substring] = line.split(separator: " ")
      // 0A is the state of listening sockets.
      if fields.count > 9, fields[1] == local, fields[3] == "0A" { sockets.insert("socket:[\(fields[9])]") }
    }
    for file in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      let target: String? = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + file)
      if let target, sockets.contains(target) { return true }
    }
    return false
  }

  @Test("[CST-17] a server of pictures has the certificate of the gateway, which then names its address too")
  func security() async throws {
    try await withAddresses(["127.0.0.1"]) { transport, settings, _ in
      let shared = SharedGateway(settings)
      let security = try await shared.security(ofServerOn: "FD00:0::2", interface: "no such interface")
      #expect(security.page(8_080).origins == ["https://[fd00::2]:8080"])
      #expect(security.certificate.hosts.isSuperset(of: ["fd00::2", "localhost"]))
      #expect(security.page(8_080).fingerprint == security.certificate.fingerprint)
      let named = try await shared.security(ofServerOn: "Board.example", interface: "no such interface")
      #expect(named.page(443).origins == ["https://board.example"])
      let open = try await shared.open(on: transport, for: .random(), invite: noInvitation)
      #expect(open.page.fingerprint == named.certificate.fingerprint)
      await open.close()
      let again = try await shared.security(ofServerOn: "0.0.0.0", interface: nil)
      #expect(again.page(8_080).origins.allSatisfy { $0.hasSuffix(":8080") && !$0.contains("0.0.0.0") })
    }
  }

  @Test("after a failure, the gateway can be opened") func failure() async throws {
    try await withTransport { transport, settings in
      let other = try await WebGateway.open(settings, on: transport, invite: noInvitation)
      var settings = settings
      let port = try #require(await other.page.origins.first.flatMap { URL(string: $0)?.port })
      settings.port = port
      let shared = SharedGateway(settings)
      let error = await #expect(throws: WhiteboardError.self) {
        try await shared.open(on: transport, for: .random(), invite: noInvitation)
      }
      #expect(error?.message.contains("Address already in use; choose another port") == true)
      await other.close()
      let page = try await open(shared, port, on: transport)
      await page.close()
    }
  }

  @Test("[WEB-9] the page follows the addresses of the machine, with a certificate that names them") func newAddress()
    async throws
  {
    try await withAddresses(["127.0.0.1"]) { transport, settings, setAddresses in
      let (checks, check) = AsyncStream<Void>.makeStream()
      let shared = SharedGateway(settings) {
        for await _ in checks { return }
        throw CancellationError()
      }
      let boards = [
        try await shared.open(on: transport, for: .random(), invite: noInvitation),
        try await shared.open(on: transport, for: .random(), invite: noInvitation),
      ]
      setAddresses(["192.0.2.7"])
      check.yield()
      for board in boards {
        var changes = board.changes.makeAsyncIterator()
        let page = try #require(await changes.next())
        #expect(page.origins.first?.hasPrefix("https://192.0.2.7:") == true)
        #expect(page.fingerprint != board.page.fingerprint)
      }
      for board in boards { await board.close() }
    }
  }

  @Test("[WEB-9] an open gateway renews its certificate, and keeps its addresses without a network") func renewal()
    async throws
  {
    try await withAddresses(["127.0.0.1"]) { transport, settings, setAddresses in
      let gateway = try await WebGateway.open(settings, on: transport, invite: noInvitation)
      let first = await gateway.page
      #expect(await gateway.refresh() == false)
      setAddresses([])
      #expect(await gateway.refresh() == false)
      #expect(await gateway.page == first)
      setAddresses(["127.0.0.1"])
      #expect(await gateway.refresh(now: .now.addingTimeInterval(370 * 86_400)))
      let renewed = await gateway.page
      #expect(renewed.origins == first.origins && renewed.fingerprint != first.fingerprint)
      await gateway.close()
    }
  }

  @Test("[WEB-9] an open gateway loads the user's own certificate again after it was replaced") func replaced()
    async throws
  {
    try await withTransport { transport, settings in
      var settings = settings
      func make(_ number: Int) throws -> String {
        let directory = "\(settings.directory)/own-\(number)"
        _ = try WebCertificate(inDirectory: directory, for: ["board.lan"])
        return directory + "/web.pem"
      }
      let file = try make(0)
      settings.certificate = (file, file)
      let gateway = try await WebGateway.open(settings, on: transport, invite: noInvitation)
      let first = await gateway.page
      #expect(await gateway.refresh() == false)
      let pem = try Data(contentsOf: URL(filePath: make(1)))
      // While the file is being written, the old certificate remains.
      try pem.prefix(100).write(to: URL(filePath: file))
      #expect(await gateway.refresh() == false)
      try pem.write(to: URL(filePath: file))
      #expect(await gateway.refresh())
      let second = await gateway.page
      #expect(second.fingerprint != first.fingerprint && second.origins == first.origins)
      await gateway.close()
    }
  }

  /// Returns the fingerprint of the certificate that a gateway sends at one of its addresses.
  private func fingerprint(_ host: String, _ page: BrowserPage) async throws -> String {
    let port = try #require(page.origins.first.flatMap { URL(string: $0)?.port })
    var client = TLSConfiguration.makeClientConfiguration()
    client.certificateVerification = .noHostnameVerification
    let context = try NIOSSLContext(configuration: client)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let found = loop.makePromise(of: String.self)
    let channel = try await ClientBootstrap(group: loop).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let handler = try NIOSSLClientHandler(context: context, serverHostname: nil) { certificates, answer in
          found.completeWith(Result { WebCertificate.fingerprint(of: try certificates[0].toDERBytes()) })
          answer.succeed(.certificateVerified)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
      }
    }.connect(host: host, port: port).get()
    let result = try await found.futureResult.get()
    try await channel.close()
    return result
  }

  @Test("[WEB-9] an address keeps its certificate when another address is added") func oldAddress() async throws {
    try await withAddresses(["127.0.0.2"]) { transport, settings, setAddresses in
      let gateway = try await WebGateway.open(settings, on: transport, invite: noInvitation)
      let first = await gateway.page
      // IPv6 addresses come and go, and browsers would warn again each time.
      setAddresses(["127.0.0.2", "2001:db8::5"])
      #expect(await gateway.refresh() == false)
      // The address of a VPN has another certificate, so it is not shown with the same fingerprint.
      setAddresses(["127.0.0.2", "127.0.0.3"])
      #expect(await gateway.refresh() == false)
      #expect(try await fingerprint("127.0.0.2", first) == first.fingerprint)
      setAddresses(["127.0.0.3"])
      #expect(await gateway.refresh())
      let second = await gateway.page
      #expect(try await fingerprint("127.0.0.2", first) == first.fingerprint)
      #expect(try await fingerprint("127.0.0.3", second) == second.fingerprint)
      #expect(first.fingerprint != second.fingerprint)
      await gateway.close()
    }
  }
}

private let noInvitation: PageInvitation.Answer = { _ throws(PageInvitation.Refusal) in throw .tooMany }
