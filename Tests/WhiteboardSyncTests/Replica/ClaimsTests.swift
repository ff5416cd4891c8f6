import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Claims about operations of a connected member that never made them.
@Suite final class ClaimsTests {
  private let world = World(seed: 1, nodes: 1)
  private var anna: World.Node { world.nodes[0] }
  private let log = ActionLog()
  private var bo = ScriptedReplica(9)
  private var cleo = ScriptedReplica(10)
  private var now = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)
  private var kept: [StoredChange] = []
  /// Anna's records that Bo has.
  private var introduced: [AuthorRecord] = []

  private var context: Context { anna.replica.board.state.context }

  /// Lets Bo and Cleo join; Anna sends her first request to Bo.
  private func join() {
    for (member, hello) in [(bo.member, bo.hello()), (cleo.member, cleo.hello())] {
      log += anna.replica.peerJoined(member, now: now)
      log += anna.replica.received(hello, from: member, now: now)
    }
    _ = take()
  }

  private func wait(_ milliseconds: UInt64) {
    now = Moment(wall: now.wall + milliseconds, uptime: now.uptime + milliseconds)
  }

  private var inFlight: UInt64? { anna.replica.peers[bo.member]?.requestInFlight }

  private func take() -> [ReplicaAction] {
    let actions = log.take()
    for case .record(let change) in actions { kept.append(change) }
    return actions
  }

  private func receive(_ message: [UInt8], from scriptedReplica: ScriptedReplica) -> [String] {
    log += anna.replica.received(message, from: scriptedReplica.member, now: now)
    return errors(take())
  }

  private func tick() -> [String] {
    log += anna.replica.tick(now: now)
    return errors(take())
  }

  /// Sends Bo's answer that it has seen these dots and that none of their cells still exist.
  private func claim(_ dots: [Dot], request: UInt64 = 1) -> [String] {
    var context = Context()
    for dot in dots { context.insert(dot) }
    context.insert(Dot(bo.incarnation, bo.chain.sequence + 1))
    log += anna.replica.receivedAnswer(
      bo.answer(Difference(context: context), of: [cleo.record] + introduced),
      request: request,
      from: bo.member,
      now: now
    )
    return errors(take())
  }

  private func purge(_ dot: Dot) throws -> [UInt8] { try bo.send([Operation(ObjectID(dot), .purge, .none)]) }

  private func errors(_ actions: [ReplicaAction]) -> [String] {
    actions.compactMap { if case .protocolViolation(_, let error) = $0 { error.code } else { nil } }
  }

  private func hasText(of scriptedReplica: ScriptedReplica, _ sequence: UInt64) -> Bool {
    anna.replica.board.snapshot(ObjectID(Dot(scriptedReplica.incarnation, sequence))) != nil
  }

  /// Returns a replica restored from the stored changes.
  private func reopened() throws -> Replica {
    let replica = world.replica(anna.key, now)
    _ = try replica.restore(kept, now: now)
    return replica
  }

  @Test("[BRD-39] an answer does not make a replica skip what a connected author writes later") func answer() throws {
    join()
    #expect(claim((1...4).map { Dot(cleo.incarnation, $0) }) == [])
    #expect(!context.contains(cleo.incarnation))
    // The rest of the answer is applied.
    #expect(context.contains(bo.incarnation))
    #expect(receive(try cleo.sendText(), from: cleo) == [])
    #expect(hasText(of: cleo, 1))
    let replica = try reopened()
    #expect(replica.digest == anna.replica.digest)
    #expect(replica.board.state.context == context)
  }

  @Test("[BRD-39] an author that is not connected, or silent, does not contradict claims") func silent() throws {
    join()
    wait(MemberLink.silenceTimeout)
    // Bo has sent a message; Cleo has not.
    #expect(receive(bo.head(), from: bo) == [])
    #expect(claim([Dot(cleo.incarnation, 3)]) == [])
    #expect(context.contains(Dot(cleo.incarnation, 3)))
  }

  @Test("[BRD-39] the author itself continues to write, with a new incarnation at most once in 30 s") func author()
    throws
  {
    join()
    let first = anna.replica.board.incarnation
    introduced = [try #require(anna.replica.registry[first])]
    #expect(claim([Dot(first, 9)]) == [])
    #expect(!context.contains(first))
    let second = anna.replica.board.incarnation
    introduced.append(try #require(anna.replica.registry[second]))
    #expect(second != first)
    // Now the claim has no effect, and the boards become equal.
    func claimAgain(_ dot: Dot) -> [String] {
      for _ in 0..<10 where inFlight == nil {
        wait(ContextReports.interval)
        _ = receive(SyncMessage.state(ReplicaReport(contextHash: 1)).encode(), from: bo)
        _ = tick()
      }
      return claim([Dot(first, 9), dot], request: inFlight ?? 0)
    }
    #expect(claimAgain(Dot(second, 9)) == [])
    #expect(context.contains(Dot(first, 9)) && !context.contains(second))
    #expect(anna.replica.board.incarnation == second)
    wait(ClaimCheck.renewalInterval)
    _ = receive(bo.head(), from: bo)
    #expect(claimAgain(Dot(second, 9)) == [])
    #expect(anna.replica.board.incarnation != second)
  }

  @Test("[BRD-39] a purge that arrives before its object waits for it, and later messages wait too") func early() throws
  {
    join()
    #expect(receive(try purge(Dot(cleo.incarnation, 3)), from: bo) == [])
    #expect(receive(try bo.sendText(), from: bo) == [])
    #expect(receive(bo.head(), from: bo) == [])
    #expect(context.isEmpty)
    #expect(receive(try cleo.sendText(), from: cleo) == [])
    #expect(context.contains(cleo.incarnation) && !context.contains(bo.incarnation))
    #expect(receive(try cleo.sendText(), from: cleo) == [])
    #expect(!hasText(of: cleo, 3) && hasText(of: cleo, 1) && hasText(of: bo, 2))
    wait(2 * MemberInbox.earlyTimeout)
    #expect(tick() == [])
    let replica = try reopened()
    #expect(replica.digest == anna.replica.digest)
    #expect(replica.board.state.context == context)
  }

  @Test("[BRD-39] a purge of an object that is never created is dropped after 5 s; later messages count") func never()
    throws
  {
    join()
    #expect(receive(SyncMessage.record(cleo.record.bytes).encode(), from: bo) == [])
    #expect(receive(try purge(Dot(cleo.incarnation, 1 << 40)), from: bo) == [])
    #expect(receive(try bo.sendText(), from: bo) == [])
    #expect(anna.replica.nextDeadline ?? .max <= now.uptime + MemberInbox.earlyTimeout)
    wait(MemberInbox.earlyTimeout - 1)
    #expect(tick() == [])
    #expect(!hasText(of: bo, 2))
    wait(1)
    #expect(tick() == [])
    #expect(hasText(of: bo, 2) && !context.contains(cleo.incarnation))
    #expect(receive(try cleo.sendText(), from: cleo) == [])
    #expect(hasText(of: cleo, 1))
  }

  @Test("[BRD-39] a purge of the replica's own future objects is dropped in the same way") func own() throws {
    join()
    let incarnation = anna.replica.board.incarnation
    #expect(receive(try purge(Dot(incarnation, 1 << 40)), from: bo) == [])
    wait(MemberInbox.earlyTimeout)
    #expect(tick() == [])
    log += try anna.replica.change(now: now) { board in _ = try board.createText("mine", at: Point(x: 0, y: 0)) }
      .actions
    #expect(anna.replica.board.incarnation == incarnation)
    #expect(anna.replica.board.objectIDs.count == 1)
  }

  @Test("[BRD-39] an author cannot withhold operations from one replica for long") func withheld() throws {
    join()
    var seen = Difference(context: Context())
    seen.context.insert(1...4, of: cleo.incarnation)
    func answerAgain() -> [String] {
      for _ in 0..<10 where inFlight == nil {
        wait(ContextReports.interval)
        _ = receive(SyncMessage.state(ReplicaReport(contextHash: 1)).encode(), from: bo)
        _ = receive(cleo.head(), from: cleo)
        _ = tick()
      }
      return claim((1...4).map { Dot(cleo.incarnation, $0) }, request: inFlight ?? 0)
    }
    #expect(answerAgain() == [])
    #expect(!context.contains(cleo.incarnation))
    let first = now.uptime
    for _ in 0..<10 where !context.contains(cleo.incarnation) { #expect(answerAgain() == []) }
    #expect(context.contains(Dot(cleo.incarnation, 4)))
    #expect(now.uptime >= first + ClaimCheck.doubtTimeout)
  }

  @Test("[BRD-39] a purge stops waiting when the author leaves") func departure() throws {
    join()
    #expect(receive(try purge(Dot(cleo.incarnation, 1)), from: bo) == [])
    log += anna.replica.peerLeft(cleo.member, now: now)
    #expect(errors(take()) == ["no-author"])
    join()
    let sent = [try cleo.sendText(), try purge(Dot(cleo.incarnation, 3))]
    #expect(receive(sent[0], from: cleo) == [])
    #expect(receive(sent[1], from: bo) == [])
    #expect(!context.contains(bo.incarnation))
    log += anna.replica.peerLeft(cleo.member, now: now)
    #expect(errors(take()) == [])
    #expect(context.contains(bo.incarnation) && context.contains(Dot(cleo.incarnation, 3)))
  }

  @Test("[BRD-39] a purge stops waiting when many messages wait behind it") func tooMuch() throws {
    join()
    #expect(receive(try purge(Dot(cleo.incarnation, 1)), from: bo) == [])
    let message = SyncMessage.application([UInt8](repeating: 7, count: 1 << 20)).encode()
    for _ in 0..<3 { #expect(receive(message, from: bo) == []) }
    #expect(context.isEmpty)
    // The batch is handled now. It is refused because no record of the object's author was sent (SYN-48).
    #expect(receive(message, from: bo) == ["no-author"])
  }

  @Test("[BRD-39] any number of early purges can wait and be released at once") func manyEarly() throws {
    join()
    #expect(receive(SyncMessage.record(cleo.record.bytes).encode(), from: bo) == [])
    let count: UInt64 = 20_000
    for sequence in 1...count { #expect(receive(try purge(Dot(cleo.incarnation, 1 << 40 + sequence)), from: bo) == []) }
    #expect(context.isEmpty)
    let bytes = [UInt8](repeating: 7, count: MemberInbox.earlyByteLimit)
    log += anna.replica.received(SyncMessage.application(bytes).encode(), from: bo.member, now: now)
    let actions = take()
    #expect(errors(actions) == [])
    let arrived = actions.contains { if case .data(let data, _, _) = $0 { data.count == bytes.count } else { false } }
    #expect(arrived)
    #expect(context.contains(Dot(bo.incarnation, count)))
  }
}
