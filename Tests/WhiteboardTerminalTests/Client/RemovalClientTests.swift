import Testing

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("A user whom the host removed, on a terminal") struct RemovalClientTests {
  private static func removed(readOnly: Bool = true, canContinue: Bool = true) throws -> SharedBoard.News.Removed {
    SharedBoard.News.Removed(
      peer: try Desk.memberID(2).description,
      name: "Bob",
      reason: "too loud",
      message: "Bob removed you from this board: too loud. Your copy is kept.",
      readOnly: readOnly,
      canContinue: canContinue
    )
  }

  @Test("a box shows the host and the reason, and one key continues with the local copy") func box() throws {
    var desk = try Desk()
    _ = desk.client.receive(.news(.removed(try Self.removed())))
    #expect(desk.lines().contains { $0.contains("Bob removed you from this board: too loud.") })
    #expect(desk.lines().contains { $0.contains("c      continue with your own copy") })
    #expect(desk.client.session.members.isEmpty)
    // The box ignores a key that was typed before it appeared.
    #expect(desk.type("c") == [])
    desk.now += .seconds(2)
    #expect(desk.type("c") == ["continue"])
    _ = desk.client.receive(.news(.removed(try Self.removed(readOnly: false))))
    #expect(desk.lines().last?.contains("this is your own copy") == true)
  }

  @Test("the box closes without a decision, and the last line shows the state") func later() throws {
    var desk = try Desk()
    _ = desk.client.receive(.news(.removed(try Self.removed())))
    desk.now += .seconds(2)
    #expect(desk.type("\r") == [])
    #expect(!desk.lines().contains { $0.contains("continue with your own copy") })
    #expect(desk.lines().last?.contains("Bob removed you; read-only") == true)
  }

  @Test("for a board of another owner, no key offers to continue") func owned() throws {
    var desk = try Desk()
    _ = desk.client.receive(.news(.removed(try Self.removed(canContinue: false))))
    desk.now += .seconds(2)
    #expect(!desk.lines().contains { $0.contains("continue with your own copy") })
    #expect(desk.type("c") == [])
    #expect(desk.client.session.removal.shownSince != nil)
  }

  @Test("the removal ends when the host returns, which has admitted the user again") func readmitted() throws {
    var desk = try Desk()
    _ = desk.client.receive(.news(.removed(try Self.removed())))
    _ = desk.client.receive(Desk.joined(try Desk.memberID(2), "Bob"))
    #expect(desk.client.session.removal.removal == nil && desk.client.session.removal.shownSince == nil)
  }
}
