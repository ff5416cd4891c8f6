import Testing
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Changes that are not drawn yet") struct ChangeQueueTests {
  @Test("a long queue has only the latest change of each member") func thinning() throws {
    let queue = ChangeQueue()
    let member = Desk.member(try Desk.memberID(2))
    for x in 0..<4_096 { queue.append(.change(.presence(try Presence(cursor: Point(x: Double(x), y: 0)), of: member))) }
    var reports: [ChangeQueue.Report] = []
    while let report = queue.popFirst() { reports.append(report) }
    guard case .change(.presence(let presence, _))? = reports.first, reports.count == 1 else {
      Issue.record("\(reports.count) reports")
      return
    }
    #expect(presence.cursor == Point(x: 4_095, y: 0))
    if queue.popFirst() != nil { Issue.record("the queue is not empty") }
  }

  @Test("the changes that a long queue keeps are in their order") func order() throws {
    let queue = ChangeQueue()
    let members = [Desk.member(try Desk.memberID(2)), Desk.member(try Desk.memberID(3))]
    for x in 0..<4_096 {
      let presence = try Presence(cursor: Point(x: Double(x), y: 0))
      queue.append(.change(.presence(presence, of: members[x == 0 ? 0 : 1])))
    }
    var places: [Double?] = []
    while let report = queue.popFirst() {
      if case .change(.presence(let presence, _)) = report { places.append(presence.cursor?.x) }
    }
    #expect(places == [0, 4_095])
  }
}
