import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Tests which answers are accepted, and that an answer has no effect until it has been checked completely.
@Suite final class AnswerTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let log = ActionLog()
  private var bo = ScriptedReplica(9)
  private let start = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  private func later(_ milliseconds: UInt64) -> Moment {
    Moment(wall: start.wall + milliseconds, uptime: start.uptime + milliseconds)
  }

  private func refusals() -> [String] {
    log.take().compactMap { if case .protocolViolation(_, let error) = $0 { error.code } else { nil } }
  }

  /// Lets Bo join and receive a request.
  private func join() {
    log += anna.replica.peerJoined(bo.member, now: start)
    log += anna.replica.received(bo.hello(), from: bo.member, now: start)
    _ = log.take()
  }

  private func receive(_ answer: [UInt8], request: UInt64 = 1) {
    log += anna.replica.receivedAnswer(answer, request: request, from: bo.member, now: start)
  }

  /// Returns a board's contents as an answer to an empty replica.
  private func difference() throws -> Difference {
    let board = Board(incarnation: bo.incarnation, member: bo.member, wallClock: start.wall)
    let id = try board.createText("hello", at: Point(x: 1, y: 2))
    try board.object(id)?.rotate(to: .radians(1))
    return board.state.difference(since: Context(), buckets: 0)
  }

  private func name(
    request: UInt64 = 1,
    byteCount: Int? = 100,
    type: ResourceDTO.Kind = .whiteboard,
    id: String = World.board.description
  ) -> ResourceDTO { ResourceDTO(id: id, type: type, request: request, byteCount: byteCount) }

  @Test("[SYN-13] only the answer to the pending request to that member is accepted") func accepted() throws {
    #expect(!anna.replica.expectsAnswer(name(), from: bo.member))
    join()
    #expect(anna.replica.expectsAnswer(name(), from: bo.member))
    #expect(anna.replica.expectsAnswer(name(byteCount: 268_435_456), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(byteCount: 268_435_457), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(byteCount: nil), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(request: 2), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(type: .text), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(id: "another"), from: bo.member))
    #expect(!anna.replica.expectsAnswer(name(), from: ScriptedReplica(10).member))
    receive(bo.answer(try difference()))
    #expect(refusals().isEmpty)
    #expect(!anna.replica.expectsAnswer(name(), from: bo.member))
  }

  @Test("[SYN-29] an answer is applied, with its records, and stored unchanged") func applied() throws {
    join()
    let bytes = bo.answer(try difference())
    receive(bytes)
    let actions = log.take()
    #expect(actions.first == .record(.answer([0] + bytes)))
    #expect(actions.contains(.caughtUp(bo.member)))
    #expect(anna.replica.board.objectIDs.count == 1)
    // A late or repeated answer has no effect.
    receive(bytes)
    receive(bytes, request: 7)
    #expect(log.take().isEmpty)
  }

  @Test("[SYN-29] an answer that is truncated, or has one wrong bit, changes nothing") func damaged() throws {
    let bytes = bo.answer(try difference())
    for index in bytes.indices {
      for isCut in [true, false] {
        join()
        let request = UInt64(1)
        var damaged = bytes
        if isCut { damaged = Array(bytes.prefix(index)) } else { damaged[index] ^= 0x10 }
        receive(damaged, request: request)
        #expect(refusals().count == 1, "byte \(index), cut \(isCut)")
        #expect(anna.replica.board.state.context.isEmpty, "byte \(index), cut \(isCut)")
        #expect(anna.replica.registry.count == 1)
      }
    }
  }

  @Test("[SYN-29] an answer is refused if it is by another member, a viewer, or for another board") func wrongSigners()
    throws
  {
    let difference = try difference()
    var cleo = ScriptedReplica(10)
    join()
    receive(cleo.answer(difference))
    #expect(refusals() == ["forged-author"])
    bo = ScriptedReplica(9, role: .editor)
    let viewer = ScriptedReplica(9, role: .viewer)
    join()
    receive(viewer.answer(difference))
    #expect(refusals() == ["viewer"])
    join()
    receive(ScriptedReplica(9, board: try #require(BoardID(bytes: 2...17))).answer(difference))
    #expect(refusals() == ["wrong-board"])
    join()
    let unknown = ScriptedReplica(
      Author(board: ReplicaWorld.board, key: SimulatedKey(9), random: SeededGenerator(seed: 77))
    )
    receive(Answer.encode([], difference, by: unknown.author, as: unknown.incarnation))
    #expect(refusals() == ["no-author"])
    // Signed for another incarnation of the same author.
    join()
    receive(Answer.encode([bo.record], difference, by: cleo.author, as: bo.incarnation))
    #expect(refusals() == ["signature"])
    #expect(anna.replica.board.state.context.isEmpty)
    _ = cleo.hello()
  }

  @Test("[SYN-29] the records of an answer are valid and in ascending order") func wrongRecords() throws {
    let others = [ScriptedReplica(10), ScriptedReplica(11)].map(\.record) + [bo.record]
    let sorted = others.sorted { $0.incarnation < $1.incarnation }
    join()
    receive(Answer.encode(sorted.reversed(), try difference(), by: bo.author, as: bo.incarnation))
    #expect(refusals() == ["canonical"])
    join()
    receive(Answer.encode([bo.record, bo.record], try difference(), by: bo.author, as: bo.incarnation))
    #expect(refusals() == ["canonical"])
    var forged = ScriptedReplica(12).record.bytes
    forged[forged.count - 1] ^= 1
    let records = [bo.record, try AuthorRecord(forged)].sorted { $0.incarnation < $1.incarnation }
    join()
    receive(Answer.encode(records, try difference(), by: bo.author, as: bo.incarnation))
    #expect(refusals() == ["signature"])
    #expect(anna.replica.board.state.context.isEmpty)
    join()
    receive(Answer.encode(sorted, try difference(), by: bo.author, as: bo.incarnation))
    #expect(refusals().isEmpty)
    // The record of an incarnation without operations is not stored.
    #expect(anna.replica.registry[bo.incarnation] != nil)
    for other in others.dropLast() { #expect(anna.replica.registry[other.incarnation] == nil) }
  }

  @Test("[SYN-29] a move by an unknown author is refused, because games would differ forever") func moveOfNobody()
    throws
  {
    let cleo = ScriptedReplica(10)
    let id = ObjectID(Dot(cleo.incarnation, 1))
    let batch = try Batch(
      author: cleo.incarnation,
      firstSequence: 1,
      time: HybridTime(9),
      operations: [Operation(id, .kind, .unsigned(4)), Operation(id, .move(Dot(cleo.incarnation, 2)), .bytes([1]))]
    )
    var state = BoardState()
    var changes = ChangeLog()
    try state.apply(batch, changes: &changes)
    let difference = state.difference(since: Context())
    join()
    receive(bo.answer(difference))
    #expect(log.take().contains(.unrecorded(bo.member)))
    #expect(anna.replica.board.state.context.isEmpty)
    let records = [bo.record, cleo.record].sorted { $0.incarnation < $1.incarnation }
    join()
    receive(Answer.encode(records, difference, by: bo.author, as: bo.incarnation))
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.state.record(id)?.count == 2)
  }

  @Test("[SYN-26] an answer may name more incarnations than a set can contain") func manyNames() throws {
    let author = bo.incarnation
    let names = UInt64(BoardLimits.incarnations) + 1
    var state = BoardState()
    var changes = ChangeLog()
    // One member wrote to missing objects, each of another incarnation.
    for first in stride(from: UInt64(0), to: names, by: 4000) {
      try state.apply(
        try Batch(
          author: author,
          firstSequence: first + 1,
          time: HybridTime(1 << 20 + first),
          operations: (first..<min(first + 4000, names)).map {
            Operation(ObjectID(Dot(Incarnation(1000 + $0), 1)), .color, .unsigned(1))
          }
        ),
        changes: &changes
      )
    }
    let difference = state.difference(since: Context())
    let bytes = DifferenceCoding.encode(difference)
    #expect(try DifferenceCoding.decode(bytes) == difference)
    join()
    receive(bo.answer(difference))
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.state.objectCount == Int(names))
    // A table with fewer entries than its count.
    #expect(throws: CodecError.truncated) {
      _ = try DifferenceCoding.decode([2, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01])
    }
  }

  @Test("[SYN-29] the maximum number of records, with one for an author without edits, is decoded") func manyRecords()
    throws
  {
    #expect(Answer.recordLimit == BoardLimits.incarnations + 1)
    var reader = ByteReader([0x81, 0x80, 0x04])
    #expect(throws: CodecError.truncated) { _ = try KeptState.readRecords(&reader) }
    reader = ByteReader([0x82, 0x80, 0x04])
    #expect(throws: CodecError.overLimit("records")) { _ = try KeptState.readRecords(&reader) }
  }

  @Test("an answer without new contents is not stored") func nothingNew() throws {
    join()
    let difference = try difference()
    receive(bo.answer(difference))
    _ = log.take()
    log += anna.replica.answerFailed(request: 1, from: bo.member, now: start)
    var context = Context()
    context.insert(Dot(Incarnation(5), 1))
    let report = ReplicaReport(contextHash: 1)
    log += anna.replica.received(SyncMessage.state(report).encode(), from: bo.member, now: start)
    log += anna.replica.tick(now: later(6000))
    _ = log.take()
    #expect(anna.replica.expectsAnswer(name(request: 2), from: bo.member))
    log += anna.replica.receivedAnswer(bo.answer(difference), request: 2, from: bo.member, now: later(6000))
    let actions = log.take()
    #expect(actions.contains(.caughtUp(bo.member)))
    for case .record(let change) in actions { Issue.record("kept: \(change)") }
  }

  @Test("a large answer is reported in parts, each object once and with its latest state") func parts() throws {
    anna.replica.reportsAtOnce = 2
    join()
    let board = Board(incarnation: bo.incarnation, member: bo.member, wallClock: start.wall)
    let ids = try (0..<7).map { try board.createText("text \($0)", at: Point(x: Double($0), y: 0)) }
    receive(bo.answer(board.state.difference(since: Context(), buckets: 0)))
    func added() -> [ObjectID] {
      log.take().compactMap { if case .objectAdded(let snapshot, bo.member) = $0 { snapshot.id } else { nil } }
    }
    let first = log.take()
    #expect(first.contains(.caughtUp(bo.member)))
    #expect(first.count { if case .objectAdded = $0 { true } else { false } } == 2)
    log += anna.replica.tick(now: start)
    #expect(added() == [] && anna.replica.nextDeadline == start.uptime + 1)
    #expect(!anna.replica.isSynced(with: bo.member, now: start))
    // An object that was not reported yet is reported once, with the local change. If the object was deleted, it is not
    // reported.
    let local = try anna.replica.change(now: start) { board throws(BoardError) in
      try board.move([ids[4]], by: Point(x: 5, y: 0))
      try board.delete([ids[5]])
    }
    log += local.actions
    let changes = log.take()
    let moved = try #require(anna.replica.board.snapshot(ids[4]))
    #expect(moved.centerPosition.x == 9)
    let reports = changes.filter { if case .objectAdded = $0 { true } else { false } }
    #expect(reports == [.objectAdded(moved, from: bo.member)])
    for case .objectRemoved in changes { Issue.record("an unknown object was removed") }
    log += anna.replica.tick(now: later(1))
    #expect(added() == [ids[2], ids[3]])
    log += anna.replica.tick(now: later(2))
    #expect(added() == [ids[6]])
    #expect(anna.replica.hasReportedAll)
    log += anna.replica.tick(now: later(3))
    #expect(added().isEmpty)
  }

  @Test("[SYN-11] a member whose answer makes no progress for 5 s is asked again after the others") func patience()
    throws
  {
    var cleo = ScriptedReplica(10)
    join()
    log += anna.replica.peerJoined(cleo.member, now: start)
    log += anna.replica.received(cleo.hello(), from: cleo.member, now: start)
    func asked(_ now: Moment) throws -> [MemberID] {
      log += anna.replica.tick(now: now)
      return try log.take().compactMap {
        guard case .send(let bytes, let members) = $0, case .request? = try SyncMessage.decode(bytes) else {
          return nil
        }
        return members[0]
      }
    }
    #expect(try asked(later(4000)).isEmpty)
    anna.replica.answerProgressed(request: 1, from: bo.member, now: later(4000))
    #expect(try asked(later(8999)).isEmpty)
    #expect(try asked(later(9000)) == [cleo.member])
    log += anna.replica.answerFailed(request: 1, from: cleo.member, now: later(9100))
    #expect(try asked(later(9100)) == [bo.member])
  }

  @Test("[SYN-11] a newcomer is asked before members that have been silent") func silence() throws {
    var (cleo, dora) = (ScriptedReplica(10), ScriptedReplica(11))
    join()
    log += anna.replica.peerJoined(cleo.member, now: start)
    log += anna.replica.received(cleo.hello(), from: cleo.member, now: start)
    var asked: [MemberID] = []
    func pass(_ milliseconds: UInt64) throws {
      log += anna.replica.tick(now: later(milliseconds))
      asked += try log.take().compactMap {
        guard case .send(let bytes, let members) = $0, case .request? = try SyncMessage.decode(bytes) else {
          return nil
        }
        return members[0]
      }
    }
    // Neither member answers, so each is asked again after the other.
    for second: UInt64 in 1...11 { try pass(second * 1000) }
    #expect(asked.suffix(2) == [cleo.member, bo.member])
    log += anna.replica.peerJoined(dora.member, now: later(11_000))
    log += anna.replica.received(dora.hello(), from: dora.member, now: later(11_000))
    asked = []
    for second: UInt64 in 12...19 { try pass(second * 1000) }
    #expect(asked == [dora.member])
  }

  @Test("[SYN-11] a slow answer prevents requests to other members for at most 30 s") func dripping() throws {
    var cleo = ScriptedReplica(10)
    join()
    log += anna.replica.peerJoined(cleo.member, now: start)
    log += anna.replica.received(cleo.hello(), from: cleo.member, now: start)
    _ = log.take()
    let cleos = ResourceDTO(id: World.board.description, type: .whiteboard, request: 1, byteCount: 100)
    for second: UInt64 in 1..<30 {
      anna.replica.answerProgressed(request: 1, from: bo.member, now: later(second * 1000))
      log += anna.replica.tick(now: later(second * 1000))
      #expect(!anna.replica.expectsAnswer(cleos, from: cleo.member))
    }
    log += anna.replica.tick(now: later(30_000))
    #expect(anna.replica.expectsAnswer(cleos, from: cleo.member))
    // The answer may still be completed.
    #expect(anna.replica.expectsAnswer(name(), from: bo.member))
    log += anna.replica.receivedAnswer(bo.answer(try difference()), request: 1, from: bo.member, now: later(31_000))
    #expect(anna.replica.board.objectIDs.count == 1)
    #expect(refusals().isEmpty)
  }

  @Test("[SYN-29] an answer contains the records that the requester lacks, and the sender's own") func records() throws
  {
    join()
    for _ in 0..<3 { log += anna.replica.received(try bo.sendText(), from: bo.member, now: start) }
    log += try anna.replica.change(now: start) { board in _ = try board.createText("x", at: Point(x: 0, y: 0)) }.actions
    func records(_ context: Context, number: UInt64) throws -> Set<Incarnation> {
      _ = log.take()
      let request = SyncMessage.request(CatchUpRequest(number: number, context: context))
      let now = later(number * 1000)
      log += anna.replica.received(request.encode(), from: bo.member, now: now)
      for case .sendAnswer(let answer, _) in log.take() {
        let (bytes, name) = try #require(answer.encoded())
        #expect(name.byteCount == bytes.count)
        log += anna.replica.answerSent(request: number, to: bo.member, now: now)
        return Set(try Answer(bytes).records.map(\.incarnation))
      }
      return []
    }
    let ours = anna.replica.board.incarnation
    #expect(try records(Context(), number: 1) == [ours, bo.incarnation])
    var context = Context()
    context.insert(1...6, of: bo.incarnation)
    #expect(try records(context, number: 2) == [ours])
    // A replica that has seen dots of an incarnation need not know its author, because a purge names dots too.
    context = Context()
    context.insert(Dot(bo.incarnation, 3))
    context.insert(anna.replica.board.state.context[ours].ranges[0], of: ours)
    #expect(try records(context, number: 3) == [bo.incarnation])
  }
}
