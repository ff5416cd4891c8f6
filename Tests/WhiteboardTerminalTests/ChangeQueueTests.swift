import Testing
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Changes that are not drawn yet") struct ChangeQueueTests {
  @Test("a long queue has only the latest change of each member") func thinning() throws {
    let queue = ChangeQueue()
    let member = try Desk.memberID(2)
    for x in 0..<4_096 { queue.append(.presence(member, try Presence(cursor: Point(x: Double(x), y: 0)))) }
    var changes: [BoardChange] = []
    while let change = queue.popFirst() { changes.append(change) }
    guard case .presence(_, let presence)? = changes.first, changes.count == 1 else {
      Issue.record("\(changes.count) changes")
      return
    }
    #expect(presence.cursor == Point(x: 4_095, y: 0))
    #expect(queue.popFirst() == nil)
  }
}
