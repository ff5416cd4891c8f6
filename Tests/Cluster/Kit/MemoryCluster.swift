import NIOConcurrencyHelpers
import RelayCluster

/// A cluster in memory. Its rules are those of ``ClusterConnection``, so the contract suite checks both.
package final class MemoryCluster: Sendable {
  private struct State {
    var feeds: [(connection: Int, subject: String, source: ClusterFeed.Source)] = []
    var log: [(subject: ClusterSubject, id: String, entry: LogEntry)] = []
    var values: [String: ClusterValue] = [:]
    var replies: [String: CheckedContinuation<[UInt8]?, Never>] = [:]
    var connections = 0
    /// The number of reads of all values, by connection.
    var reads: [Int: Int] = [:]
    var number: UInt64 = 0

    mutating func next() -> UInt64 {
      number += 1
      return number
    }
  }

  private let state = NIOLockedValueBox(State())

  private let storesLate: Bool

  /// Creates an empty cluster. If it stores late, others hear of a new value first, and it is stored when one of them has
  /// read the old values.
  package init(storesLate: Bool = false) { self.storesLate = storesLate }

  package func connect() -> any ClusterConnection {
    Connection(
      cluster: self,
      number: state.withLockedValue { state in
        state.connections += 1
        return state.connections
      }
    )
  }

  private struct Connection: ClusterConnection {
    let cluster: MemoryCluster
    let number: Int
    let isClosed = NIOLockedValueBox(false)

    let maximumPayload = 1 << 20
    var isConnected: Bool { !isClosed.withLockedValue { $0 } }

    private func check(_ payload: [UInt8] = []) throws(ClusterError) {
      guard isConnected else { throw ClusterError(.closed, "closed") }
      guard payload.count <= maximumPayload else { throw ClusterError(.tooLarge, "too large") }
    }

    private func send(_ message: ClusterMessage, to subject: String) {
      let sources = cluster.state.withLockedValue { state in
        state.feeds.filter { $0.subject == subject && $0.connection != number }.map(\.source)
      }
      for source in sources { source.write(message) }
    }

    private func feed(ofText subject: String) throws(ClusterError) -> ClusterFeed {
      try check()
      let source = ClusterFeed.Source { [cluster] source in
        cluster.state.withLockedValue { $0.feeds.removeAll { $0.source === source } }
      }
      cluster.state.withLockedValue { $0.feeds.append((number, subject, source)) }
      return ClusterFeed(source)
    }

    func publish(_ payload: [UInt8], to subject: ClusterSubject) throws(ClusterError) {
      try check(payload)
      send(ClusterMessage(payload), to: subject.text)
    }

    func feed(of subject: ClusterSubject) async throws(ClusterError) -> ClusterFeed { try feed(ofText: subject.text) }

    func request(_ payload: [UInt8], to subject: ClusterSubject, within limit: Duration) async throws(ClusterError)
      -> [UInt8]
    {
      try check(payload)
      let address = cluster.state.withLockedValue { "reply-\($0.next())" }
      let timer = Task { [cluster] in
        try? await ContinuousClock().sleep(for: limit)
        cluster.state.withLockedValue { $0.replies.removeValue(forKey: address) }?.resume(returning: nil)
      }
      defer { timer.cancel() }
      let answer = await withCheckedContinuation { continuation in
        cluster.state.withLockedValue { $0.replies[address] = continuation }
        send(ClusterMessage(payload, replyAddress: address), to: subject.text)
      }
      guard let answer else { throw ClusterError(.unavailable, "no answer") }
      return answer
    }

    func reply(_ payload: [UInt8], to message: ClusterMessage) throws(ClusterError) {
      try check(payload)
      guard let address = message.replyAddress else { return }
      cluster.state.withLockedValue { $0.replies.removeValue(forKey: address) }?.resume(returning: payload)
    }

    func append(_ payload: [UInt8], id: String, to subject: ClusterSubject, within limit: Duration)
      async throws(ClusterError) -> LogPosition
    {
      try check(payload)
      return cluster.state.withLockedValue { state in
        if let known = state.log.first(where: { $0.id == id && $0.subject.shard == subject.shard }) {
          return known.entry.position
        }
        let position = LogPosition(state.next())
        state.log.append((subject, id, LogEntry(position, payload)))
        return position
      }
    }

    func entries(of subject: ClusterSubject, after position: LogPosition, limit: Int) async throws(ClusterError)
      -> [LogEntry]
    {
      try check()
      return cluster.state.withLockedValue { state in
        Array(state.log.filter { $0.subject == subject && $0.entry.position > position }.map(\.entry).prefix(limit))
      }
    }

    func values() async throws(ClusterError) -> [String: ClusterValue] {
      try check()
      return cluster.state.withLockedValue { state in
        state.reads[number, default: 0] += 1
        return state.values
      }
    }

    /// Announces a change, and waits until another connection has read the values.
    private func announceEarly() async {
      let reads = { [number] (state: inout State) in state.reads.filter { $0.key != number }.values.reduce(0, +) }
      let former = cluster.state.withLockedValue(reads)
      let isHeard = cluster.state.withLockedValue { [number] state in
        state.feeds.contains { $0.subject == Self.changes && $0.connection != number }
      }
      send(ClusterMessage([]), to: Self.changes)
      while isHeard, isConnected, !Task.isCancelled, cluster.state.withLockedValue(reads) == former {
        try? await ContinuousClock().sleep(for: .milliseconds(10))
      }
    }

    func value(of key: ClusterSubject) async throws(ClusterError) -> ClusterValue? { try await values()[key.text] }

    func set(_ bytes: [UInt8], of key: ClusterSubject, ifRevision revision: UInt64?) async throws(ClusterError)
      -> UInt64
    {
      try check(bytes)
      if cluster.storesLate { await announceEarly() }
      let new = cluster.state.withLockedValue { state -> UInt64? in
        if let revision, state.values[key.text]?.revision ?? 0 != revision { return nil }
        let new = state.next()
        state.values[key.text] = ClusterValue(bytes, revision: new)
        return new
      }
      guard let new else { throw ClusterError(.conflict, "conflict") }
      if !cluster.storesLate { send(ClusterMessage([]), to: Self.changes) }
      return new
    }

    func removeValue(of key: ClusterSubject) async throws(ClusterError) {
      try check()
      _ = cluster.state.withLockedValue { $0.values.removeValue(forKey: key.text) }
      send(ClusterMessage([]), to: Self.changes)
    }

    func valueChanges() async throws(ClusterError) -> ClusterFeed { try feed(ofText: Self.changes) }

    private static let changes = "changes of values"

    func close() async {
      isClosed.withLockedValue { $0 = true }
      let sources = cluster.state.withLockedValue { $0.feeds.filter { $0.connection == number }.map(\.source) }
      for source in sources { source.end() }
    }
  }
}
