import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The work for the hash of the context, which grows with the number of incarnations.
@Suite struct ContextHashTests {
  @Test("[SYN-25] the encoding with a reused order is the canonical one, also after incarnations came and went")
  func order() {
    var random = SystemRandomNumberGenerator()
    var set = DotSet()
    var order: [Int] = []
    for step in 0..<200 {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let incarnation = Incarnation(UInt64.random(in: 1...60, using: &random))
        let first = UInt64.random(in: 1...40, using: &random)
        set.insert(first...(first + 2), of: incarnation)
      }
      if step % 7 == 6 { set.removeAll(of: Set(set.incarnations.prefix(2))) }
      if step % 11 == 10, let last = set.incarnations.last { _ = set.removeAll(after: 1, of: last) }
      let encoded = ContextCoding.encode(set, reusing: &order)
      #expect(encoded == ContextCoding.encode(set))
      #expect(order.count == set.incarnationCount)
      #expect((try? ContextCoding.decode(encoded)) == set)
    }
  }

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
