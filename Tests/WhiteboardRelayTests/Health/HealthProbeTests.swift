import Testing
import WhiteboardRelay

struct HealthProbeTests {
  private func withProbe(
    metrics: @escaping @Sendable () async -> String = { "" },
    _ body: (inout HealthProbe) async throws -> Void
  ) async throws {
    let endpoints = HealthEndpoints(program: "p", version: "1", hindrances: { ["draining"] }, metrics: metrics)
    var configuration = HealthServer.Configuration()
    configuration.port = 0
    // Tests that are not about time have long timeouts, because the machine may be busy.
    configuration.connectionTimeout = .seconds(300)
    configuration.answerTimeout = .seconds(300)
    try await withHealthServer(endpoints, configuration: configuration) { server in
      var probe = HealthProbe(port: server.port)
      probe.timeout = .seconds(300)
      try await body(&probe)
    }
  }

  @Test("the server's answer is printed with its status") func asks() async throws {
    try await withProbe { probe in
      let health = try await probe.ask("/healthz")
      #expect(health.status == 200)
      #expect(health.body == "ok\n")
      let ready = try await probe.ask("/readyz")
      #expect(ready.status == 503)
      #expect(ready.body == "not ready\n- draining\n")
    }
  }

  @Test("an endless answer is cut") func cuts() async throws {
    let large = String(repeating: "x", count: 5 << 20)
    let metrics: @Sendable () async -> String = { large }
    try await withProbe(metrics: metrics) { probe in
      let answer = try await probe.ask("/metrics")
      #expect(answer.body.utf8.count == 64 << 10)
    }
  }

  @Test("a server that answers too late, and a missing server, are errors with a message") func failsInTime()
    async throws
  {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let metrics: @Sendable () async -> String = {
      for await _ in gate {}
      return ""
    }
    try await withProbe(metrics: metrics) { probe in
      probe.timeout = .milliseconds(20)
      let hasty = probe
      let error = await #expect(throws: HealthProbe.Failure.self) { try await hasty.ask("/metrics") }
      #expect(error?.description == "no complete answer arrived in time")
      opener.finish()
    }
    // No other test listens on this port.
    let probe = HealthProbe(port: 1)
    let error = await #expect(throws: HealthProbe.Failure.self) { try await probe.ask("/healthz") }
    #expect(error?.description == "no server answers at 127.0.0.1 port 1")
  }
}
