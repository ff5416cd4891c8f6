import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// A context names only incarnations with a record, and one member cannot use up the room of the context.
@Suite final class IncarnationTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let log = ActionLog()
  private var bo = ScriptedReplica(9)
  private var now = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)
  private var request: UInt64 = 1

  private var context: Context { anna.replica.board.state.context }

  /// Lets Bo join and receive a request.
  private func join() {
    log += anna.replica.peerJoined(bo.member, now: now)
    log += anna.replica.received(bo.hello(), from: bo.member, now: now)
    _ = log.take()
  }

  private func receive(_ message: [UInt8]) -> [ReplicaAction] {
    log += anna.replica.received(message, from: bo.member, now: now)
    return log.take()
  }

  private func receive(answer: [UInt8]) -> [ReplicaAction] {
    log += anna.replica.receivedAnswer(answer, request: 1, from: bo.member, now: now)
    return log.take()
  }

  /// Returns a difference whose context claims one dot of each of `count` unused incarnations.
  private func claim(_ count: Int, of incarnation: (UInt64) -> Incarnation) -> Difference {
    var context = Context()
    for number in 1...UInt64(count) { context.insert(Dot(incarnation(number), 1)) }
    return Difference(context: context)
  }

  private func invented(_ count: Int) -> Difference { claim(count) { Incarnation(1000 + $0) } }

  private func errors(_ actions: [ReplicaAction]) -> [String] {
    actions.compactMap { if case .protocolViolation(_, let error) = $0 { error.code } else { nil } }
  }

  @Test("[BRD-37] an answer that names incarnations without a record is rejected as a whole") func invented() throws {
    join()
    let actions = receive(answer: bo.answer(invented(65_530)))
    #expect(actions.contains(.unrecorded(bo.member)))
    #expect(errors(actions).isEmpty)
    #expect(context.isEmpty)
    // The board is unchanged: all can write, and the member's own edits arrive.
    log += try anna.replica.change(now: now) { board in _ = try board.createText("still here", at: Point(x: 0, y: 0)) }
      .actions
    #expect(errors(receive(try bo.sendText())).isEmpty)
    #expect(anna.replica.board.objectIDs.count == 2)
  }

  @Test("[BRD-37] a board full of invented incarnations is repaired when it is opened") func repaired() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    let (id, actions) = try node.replica.change(now: now) { board in try board.createText("mine", at: Point(x: 0, y: 0))
    }
    let digest = node.replica.digest
    let document = actions.compactMap { action in if case .record(let change) = action { change } else { nil } }
    // The stored changes as an earlier version wrote them.
    let damaged = [StoredChange.keyframe(KeptState.encode([], invented(65_530)))]
    let replica = world.replica(node.key, now)
    _ = try replica.restore(document + damaged, now: now)
    #expect(replica.unrecorded == UnrecordedAuthors(forgotten: 65_530, kept: 0))
    #expect(replica.board.state.context == node.replica.board.state.context)
    #expect(replica.digest == digest)
    _ = try replica.change(now: now) { board in try board.delete(id) }
  }

  @Test("[BRD-37] objects of authors without a record are not lost when a board is opened") func keepsContent() throws {
    let world = World(seed: 5, nodes: 1)
    var state = BoardState()
    var changes = ChangeLog()
    let author = Incarnation(77)
    let id = ObjectID(Dot(author, 1))
    try state.apply(
      try Batch(
        author: author,
        firstSequence: 1,
        time: HybridTime(9),
        operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .color, .unsigned(1))]
      ),
      changes: &changes
    )
    let keyframe = KeptState.encode([], state.difference(since: Context()))
    let replica = world.replica(world.nodes[0].key, now)
    _ = try replica.restore([.keyframe(keyframe)], now: now)
    #expect(replica.unrecorded == UnrecordedAuthors(forgotten: 0, kept: 1))
    #expect(replica.board.state.record(id)?.count == 2)
    // A new board that is created from this board has all records, and can be shared.
    let other = Author(board: try #require(BoardID(bytes: 2...17)), key: SimulatedKey(4))
    let copy = try replica.snapshotForAnotherBoard(by: other)
    let kept = try KeptState(copy.keyframe)
    #expect(kept.records.map(\.incarnation) == kept.difference.context.incarnations)
    #expect(kept.difference.entries.map(\.cells.count) == [2])
  }

  @Test("[BRD-37] a copy of a board full of invented incarnations has room") func duplicated() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    _ = try node.replica.change(now: now) { board in try board.createText("mine", at: Point(x: 0, y: 0)) }
    try node.replica.board.receive(invented(65_530))
    let other = Author(board: try #require(BoardID(bytes: 2...17)), key: SimulatedKey(4))
    let copy = try node.replica.snapshotForAnotherBoard(by: other)
    let kept = try KeptState(copy.keyframe)
    #expect(kept.difference.context.incarnationCount == 1)
    for record in kept.records { try record.verify(board: other.board, with: SimulatedVerifier()) }
  }

  @Test("[BRD-37] one author has at most 4,096 incarnations") func manyOfOne() throws {
    join()
    let mallory = Author(board: World.board, key: SimulatedKey(30))
    let records = (0...BoardLimits.incarnationsPerAuthor).map { _ in mallory.record(of: mallory.makeIncarnation()) }
    let all = claim(records.count) { records[Int($0) - 1].incarnation }
    #expect(receive(answer: bo.answer(all, of: records)).contains(.full(bo.member)))
    #expect(context.isEmpty)
    join()
    let most = claim(records.count - 1) { records[Int($0) - 1].incarnation }
    let actions = receive(answer: bo.answer(most, of: Array(records.dropLast())))
    #expect(!actions.contains(.full(bo.member)))
    #expect(context.incarnationCount == BoardLimits.incarnationsPerAuthor)
  }

  @Test("[BRD-37] the last free incarnations are reserved for connected members", .enabled(if: isOptimized))
  func reserve() throws {
    // As many authors as needed, none of them connected.
    let strangers = BoardLimits.incarnationsOfStrangers
    var records: [AuthorRecord] = []
    for key in 0..<UInt64(strangers / 4000 + 1) {
      let author = Author(board: World.board, key: SimulatedKey(100 + key))
      for _ in 0..<min(4000, strangers - records.count) { records.append(author.record(of: author.makeIncarnation())) }
    }
    log += try anna.replica.change(now: now) { board in _ = try board.createText("mine", at: Point(x: 0, y: 0)) }
      .actions
    join()
    let most = claim(strangers - 1) { records[Int($0) - 1].incarnation }
    _ = receive(answer: bo.answer(most, of: Array(records.dropLast())))
    #expect(context.incarnationCount == strangers)
    join()
    let last = try #require(records.last)
    let more = claim(1) { _ in last.incarnation }
    #expect(receive(answer: bo.answer(more, of: [last])).contains(.full(bo.member)))
    // Connected members can still write.
    #expect(errors(receive(try bo.sendText())).isEmpty)
    #expect(context.contains(bo.incarnation))
    #expect(context.incarnationCount == strangers + 1)
  }

  @Test(
    "[BRD-37] a member uses at most its share of the room, and leaves the rest to others",
    .enabled(if: isOptimized)
  ) func share() throws {
    let strangers = 64_768
    var records: [AuthorRecord] = []
    for key in 0..<UInt64(16) {
      let author = Author(board: World.board, key: SimulatedKey(100 + key))
      for _ in 0..<strangers / 16 { records.append(author.record(of: author.makeIncarnation())) }
    }
    join()
    let all = claim(strangers) { records[Int($0) - 1].incarnation }
    let answer = bo.answer(all, of: records)
    _ = receive(answer: answer)
    // The answer also has Bo's own record, but Bo wrote nothing yet.
    #expect(context.incarnationCount == strangers)
    let share = (BoardLimits.incarnationsOfMembers - strangers) / BoardLimits.incarnationShare
    #expect(share > BoardLimits.incarnationsPerRun)
    for number in 1...share + 1 {
      if number > 1 { #expect(errors(receive(bo.beginIncarnation())).isEmpty) }
      let actions = receive(try bo.sendText())
      #expect(errors(actions).isEmpty)
      #expect(actions.contains(.full(bo.member)) == (number > share), "\(number)")
    }
    #expect(context.incarnationCount == strangers + share)
    // Other members can write, and so can the local member.
    bo = ScriptedReplica(10)
    join()
    #expect(!receive(try bo.sendText()).contains(.full(bo.member)))
    #expect(context.contains(bo.incarnation))
    log += try anna.replica.change(now: now) { board in _ = try board.createText("mine", at: Point(x: 0, y: 0)) }
      .actions
    #expect(context.incarnationCount == strangers + share + 2)
    // A newcomer has room for the whole context.
    #expect(context.incarnationCount <= BoardLimits.incarnationsOfStrangersAtFirst)
  }

  @Test("[SYN-48] a purge of an unknown author's object is accepted only after the author's record") func purge() throws
  {
    let cleo = ScriptedReplica(10)
    let id = ObjectID(Dot(cleo.incarnation, 1))
    join()
    let first = receive(try bo.send([Operation(id, .purge, .none)]))
    #expect(errors(first) == ["no-author"])
    #expect(context.isEmpty)
    bo = ScriptedReplica(9)
    join()
    #expect(receive(SyncMessage.record(cleo.record.bytes).encode()).isEmpty)
    let second = receive(try bo.send([Operation(id, .purge, .none)]))
    #expect(errors(second).isEmpty)
    #expect(context.contains(id.dot))
    #expect(anna.replica.registry[cleo.incarnation] == cleo.record)
  }

  @Test("[SYN-48] an invalid record, or too many of them, are refused") func wrongRecords() throws {
    join()
    var forged = ScriptedReplica(12).record.bytes
    forged[forged.count - 1] ^= 1
    #expect(errors(receive(SyncMessage.record(forged).encode())) == ["signature"])
    join()
    let author = Author(board: World.board, key: SimulatedKey(30))
    for _ in 0..<BoardLimits.recordsAhead {
      let record = author.record(of: author.makeIncarnation())
      #expect(receive(SyncMessage.record(record.bytes).encode()).isEmpty)
    }
    let record = author.record(of: author.makeIncarnation())
    #expect(errors(receive(SyncMessage.record(record.bytes).encode())) == ["limit"])
  }

  @Test("[SYN-48] a purge is sent after its record, once for all connected members") func sent() throws {
    join()
    let id = ObjectID(Dot(bo.incarnation, 1))
    _ = receive(try bo.sendText())
    let cleo = ScriptedReplica(10)
    log += anna.replica.peerJoined(cleo.member, now: now)
    _ = log.take()
    log += try anna.replica.change(now: now) { board in try board.delete(id) }.actions
    _ = log.take()
    log += try anna.replica.change(now: now) { board in try board.purge(id) }.actions
    let sent = log.take().compactMap { action in
      if case .send(let bytes, let members) = action { (bytes, members) } else { nil }
    }
    let kinds = sent.filter { [0x81, 0x01].contains($0.0[0]) }.map(\.0[0])
    #expect(kinds == [0x81, 0x01])
    #expect(sent.contains { $0.0 == SyncMessage.record(bo.record.bytes).encode() })
  }
}
