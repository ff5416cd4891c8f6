import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Valid and invalid messages of a member about its authorship.
@Suite final class AuthorshipTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let log = ActionLog()
  private var bo = ScriptedReplica(9)
  private var cleo = ScriptedReplica(10)
  private let start = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  private func later(_ milliseconds: UInt64) -> Moment {
    Moment(wall: start.wall + milliseconds, uptime: start.uptime + milliseconds)
  }

  private func receive(_ bytes: [UInt8], from member: MemberID? = nil) {
    log += anna.replica.received(bytes, from: member ?? bo.member, now: start)
  }

  private func join(_ member: MemberID? = nil) {
    log += anna.replica.peerJoined(member ?? bo.member, now: start)
    _ = log.take()
  }

  /// Returns the errors since the last call; nothing of the refused messages was applied.
  private func refusals() -> [ReplicaError] {
    log.take().compactMap { if case .protocolViolation(_, let error) = $0 { error } else { nil } }
  }

  private var hasNothing: Bool { anna.replica.board.state.context.isEmpty && anna.replica.board.state.objectCount == 0 }

  private func heads(_ actions: [ReplicaAction]) throws -> [SignedHead] {
    try actions.compactMap {
      guard case .send(let bytes, _) = $0, case .head(let head)? = try SyncMessage.decode(bytes) else { return nil }
      return head
    }
  }

  @Test("[AUT-5] a batch without an author message is refused") func noAuthor() throws {
    join()
    receive(try bo.sendText())
    #expect(refusals() == [.noAuthor])
    #expect(hasNothing)
  }

  @Test("[AUT-5] batches after an author message are accepted, and their author is known") func introduced() throws {
    join()
    receive(bo.hello())
    receive(try bo.sendText())
    receive(try bo.sendText())
    receive(bo.head())
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.objectIDs.count == 2)
    #expect(anna.replica.board.member(of: bo.incarnation) == bo.member)
  }

  @Test("[AUT-5] another member's author message, unchanged, is refused") func replayedAuthor() throws {
    join()
    join(cleo.member)
    let hello = cleo.hello()
    let batch = try cleo.sendText()
    receive(hello, from: cleo.member)
    receive(batch, from: cleo.member)
    #expect(refusals().isEmpty)
    let context = anna.replica.board.state.context
    // Bo received these messages too, and forwards them as its own.
    receive(hello)
    receive(batch)
    #expect(refusals() == [.forgedAuthor])
    #expect(anna.replica.board.state.context == context)
    // Cleo is not affected.
    receive(try cleo.sendText(), from: cleo.member)
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.objectIDs.count == 2)
  }

  @Test("[AUT-5] another member's batch counts as the sender's own, or is refused") func replayedBatch() throws {
    join()
    _ = cleo.hello()
    let batch = try cleo.sendText()
    receive(bo.hello())
    receive(batch)
    // A batch in link form does not contain its author. So the batch counts as Bo's, and Bo did not sign it.
    #expect(anna.replica.board.state.context.contains(cleo.incarnation) == false)
    _ = refusals()
    receive(cleo.head())
    #expect(refusals() == [.brokenChain])
  }

  @Test("[AUT-5] a member's record with a head that the member did not sign is refused") func forgedHeadOfAuthor()
    throws
  {
    join()
    let head = cleo.author.sign(bo.chain)
    receive(SyncMessage.author(AuthorMessage(record: bo.record.bytes, head: head)).encode())
    #expect(refusals() == [.wrongSignature])
    receive(try bo.sendText())
    #expect(hasNothing)
  }

  @Test("[AUT-1] a record of another board, or with a wrong signature, is refused") func wrongRecords() throws {
    var other = ScriptedReplica(9, board: try #require(BoardID(bytes: 2...17)))
    join()
    receive(other.hello())
    #expect(refusals() == [.wrongBoard])
    join()
    var record = bo.record.bytes
    record[record.count - 1] ^= 1
    receive(SyncMessage.author(AuthorMessage(record: record, head: bo.author.sign(bo.chain))).encode())
    #expect(refusals() == [.wrongSignature])
    #expect(hasNothing)
  }

  @Test("[AUT-4] a viewer's batch is refused; a viewer is not asked and does not answer") func viewer() throws {
    bo = ScriptedReplica(9, role: .viewer)
    join()
    receive(bo.hello())
    log += anna.replica.tick(now: later(10_000))
    for case .send(let bytes, _) in log.take() {
      if case .request? = try SyncMessage.decode(bytes) { Issue.record("a viewer was asked") }
    }
    receive(try bo.sendText())
    #expect(refusals() == [.viewer])
    #expect(hasNothing)
    let viewer = Replica(
      author: Author(board: World.board, key: SimulatedKey(77), role: .viewer),
      now: start,
      verifier: SimulatedVerifier()
    )
    #expect(throws: BoardError.viewer) {
      try viewer.change(now: start) { board in try board.createText("x", at: Point(x: 0, y: 0)) }
    }
    _ = viewer.peerJoined(cleo.member, now: start)
    _ = viewer.received(cleo.hello(), from: cleo.member, now: start)
    _ = viewer.received(try cleo.sendText(), from: cleo.member, now: start)
    #expect(viewer.board.objectIDs.count == 1)
    let request = SyncMessage.request(CatchUpRequest(number: 1, context: Context()))
    #expect(viewer.received(request.encode(), from: cleo.member, now: start).isEmpty)
  }

  @Test("[AUT-6] the chain starts and continues as specified") func chain() throws {
    var chain = BatchChain(Incarnation(5))
    #expect(chain.hash == .sha256(Array("whiteboard-chain-1\n".utf8) + [0, 0, 0, 0, 0, 0, 0, 5]))
    let before = chain.hash
    chain.append([1, 2, 3], through: 4)
    #expect(chain.hash == .sha256(before.bytes + [1, 2, 3]) && chain.sequence == 4)
  }

  @Test("[AUT-7] an omitted batch is detected at the next head") func gap() throws {
    join()
    receive(bo.hello())
    receive(try bo.sendText())
    _ = try bo.sendText()
    receive(bo.head())
    #expect(refusals() == [.brokenChain])
  }

  @Test("[AUT-7] a head that is forged, outdated, or without an author is refused") func forgedHeads() throws {
    join()
    receive(bo.head())
    #expect(refusals() == [.noAuthor])
    join()
    receive(bo.hello())
    let early = bo.head()
    receive(try bo.sendText())
    receive(early)
    #expect(refusals() == [.brokenChain])
    join()
    receive(bo.hello())
    receive(SyncMessage.head(cleo.author.sign(bo.chain)).encode())
    #expect(refusals() == [.wrongSignature])
  }

  @Test("[AUT-5] an author message with an earlier sequence, or with a false start, is refused") func goingBack() throws
  {
    join()
    let first = bo.hello()
    receive(first)
    // A repeated author message has no effect.
    receive(first)
    #expect(refusals().isEmpty)
    receive(try bo.sendText())
    receive(first)
    #expect(refusals() == [.brokenChain])
    join()
    let chain = BatchChain(bo.incarnation, sequence: 0, hash: .sha256([]))
    receive(SyncMessage.author(AuthorMessage(record: bo.record.bytes, head: bo.author.sign(chain))).encode())
    #expect(refusals() == [.brokenChain])
  }

  @Test("[AUT-5] a new incarnation starts where the old one ended; the old one cannot continue") func newIncarnation()
    throws
  {
    join()
    let first = bo.hello()
    receive(first)
    receive(try bo.sendText())
    receive(bo.beginIncarnation())
    receive(try bo.sendText())
    receive(bo.head())
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.state.context.incarnationCount == 2)
    receive(first)
    #expect(refusals() == [.brokenChain])
  }

  @Test("[AUT-5] after a violation, a link is ignored until its member joins again") func afterBreach() throws {
    join()
    receive(bo.hello())
    receive([0x01, 0xFF])
    #expect(refusals().count == 1)
    // If the next batch were accepted, it would get the dots of the lost batch.
    receive(try bo.sendText())
    #expect(refusals().isEmpty && hasNothing)
    bo = ScriptedReplica(9)
    join()
    receive(bo.hello())
    receive(try bo.sendText())
    #expect(refusals().isEmpty)
    #expect(anna.replica.board.objectIDs.count == 1)
  }

  @Test("[AUT-7] a writer signs at most once a second, and before it leaves") func ownHeads() throws {
    join()
    var signed: [SignedHead] = []
    for step in UInt64(1)...100 {
      log += try anna.replica.change(now: later(step * 33)) { board in
        _ = try board.createText("x", at: Point(x: 0, y: 0))
      }.actions
      log += anna.replica.tick(now: later(step * 33))
      signed += try heads(log.take())
    }
    #expect(signed.count == 4)
    log += anna.replica.prepareToLeave(now: later(3301))
    let last = try heads(log.take())
    #expect(last.count == 1)
    #expect(last[0].sequence == anna.replica.board.written[anna.replica.board.incarnation].ranges[0].upperBound)
    // There are no new writes.
    log += anna.replica.prepareToLeave(now: later(3302))
    #expect(try heads(log.take()).isEmpty)
  }

  @Test("[AUT-7] the stored batches and heads prove their author to any peer") func proof() throws {
    join()
    receive(bo.hello())
    for _ in 0..<5 { receive(try bo.sendText()) }
    receive(bo.head())
    var record: AuthorRecord?
    var chain: BatchChain?
    var proven = 0
    for case .record(let change) in log.take() {
      switch change {
      case .author(let bytes, let incarnation):
        record = try AuthorRecord(bytes)
        try record?.verify(board: World.board, with: SimulatedVerifier())
        chain = BatchChain(incarnation)
      case .batch(let encoded): chain?.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
      case .head(let bytes, _, let sequence):
        var reader = ByteReader(bytes)
        let head = try SignedHead(&reader)
        #expect(head.sequence == sequence && head.sequence == chain?.sequence)
        #expect(head.hash == chain?.hash)
        try head.verify(by: #require(record), with: SimulatedVerifier())
        proven += 1
      default: break
      }
    }
    #expect(proven == 1)
  }

  @Test("[I12] endless author messages use no more memory than their limit") func flood() throws {
    join()
    receive(bo.hello())
    for _ in 0..<500 { receive(bo.beginIncarnation()) }
    // The record of an author without operations is dropped with the link.
    #expect(anna.replica.registry.count == 1)
    #expect(refusals().isEmpty)
  }
}
