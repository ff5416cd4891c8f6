import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

/// Peers that replay a part of a recording over real sessions on the loopback interface.
///
/// Links, TLS and delivery are not simulated.
///
/// Network faults are simulated before a packet is sent. Reliable messages are delayed but stay in order. Datagrams are
/// dropped, duplicated and reordered. A partition delays messages until it ends.
public struct LoopbackSession: Sendable {
  private let replay: RecordingReplay
  private let part: Int
  private let count: Int
  private let conditions: NetworkConditions
  private let seed: UInt64
  private let isHurried: Bool
  private let logger: Logger

  /// Creates a session that replays a part of a recording.
  ///
  /// - Parameters:
  ///   - replay: The replay.
  ///   - index: The index of the part.
  ///   - count: The number of peers. Peers in addition to the authors of the recording only watch.
  ///   - conditions: The network faults. Kills are ignored.
  ///   - seed: The seed for the faults.
  ///   - isHurried: Whether to make each change immediately, instead of at its recorded time.
  ///   - logger: The logger of the sessions.
  public init(
    _ replay: RecordingReplay,
    part index: Int,
    peers count: Int,
    conditions: NetworkConditions,
    seed: UInt64,
    isHurried: Bool,
    logger: Logger
  ) {
    self.replay = replay
    part = index
    self.count = count
    self.conditions = conditions
    self.seed = seed
    self.isHurried = isHurried
    self.logger = logger
  }

  /// Replays the part to its end.
  ///
  /// - Throws: The error of a session that cannot be started, or `CancellationError`.
  public func run() async throws -> ReplayOutcome {
    let peers = (0..<count).map { (identity: PeerIdentity.ephemeral(), name: RecordingReplay.letter($0)) }
    return try await withLoopbackTransports(peers, threads: 2, logger: logger) { transports, _ in
      try await replayPart(transports)
    }
  }

  private func replayPart(_ transports: [PeerTransport]) async throws -> ReplayOutcome {
    let first = transports[0]
    let session = try await first.host(SessionID.random(), admission: .anyone)
    var sessions = [session]
    for transport in transports.dropFirst() {
      var request = JoinRequest(
        session: session.id,
        addresses: [PeerAddress(host: "127.0.0.1", port: first.port)],
        peer: first.peerID,
        trust: .pinnedByLink,
        code: nil
      )
      request.timeout = .seconds(30)
      sessions.append(try await transport.join(request) { _ in true })
    }
    let start = ContinuousClock.now
    var peers: [LoopbackPeer] = []
    for number in 0..<count {
      peers.append(
        LoopbackPeer(
          number,
          of: replay,
          part: part,
          session: sessions[number],
          peers: transports.map(\.peerID),
          faults: LoopbackFaults(conditions, of: number, peers: count, seed: seed, start: start),
          start: start
        )
      )
    }
    let acts = replay.parts[part].acts
    let begin = acts.first?.time ?? 0
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for peer in peers {
        group.addTask { await peer.receiveEvents() }
        group.addTask { await peer.sendPackets() }
        group.addTask { await peer.runTimer() }
      }
      let known = peers.count - 1
      try await until(within: .seconds(30)) { await peers.allKnow(known) }
      for act in acts {
        if !isHurried { try await Task.sleep(until: start + .milliseconds(act.time - begin), clock: .continuous) }
        await peers[act.person].perform(act)
      }
      let over = conditions.partitions.map(\.time.upperBound).max() ?? 0
      try await Task.sleep(until: start + .milliseconds(over), clock: .continuous)
      var isSynced = true
      do { try await until(within: .seconds(60)) { await peers.areSettled() } } catch is Late { isSynced = false }
      let outcome = await self.outcome(peers, isSynced, start)
      for session in sessions { await session.leave() }
      group.cancelAll()
      return outcome
    }
  }

  private func outcome(_ peers: [LoopbackPeer], _ isSynced: Bool, _ start: ContinuousClock.Instant) async
    -> ReplayOutcome
  {
    var digests: [(peer: String, digest: Bytes32)] = []
    var complaints: [String] = []
    var (messages, bytes, disturbed) = (0, 0, 0)
    for peer in peers {
      let report = await peer.report
      digests.append((peer.name, report.digest))
      complaints += report.complaints
      messages += report.messages
      bytes += report.bytes
      disturbed += report.disturbed
    }
    return ReplayOutcome(
      digests: digests,
      expected: replay.parts[part].digest,
      isSynced: isSynced,
      complaints: complaints,
      messages: messages,
      bytes: bytes,
      disturbed: disturbed,
      duration: Int64((ContinuousClock.now - start) / .milliseconds(1))
    )
  }

  private struct Late: Error {}

  private func until(within timeout: Duration, _ holds: () async -> Bool) async throws {
    let deadline = ContinuousClock.now + timeout
    while await !holds() {
      guard ContinuousClock.now < deadline else { throw Late() }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

extension [LoopbackPeer] {
  fileprivate func allKnow(_ count: Int) async -> Bool {
    for peer in self where await !peer.knows(count) { return false }
    return true
  }

  fileprivate func areSettled() async -> Bool {
    var contexts: Set<Context> = []
    for peer in self {
      guard await peer.isSettled(count - 1) else { return false }
      contexts.insert(await peer.context)
    }
    return contexts.count == 1
  }
}

struct LoopbackFaults {
  private let conditions: NetworkConditions
  private let name: String
  private let names: [String]
  private let start: ContinuousClock.Instant
  private var random: SplitMix64

  init(_ conditions: NetworkConditions, of number: Int, peers count: Int, seed: UInt64, start: ContinuousClock.Instant)
  {
    self.conditions = conditions
    names = (0..<count).map(RecordingReplay.letter)
    name = names[number]
    self.start = start
    random = SplitMix64(seed: seed &+ UInt64(number))
  }

  mutating func passage(to peer: Int, isReliable: Bool) -> (at: ContinuousClock.Instant, copies: Int) {
    let now = ContinuousClock.now
    var (delay, copies, _) = conditions.passage(isReliable: isReliable, using: &random)
    var at = now + .milliseconds(delay)
    let elapsed = Int64((now - start) / .milliseconds(1))
    for partition in conditions.partitions
    where partition.time.contains(elapsed) && partition.separates(name, names[peer]) {
      if !isReliable { copies = 0 }
      at = max(at, start + .milliseconds(partition.time.upperBound))
    }
    return (at, copies)
  }
}

/// Creates a private directory for the transports, and removes the directory at the end.
func withLoopbackTransports<Result>(
  _ peers: [(identity: PeerIdentity, name: String)],
  threads count: Int,
  logger: Logger,
  _ body: (_ transports: [PeerTransport], _ directory: String) async throws -> Result
) async throws -> Result {
  let directory = FileManager.default.temporaryDirectory.path + "/session-replay-\(UUID().uuidString)"
  try FileManager.default.createDirectory(
    atPath: directory,
    withIntermediateDirectories: true,
    attributes: [.posixPermissions: 0o700]
  )
  defer { try? FileManager.default.removeItem(atPath: directory) }
  func open(_ transports: [PeerTransport], on threads: TransportThreads) async throws -> Result {
    guard transports.count < peers.count else { return try await body(transports, directory) }
    let peer = peers[transports.count]
    var configuration = TransportConfiguration(
      identity: peer.identity,
      displayName: peer.name,
      inboxDirectory: "\(directory)/\(transports.count)",
      logger: logger
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.threads = threads
    return try await PeerTransport.withTransport(configuration) { try await open(transports + [$0], on: threads) }
  }
  return try await TransportThreads.withThreads(count) { threads in try await open([], on: threads) }
}
