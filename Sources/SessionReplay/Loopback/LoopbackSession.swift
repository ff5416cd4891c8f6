import FoundationEssentials
import Logging
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardSync

/// Peers that replay a part of a recording over real sessions on the loopback interface.
///
/// Links, TLS and delivery are those of the product.
///
/// Network faults are simulated before a packet is sent: reliable messages are delayed and stay in
/// order, datagrams are dropped, doubled and reordered, and a partition holds messages back until
/// it ends.
struct LoopbackSession {
  let reenactment: RecordingReplay
  let part: Int
  let count: Int
  let conditions: NetworkConditions
  let seed: UInt64
  /// Whether each action is performed at once, instead of at its recorded time.
  let isHurried: Bool

  /// Replays the part to its end.
  func run() async throws -> ReenactmentOutcome {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("whiteboard-run-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await TransportThreads.withThreads(2) { threads in
      try await withTransports(in: directory, on: threads, []) { transports in
        try await act(transports)
      }
    }
  }

  /// Creates a transport with its own key for each peer, and runs `body` with them.
  private func withTransports(
    in directory: String,
    on threads: TransportThreads,
    _ made: [PeerTransport],
    _ body: ([PeerTransport]) async throws -> ReenactmentOutcome
  ) async throws -> ReenactmentOutcome {
    guard made.count < count else { return try await body(made) }
    var logger = Logger(label: "whiteboard-replay") { StreamLogHandler.standardError(label: $0) }
    logger.logLevel = .critical
    var configuration = TransportConfiguration(
      identity: .ephemeral(),
      displayName: RecordingReplay.letter(made.count),
      inboxDirectory: "\(directory)/\(made.count)",
      logger: logger
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    configuration.threads = threads
    return try await PeerTransport.withTransport(configuration) { transport in
      try await withTransports(in: directory, on: threads, made + [transport], body)
    }
  }

  private func act(_ transports: [PeerTransport]) async throws -> ReenactmentOutcome {
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
          sessions[number],
          transports.map(\.peerID),
          reenactment,
          part,
          LoopbackWeather(conditions, number, count, seed, start),
          start
        )
      )
    }
    let acts = reenactment.parts[part].acts
    let begin = acts.first?.time ?? 0
    return try await withThrowingTaskGroup(of: Void.self) { group in
      for peer in peers {
        group.addTask { await peer.follow() }
        group.addTask { await peer.sendAll() }
        group.addTask { await peer.keepTime() }
      }
      let known = peers.count - 1
      try await until(within: .seconds(30)) { await peers.allKnow(known) }
      for act in acts {
        if !isHurried {
          try await Task.sleep(until: start + .milliseconds(act.time - begin), clock: .continuous)
        }
        await peers[act.person].perform(act)
      }
      let over = conditions.partitions.map(\.time.upperBound).max() ?? 0
      try await Task.sleep(until: start + .milliseconds(over), clock: .continuous)
      var isSynced = true
      do { try await until(within: .seconds(60)) { await peers.areSettled() } } catch is Late {
        isSynced = false
      }
      let outcome = await self.outcome(peers, isSynced, start)
      for session in sessions { await session.leave() }
      group.cancelAll()
      return outcome
    }
  }

  private func outcome(
    _ peers: [LoopbackPeer],
    _ isSynced: Bool,
    _ start: ContinuousClock.Instant
  ) async -> ReenactmentOutcome {
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
    return ReenactmentOutcome(
      digests: digests,
      expected: reenactment.parts[part].digest,
      isSynced: isSynced,
      complaints: complaints,
      messages: messages,
      bytes: bytes,
      disturbed: disturbed,
      duration: Int64((ContinuousClock.now - start) / .milliseconds(1))
    )
  }

  private struct Late: Error {}

  /// Waits until a condition holds, checking it every 20 ms.
  private func until(
    within patience: Duration,
    _ holds: () async -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + patience
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

/// The network faults for the traffic of one peer.
struct LoopbackWeather {
  private let conditions: NetworkConditions
  private let name: String
  private let names: [String]
  private let start: ContinuousClock.Instant
  private var random: SplitMix64

  init(
    _ conditions: NetworkConditions,
    _ number: Int,
    _ count: Int,
    _ seed: UInt64,
    _ start: ContinuousClock.Instant
  ) {
    self.conditions = conditions
    names = (0..<count).map(RecordingReplay.letter)
    name = names[number]
    self.start = start
    random = SplitMix64(seed: seed &+ UInt64(number))
  }

  /// Returns the time when a packet to a peer is sent, and the number of copies; 0 copies if it is
  /// lost.
  mutating func passage(
    to peer: Int,
    isReliable: Bool
  ) -> (at: ContinuousClock.Instant, copies: Int) {
    let now = ContinuousClock.now
    var delay = conditions.delay + conditions.jitter * (2 * chance() - 1)
    var copies = 1
    if isReliable {
      var pause = 200.0
      while chance() * 100 < conditions.loss, pause < 10_000 {
        delay += pause
        pause *= 2
      }
    } else {
      if chance() * 100 < conditions.loss { copies = 0 }
      if chance() * 100 < conditions.duplicates { copies *= 2 }
      if chance() * 100 < conditions.reorder { delay += conditions.delay + 1 }
    }
    var at = now + .milliseconds(delay)
    let elapsed = Int64((now - start) / .milliseconds(1))
    for partition in conditions.partitions where partition.time.contains(elapsed) {
      func side(_ name: String) -> Int { partition.groups.firstIndex { $0.contains(name) } ?? -1 }
      guard side(name) != side(names[peer]) else { continue }
      if !isReliable { copies = 0 }
      at = max(at, start + .milliseconds(partition.time.upperBound))
    }
    return (at, copies)
  }

  private mutating func chance() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
}

/// A peer: a replica, and the session that delivers its messages.
actor LoopbackPeer {
  /// The kinds of messages in a loopback run: a message of the replica, and an answer after its
  /// name.
  private enum Kind {
    static let message: UInt8 = 0
    static let answer: UInt8 = 1
  }

  private struct Packet: Sendable {
    let at: ContinuousClock.Instant
    let bytes: [UInt8]
    let peer: PeerID
    let copies: Int
    let isReliable: Bool
    /// The request that an answer belongs to; the replica is notified when the answer has been
    /// sent.
    let request: (number: UInt64, member: MemberID)?
  }

  let name: String
  private let session: Session
  private let peers: [PeerID]
  private let members: [MemberID]
  private let replica: Replica
  private let reenactment: RecordingReplay
  private let start: ContinuousClock.Instant
  private var weather: LoopbackWeather
  private var chains: [Incarnation: BatchChain] = [:]
  private var complaints: [String] = []
  private var (messages, bytes, disturbed) = (0, 0, 0)
  private var lastDeparture: [PeerID: ContinuousClock.Instant] = [:]
  private let (packets, post): (AsyncStream<Packet>, AsyncStream<Packet>.Continuation) =
    AsyncStream.makeStream()

  init(
    _ number: Int,
    _ session: Session,
    _ peers: [PeerID],
    _ reenactment: RecordingReplay,
    _ part: Int,
    _ weather: LoopbackWeather,
    _ start: ContinuousClock.Instant
  ) {
    name = RecordingReplay.letter(number)
    self.session = session
    self.peers = peers
    self.reenactment = reenactment
    self.weather = weather
    self.start = start
    members = peers.indices.map { MemberID(publicKey: reenactment.key(of: $0).publicKey) }
    let now = Self.moment(reenactment, start)
    replica = reenactment.replica(
      of: number,
      random: SystemRandomNumberGenerator(),
      now: now
    )
    do throws(RestoreError) {
      try replica.restore(reenactment.parts[part].beginning, now: now)
    } catch {
      complaints.append("\(name) cannot restore the initial board: \(error)")
    }
  }

  // MARK: - State and actions

  struct Report {
    let digest: Bytes32
    let complaints: [String]
    let messages: Int
    let bytes: Int
    let disturbed: Int
  }

  var report: Report {
    Report(
      digest: replica.digest,
      complaints: complaints,
      messages: messages,
      bytes: bytes,
      disturbed: disturbed
    )
  }

  var context: Context { replica.board.state.context }

  func knows(_ count: Int) -> Bool {
    replica.members.count == count && replica.members.allSatisfy { replica.role(of: $0) != nil }
  }

  func isSettled(_ count: Int) -> Bool {
    knows(count) && replica.members.allSatisfy { replica.isSynced(with: $0, now: now) }
  }

  func perform(_ act: RecordingReplay.Act) {
    do throws(BoardError) {
      try reenactment.perform(act, on: replica, &chains, now: now)
    } catch {
      complaints.append("\(name) cannot make a change: \(error)")
    }
    carryOut()
  }

  // MARK: - Tasks

  func follow() async {
    carryOut()
    for await event in session.events {
      switch event {
      case .peerJoined(let peer): member(of: peer.id).map { replica.peerJoined($0, now: now) }
      case .peerLeft(let peer, _, _): member(of: peer).map { replica.peerLeft($0, now: now) }
      case .message(let bytes, let peer): member(of: peer).map { received(bytes, from: $0) }
      case .datagram(let bytes, let peer):
        member(of: peer).map { replica.receivedDatagram(bytes, from: $0, now: now) }
      default: break
      }
      carryOut()
    }
    post.finish()
  }

  func keepTime() async {
    while !Task.isCancelled {
      if let due = replica.nextDeadline, now.uptime >= due {
        replica.tick(now: now)
        carryOut()
      }
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }

  /// Sends each packet when it is due; reliable packets to the same peer stay in order.
  func sendAll() async {
    await withDiscardingTaskGroup { group in
      var ways: [PeerID: AsyncStream<Packet>.Continuation] = [:]
      for await packet in packets {
        if packet.isReliable {
          if ways[packet.peer] == nil {
            let (stream, source) = AsyncStream<Packet>.makeStream()
            ways[packet.peer] = source
            group.addTask { for await packet in stream { await self.send(packet) } }
          }
          ways[packet.peer]?.yield(packet)
        } else {
          group.addTask { await self.send(packet) }
        }
      }
      for way in ways.values { way.finish() }
      group.cancelAll()
    }
  }

  private func send(_ packet: Packet) async {
    do {
      try await Task.sleep(until: packet.at, clock: .continuous)
      for _ in 0..<packet.copies {
        try await session.send(
          packet.bytes,
          to: [packet.peer],
          mode: packet.isReliable ? .reliable : .unreliable
        )
      }
    } catch {
      // A peer that has left receives nothing.
    }
    if let request = packet.request {
      replica.answerSent(request: request.number, to: request.member, now: now)
      carryOut()
    }
  }

  // MARK: - The replica

  private var now: Moment { Self.moment(reenactment, start) }

  private static func moment(
    _ reenactment: RecordingReplay,
    _ start: ContinuousClock.Instant
  ) -> Moment {
    let elapsed = UInt64(max(0, (ContinuousClock.now - start) / .milliseconds(1)))
    return Moment(wall: UInt64(max(0, reenactment.start)) + elapsed, uptime: 1_000_000 + elapsed)
  }

  private func member(of peer: PeerID) -> MemberID? {
    peers.firstIndex(of: peer).map { members[$0] }
  }

  private func received(_ bytes: [UInt8], from member: MemberID) {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case Kind.message?: replica.received(content, from: member, now: now)
    case Kind.answer?:
      guard let length = content.first.map(Int.init), content.count > 2 else { return }
      let nameLength = length << 8 | Int(content[1])
      let text = String(decoding: content.dropFirst(2).prefix(nameLength), as: UTF8.self)
      guard let dto = try? ResourceDTO(name: text), let request = dto.request,
        replica.expectsAnswer(dto, from: member)
      else { return }
      replica.receivedAnswer(
        Array(content.dropFirst(2 + nameLength)),
        request: request,
        from: member,
        now: now
      )
    default: complaints.append("\(name) received a message of an unknown kind")
    }
  }

  private func carryOut() {
    while case let actions = replica.takeActions(), !actions.isEmpty {
      for action in actions { carryOut(action) }
    }
  }

  private func carryOut(_ action: ReplicaAction) {
    switch action {
    case .send(let bytes, let members):
      for member in members { dispatch([Kind.message] + bytes, to: member, isReliable: true) }
    case .sendDatagram(let bytes, let members):
      for member in members { dispatch(bytes, to: member, isReliable: false) }
    case .sendAnswer(let bytes, let dto, let member):
      let name = Array(dto.name.utf8)
      dispatch(
        [Kind.answer, UInt8(name.count >> 8), UInt8(name.count & 0xFF)] + name + bytes,
        to: member,
        isReliable: true,
        request: dto.request
      )
    case .diverged(let member, _):
      complaints.append("\(name) reports that its board differs from \(letter(of: member))'s")
    case .protocolViolation(let member, let error):
      complaints.append("\(name) reports a violation by \(letter(of: member)): \(error.code)")
    default: break
    }
  }

  private func letter(of member: MemberID) -> String {
    members.firstIndex(of: member).map(RecordingReplay.letter) ?? "?"
  }

  private func dispatch(
    _ bytes: [UInt8],
    to member: MemberID,
    isReliable: Bool,
    request: UInt64? = nil
  ) {
    guard let number = members.firstIndex(of: member) else { return }
    let (at, copies) = weather.passage(to: number, isReliable: isReliable)
    messages += 1
    self.bytes += bytes.count
    if copies != 1 { disturbed += 1 }
    post.yield(
      Packet(
        at: at,
        bytes: bytes,
        peer: peers[number],
        copies: copies,
        isReliable: isReliable,
        request: request.map { ($0, member) }
      )
    )
  }
}
