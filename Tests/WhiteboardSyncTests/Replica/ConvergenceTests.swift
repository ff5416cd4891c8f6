import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct ConvergenceTests {
  @Test(
    "[SYN-1] replicas that edited through loss, cuts and crashes converge to the same board",
    arguments: 0..<repetitions(20, optimized: 60)
  )
  func converges(seed: UInt64) {
    let world = World(seed: seed, nodes: 2 + Int(seed % 4))
    world.connectAll()
    for _ in 0..<250 { world.happen() }
    world.connectAll()
    #expect(world.settle(), "seed \(seed) did not settle")
    #expect(world.settleAssets(), "seed \(seed) lacks assets")
    world.check()
    #expect(world.complaints.isEmpty, "seed \(seed): \(world.complaints)")
    #expect(world.delivered > 60, "seed \(seed): few deliveries")
  }

  @Test("[SYN-15] edits that a member sent to only some before it crashed reach all") func lastWords() throws {
    let world = World(seed: 7, nodes: 4)
    world.connectAll()
    #expect(world.settle())
    // The fourth node is connected only with the first, and crashes.
    world.disconnect(3, 1)
    world.disconnect(3, 2)
    let (id, actions) = try world.nodes[3].replica.change(now: world.now(3)) { board in
      try board.createText("last words", at: Point(x: 0, y: 0))
    }
    world.carryOut(actions, 3)
    for _ in 0..<5 { world.step(20) }
    #expect(world.nodes[0].replica.board.object(id) != nil)
    #expect(world.nodes[1].replica.board.object(id) == nil)
    world.disconnect(3, 0)
    for _ in 0..<100 { world.step(25) }
    #expect(world.nodes[1].replica.board.object(id) != nil)
    #expect(world.nodes[2].replica.board.object(id) != nil)
  }

  @Test("[SYN-11] a late joiner gets the whole board and chat once, with or without the host") func lateJoiner() throws
  {
    let world = World(seed: 3, nodes: 4)
    for one in 0..<3 { for other in 0..<3 { world.connect(one, other) } }
    for _ in 0..<100 {
      world.edit(0)
      world.edit(1)
      world.step(10)
    }
    world.disconnect(0, 1)
    world.disconnect(0, 2)
    world.connect(3, 1)
    world.connect(3, 2)
    for _ in 0..<300 { world.step(25) }
    #expect(world.nodes[3].replica.digest == world.nodes[1].replica.digest)
    #expect(world.nodes[3].replica.board.chat == world.nodes[1].replica.board.chat)
    #expect(world.nodes[3].replica.board.objectIDs.count > 10)
  }

  @Test("[SYN-13] a member that joins during edits gets all of them, even if the host leaves then")
  func joinsWhileDrawing() throws {
    let world = World(seed: 9, nodes: 4, weather: .init(cuts: 0, crashes: 0))
    for one in 0..<3 { for other in 0..<3 { world.connect(one, other) } }
    for _ in 0..<100 {
      world.edit(0)
      world.edit(1)
      world.step(10)
    }
    // Later, the host may commit points of a stroke that no other node receives.
    let told = world.nodes[0].replica.board.state.context
    // Messages on a link that breaks are lost.
    for _ in 0..<20 { world.step(10) }
    for other in 0..<3 { world.connect(3, other) }
    for step in 0..<200 {
      world.edit(1)
      world.edit(2)
      world.edit(3)
      if step == 2 { for other in 1..<4 { world.disconnect(0, other) } }
      world.step(10)
    }
    for _ in 0..<400 { world.step(25) }
    let joiner = world.nodes[3].replica
    #expect(joiner.digest == world.nodes[1].replica.digest)
    #expect(joiner.digest == world.nodes[2].replica.digest)
    #expect(joiner.board.objectIDs.count > 30)
    #expect(world.violations.isEmpty)
    // Everything that the host had sent has arrived, with its authors.
    #expect(joiner.board.state.context.isSuperset(of: told))
    let host = world.nodes[0]
    #expect(!joiner.board.state.context[host.replica.board.incarnation].ranges.isEmpty)
    #expect(joiner.board.member(of: host.replica.board.incarnation) == host.member)
  }

  @Test("[SYN-1] with real signatures, replicas converge too", arguments: [63, 127]) func converges(realSeed: UInt64) {
    converges(seed: realSeed)
  }

  @Test("[SYN-16] a member is synced only when another member has all its edits") func synced() throws {
    let world = World(seed: 5, nodes: 2)
    #expect(world.nodes[0].replica.isSynced(now: world.now(0)))
    world.connect(0, 1)
    #expect(!world.nodes[0].replica.isSynced(now: world.now(0)))
    #expect(world.settle())
    let (_, actions) = try world.nodes[0].replica.change(now: world.now(0)) { board in
      try board.createText("x", at: Point(x: 0, y: 0))
    }
    #expect(!world.nodes[0].replica.isSynced(now: world.now(0)))
    world.carryOut(actions, 0)
    #expect(!world.nodes[0].replica.isSynced(now: world.now(0)))
    #expect(world.settle())
    #expect(world.nodes[1].replica.board.objectIDs.count == 1)
  }

  @Test("[SYN-16] during constant edits, a member is synced once all have caught up") func syncedInABusyRoom() {
    let world = World(seed: 6, nodes: 3, weather: .init(failures: 0, loss: 0, cuts: 0, crashes: 0, skew: 0))
    world.connectAll()
    #expect(world.settle())
    var wasSynced = 0
    for round in 0..<400 {
      world.edit(1)
      world.edit(2)
      world.step(15)
      if round > 200, world.nodes[0].replica.isSynced(now: world.now(0)) { wasSynced += 1 }
    }
    #expect(wasSynced > 100)
  }
}
