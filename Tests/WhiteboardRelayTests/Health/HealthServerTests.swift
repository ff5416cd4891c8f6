import PeerCore
import Testing
import WhiteboardRelay
import WhiteboardWeb

struct HealthServerTests {
  private static let reasons = ["the store is being recovered", "line\nend\u{1b}[2J"]

  private static func endpoints(ailments: [String] = [], hindrances: [String] = []) -> HealthEndpoints {
    HealthEndpoints(
      program: "whiteboard-relay",
      version: "1.2.3",
      ailments: { ailments },
      hindrances: { hindrances },
      metrics: { "relay_boards 1\n" }
    )
  }

  private static var configuration: HealthServer.Configuration {
    var configuration = HealthServer.Configuration()
    configuration.port = 0
    // Tests that are not about time have long timeouts, because the machine may be busy.
    configuration.connectionTimeout = .seconds(300)
    configuration.answerTimeout = .seconds(300)
    return configuration
  }

  @Test("each path is answered with text, and the connection is closed") func answers() async throws {
    try await withHealthServer(Self.endpoints(), configuration: Self.configuration) { server in
      let expected = [
        ("/healthz", "ok\n"), ("/readyz", "ready\n"), ("/version", "whiteboard-relay 1.2.3\n"),
        ("/healthz?verbose=1", "ok\n"),
      ]
      for (path, body) in expected {
        let answer = try #require(try await RawClient.get(path, port: server.port))
        #expect(answer.status == 200)
        #expect(answer.body == body)
        #expect(answer.header("Connection") == "close")
        #expect(answer.header("Content-Type") == "text/plain; charset=utf-8")
        #expect(answer.header("Content-Length") == "\(body.utf8.count)")
      }
      let metrics = try #require(try await RawClient.get("/metrics", port: server.port))
      #expect(metrics.status == 200)
      #expect(metrics.body == "relay_boards 1\n")
      #expect(metrics.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
    }
  }

  @Test("a client that asks for JSON gets JSON") func answersInJSON() async throws {
    try await withHealthServer(Self.endpoints(hindrances: Self.reasons), configuration: Self.configuration) { server in
      let accept = "Accept: text/html;q=0.2, application/json; charset=utf-8\r\n"
      let expected = [
        ("/healthz", 200, #"{"status":"ok","reasons":[]}"#),
        ("/readyz", 503, #"{"status":"not ready","reasons":["the store is being recovered","line\\nend\\u{1b}[2J"]}"#),
        ("/version", 200, #"{"program":"whiteboard-relay","version":"1.2.3"}"#),
      ]
      for (path, status, body) in expected {
        let answer = try #require(try await RawClient.get(path, accept, port: server.port))
        #expect(answer.status == status)
        #expect(answer.body == body + "\n")
        #expect(answer.header("Content-Type") == "application/json")
      }
    }
  }

  @Test("an answer 503 lists every reason in its own line, without control characters") func saysWhyNot() async throws {
    try await withHealthServer(
      Self.endpoints(ailments: ["the event loop is stuck"], hindrances: Self.reasons),
      configuration: Self.configuration
    ) { server in
      let ready = try #require(try await RawClient.get("/readyz", port: server.port))
      #expect(ready.status == 503)
      #expect(ready.body == "not ready\n- the store is being recovered\n- line\\nend\\u{1b}[2J\n")
      let health = try #require(try await RawClient.get("/healthz", port: server.port))
      #expect(health.status == 503)
      #expect(health.body == "unwell\n- the event loop is stuck\n")
    }
  }

  @Test("HEAD is answered with the header only") func answersHead() async throws {
    try await withHealthServer(Self.endpoints(), configuration: Self.configuration) { server in
      let answer = try #require(try await RawClient.ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n", port: server.port))
      #expect(answer.status == 200)
      #expect(answer.header("Content-Length") == "3")
      #expect(answer.body.isEmpty)
    }
  }

  @Test("an address in use is an error with a message") func throwsWhenTaken() async throws {
    try await withHealthServer(Self.endpoints(), configuration: Self.configuration) { server in
      var configuration = Self.configuration
      configuration.port = server.port
      let error = await #expect(throws: HTTPBindError.self) {
        try await withHealthServer(Self.endpoints(), configuration: configuration) { _ in }
      }
      #expect(error?.description == "cannot listen on 127.0.0.1 port \(server.port): Address already in use")
    }
  }

  @Test(
    "when its scope ends, also by an error, the server closes all connections and stops listening",
    .timeLimit(.minutes(5))
  ) func endsWithScope() async throws {
    struct Enough: Error {}
    let last = Locked<(port: Int, client: RawClient)?>(nil)
    var configuration = Self.configuration
    // No other test listens on this address, so the port stays free after the server ends.
    configuration.host = "127.0.0.9"
    await #expect(throws: Enough.self) {
      try await withHealthServer(Self.endpoints(), configuration: configuration) { server in
        // The answer to a later client shows that this client has been accepted.
        let client = try await RawClient(host: "127.0.0.9", port: server.port)
        _ = try await HealthProbe(host: "127.0.0.9", port: server.port).ask("/healthz")
        last.withLock { $0 = (server.port, client) }
        throw Enough()
      }
    }
    let (port, client) = try #require(last.withLock { $0 })
    #expect(try await client.read() == "")
    // A process that another test starts also holds the listening socket until it calls exec.
    while let late = try? await RawClient(host: "127.0.0.9", port: port) { #expect(try await late.read() == "") }
  }

  @Test("an endpoint that hangs is answered by the server, and its requests do not accumulate")
  func survivesHangingEndpoint() async throws {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let asked = Locked(0)
    let endpoints = HealthEndpoints(
      program: "p",
      version: "1",
      hindrances: { [] },
      metrics: {
        asked.withLock { $0 += 1 }
        for await _ in gate {}
        return ""
      }
    )
    var configuration = Self.configuration
    configuration.maximumConnections = 3
    configuration.answerTimeout = .milliseconds(20)
    try await withHealthServer(endpoints, configuration: configuration) { server in
      for _ in 0..<3 {
        let answer = try #require(try await RawClient.get("/metrics", port: server.port))
        #expect(answer.status == 503)
        #expect(answer.body == "no answer in 0.02 seconds\n")
      }
      let answer = try #require(try await RawClient.get("/healthz", port: server.port))
      #expect(answer.status == 503)
      #expect(answer.body == "too many requests are waiting for an answer\n")
      // An endpoint may start after the timeout, when the server has already answered the request.
      while asked.withLock({ $0 }) < 3 { await Task.yield() }
      #expect(asked.withLock { $0 } == 3)
      opener.finish()
      while try await RawClient.get("/healthz", port: server.port)?.status != 200 {}
    }
  }
}
