import Testing
import WhiteboardSync

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Members on a terminal") struct MembersTests {
  @Test("a member that returns through another route neither leaves nor joins") func rerouted() throws {
    let bob = try Desk.memberID(2)
    var members = Members()
    let joined = members.join(bob, name: "Bob", now: .zero)
    let rerouted = members.leave(bob, "Bob", .init(reason: "rerouted", undelivered: 0))
    let isEmpty = members.isEmpty
    let returned = members.join(bob, name: "Bob", now: .zero)
    let left = members.leave(bob, "Bob", .init(reason: "quit", undelivered: 0))
    let joinedAgain = members.join(bob, name: "Bob", now: .zero)
    #expect(joined && rerouted == nil && isEmpty && !returned)
    #expect(left?.hasPrefix("Bob ") == true && joinedAgain)
  }

  @Test("the presence of a member that has not joined yet is shown when it joins") func earlyPresence() throws {
    let bob = try Desk.memberID(2)
    var members = Members()
    let presence = try Presence(cursor: Point(x: 1, y: 2))
    members.show(presence, of: bob, now: .zero)
    #expect(members.isEmpty)
    _ = members.join(bob, name: "Bob", now: .seconds(1))
    #expect(members.all[bob]?.presence == presence)
  }

  @Test("changes are counted while a member is unreachable") func waitingChanges() throws {
    let bob = try Desk.memberID(2)
    var members = Members()
    _ = members.join(bob, name: "Bob", now: .zero)
    members.countWaitingChange()
    members.show(.init(peer: bob.description, name: "Bob", state: .reconnecting), now: .seconds(3))
    members.countWaitingChange()
    members.show(.init(peer: bob.description, name: "Bob", state: .reconnecting), now: .seconds(5))
    #expect(members.all[bob]?.waitingChanges == 1)
    #expect(members.all[bob]?.silentSince == .seconds(3) && members.isTicking(at: .seconds(6)))
    members.show(.init(peer: bob.description, name: "Bob", state: .connected), now: .seconds(7))
    #expect(members.all[bob]?.waitingChanges == 0 && !members.isTicking(at: .seconds(8)))
    members.show(.init(peer: bob.description, name: "Bob", state: .lost), now: .seconds(9))
    #expect(members.isEmpty)
  }

  @Test("members are followed in the order of their names, and after the last one the user follows none")
  func following() throws {
    let (cy, bob) = (try Desk.memberID(1), try Desk.memberID(2))
    var members = Members()
    #expect(members.nextToFollow == nil)
    _ = members.join(cy, name: "Cy", now: .zero)
    _ = members.join(bob, name: "Bob", now: .zero)
    #expect(members.nextToFollow == bob)
    members.follow(bob)
    #expect(members.nextToFollow == cy)
    members.follow(cy)
    #expect(members.nextToFollow == nil)
    #expect(members.member(named: "BO") == bob && members.member(named: "x") == nil)
  }
}
