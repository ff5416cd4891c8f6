import ClusterTestKit
import Foundation
import Testing

@testable import RelayCluster

/// The NATS servers that `Tests/Cluster/run` starts and names in the environment; nil if the tests run without it.
struct TestServers: Sendable {
  /// The settings for three servers with JetStream, which require a client certificate.
  let settings: ClusterSettings
  /// The address of a server without JetStream.
  let plain: String
  /// The address of a server that requires a password.
  let locked: String
  /// The folder with a file for each server that contains its process.
  let folder: String

  static let current: TestServers? = {
    let environment = ProcessInfo.processInfo.environment
    guard let servers = environment["WHITEBOARD_CLUSTER_SERVERS"],
      let folder = environment["WHITEBOARD_CLUSTER_FOLDER"], let plain = environment["WHITEBOARD_CLUSTER_PLAIN"],
      let locked = environment["WHITEBOARD_CLUSTER_LOCKED"]
    else { return nil }
    var settings = ClusterSettings(servers: servers.split(separator: ",").map(String.init), name: "test")
    settings.authorities = folder + "/certificates/ca.pem"
    settings.certificate = (folder + "/certificates/relay.pem", folder + "/certificates/relay.key")
    return TestServers(settings: settings, plain: plain, locked: locked, folder: folder)
  }()

  /// Connects. Tries again while the servers elect a leader, because another test may have killed one of them.
  func connect() async throws -> any ClusterConnection { try await settings.connectPatiently() }
}

extension ClusterSettings {
  func connectPatiently() async throws -> any ClusterConnection {
    for _ in 0..<10 {
      do throws(ClusterError) { return try await connect() } catch {
        guard error == ClusterError(.unavailable, "") else { throw error }
      }
    }
    return try await connect()
  }
}

enum Cluster: String, CaseIterable, Sendable {
  case memory, nats

  static var available: [Cluster] { TestServers.current == nil ? [.memory] : allCases }

  /// Calls `body` with connections to one cluster, and closes them.
  func withConnections(_ count: Int, _ body: ([any ClusterConnection]) async throws -> Void) async throws {
    let memory = MemoryCluster()
    var connections: [any ClusterConnection] = []
    for _ in 0..<count {
      switch self {
      case .memory: connections.append(memory.connect())
      case .nats:
        connections.append(try await #require(TestServers.current).connect())
      }
    }
    do { try await body(connections) } catch {
      for connection in connections { await connection.close() }
      throw error
    }
    for connection in connections { await connection.close() }
  }
}

/// A subject that no other test uses.
func newSubject() -> ClusterSubject { ClusterSubject("test", UUID().uuidString) }

extension ClusterFeed {
  /// The payloads of the next messages, and the number of gaps before the last of them.
  func next(_ count: Int) async -> (payloads: [[UInt8]], gaps: Int) {
    var (payloads, gaps): ([[UInt8]], Int) = ([], 0)
    for await event in self {
      switch event {
      case .message(let message): payloads.append(message.payload)
      case .gap: gaps += 1
      }
      if payloads.count == count { break }
    }
    return (payloads, gaps)
  }
}

@Suite("ClusterConnection") struct ClusterContractTests {
  @Test("messages arrive in order at the other connections, and not at their sender", arguments: Cluster.available)
  func live(_ cluster: Cluster) async throws {
    try await cluster.withConnections(3) { connections in
      let (subject, other) = (newSubject(), newSubject())
      let feeds = try await [
        connections[0].feed(of: subject), connections[1].feed(of: subject), connections[2].feed(of: subject),
      ]
      try connections[0].publish([9], to: other)
      for number in 0..<100 { try connections[0].publish([UInt8(number)], to: subject) }
      let expected = (0..<100).map { [UInt8($0)] }
      for feed in feeds[1...] {
        let (payloads, gaps) = await feed.next(100)
        #expect(payloads == expected)
        #expect(gaps == 0)
      }
      try connections[1].publish([], to: subject)
      #expect(await feeds[0].next(1).payloads == [[]])
    }
  }

  @Test("a slow reader receives the first messages, a gap, and later messages", arguments: Cluster.available)
  func slowReader(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let (subject, end) = (newSubject(), newSubject())
      let feed = try await connections[1].feed(of: subject)
      let ending = try await connections[1].feed(of: end)
      for _ in 0...ClusterFeed.capacity { try connections[0].publish([1], to: subject) }
      try connections[0].publish([2], to: end)
      // The messages of a connection arrive in order, so the feed is full now.
      #expect(await ending.next(1).payloads == [[2]])
      let (payloads, gaps) = await feed.next(ClusterFeed.capacity)
      #expect(payloads.count == ClusterFeed.capacity)
      #expect(gaps == 0)
      var iterator = feed.makeAsyncIterator()
      guard case .gap? = await iterator.next() else {
        Issue.record("the gap is missing")
        return
      }
      try connections[0].publish([3], to: subject)
      #expect(await feed.next(1).payloads == [[3]])
    }
  }

  @Test("a request gets the first reply, and fails if there is none", arguments: Cluster.available)
  func requests(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let subject = newSubject()
      await #expect(throws: ClusterError(.unavailable, "")) {
        try await connections[0].request([1], to: subject, within: .milliseconds(200))
      }
      let feed = try await connections[1].feed(of: subject)
      let answering = Task {
        for await case .message(let message) in feed { try connections[1].reply(message.payload + [7], to: message) }
      }
      #expect(try await connections[0].request([5], to: subject, within: .seconds(10)) == [5, 7])
      answering.cancel()
      try await answering.value
    }
  }

  @Test("the log contains each id once, in order, and only the entries of its subject", arguments: Cluster.available)
  func log(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let (subject, other) = (newSubject(), newSubject())
      #expect(try await connections[1].entries(of: subject, after: .start, limit: 10) == [])
      var positions: [LogPosition] = []
      for number in 0..<5 {
        positions.append(try await connections[0].append([UInt8(number)], id: "\(subject.text) \(number)", to: subject))
        _ = try await connections[0].append([99], id: "\(other.text) \(number)", to: other)
      }
      #expect(positions == positions.sorted())
      #expect(Set(positions).count == 5)
      // A repetition, also by another relay.
      #expect(try await connections[0].append([3], id: "\(subject.text) 3", to: subject) == positions[3])
      #expect(try await connections[1].append([3], id: "\(subject.text) 3", to: subject) == positions[3])
      let all = try await connections[1].entries(of: subject, after: .start, limit: 10)
      #expect(all.map(\.position) == positions)
      #expect(all.map(\.payload) == (0..<5).map { [UInt8($0)] })
      #expect(try await connections[1].entries(of: subject, after: positions[1], limit: 2) == Array(all[2...3]))
      #expect(try await connections[1].entries(of: subject, after: positions[4], limit: 2) == [])
    }
  }

  @Test("a payload may be as large as the servers allow, but not larger", arguments: Cluster.available)
  func sizes(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let subject = newSubject()
      let feed = try await connections[1].feed(of: subject)
      let largest = [UInt8](repeating: 7, count: connections[0].maximumPayload)
      #expect(largest.count >= 1 << 20)
      try connections[0].publish(largest, to: subject)
      #expect(await feed.next(1).payloads == [largest])
      #expect(throws: ClusterError(.tooLarge, "")) { try connections[0].publish(largest + [1], to: subject) }
      await #expect(throws: ClusterError(.tooLarge, "")) {
        try await connections[0].append(largest + [1], id: "1", to: subject)
      }
    }
  }

  @Test("a shared value is changed only at the expected revision", arguments: Cluster.available)
  func values(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let key = newSubject()
      #expect(try await connections[0].value(of: key) == nil)
      let first = try await connections[0].set([1], of: key, ifRevision: 0)
      #expect(try await connections[1].value(of: key) == ClusterValue([1], revision: first))
      await #expect(throws: ClusterError(.conflict, "")) {
        try await connections[1].set([2], of: key, ifRevision: 0)
      }
      let changes = try await connections[0].valueChanges()
      let second = try await connections[1].set([3], of: key, ifRevision: first)
      #expect(second > first)
      for await _ in changes { break }
      await #expect(throws: ClusterError(.conflict, "")) {
        try await connections[0].set([4], of: key, ifRevision: first)
      }
      let third = try await connections[0].set([5], of: key, ifRevision: nil)
      #expect(try await connections[1].values()[key.text] == ClusterValue([5], revision: third))
      try await connections[0].removeValue(of: key)
      #expect(try await connections[1].value(of: key) == nil)
      #expect(try await connections[1].values()[key.text] == nil)
      #expect(try await connections[1].set([6], of: key, ifRevision: 0) > third)
    }
  }

  @Test("a closed connection ends its feeds and refuses calls", arguments: Cluster.available)
  func closing(_ cluster: Cluster) async throws {
    try await cluster.withConnections(2) { connections in
      let subject = newSubject()
      let feed = try await connections[0].feed(of: subject)
      #expect(connections[0].isConnected)
      await connections[0].close()
      #expect(!connections[0].isConnected)
      for await _ in feed { Issue.record("the feed has not ended") }
      #expect(throws: ClusterError(.closed, "")) { try connections[0].publish([1], to: subject) }
      await #expect(throws: ClusterError(.closed, "")) { try await connections[0].value(of: subject) }
    }
  }

  @Test("with servers, the tests also run on NATS", .enabled(if: TestServers.current != nil)) func nats() {
    // Without this test, Tests/Cluster/run would pass if the package was built without libnats.
    #expect(ClusterSettings.isSupported)
  }

  @Test("the shards of subjects never change, because the log is stored by shard") func shards() {
    #expect(ClusterSubject("boards", "a").shard == 9)
    let shards = (0..<1_000).map { ClusterSubject("boards", "\($0)").shard }
    #expect(Set(shards) == Set(0..<ClusterSubject.shards))
  }
}

extension ClusterConnection {
  func append(_ payload: [UInt8], id: String, to subject: ClusterSubject) async throws(ClusterError) -> LogPosition {
    try await append(payload, id: id, to: subject, within: .seconds(30))
  }
}
