import Crypto
import Whiteboard
import WhiteboardSync

/// The result of replaying a part of a recording with simulated peers.
public struct ReenactmentOutcome: Sendable {
  /// The final digest of each peer's board, by its letter.
  public let digests: [(peer: String, digest: Bytes32)]
  /// The expected digest.
  public let expected: Bytes32
  /// Whether all said that they have all, before patience was over.
  public let isSynced: Bool
  /// The protocol violations of peers, and differences between boards that peers found.
  public let complaints: [String]
  /// How many messages, datagrams and answers were sent.
  public let messages: Int
  /// How many bytes those had.
  public let bytes: Int
  /// How many of them were lost, doubled, or cut off.
  public let disturbed: Int
  /// How long it took, in milliseconds of the session's own time.
  public let duration: Int64
  /// The SHA-256 of the trace, the same for the same seed; empty if there is none.
  public let trace: [UInt8]

  /// An outcome of its parts.
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

  /// Whether all came to the board that was recorded, by the rules.
  public var isGood: Bool {
    isSynced && complaints.isEmpty && digests.allSatisfy { $0.digest == expected }
  }

  /// Descriptions of the faults; empty if there are none.
  public var faults: [String] {
    var faults = complaints
    if !isSynced { faults.append("some peers still lack changes long after the last change") }
    for (peer, digest) in digests where digest != expected {
      faults.append("\(peer) ends with \(digest.hex.prefix(16)), not \(expected.hex.prefix(16))")
    }
    return faults
  }
}

/// Peers that act a part of a recording over a simulated network, in a time of its own.
///
/// The replicas are those of the product; the network, the clock and all chance come from one seed, so that the
/// same seed is the same session, byte for byte.
public final class SimulatedSession {
  private final class Peer {
    let name: String
    let member: MemberID
    var replica: Replica
    /// The changes that its document would hold.
    var document: [StoredChange] = []
    /// The heads of the chains of its incarnations.
    var chains: [Incarnation: BatchChain] = [:]
    var isUp = true
    /// The acts that wait until it is up again.
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
    /// The connection it was sent on; those of one that broke do not arrive.
    let connection: Int
    let kind: Kind
    let bytes: [UInt8]
    let name: ResourceDTO?
  }

  private enum Event {
    case act(RecordingReplay.Act)
    case packet(Packet)
    case tick(Int)
    /// The possible connections changed.
    case rearrange
    case kill(Int)
    case revive(Int)
  }

  /// How long the session goes on after the last change until it is given up, in milliseconds.
  private static let patience: UInt64 = 600_000
  /// The start of the clock, so that no event is at time zero.
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
  /// The number of the connection between two, while there is one.
  private var connections: [Link: Int] = [:]
  private var lastConnection = 0
  /// When the last message on a link arrives: they keep their order.
  private var lastArrival: [Link: UInt64] = [:]
  private var complaints: [String] = []
  private var (messages, bytes, disturbed) = (0, 0, 0)
  /// The offset that is added to times of the recording.
  private let shift: Int64

  /// Prepares a session.
  ///
  /// - Parameters:
  ///   - reenactment: What is acted.
  ///   - index: Which part of it.
  ///   - count: How many there are: those beyond the people of the recording look on.
  ///   - conditions: What the network does.
  ///   - seed: From which all chance comes.
  ///   - trace: Takes each line of what happens; nil for nobody.
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
    // Other chance than that with which a world of the same seed was recorded.
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

  /// Acts the part to its end.
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
    // Where there is nobody to send to, nothing happens after the last change.
    if !isSynced, events.isEmpty { isSynced = isSettled }
    if !isSynced {
      for peer in peers {
        let synced = peer.replica.members.count { peer.replica.isSynced(with: $0, now: now) }
        complaints.append(
          "\(peer.name) has all that \(synced) of \(peers.count - 1) have, "
            + "\(peer.waiting.count) to write"
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

  // MARK: - Time

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

  // MARK: - What happens

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
      complaints.append("\(peer.name) cannot begin with what was there: \(error)")
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
      complaints.append("\(peer.name) cannot write: \(error)")
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

  /// Restarts a program from its stored state.
  private func revive(_ number: Int) {
    let peer = peers[number]
    note("revive \(peer.name)")
    peer.isUp = true
    peer.replica = replica(of: number)
    do throws(RestoreError) { try restore(peer) } catch {
      complaints.append("\(peer.name) cannot go on with what it kept: \(error)")
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

  // MARK: - The network

  /// Connects who may be and is not, and disconnects who may not.
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
      // What is held up longer than the next takes is overtaken by it.
      if chance() * 100 < conditions.reorder { delay += conditions.delay + 1 }
      if copies != 1 { disturbed += 1 }
    } else {
      // What is lost is sent again, as TCP does: at the earliest after 200 ms, and then twice as late.
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
      complaints.append("\(peer.name) finds that its board differs from \(other)'s")
    case .protocolViolation(let member, let error):
      let other = peers.first { $0.member == member }?.name ?? "?"
      complaints.append("\(peer.name) caught \(other) at \(error.code)")
    case .objectAdded(let object, _), .objectChanged(let object, _):
      // Photos are not acted: every peer has them.
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
