import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct ObjectTableTests {
  @Test("[SYN-3] the table finds the same as a dictionary", arguments: 0..<20) func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var table = ObjectTable()
    table.reserve(random.below(100))
    var ids: [ObjectID] = []
    var model: Set<ObjectID> = []
    var removed = 0
    for _ in 0..<2000 {
      let id = ObjectID(Dot(Incarnation(UInt64(1 + random.below(3))), UInt64(1 + random.below(300))))
      if let place = table.find(id, in: ids) {
        #expect(ids[place] == id && model.contains(id))
        guard random.chance(60) else { continue }
        table.willSwapRemove(place, of: ids)
        ids.swapAt(place, ids.count - 1)
        ids.removeLast()
        model.remove(id)
        removed += 1
      } else {
        #expect(!model.contains(id))
        ids.append(id)
        table.appended(to: ids)
        model.insert(id)
      }
    }
    for id in model { #expect(table.find(id, in: ids).map { ids[$0] } == id) }
    #expect(ids.count == model.count && removed > 100)
  }
}
