import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct KeepingTests {
  @Test("[I11] stored changes give the board, from the beginning or from a keyframe", arguments: 0..<20) func restored(
    seed: UInt64
  ) throws {
    let world = World(seed: seed, nodes: 3)
    world.connectAll()
    for step in 0..<150 {
      world.happen()
      if step == 75 { world.compact(1) }
    }
    for node in world.nodes {
      let replica = world.replica(node.key, world.now(0))
      #expect(try replica.restore(node.document, now: world.now(0)).isEmpty)
      #expect(replica.digest == node.replica.digest, "seed \(seed)")
      #expect(replica.board.state.context == node.replica.board.state.context, "seed \(seed)")
      #expect(replica.board.incarnation != node.replica.board.incarnation)
      // All authors except those without operations.
      let authors = node.replica.board.authors.filter { node.replica.board.state.context.contains($0.key) }
      for (incarnation, member) in authors { #expect(replica.board.member(of: incarnation) == member, "seed \(seed)") }
    }
  }

  @Test("[SYN-42] an answer without effect has no effect after a restart either") func answerIsNoRepair() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    var bo = ScriptedReplica(9)
    let id = ObjectID(Dot(bo.incarnation, 1))
    let now = world.now(0)
    func story(_ color: UInt64) throws -> Difference {
      var state = BoardState()
      var changes = ChangeLog()
      try state.apply(
        try Batch(
          author: bo.incarnation,
          firstSequence: 1,
          time: HybridTime(9),
          operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .color, .unsigned(color))]
        ),
        changes: &changes
      )
      return state.difference(since: Context())
    }
    let log = ActionLog()
    log += node.replica.peerJoined(bo.member, now: now)
    log += node.replica.received(bo.hello(), from: bo.member, now: now)
    let first = bo.answer(try story(1))
    log += node.replica.receivedAnswer(first, request: 1, from: bo.member, now: now)
    // The same dots with other values, and one more dot, so that the answer is stored.
    let later = Moment(wall: now.wall, uptime: now.uptime + 6000)
    var other = try story(2)
    other.context.insert(Dot(bo.incarnation, 77))
    log += node.replica.received(SyncMessage.state(ReplicaReport(contextHash: 1)).encode(), from: bo.member, now: now)
    log += node.replica.tick(now: later)
    let second = bo.answer(other)
    log += node.replica.receivedAnswer(second, request: 2, from: bo.member, now: later)
    let kept = log.take().compactMap { action in if case .record(let change) = action { change } else { nil } }
    #expect(kept.count == 2)
    #expect(node.replica.board.snapshot(id)?.color == 1)
    let restored = world.replica(node.key, now)
    _ = try restored.restore(kept, now: now)
    #expect(restored.board.snapshot(id)?.color == 1)
    #expect(restored.digest == node.replica.digest)
  }

  @Test("games start again in a board that is created from another") func otherBoard() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    let now = world.now(0)
    let (id, _) = try node.replica.change(now: now) { board in try board.createConnectFour(at: Point(x: 0, y: 0)) }
    _ = try node.replica.change(now: now) { board in try board.game(id).play("3") }
    let author = Author(board: World.board, key: node.key)
    let copy = try node.replica.snapshotForAnotherBoard(by: author)
    let other = world.replica(node.key, now)
    _ = try other.restore([.keyframe(copy.keyframe)], now: now)
    #expect(other.digest == copy.digest)
    #expect(other.digest != node.replica.digest)
    let games = other.board.state.records.map(\.value)
    #expect(games.count == 1)
    #expect(games[0].entries.contains { $0.property.isMove } == false)
  }

  @Test("[BRD-1] if the last changes are lost, no dot is used twice") func newIncarnation() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    for _ in 0..<30 { world.edit(0) }
    let written = node.replica.board.written
    for count in 0...node.document.count {
      let replica = world.replica(node.key, world.now(0))
      _ = try replica.restore(node.document.prefix(count), now: world.now(0))
      let (id, _) = try replica.change(now: world.now(0)) { board in try board.createText("x", at: Point(x: 0, y: 0)) }
      #expect(!written.contains(id.dot))
    }
  }

  @Test("damaged changes, and those of another board, are not restored") func refused() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    for _ in 0..<30 { world.edit(0) }
    let keyframe = node.replica.snapshotForKeeping()
    for count in keyframe.indices {
      let replica = world.replica(node.key, world.now(0))
      #expect(throws: RestoreError.self) {
        try replica.restore([.keyframe(Array(keyframe.prefix(count)))], now: world.now(0))
      }
      #expect(replica.board.state.context.isEmpty)
    }
    let other = ScriptedReplica(9, board: try #require(BoardID(bytes: 2...17)))
    let replica = world.replica(node.key, world.now(0))
    #expect(throws: RestoreError.wrongBoard) {
      try replica.restore([.author(other.record.bytes, other.incarnation)], now: world.now(0))
    }
  }
}
