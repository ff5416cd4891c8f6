import Crypto
import Whiteboard
import WhiteboardSync

/// The result of replaying a part of a recording with simulated peers.
public struct ReenactmentOutcome: Sendable {
  /// The final digest of each peer's board, by its letter.
  public let digests: [(peer: String, digest: Bytes32)]
  /// The digest of the recorded board after the part.
  public let expected: Bytes32
  /// Whether all peers reported that they have all changes, before the timeout.
  public let isSynced: Bool
  /// The protocol violations and the differences between boards that peers reported.
  public let complaints: [String]
  /// The number of messages, datagrams and answers that were sent.
  public let messages: Int
  /// The size of the sent messages, datagrams and answers in bytes.
  public let bytes: Int
  /// The number of network faults: lost and doubled packets, and broken connections.
  public let disturbed: Int
  /// The duration in milliseconds, on the clock of the session.
  public let duration: Int64
  /// The SHA-256 of the trace, which is the same for the same seed; empty if there is no trace.
  public let trace: [UInt8]

  /// Creates an outcome.
  public init(
    digests: [(peer: String, digest: Bytes32)],
    expected: Bytes32,
    isSynced: Bool,
    complaints: [String],
    messages: Int = 0,
    bytes: Int = 0,
    disturbed: Int = 0,
    duration: Int64,
    trace: [UInt8] = []
  ) {
    self.digests = digests
    self.expected = expected
    self.isSynced = isSynced
    self.complaints = complaints
    self.messages = messages
    self.bytes = bytes
    self.disturbed = disturbed
    self.duration = duration
    self.trace = trace
  }

  /// Whether all peers reached the recorded board without violations.
  public var isGood: Bool {
    isSynced && complaints.isEmpty && digests.allSatisfy { $0.digest == expected }
  }

  /// Descriptions of everything that went wrong; empty if the replay succeeded.
  public var faults: [String] {
    var faults = complaints
    if !isSynced { faults.append("some peers still lack changes long after the last change") }
    for (peer, digest) in digests where digest != expected {
      faults.append("\(peer) ends with \(digest.hex.prefix(16)), not \(expected.hex.prefix(16))")
    }
    return faults
  }
}

/// Peers that replay a part of a recording over a simulated network, in virtual time.
///
/// The replicas are those of the product. The network, the clock and all randomness come from one
/// seed, so that the same seed gives the same session, byte for byte.
public final class SimulatedSession {
  private final class Peer {
    let name: String
    let member: MemberID
    var replica: Replica
    /// The changes that the peer's document would contain.
    var document: [StoredChange] = []
    /// The current batch chains of the peer's incarnations.
    var chains: [Incarnation: BatchChain] = [:]
    var isUp = true
    /// The batches that the peer will write when it is up again.
    var waiting: [RecordingReplay.Act] = []
    var nextTick: UInt64?

    init(name: String, replica: Replica) {
      self.name = name
      member = replica.board.member
      self.replica = replica
    }
  }

  private struct Link: Hashable {
    let from: Int
    let to: Int
  }

  private struct Packet {
    enum Kind: String {
      case message
      case datagram
      case answer
    }

    let link: Link
    /// The connection on which the packet was sent; if it breaks, the packet is lost.
    let connection: Int
    let kind: Kind
    let bytes: [UInt8]
    let name: ResourceDTO?
  }

  private enum Event {
    case act(RecordingReplay.Act)
    case packet(Packet)
    case tick(Int)
    /// The set of possible connections changed.
    case rearrange
    case kill(Int)
    case revive(Int)
  }

  /// The timeout after the last change or fault, in milliseconds.
  private static let patience: UInt64 = 600_000
  /// The time at which the clock starts, so that no event is at time zero.
  private static let origin: UInt64 = 1_000_000

  private let reenactment: RecordingReplay
  private let part: RecordingReplay.Part
  private let conditions: NetworkConditions
  private var random: SplitMix64
  private let tell: ((String) -> Void)?
  private var hash = SHA256()
  private var peers: [Peer] = []
  private var events = EventQueue<Event>()
  private var uptime = SimulatedSession.origin
  /// The number of the current connection on each link.
  private var connections: [Link: Int] = [:]
  private var lastConnection = 0
  /// The arrival time of the last message on each link, since messages stay in order.
  private var lastArrival: [Link: UInt64] = [:]
  private var complaints: [String] = []
  private var (messages, bytes, disturbed) = (0, 0, 0)
  /// The offset that is added to times of the recording, in milliseconds.
  private let shift: Int64

  /// Creates a session that replays a part of a recording.
  ///
  /// - Parameters:
  ///   - reenactment: The replay.
  ///   - index: The index of the part.
  ///   - count: The number of peers; those beyond the authors of the recording only watch.
  ///   - conditions: The faults of the network.
  ///   - seed: The seed of all randomness.
  ///   - trace: Receives a line for each event; nil if no trace is needed.
  public init(
    _ reenactment: RecordingReplay,
    part index: Int = 0,
    peers count: Int = 0,
    conditions: NetworkConditions = NetworkConditions(),
    seed: UInt64,
    trace: ((String) -> Void)? = nil
  ) {
    self.reenactment = reenactment
    part = reenactment.parts[index]
    self.conditions = conditions
    // With a changed seed, the random numbers differ from those of a simulation that was recorded
    // with the same seed.
    random = SplitMix64(seed: seed ^ 0x7265_706C_6179)
    tell = trace
    shift = 1000 - (part.acts.first?.time ?? 0)
    for number in 0..<max(count, reenactment.people.count, 1) {
      peers.append(Peer(name: RecordingReplay.letter(number), replica: replica(of: number)))
    }
  }

  /// Returns the letters of the peers, in order.
  public static func names(_ reenactment: RecordingReplay, peers count: Int) -> [String] {
    (0..<max(count, reenactment.people.count, 1)).map(RecordingReplay.letter)
  }

  /// Replays the part to its end.
  public func run() -> ReenactmentOutcome {
    for number in peers.indices { begin(number) }
    for act in part.acts { events.push(.act(act), at: time(act.time)) }
    for partition in conditions.partitions {
      events.push(.rearrange, at: time(partition.time.lowerBound))
      events.push(.rearrange, at: time(partition.time.upperBound))
    }
    for kill in conditions.kills {
      guard let number = peers.firstIndex(where: { $0.name == kill.peer }) else { continue }
      events.push(.kill(number), at: time(kill.time.lowerBound))
      events.push(.revive(number), at: time(kill.time.upperBound))
    }
    rearrange()
    let faults =
      conditions.partitions.map(\.time.upperBound) + conditions.kills.map(\.time.upperBound)
    let lastFault = (faults + [part.acts.last?.time ?? 0]).max() ?? 0
    let settled = time(lastFault)
    var isSynced = false
    while let (event, at) = events.pop() {
      uptime = max(uptime, at)
      take(event)
      guard uptime > settled else { continue }
      if isSettled {
        isSynced = true
        break
      }
      if uptime > settled + Self.patience { break }
    }
    // A single peer has no events after the last change.
    if !isSynced, events.isEmpty { isSynced = isSettled }
    if !isSynced {
      for peer in peers {
        let synced = peer.replica.members.count { peer.replica.isSynced(with: $0, now: now) }
        complaints.append(
          "\(peer.name) is synced with \(synced) of \(peers.count - 1) peers, and has "
            + "\(peer.waiting.count) batches left to write"
        )
      }
    }
    let digests = peers.map { (peer: $0.name, digest: $0.replica.digest) }
    for (peer, digest) in digests { note("end \(peer) \(digest.hex)") }
    return ReenactmentOutcome(
      digests: digests,
      expected: part.digest,
      isSynced: isSynced,
      complaints: complaints,
      messages: messages,
      bytes: bytes,
      disturbed: disturbed,
      duration: Int64(uptime - Self.origin),
      trace: Array(hash.finalize())
    )
  }

  // MARK: - Time and progress

  private func time(_ elapsed: Int64) -> UInt64 {
    Self.origin + UInt64(max(0, elapsed + shift))
  }

  private var now: Moment {
    let wall = reenactment.start - shift + Int64(uptime - Self.origin)
    return Moment(wall: UInt64(max(0, wall)), uptime: uptime)
  }

  private var isSettled: Bool {
    let up = peers.filter(\.isUp)
    return up.count == peers.count
      && up.allSatisfy { peer in
        peer.waiting.isEmpty && peer.replica.members.count == peers.count - 1
          && peer.replica.members.allSatisfy { member in
            peer.replica.role(of: member) != nil
              && peer.replica.isSynced(with: member, now: now)
          }
      }
      && Set(up.map { $0.replica.board.state.context }).count == 1
  }

  private func note(_ line: @autoclosure () -> String) {
    let line = "\(uptime - Self.origin) \(line())\n"
    hash.update(data: Array(line.utf8))
    tell?(line)
  }

  // MARK: - Handling events

  private func take(_ event: Event) {
    switch event {
    case .act(let act): perform(act)
    case .packet(let packet): deliver(packet)
    case .tick(let number):
      let peer = peers[number]
      guard peer.isUp, peer.nextTick == uptime else { return }
      peer.nextTick = nil
      peer.replica.tick(now: now)
      carryOut(number)
    case .rearrange: rearrange()
    case .kill(let number): kill(number)
    case .revive(let number): revive(number)
    }
  }

  private func begin(_ number: Int) {
    let peer = peers[number]
    do throws(RestoreError) {
      peer.document = part.beginning
      try restore(peer)
    } catch {
      complaints.append("\(peer.name) cannot restore the initial board: \(error)")
    }
    carryOut(number)
  }

  private func perform(_ act: RecordingReplay.Act) {
    let peer = peers[act.person]
    guard peer.isUp else {
      peer.waiting.append(act)
      return
    }
    let batch = act.batch.batch
    note("act \(peer.name) \(batch.author) \(batch.firstSequence)")
    do throws(BoardError) {
      try reenactment.perform(act, on: peer.replica, &peer.chains, now: now)
    } catch {
      complaints.append("\(peer.name) cannot make a change: \(error)")
    }
    carryOut(act.person)
  }

  private func kill(_ number: Int) {
    let peer = peers[number]
    note("kill \(peer.name)")
    peer.isUp = false
    peer.nextTick = nil
    rearrange()
  }

  /// Restarts a killed peer from its stored changes.
  private func revive(_ number: Int) {
    let peer = peers[number]
    note("revive \(peer.name)")
    peer.isUp = true
    peer.replica = replica(of: number)
    do throws(RestoreError) { try restore(peer) } catch {
      complaints.append("\(peer.name) cannot restore its stored changes: \(error)")
    }
    carryOut(number)
    rearrange()
    let waiting = peer.waiting
    peer.waiting = []
    for act in waiting { perform(act) }
  }

  private func restore(_ peer: Peer) throws(RestoreError) {
    try peer.replica.restore(peer.document, now: now)
    for object in peer.replica.board.snapshots {
      if let asset = object.asset { peer.replica.assetStored(asset.id, now: now) }
    }
  }

  private func replica(of number: Int) -> Replica {
    reenactment.replica(of: number, random: SplitMix64(seed: random.next()), now: now)
  }

  // MARK: - Simulating the network

  /// Connects the peers that may be connected, and disconnects those that may not.
  private func rearrange() {
    for one in peers.indices {
      for other in peers.indices where one < other {
        let link = Link(from: one, to: other)
        let isConnected = connections[link] != nil
        if isConnected == mayConnect(one, other) { continue }
        let (first, second) = (peers[one], peers[other])
        note("\(isConnected ? "cut" : "connect") \(first.name) \(second.name)")
        let ways = [link, Link(from: other, to: one)]
        if isConnected {
          for way in ways { connections[way] = nil }
          disturbed += 1
        } else {
          lastConnection += 1
          for way in ways { (connections[way], lastArrival[way]) = (lastConnection, nil) }
        }
        for (number, neighbour) in [(one, second), (other, first)] where peers[number].isUp {
          if isConnected {
            peers[number].replica.peerLeft(neighbour.member, now: now)
          } else {
            peers[number].replica.peerJoined(neighbour.member, now: now)
          }
          carryOut(number)
        }
      }
    }
  }

  private func mayConnect(_ one: Int, _ other: Int) -> Bool {
    guard peers[one].isUp, peers[other].isUp else { return false }
    return conditions.partitions.allSatisfy { partition in
      guard
        (time(partition.time.lowerBound)..<time(partition.time.upperBound)).contains(uptime)
      else { return true }
      func side(_ number: Int) -> Int {
        partition.groups.firstIndex { $0.contains(peers[number].name) } ?? -1
      }
      return side(one) == side(other)
    }
  }

  private func post(
    _ bytes: [UInt8],
    _ kind: Packet.Kind,
    _ name: ResourceDTO?,
    _ from: Int,
    _ member: MemberID
  ) {
    guard let to = peers.firstIndex(where: { $0.member == member }) else { return }
    let link = Link(from: from, to: to)
    guard let connection = connections[link] else { return }
    messages += 1
    self.bytes += bytes.count
    var delay = conditions.delay + conditions.jitter * (2 * chance() - 1)
    var copies = 1
    if kind == .datagram {
      if chance() * 100 < conditions.loss { copies = 0 }
      if chance() * 100 < conditions.duplicates { copies += copies }
      // If a packet is delayed by more than the delay of the next one, the next one overtakes it.
      if chance() * 100 < conditions.reorder { delay += conditions.delay + 1 }
      if copies != 1 { disturbed += 1 }
    } else {
      // A lost packet is sent again as in TCP: after 200 ms at first, and then with doubled pauses.
      var pause = 200.0
      while chance() * 100 < conditions.loss, pause < 10_000 {
        delay += pause
        pause *= 2
        disturbed += 1
      }
    }
    var at = uptime + UInt64(max(1, delay))
    if kind == .message {
      at = max(at, lastArrival[link] ?? 0)
      lastArrival[link] = at
    }
    note(
      "send \(peers[from].name) \(peers[to].name) \(kind.rawValue) \(Self.digest(bytes)) \(copies)"
    )
    for _ in 0..<copies {
      events.push(
        .packet(Packet(link: link, connection: connection, kind: kind, bytes: bytes, name: name)),
        at: at
      )
    }
  }

  private func chance() -> Double { Double(random.next() >> 11) / Double(1 << 53) }

  private static func digest(_ bytes: [UInt8]) -> String {
    String(Hexadecimal.encode(Array(SHA256.hash(data: bytes).prefix(8))))
  }

  private func deliver(_ packet: Packet) {
    let (from, to) = (peers[packet.link.from], peers[packet.link.to])
    guard connections[packet.link] == packet.connection else { return }
    switch packet.kind {
    case .message: to.replica.received(packet.bytes, from: from.member, now: now)
    case .datagram: to.replica.receivedDatagram(packet.bytes, from: from.member, now: now)
    case .answer:
      guard let name = packet.name, let request = name.request else { return }
      from.replica.answerSent(request: request, to: to.member, now: now)
      carryOut(packet.link.from)
      guard to.replica.expectsAnswer(name, from: from.member) else { return }
      to.replica.receivedAnswer(packet.bytes, request: request, from: from.member, now: now)
    }
    carryOut(packet.link.to)
  }

  private func carryOut(_ number: Int) {
    let peer = peers[number]
    while case let actions = peer.replica.takeActions(), !actions.isEmpty {
      for action in actions { carryOut(action, number) }
    }
    guard let next = peer.replica.nextDeadline, peer.isUp else { return }
    let at = max(next, uptime + 1)
    if let planned = peer.nextTick, planned <= at { return }
    peer.nextTick = at
    events.push(.tick(number), at: at)
  }

  private func carryOut(_ action: ReplicaAction, _ number: Int) {
    let peer = peers[number]
    switch action {
    case .send(let bytes, let members):
      for member in members { post(bytes, .message, nil, number, member) }
    case .sendDatagram(let bytes, let members):
      for member in members { post(bytes, .datagram, nil, number, member) }
    case .sendAnswer(let bytes, let name, let member):
      post(bytes, .answer, name, number, member)
    case .record(let change): peer.document.append(change)
    case .diverged(let member, _):
      let other = peers.first { $0.member == member }?.name ?? "?"
      complaints.append("\(peer.name) reports that its board differs from \(other)'s")
    case .protocolViolation(let member, let error):
      let other = peers.first { $0.member == member }?.name ?? "?"
      complaints.append("\(peer.name) reports a violation by \(other): \(error.code)")
    case .objectAdded(let object, _), .objectChanged(let object, _):
      // Photos are not replayed, so every peer is treated as having them.
      if let asset = object.asset, object.isAssetAvailable != true {
        peer.replica.assetStored(asset.id, now: now)
      }
    default: break
    }
  }
}

/// The planned events, ordered by time and then by the order of planning.
struct EventQueue<Event> {
  private var heap: [(at: UInt64, number: Int, event: Event)] = []
  private var count = 0

  var isEmpty: Bool { heap.isEmpty }

  mutating func push(_ event: Event, at: UInt64) {
    count += 1
    heap.append((at, count, event))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func pop() -> (event: Event, at: UInt64)? {
    guard let first = heap.first else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      var parent = 0
      while true {
        var least = parent
        for child in [2 * parent + 1, 2 * parent + 2]
        where child < heap.count && isBefore(child, least) { least = child }
        guard least != parent else { break }
        heap.swapAt(parent, least)
        parent = least
      }
    }
    return (first.event, first.at)
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (heap[one].at, heap[one].number) < (heap[other].at, heap[other].number)
  }
}
