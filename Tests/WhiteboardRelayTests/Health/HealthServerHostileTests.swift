import PeerTestKit
import Testing
import WhiteboardRelay

/// An invalid request and the expected status of its answer.
struct Fault: Sendable, CustomTestStringConvertible {
  let request: String
  let status: Int

  init(_ request: String, _ status: Int) { (self.request, self.status) = (request, status) }

  /// The request with its control characters escaped.
  var testDescription: String { request.debugDescription }
}

/// Attacks by a client that can reach the port.
struct HealthServerHostileTests {
  private func withServer(
    metrics: String = "",
    _ change: (inout HealthServer.Configuration) -> Void = { _ in },
    _ body: (HealthServer) async throws -> Void
  ) async throws {
    var configuration = HealthServer.Configuration()
    configuration.port = 0
    // Tests that are not about time have long timeouts, because the machine may be busy.
    configuration.connectionTimeout = .seconds(300)
    configuration.answerTimeout = .seconds(300)
    change(&configuration)
    let endpoints = HealthEndpoints(program: "p", version: "1", hindrances: { [] }, metrics: { metrics })
    try await withHealthServer(endpoints, configuration: configuration, body)
  }

  private func expectAlive(_ server: HealthServer) async throws {
    #expect(try await RawClient.get("/healthz", port: server.port)?.status == 200)
  }

  private static let faults: [Fault] = [
    Fault("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404), Fault("GET /healthz/ HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    Fault("GET /../healthz HTTP/1.1\r\nHost: x\r\n\r\n", 404), Fault("GET /%68ealthz HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    Fault("POST /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 404),
    Fault("POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 405),
    Fault("OPTIONS /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    Fault("DELETE /version HTTP/1.1\r\nHost: x\r\n\r\n", 405), Fault("GET /healthz HTTP/1.1\r\n\r\n", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    Fault("GET /healthz HTTP/1.1\r\nHost x\r\n\r\n", 400), Fault("GET /healthz HTTP/1.1\r\n: x\r\n\r\n", 400),
    Fault("GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n", 400), Fault("GET healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    Fault("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    Fault("CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    Fault("GET http://x/healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    Fault("BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400),
    Fault("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}", 400),
    Fault("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400), Fault("GET /\u{0} HTTP/1.1\r\nHost: x\r\n\r\n", 400),
  ]

  @Test("each invalid request gets its status, and the next one is answered", arguments: faults) func answersFaults(
    _ fault: Fault
  ) async throws {
    try await withServer { server in
      let answer = try #require(try await RawClient.ask(fault.request, port: server.port))
      #expect(answer.status == fault.status)
      #expect(answer.header("Allow") == (fault.status == 405 ? "GET, HEAD" : nil))
      #expect(answer.header("Connection") == "close")
      try await expectAlive(server)
    }
  }

  @Test("HTTP/1.0 needs no Host") func answersOld() async throws {
    try await withServer { server in
      let answer = try await RawClient.ask("GET /healthz HTTP/1.0\r\n\r\n", port: server.port)
      #expect(answer?.status == 200)
    }
  }

  @Test("the maximum size of a head applies to one line, one field or many fields") func boundsHead() async throws {
    try await withServer {
      $0.maximumHeadSize = 2_000
    } _: { server in
      func padding(_ count: Int) -> String { String(repeating: "x", count: count) }
      let field = "GET /healthz HTTP/1.1\r\nHost: x\r\nA: "
      let fits = try await RawClient.ask(field + padding(1_500) + "\r\n\r\n", port: server.port)
      #expect(fits?.status == 200)
      let many = (0..<200).map { "A\($0): x\r\n" }.joined()
      let large = [
        field + padding(2_001) + "\r\n\r\n", "GET /" + padding(2_001) + " HTTP/1.1\r\n\r\n", field + padding(100_000),
        "GET /" + padding(100_000), "GET /healthz HTTP/1.1\r\nHost: x\r\n\(many)\r\n",
      ]
      for request in large {
        let answer = try await RawClient.ask(request, port: server.port)
        #expect(answer?.status == 431)
      }
      try await expectAlive(server)
    }
  }

  @Test("a request that arrives byte by byte is answered") func readsByteByByte() async throws {
    try await withServer { server in
      let client = try await RawClient(port: server.port)
      for byte in "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".utf8 { await client.send([byte]) }
      #expect(RawAnswer(try await client.read())?.status == 200)
    }
  }

  @Test("bytes after a request are dropped, and the answer is complete") func dropsTheRest() async throws {
    try await withServer { server in
      let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
      let rests = [request, "\u{0}\u{1}garbage", String(repeating: request, count: 1_000)]
      for rest in rests {
        let client = try await RawClient(port: server.port)
        await client.send(request + rest)
        let answer = try #require(RawAnswer(try await client.read()))
        #expect(answer.status == 200)
        #expect(answer.body == "ok\n")
      }
    }
  }

  @Test("if a client stops sending, a complete request is answered; the connection closes otherwise")
  func answersHalfClosed() async throws {
    try await withServer { server in
      let whole = try await RawClient(port: server.port)
      await whole.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
      await whole.endSending()
      #expect(RawAnswer(try await whole.read())?.status == 200)
      let cut = try await RawClient(port: server.port)
      await cut.send("GET /healthz HTTP/1.1\r\nHo")
      await cut.endSending()
      #expect(RawAnswer(try await cut.read())?.status == 400)
      let empty = try await RawClient(port: server.port)
      await empty.endSending()
      #expect(try await empty.read() == "")
    }
  }

  @Test("a client that does not send its request in time is closed") func closesSlowSenders() async throws {
    try await withServer {
      $0.connectionTimeout = .milliseconds(30)
    } _: { server in
      let silent = try await RawClient(port: server.port)
      let slow = try await RawClient(port: server.port)
      await slow.send("GET /healthz HTTP/1.1\r\nHost: ")
      #expect(try await silent.read() == "")
      #expect(try await slow.read() == "")
    }
  }

  @Test("a client that does not read its answer in time is closed, and its place is free again")
  func closesSlowReaders() async throws {
    let large = String(repeating: "#", count: 32 << 20)
    try await withServer(metrics: large) {
      $0.connectionTimeout = .milliseconds(300)
      $0.maximumConnections = 1
    } _: { server in
      let client = try await RawClient(port: server.port, isReading: false)
      await client.send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
      while try await RawClient.get("/healthz", port: server.port)?.status != 200 {}
      await client.close()
    }
  }

  @Test("at the limit, the oldest connection with an incomplete request is closed for a new one")
  func dropsSilentConnections() async throws {
    try await withServer {
      $0.maximumConnections = 2
    } _: { server in
      let first = try await RawClient(port: server.port)
      let second = try await RawClient(port: server.port)
      await second.send("GET /healthz HTTP/1.1\r\nHost: ")
      let third = try await RawClient(port: server.port)
      #expect(try await first.read() == "")
      await third.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
      await second.send("x\r\n\r\n")
      for client in [second, third] { #expect(RawAnswer(try await client.read())?.status == 200) }
    }
  }

  @Test("idle connections, however many, do not delay the answer to a health check")
  func answersBesideSilentConnections() async throws {
    try await withServer { server in
      var silent: [RawClient] = []
      for _ in 0..<64 { silent.append(try await RawClient(port: server.port)) }
      #expect(try await RawClient.get("/readyz", port: server.port)?.status == 200)
      for client in silent { await client.close() }
    }
  }

  @Test("if complete requests occupy all places, another connection gets 503") func boundsConnections() async throws {
    let (gates, gate) = AsyncStream<Void>.makeStream()
    let (starts, start) = AsyncStream<Void>.makeStream()
    var configuration = HealthServer.Configuration()
    configuration.port = 0
    configuration.connectionTimeout = .seconds(300)
    configuration.answerTimeout = .seconds(300)
    configuration.maximumConnections = 1
    let endpoints = HealthEndpoints(
      program: "p",
      version: "1",
      hindrances: {
        start.yield()
        for await _ in gates { break }
        return []
      },
      metrics: { "" }
    )
    try await withHealthServer(endpoints, configuration: configuration) { server in
      let asking = try await RawClient(port: server.port)
      await asking.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
      for await _ in starts { break }
      let answer = try #require(try await RawClient.get("/healthz", port: server.port))
      #expect(answer.status == 503)
      #expect(answer.body == "too many connections\n")
      gate.yield()
      #expect(RawAnswer(try await asking.read())?.status == 200)
      while try await RawClient.get("/healthz", port: server.port)?.status != 200 {}
    }
  }

  @Test("random bytes never end the server", arguments: [1, 2, 3] as [UInt64]) func survivesRandomBytes(seed: UInt64)
    async throws
  {
    try await withServer { server in
      var random = SeededGenerator(seed: seed)
      let request = Array("GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n".utf8)
      var answered = 0
      for _ in 0..<60 {
        var bytes = request
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          let place = Int.random(in: bytes.indices, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: bytes[place] = .random(in: 0...255, using: &random)
          case 1: bytes.remove(at: place)
          default: bytes.insert(.random(in: 0...255, using: &random), at: place)
          }
        }
        let client = try await RawClient(port: server.port)
        await client.send(bytes)
        await client.endSending()
        if RawAnswer(try await client.read()) != nil { answered += 1 }
      }
      #expect(answered > 30)
      try await expectAlive(server)
    }
  }
}
