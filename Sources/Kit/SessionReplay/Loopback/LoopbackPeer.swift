import PeerCore
import PeerSession
import Whiteboard
import WhiteboardSync

actor LoopbackPeer {
  /// The first byte of a packet. After `answer` come the name of the resource, with its length, and then the answer.
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
    /// The replica is notified when the answer has been sent.
    let request: (number: UInt64, member: MemberID)?
  }

  let name: String
  private let session: Session
  private let peers: [PeerID]
  private let members: [MemberID]
  private let replica: Replica
  private let replay: RecordingReplay
  private let start: ContinuousClock.Instant
  private var faults: LoopbackFaults
  private var chains: [Incarnation: BatchChain] = [:]
  private var complaints: [String] = []
  private var (messages, bytes, disturbed) = (0, 0, 0)
  private let (packets, post): (AsyncStream<Packet>, AsyncStream<Packet>.Continuation) = AsyncStream.makeStream()

  init(
    _ number: Int,
    of replay: RecordingReplay,
    part: Int,
    session: Session,
    peers: [PeerID],
    faults: LoopbackFaults,
    start: ContinuousClock.Instant
  ) {
    name = RecordingReplay.letter(number)
    self.session = session
    self.peers = peers
    self.replay = replay
    self.faults = faults
    self.start = start
    members = peers.indices.map { MemberID(publicKey: replay.key(of: $0).publicKey) }
    let now = Self.moment(replay, start)
    replica = replay.replica(of: number, random: SystemRandomNumberGenerator(), now: now)
    do throws(RestoreError) {
      // The keys of a replay sign immediately, so there are no actions to perform.
      _ = try replica.restore(replay.parts[part].beginning, now: now)
    } catch { complaints.append("\(name) cannot restore the initial board: \(error)") }
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
    Report(digest: replica.digest, complaints: complaints, messages: messages, bytes: bytes, disturbed: disturbed)
  }

  var context: Context { replica.board.state.context }

  func knows(_ count: Int) -> Bool {
    replica.members.count == count && replica.members.allSatisfy { replica.role(of: $0) != nil }
  }

  func isSettled(_ count: Int) -> Bool {
    knows(count) && replica.members.allSatisfy { replica.isSynced(with: $0, now: now) }
  }

  func perform(_ act: RecordingReplay.Act) {
    do throws(BoardError) { perform(try replay.perform(act, on: replica, &chains, now: now)) } catch {
      complaints.append("\(name) cannot make a change: \(error)")
    }
  }

  // MARK: - Tasks

  func receiveEvents() async {
    for await event in session.events { perform(handle(event)) }
    post.finish()
  }

  private func handle(_ event: SessionEvent) -> [ReplicaAction] {
    switch event {
    case .peerJoined(let peer):
      guard let member = member(of: peer.id) else { return [] }
      return replica.peerJoined(member, now: now)
    case .peerLeft(let peer, _, _):
      guard let member = member(of: peer) else { return [] }
      return replica.peerLeft(member, now: now)
    case .message(let bytes, let peer):
      guard let member = member(of: peer) else { return [] }
      return received(bytes, from: member)
    case .datagram(let bytes, let peer):
      guard let member = member(of: peer) else { return [] }
      return replica.receivedDatagram(bytes, from: member, now: now)
    default: return []
    }
  }

  func runTimer() async {
    while !Task.isCancelled {
      if let due = replica.nextDeadline, now.uptime >= due { perform(replica.tick(now: now)) }
      do { try await Task.sleep(for: .milliseconds(5)) } catch { return }
    }
  }

  /// Reliable packets to the same peer stay in order.
  func sendPackets() async {
    await withDiscardingTaskGroup { group in
      var queues: [PeerID: AsyncStream<Packet>.Continuation] = [:]
      for await packet in packets {
        if packet.isReliable {
          if queues[packet.peer] == nil {
            let (stream, source) = AsyncStream<Packet>.makeStream()
            queues[packet.peer] = source
            group.addTask { for await packet in stream { await self.send(packet) } }
          }
          queues[packet.peer]?.yield(packet)
        } else {
          group.addTask { await self.send(packet) }
        }
      }
      for queue in queues.values { queue.finish() }
      group.cancelAll()
    }
  }

  private func send(_ packet: Packet) async {
    do {
      try await Task.sleep(until: packet.at, clock: .continuous)
      for _ in 0..<packet.copies {
        try await session.send(packet.bytes, to: [packet.peer], mode: packet.isReliable ? .reliable : .unreliable)
      }
    } catch {
      // A peer that has left receives nothing.
    }
    if let request = packet.request {
      perform(replica.answerSent(request: request.number, to: request.member, now: now))
    }
  }

  // MARK: - The replica

  private var now: Moment { Self.moment(replay, start) }

  private static func moment(_ replay: RecordingReplay, _ start: ContinuousClock.Instant) -> Moment {
    let elapsed = UInt64(max(0, (ContinuousClock.now - start) / .milliseconds(1)))
    return Moment(wall: UInt64(max(0, replay.start)) + elapsed, uptime: 1_000_000 + elapsed)
  }

  private func member(of peer: PeerID) -> MemberID? { peers.firstIndex(of: peer).map { members[$0] } }

  private func received(_ bytes: [UInt8], from member: MemberID) -> [ReplicaAction] {
    let content = Array(bytes.dropFirst())
    switch bytes.first {
    case Kind.message?: return replica.received(content, from: member, now: now)
    case Kind.answer?:
      guard let length = content.first.map(Int.init), content.count > 2 else { return [] }
      let nameLength = length << 8 | Int(content[1])
      let text = String(decoding: content.dropFirst(2).prefix(nameLength), as: UTF8.self)
      guard let dto = try? ResourceDTO(name: text), let request = dto.request, replica.expectsAnswer(dto, from: member)
      else { return [] }
      return replica.receivedAnswer(Array(content.dropFirst(2 + nameLength)), request: request, from: member, now: now)
    default:
      complaints.append("\(name) received a message of an unknown kind")
      return []
    }
  }

  private func perform(_ actions: [ReplicaAction]) { for action in actions { perform(action) } }

  private func perform(_ action: ReplicaAction) {
    switch action {
    case .send(let bytes, let members):
      for member in members { dispatch([Kind.message] + bytes, to: member, isReliable: true) }
    case .sendDatagram(let bytes, let members): for member in members { dispatch(bytes, to: member, isReliable: false) }
    case .sendAnswer(let answer, let member):
      guard let (bytes, dto) = answer.encoded() else { return complaints.append("\(name) made too large an answer") }
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

  private func dispatch(_ bytes: [UInt8], to member: MemberID, isReliable: Bool, request: UInt64? = nil) {
    guard let number = members.firstIndex(of: member) else { return }
    let (at, copies) = faults.passage(to: number, isReliable: isReliable)
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
