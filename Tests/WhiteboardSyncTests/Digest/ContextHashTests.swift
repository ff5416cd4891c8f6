import BoardWorlds
import Testing

@testable import WhiteboardSync

/// The work for the hash of the context, which grows with the number of incarnations.
@Suite struct ContextHashTests {
  @Test("a report without sums needs no hash of the local context") func lazy() throws {
    let world = World(seed: 15, nodes: 1)
    let anna = world.nodes[0].replica
    var bo = ScriptedReplica(9)
    let now = world.now(0)
    _ = anna.peerJoined(bo.member, now: now)
    _ = anna.received(bo.hello(), from: bo.member, now: now)
    let before = anna.reports.hashedContexts
    for _ in 0..<20 {
      world.edit(0)
      _ = anna.received(SyncMessage.state(ReplicaReport(contextHash: 1, sums: [])).encode(), from: bo.member, now: now)
    }
    #expect(anna.reports.hashedContexts == before)
    _ = anna.reports.currentContextHash
    _ = anna.reports.currentContextHash
    #expect(anna.reports.hashedContexts == before + 1)
    #expect(anna.hasSameContext(as: bo.member) == false)
  }
}
