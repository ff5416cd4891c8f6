import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct KeepingTests {
  @Test(
    "[I11] what was kept is the board, from the beginning or from a keyframe",
    arguments: 0..<20
  )
  func restored(seed: UInt64) throws {
    let world = World(seed: seed, nodes: 3)
    world.connectAll()
    for step in 0..<150 {
      world.happen()
      if step == 75 { world.compact(1) }
    }
    for node in world.nodes {
      let replica = world.replica(node.key, world.now(0))
      try replica.restore(node.document, now: world.now(0))
      #expect(replica.takeActions().isEmpty)
      #expect(replica.digest == node.replica.digest, "seed \(seed)")
      #expect(replica.board.state.context == node.replica.board.state.context, "seed \(seed)")
      #expect(replica.board.incarnation != node.replica.board.incarnation)
      // All but what was never written.
      let authors = node.replica.board.authors.filter {
        node.replica.board.state.context.contains($0.key)
      }
      for (incarnation, member) in authors {
        #expect(replica.board.member(of: incarnation) == member, "seed \(seed)")
      }
    }
  }

  @Test("[BRD-1] whatever of the end is lost, no dot is used twice")
  func newIncarnation() throws {
    let world = World(seed: 5, nodes: 1)
    let node = world.nodes[0]
    for _ in 0..<30 { world.edit(0) }
    let written = node.replica.board.written
    for count in 0...node.document.count {
      let replica = world.replica(node.key, world.now(0))
      try replica.restore(node.document.prefix(count), now: world.now(0))
      let id = try replica.change(now: world.now(0)) { board in
        try board.createText("x", at: Point(x: 0, y: 0))
      }
      #expect(!written.contains(id.dot))
    }
  }

  @Test("what is damaged, or of another board, is not restored")
  func refused() throws {
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
    let other = Puppet(9, board: try #require(BoardID(2...17)))
    let replica = world.replica(node.key, world.now(0))
    #expect(throws: RestoreError.wrongBoard) {
      try replica.restore([.author(other.record.bytes, other.incarnation)], now: world.now(0))
    }
  }
}
