import BoardWorlds
import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardSync

/// Two replicas with the same inputs: one signs and verifies immediately, the other late and in any order.
@Suite struct SignatureOrderTests {
  /// A replica, and the results that its owner has not given it yet.
  private final class Driven {
    private static let key = SimulatedKey(1)
    let replica: Replica
    /// The actions, apart from requests to sign and to verify, and from datagrams, which may overtake other actions.
    private(set) var actions: [ReplicaAction] = []
    private(set) var requestCount = 0
    private var pending: [ReplicaAction] = []

    init(seed: UInt64, isLate: Bool, now: Moment) {
      let random = SeededGenerator(seed: seed)
      let board = ReplicaWorld.board
      let author =
        isLate
        ? Author(board: board, publicKey: Self.key.publicKey, random: random)
        : Author(board: board, key: Self.key, random: random)
      replica = Replica(author: author, now: now, verifier: isLate ? nil : SimulatedVerifier())
    }

    func collect(_ actions: [ReplicaAction]) {
      for action in actions {
        switch action {
        case .sign, .verify:
          pending.append(action)
          requestCount += 1
        case .sendDatagram: break
        default: self.actions.append(action)
        }
      }
    }

    /// Signs and verifies everything, in any order.
    func finish(using random: inout SeededGenerator, _ now: Moment) {
      while let index = pending.indices.randomElement(using: &random) {
        switch pending.remove(at: index) {
        case .sign(let request):
          let signature = Self.key.signature(of: request.bytes)
          collect(replica.signed(request.id, signature: signature, now: now))
        case .verify(let request):
          let isValid =
            switch request.subject {
            case .key(let key): SimulatedVerifier().isKey(key)
            case .signature(let signature, let bytes, let key):
              SimulatedVerifier().isValid(signature, of: bytes, by: key)
            }
          collect(replica.verified(request.id, isValid: isValid, now: now))
        default: break
        }
      }
    }
  }

  private enum Input {
    case edit(String)
    case profile(String)
    case head
    case message([UInt8], from: MemberID)
    case answer([UInt8], request: UInt64, from: MemberID)
    case joined(MemberID)
    case left(MemberID)
  }

  /// Inputs whose order between members matters, in rounds; results arrive at the end of each round.
  ///
  /// Only one member acts in each round, because messages of other members may overtake a message that is verified
  /// late.
  private struct Script {
    var random: SeededGenerator
    var members = [ScriptedReplica(2), ScriptedReplica(3)]
    var joined: Set<MemberID> = []
    var requests: UInt64 = 0

    mutating func round(_ number: Int, lastRequests: [MemberID: UInt64]) throws -> [Input] {
      let index = random.below(members.count)
      let member = members[index].member
      guard joined.contains(member) else {
        joined.insert(member)
        return [.joined(member), .edit("a"), .message(members[index].hello(), from: member)]
      }
      switch random.below(8) {
      case 0: return [.edit("b\(number)"), .head, .edit("c\(number)"), .profile("\(number)"), .head]
      case 1:
        joined.remove(member)
        return [.left(member), .edit("d\(number)")]
      case 2:
        requests += 1
        let request = CatchUpRequest(number: requests, buckets: 0, context: Context())
        return [.message(SyncMessage.request(request).encode(), from: member)]
      case 3:
        guard let request = lastRequests[member] else { return [] }
        var context = Context()
        let record = ScriptedReplica(100 + UInt64(number))
        context.insert(1...1, of: record.incarnation)
        let answer = members[index].answer(Difference(context: context), of: [record.record])
        return [.answer(answer, request: request, from: member)]
      case 4:
        let data = SyncMessage.application([UInt8(truncatingIfNeeded: number)]).encode()
        return [
          .message(members[index].beginIncarnation(), from: member), .message(data, from: member),
          .message(try members[index].sendText(), from: member), .message(members[index].head(), from: member),
          .message(data, from: member),
        ]
      case 5:
        // The head has an invalid signature, so its link is closed and opened again.
        var lie = members[index].head()
        lie[lie.count - 1] ^= 1
        joined.remove(member)
        return [
          .message(try members[index].sendText(), from: member), .message(lie, from: member),
          .message(try members[index].sendText(), from: member),
        ]
      default:
        return [
          .message(try members[index].sendText(), from: member), .message(members[index].head(), from: member),
          .message(try members[index].sendText(), from: member),
        ]
      }
    }
  }

  private func apply(_ input: Input, to replica: Replica, _ now: Moment) throws -> [ReplicaAction] {
    switch input {
    case .edit(let text):
      try replica.change(now: now) { board in _ = try board.createText(text, at: Point(x: 0, y: 0)) }.actions
    case .profile(let name): try replica.setProfile(name: name, icon: "", now: now)
    case .head: replica.prepareToLeave(now: now)
    case .message(let bytes, let member): replica.received(bytes, from: member, now: now)
    case .answer(let bytes, let request, let member):
      replica.receivedAnswer(bytes, request: request, from: member, now: now)
    case .joined(let member): replica.peerJoined(member, now: now)
    case .left(let member): replica.peerLeft(member, now: now)
    }
  }

  @Test(
    "late signatures and verifications give the same actions, bytes and digest in the same order",
    arguments: 0..<repetitions(10, optimized: 50) as Range<UInt64>
  ) func sameActions(seed: UInt64) throws {
    var now = Moment(wall: 1_700_000_000_000, uptime: 1000)
    let prompt = Driven(seed: seed, isLate: false, now: now)
    let late = Driven(seed: seed, isLate: true, now: now)
    var script = Script(random: SeededGenerator(seed: ~seed))
    var order = SeededGenerator(seed: seed ^ 0x517)
    // A late replica first requests the signature of its record.
    for driven in [prompt, late] { driven.collect(driven.replica.tick(now: now)) }
    late.finish(using: &order, now)
    for number in 0..<60 {
      let requests = prompt.replica.members.reduce(into: [MemberID: UInt64]()) { result, member in
        result[member] = prompt.replica.peers[member]?.requestInFlight
      }
      for input in try script.round(number, lastRequests: requests) {
        for driven in [prompt, late] { driven.collect(try apply(input, to: driven.replica, now)) }
      }
      late.finish(using: &order, now)
      now = Moment(wall: now.wall + 700, uptime: now.uptime + 700)
      for driven in [prompt, late] { driven.collect(driven.replica.tick(now: now)) }
      late.finish(using: &order, now)
      #expect(prompt.actions == late.actions, "seed \(seed), round \(number)")
      #expect(prompt.replica.nextDeadline == late.replica.nextDeadline)
      guard prompt.actions == late.actions else { return }
    }
    #expect(prompt.requestCount == 0 && late.requestCount > 30)
    #expect(!late.replica.isAwaitingSignature && !late.replica.isAwaitingVerification)
    #expect(prompt.replica.digest == late.replica.digest)
    #expect(prompt.replica.snapshotForKeeping() == late.replica.snapshotForKeeping())
  }
}
