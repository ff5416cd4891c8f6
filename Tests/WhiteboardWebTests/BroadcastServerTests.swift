import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import PeerCore
import Testing
import WhiteboardKit

@testable import WhiteboardWeb

/// A source whose pictures have a number, which the test changes.
private actor NumberedSource: FrameSource {
  private var number: UInt32 = 0
  private let signals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

  init() { signals.continuation.yield() }

  var isAvailable: Bool { true }

  func show(_ number: Int) {
    self.number = UInt32(number)
    signals.continuation.yield()
  }

  nonisolated func waitForChange() async -> Bool {
    for await _ in signals.stream { return true }
    return false
  }

  func draw(_ size: FrameSize, isWhole: Bool) -> FrameDrawing {
    let pixels = [UInt32](repeating: number, count: size.area.pixelCount)
    return FrameDrawing(patches: [FramePatch(area: size.area, pixels: pixels)])
  }
}

/// An encoder whose files are large texts that begin with the number of the picture.
private struct TextCoder: FrameCoder {
  static let fileSize = 1 << 19

  var codecs: [FrameCodec] { [.jpeg] }

  func encode(_ pixels: [UInt32], width: Int, height: Int, as codec: FrameCodec) -> [UInt8] {
    let text = Array("picture \(pixels[0]) ".utf8)
    return text + [UInt8](repeating: UInt8(ascii: "."), count: Self.fileSize - text.count)
  }

  func decode(_ bytes: [UInt8], width: Int, height: Int, as codec: FrameCodec) -> [UInt32] { [] }
}

/// A client that reads only as much as the test asks for.
private struct Client {
  private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

  static func with<Result: Sendable>(
    _ server: BroadcastServer,
    trusting authority: [UInt8]? = nil,
    _ request: String,
    _ body: @Sendable (inout Reader) async throws -> Result
  ) async throws -> Result {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
      host: "127.0.0.1",
      port: server.port
    ) { channel in
      channel.eventLoop.makeCompletedFuture {
        if let authority {
          var configuration = TLSConfiguration.makeClientConfiguration()
          configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: authority, format: .der)])
          configuration.applicationProtocols = ["h2", "http/1.1"]
          let context = try NIOSSLContext(configuration: configuration)
          try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
        }
        return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
      }
    }
    return try await channel.executeThenClose { inbound, outbound in
      try await outbound.write(ByteBuffer(string: request))
      var reader = Reader(iterator: inbound.makeAsyncIterator())
      return try await body(&reader)
    }
  }

  struct Reader {
    fileprivate var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer = ByteBuffer()

    fileprivate init(iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator) { self.iterator = iterator }

    /// Returns the next bytes, up to and including `end`; nil if the connection ends first.
    mutating func next(through end: String) async throws -> String? {
      while true {
        if let range = buffer.readableBytesView.firstRange(of: Array(end.utf8)) {
          return buffer.readString(length: range.upperBound - buffer.readerIndex)
        }
        guard let more = try await iterator.next() else { return nil }
        buffer.writeImmutableBuffer(more)
      }
    }

    mutating func next(_ count: Int) async throws -> String? {
      while buffer.readableBytes < count {
        guard let more = try await iterator.next() else { return nil }
        buffer.writeImmutableBuffer(more)
      }
      return buffer.readString(length: count)
    }

    mutating func rest() async throws -> String {
      while let more = try await iterator.next() { buffer.writeImmutableBuffer(more) }
      return buffer.readString(length: buffer.readableBytes) ?? ""
    }

    /// Returns the number of the picture in the next part of a stream; nil at its end.
    mutating func nextPicture() async throws -> Int? {
      // Each part is one chunk of the response.
      guard let size = try await next(through: "\r\n").flatMap({ Int($0.dropLast(), radix: 16) }), size > 0 else {
        return nil
      }
      guard let head = try await next(through: "\r\n\r\n") else { return nil }
      #expect(size == head.utf8.count + TextCoder.fileSize + 2)
      #expect(head == "--picture\r\nContent-Type: image/jpeg\r\nContent-Length: \(TextCoder.fileSize)\r\n\r\n")
      guard let file = try await next(TextCoder.fileSize), try await next(4) == "\r\n\r\n" else { return nil }
      return Int(file.split(separator: " ")[1])
    }
  }
}

@Suite("Broadcasts over HTTP", .timeLimit(.minutes(5))) struct BroadcastServerTests {
  private static func get(_ path: String, host: String = "127.0.0.1", _ rest: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: \(host)\r\n\(rest)\r\n"
  }

  private func withServer(
    _ security: PictureSecurity? = nil,
    viewerLimit: Int = 64,
    _ body: @Sendable (BroadcastServer, NumberedSource, Broadcast) async throws -> Void
  ) async throws {
    var options = Broadcast.Options()
    options.size = try #require(FrameSize(width: 16, height: 16))
    options.rate = 60
    options.viewerLimit = viewerLimit
    let source = NumberedSource()
    let broadcast = Broadcast(source, options: options, coder: TextCoder())
    await broadcast.start()
    try await withThrowingTaskGroup { group in
      group.addTask { await broadcast.run() }
      try await withBroadcastServer(of: broadcast, host: "127.0.0.1", port: 0, security: security) { server in
        try await body(server, source, broadcast)
      }
      await broadcast.finish()
      try await group.waitForAll()
    }
  }

  /// Runs a server as on an address that other computers can reach. `body` also gets the certificate of the authority,
  /// and the secret in the links.
  private func withSecretServer(
    _ body: @Sendable (BroadcastServer, Broadcast, _ authority: [UInt8], _ secret: String) async throws -> Void
  ) async throws {
    let directory = NSTemporaryDirectory() + "whiteboard-pictures-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let certificate = try WebCertificate(inDirectory: directory, for: ["127.0.0.1"])
    let authority = try #require(certificate.authority)
    let security = PictureSecurity(certificate: certificate) { port in
      let origins = ["https://127.0.0.1:\(port)", "https://board.local:\(port)"]
      return BrowserPage(origins: origins, fingerprint: certificate.fingerprint, isSelfMade: true)
    }
    try await withServer(security) { server, _, broadcast in
      let link = try #require(server.links.first)
      let secret = String(link.dropFirst("https://127.0.0.1:\(server.port)/".count).dropLast())
      #expect(server.links == ["127.0.0.1", "board.local"].map { "https://\($0):\(server.port)/\(secret)/" })
      #expect(server.fingerprint == certificate.fingerprint)
      try await body(server, broadcast, authority, secret)
    }
  }

  private func answer(_ server: BroadcastServer, trusting authority: [UInt8]? = nil, _ request: String) async throws
    -> String
  {
    try await Client.with(server, trusting: authority, request) { try await $0.rest() }
  }

  @Test("/still is the newest picture") func still() async throws {
    try await withServer { server, source, _ in
      for number in 3...4 {
        await source.show(number)
        // The source may report its change only after the first request.
        var answer = ""
        while !answer.contains("picture \(number) ") { answer = try await self.answer(server, Self.get("/still")) }
        let head = answer[..<(answer.firstRange(of: "\r\n\r\n")?.upperBound ?? answer.startIndex)].lowercased()
        #expect(head.hasPrefix("http/1.1 200 "))
        #expect(head.contains("content-type: image/jpeg\r\n"))
        #expect(head.contains("content-length: \(TextCoder.fileSize)\r\n"))
        #expect(head.contains("cross-origin-resource-policy: same-origin\r\n"))
      }
      let head = try await answer(server, "HEAD /still HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
    }
  }

  @Test("[CST-15] HEAD gets the headers of GET, and no picture") func head() async throws {
    try await withServer { server, _, _ in
      let get = try await Client.with(server, Self.get("/")) { try await $0.next(through: "\r\n\r\n") }
      #expect(get?.hasPrefix("HTTP/1.1 200 ") == true)
      #expect(try await answer(server, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n") == get)
    }
  }

  @Test("[CST-15] if there is no picture, /still says why, and when to try again") func noPicture() async throws {
    try await withServer(viewerLimit: 1) { server, _, broadcast in
      await broadcast.pause()
      let paused = try await answer(server, Self.get("/still"))
      #expect(paused.hasPrefix("HTTP/1.1 503 ") && paused.contains("the broadcast is paused, and has no picture yet"))
      #expect(paused.lowercased().contains("retry-after: 5\r\n"))
      await broadcast.resume()
      try await Client.with(server, Self.get("/")) { reader in
        _ = try #require(try await reader.next(through: "\r\n\r\n"))
        #expect(try await reader.nextPicture() == 0)
        let full = try await answer(server, Self.get("/still"))
        #expect(full.hasPrefix("HTTP/1.1 503 ") && full.contains("has the maximum number of viewers"))
        #expect(full.lowercased().contains("retry-after: 5\r\n"))
        #expect(!full.contains("picture 0"))
      }
    }
  }

  @Test("/ is a stream of pictures; the last one is repeated, and the stream ends with the broadcast") func stream()
    async throws
  {
    try await withServer { server, source, broadcast in
      try await Client.with(server, Self.get("/")) { reader in
        let head = try #require(try await reader.next(through: "\r\n\r\n"))
        #expect(head.lowercased().contains("content-type: multipart/x-mixed-replace; boundary=picture\r\n"))
        var last = 0
        for number in 1...5 {
          await source.show(number)
          repeat {
            let picture = try #require(try await reader.nextPicture())
            #expect(picture >= last)
            last = picture
          } while last < number
        }
        // Nothing changes, and browsers show a part only when the next part begins.
        #expect(try await reader.nextPicture() == 5)
        await broadcast.finish()
        while let picture = try await reader.nextPicture() { #expect(picture == 5) }
      }
    }
  }

  @Test("a client that reads nothing delays no other client, and then gets the newest picture") func slowClient()
    async throws
  {
    try await withServer { server, source, _ in
      try await Client.with(server, Self.get("/")) { slow in
        _ = try #require(try await slow.next(through: "\r\n\r\n"))
        let count = 60
        try await Client.with(server, Self.get("/")) { reader in
          _ = try #require(try await reader.next(through: "\r\n\r\n"))
          for number in 1...count {
            await source.show(number)
            while try #require(try await reader.nextPicture()) != number {}
          }
        }
        var pictures: [Int] = []
        repeat { pictures.append(try #require(try await slow.nextPicture())) } while pictures.last != count
        #expect(pictures == pictures.sorted())
        #expect(pictures.count < count / 2)
      }
    }
  }

  private static let faults: [(request: String, status: Int)] = [
    (get("/other"), 404), (get("/still/"), 404), (get("/../still"), 404), (get("/still", host: "board.example"), 421),
    (get("/still", host: "127.0.0.1.board.example"), 421), (get("/", host: "192.168.1.2"), 421),
    ("GET /still HTTP/1.1\r\n\r\n", 421), ("GET /still HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 421),
    ("POST /still HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello", 405),
    (get("/still", "Content-Length: 5\r\n") + "hello", 400), ("GET /still HTTP/9.9\r\nHost: localhost\r\n\r\n", 400),
    (get("/still", "Name: \(String(repeating: "x", count: 9_000))\r\n"), 400), ("\u{16}\u{3}\u{1}", 400),
  ]

  @Test("[CST-16] a bad request gets its status, and shows no picture", arguments: faults.indices) func badRequests(
    index: Int
  )
    async throws
  {
    let fault = Self.faults[index]
    try await withServer { server, _, _ in
      let answer = try await answer(server, fault.request)
      #expect(answer.hasPrefix("HTTP/1.1 \(fault.status) "), "\(fault.request.prefix(60).debugDescription)")
      #expect(!answer.contains("picture 0"))
      #expect(try await self.answer(server, Self.get("/still")).hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test("[CST-17] with TLS and the secret, other computers get pictures, and the stream ends with the broadcast")
  func secretServer() async throws {
    try await withSecretServer { server, broadcast, authority, secret in
      for path in ["/\(secret)/still", "/\(secret)/still.jpg", "/\(secret)/still?1"] {
        // The name is not in the certificate: another site could only use the name if it knew the secret.
        let answer = try await answer(server, trusting: authority, Self.get(path, host: "board.example"))
        #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("picture 0 "))
        #expect(answer.lowercased().contains("referrer-policy: no-referrer\r\n"))
      }
      for path in ["/\(secret)/", "/\(secret)"] {
        try await Client.with(server, trusting: authority, Self.get(path)) { reader in
          let head = try #require(try await reader.next(through: "\r\n\r\n"))
          #expect(head.lowercased().contains("content-type: multipart/x-mixed-replace; boundary=picture\r\n"))
          #expect(try await reader.nextPicture() == 0)
        }
      }
      try await Client.with(server, trusting: authority, Self.get("/\(secret)/")) { reader in
        _ = try #require(try await reader.next(through: "\r\n\r\n"))
        _ = try await reader.nextPicture()
        await broadcast.finish()
        while try await reader.nextPicture() != nil {}
      }
    }
  }

  @Test("[CST-17] without the secret or without TLS, a client gets no picture") func wrongSecrets() async throws {
    try await withSecretServer { server, _, authority, secret in
      let other = String(secret.dropLast()) + (secret.hasSuffix("a") ? "b" : "a")
      for path in [
        "/", "/still", "/\(other)/", "/\(other)/still", "/\(secret.dropLast())/still", "/\(secret)a/still",
        "/\(secret.uppercased())/still", "//\(secret)/still", "/still/\(secret)", "/?/\(secret)/still",
        "/%\(String(secret.utf8.first ?? 0, radix: 16))\(secret.dropFirst())/still", "/\(secret)/other", "/\(secret)//",
      ] {
        let answer = try await answer(server, trusting: authority, Self.get(path))
        #expect(answer.hasPrefix("HTTP/1.1 404 ") && !answer.contains(secret), "\(path)")
        #expect(answer.lowercased().contains("connection: close\r\n"))
      }
      let post = try await answer(
        server,
        trusting: authority,
        "POST /\(secret)/still HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
      )
      #expect(post.hasPrefix("HTTP/1.1 405 "))
      #expect(try await !answer(server, Self.get("/\(secret)/still")).contains("picture"))
      // However many wrong secrets an address sends, users at this address get the pictures.
      let right = try await answer(server, trusting: authority, Self.get("/\(secret)/still"))
      #expect(right.contains("picture 0 "))
    }
  }

  @Test("[CST-17] each broadcast has its own secret") func newSecrets() async throws {
    let secrets = Locked<Set<String>>([])
    for _ in 0..<2 { try await withSecretServer { _, _, _, secret in secrets.withLock { _ = $0.insert(secret) } } }
    #expect(secrets.withLock { $0.map(\.count) } == [26, 26])
  }

  @Test(
    "[CST-17] without a certificate, addresses that other computers can reach are refused",
    arguments: ["0.0.0.0", "::", "192.0.2.1"]
  )
  func otherComputers(host: String) async throws {
    let broadcast = Broadcast(NumberedSource())
    let error = await #expect(throws: HTTPBindError.self) {
      try await withBroadcastServer(of: broadcast, host: host, port: 0) { _ in }
    }
    #expect(error?.description.contains("needs a certificate") == true)
  }

  @Test("an unknown host name is an error that says so") func unknownHost() async throws {
    let directory = NSTemporaryDirectory() + "whiteboard-pictures-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let certificate = try WebCertificate(inDirectory: directory, for: ["127.0.0.1"])
    let security = PictureSecurity(certificate: certificate) { _ in
      BrowserPage(origins: [], fingerprint: certificate.fingerprint, isSelfMade: true)
    }
    // No server of names is asked for a name with an empty part.
    let error = await #expect(throws: HTTPBindError.self) {
      let broadcast = Broadcast(NumberedSource())
      try await withBroadcastServer(of: broadcast, host: "no..host", port: 0, security: security) { _ in }
    }
    #expect(error?.description == "cannot listen on no..host port 0: this host name is unknown")
  }
}
