#if CLUSTER
import Foundation
import Testing

@testable import RelayCluster

/// Whether the description of an error contains no words of libnats or OpenSSL.
private func isSentence(_ error: ClusterError) -> Bool {
  !["nats: ", ".c:", "natsConn", "SSL", "error", "Error"].contains { error.description.contains($0) }
}

@Suite("ClusterError") struct ClusterErrorTests {
  @Test("a failure is described in sentences that say what to do; the words of libnats are only in its details")
  func unreachable() async {
    await #expect {
      _ = try await ClusterSettings(servers: ["nats://127.0.0.1:1"], name: "test").connect()
    } throws: { error in
      guard let error = error as? ClusterError else { return false }
      return isSentence(error) && error.details?.isEmpty == false
        && error.description == "cannot connect to the cluster: no NATS server can be reached; check that the servers "
          + "run, and their addresses in cluster"
    }
  }

  @Test("a file that is missing or invalid is an error that names the file, without a connection")
  func files() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/whiteboard-cluster-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (empty, none) = (folder + "/empty.pem", folder + "/none.pem")
    try Data().write(to: URL(fileURLWithPath: empty))
    func expect(_ problem: String, _ change: (inout ClusterSettings) -> Void) {
      var settings = ClusterSettings(servers: ["tls://127.0.0.1:1"], name: "test")
      change(&settings)
      #expect { try settings.check() } throws: { error in
        guard let error = error as? ClusterError else { return false }
        return error.code == .badConfiguration && error.description == problem
      }
    }
    #expect(throws: Never.self) { try ClusterSettings(servers: ["tls://127.0.0.1:1"], name: "test").check() }
    expect("the file \(none) in cluster-ca does not exist") { $0.authorities = none }
    expect("the file \(empty) in cluster-ca contains no certificates") { $0.authorities = empty }
    expect("the file \(none) in cluster-credentials does not exist") { $0.credentials = none }
    expect("the file \(none) in cluster-key does not exist") { $0.certificate = (empty, none) }
    expect("the files \(empty) in cluster-certificate and \(empty) in cluster-key are not a certificate and its key") {
      $0.certificate = (empty, empty)
    }
  }
}

/// These tests kill servers, so they run after each other.
@Suite("NATSConnection", .serialized, .enabled(if: TestServers.current != nil)) struct NATSConnectionTests {
  private let servers: TestServers

  init() throws { servers = try #require(TestServers.current) }

  @Test("a connection that fails says why")
  func errors() async {
    await expect(.unreachable, ClusterSettings(servers: ["nats://127.0.0.1:1"], name: "test"))
    await expect(.noJetStream, ClusterSettings(servers: [servers.plain], name: "test"))
    await expect(.unauthorized, ClusterSettings(servers: [servers.locked], name: "test"))
    await expect(.badConfiguration, ClusterSettings(servers: ["nats://host:port"], name: "test"))
    var settings = servers.settings
    settings.certificate = nil
    await expect(.unauthorized, settings)
    settings = servers.settings
    settings.authorities = nil
    await expect(.unauthorized, settings)
    settings.authorities = servers.folder + "/none"
    await expect(.badConfiguration, settings)
    settings = servers.settings
    settings.certificate?.key = servers.folder + "/certificates/server.key"
    await expect(.badConfiguration, settings)
    settings = servers.settings
    settings.credentials = servers.folder + "/none"
    await expect(.badConfiguration, settings)
  }

  private func expect(_ code: ClusterError.Code, _ settings: ClusterSettings) async {
    do throws(ClusterError) {
      let connection = try await settings.connect()
      await connection.close()
      Issue.record("the connection must fail with \(code)")
    } catch {
      #expect(error.code == code, "\(error)")
      #expect(isSentence(error), "\(error)")
    }
  }

  @Test("while servers are killed one after another, each entry is stored once, in order")
  func killedServers() async throws {
    let (writer, reader) = (try await servers.connect(), try await servers.connect())
    let subject = newSubject()
    var written: [[UInt8]] = []
    func write(_ count: Int) async throws {
      for _ in 0..<count {
        let payload = Array("\(written.count)".utf8)
        _ = try await writer.append(payload, id: "\(subject.text) \(written.count)", to: subject)
        written.append(payload)
      }
    }
    try await write(20)
    for name in ["n0", "n1"] {
      try kill(name)
      try await write(20)
      // The next server may be killed only when two others have all entries.
      try await untilReplaced(name)
    }
    let entries = try await reader.entries(of: subject, after: .start, limit: 1_000)
    #expect(entries.map(\.payload) == written)
    await writer.close()
    await reader.close()
  }

  @Test("a feed receives a gap when its connection has lost its server, and then further messages")
  func reconnection() async throws {
    // The connection chooses its first server.
    var settings = servers.settings
    settings.servers = [servers.settings.servers[2]]
    let (reader, writer) = (try await settings.connectPatiently(), try await servers.connect())
    let subject = newSubject()
    let feed = try await reader.feed(of: subject)
    try kill("n2")
    let writing = Task {
      while !Task.isCancelled {
        try? writer.publish([1], to: subject)
        try? await ContinuousClock().sleep(for: .milliseconds(20))
      }
    }
    var events = feed.makeAsyncIterator()
    var hasGap = false
    events: while let event = await events.next() {
      switch event {
      case .gap: hasGap = true
      case .message where hasGap: break events
      case .message: break
      }
    }
    #expect(hasGap)
    #expect(reader.isConnected)
    writing.cancel()
    await writing.value
    await reader.close()
    await writer.close()
    try await untilReplaced("n2")
  }

  private func process(_ name: String) throws -> pid_t {
    let text = try String(contentsOfFile: "\(servers.folder)/\(name).pid", encoding: .utf8)
    return try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  private func kill(_ name: String) throws {
    let killed = try process(name)
    try Data("\(killed)".utf8).write(to: URL(fileURLWithPath: "\(servers.folder)/\(name).killed"))
    #expect(Foundation.kill(killed, SIGKILL) == 0)
  }

  /// Waits until another process serves, has the data of the others, and `Tests/Cluster/run` has said so.
  private func untilReplaced(_ name: String) async throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      guard FileManager.default.fileExists(atPath: "\(servers.folder)/\(name).killed") else {
        return
      }
      try await ContinuousClock().sleep(for: .milliseconds(50))
    }
    Issue.record("\(name) did not return")
  }
}
#endif
