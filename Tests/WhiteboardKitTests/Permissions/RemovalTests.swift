import CommandLines
import PeerSession
import Testing
import WhiteboardDocument

@testable import WhiteboardKit

/// The view and the choices of a user whom the host removed from the board.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemovalTests: BoardSuite {
  private func removed(_ scriptedBoard: ScriptedBoard) async -> SharedBoard.News.Removed? {
    _ = await scriptedBoard.sees { if case .news(.removed) = $0 { true } else { false } }
    return await lastRemoved(scriptedBoard)
  }

  private func lastRemoved(_ scriptedBoard: ScriptedBoard) async -> SharedBoard.News.Removed? {
    var last: SharedBoard.News.Removed?
    for case .news(.removed(let removed)) in await scriptedBoard.events { last = removed }
    return last
  }

  private func refusal(_ scriptedBoard: ScriptedBoard, _ line: String) async -> String? {
    do throws(CommandError) {
      try await scriptedBoard.perform(line)
      return nil
    } catch { return error.code == .removed ? error.message : nil }
  }

  @Test("[MEM-10] a removed user learns by whom and why; the copy is read-only until they decide") func kicked()
    async throws
  {
    try await withPair { _, host, guest in
      try await guest.perform("text 0,0 mine as=mine")
      try await host.perform("wait objects=1 timeout=30")
      try await host.perform(#"kick ben "too loud""#)
      let removed = try #require(await removed(guest))
      #expect(removed.message == "ada removed you from this board: too loud. Your copy is kept.")
      #expect(removed.name == "ada" && removed.reason == "too loud")
      #expect(removed.readOnly && removed.canContinue)
      #expect(EventText.line(.removed(removed))?.contains("`continue`") == true)
      for line in ["text 1,1 x", "move mine 5,5", "delete mine", "undo", "say hello"] {
        #expect(await refusal(guest, line)?.contains("`continue`") == true, "\(line)")
      }
      #expect(await error(guest, "objects") == nil)
      try await guest.perform("continue")
      #expect(await lastRemoved(guest)?.readOnly == false)
      try await guest.perform("move mine 5,5")
      try await guest.perform("wait objects=1 timeout=1")
      // The text lines report the removal once, and not as the departure of the host.
      let lines = await guest.events.compactMap { EventText.line($0) }
      #expect(!lines.contains { $0.contains("is gone: kicked") })
    }
  }

  @Test("only a removed user continues with a copy") func nothingToContinue() async throws {
    try await withPair { _, host, guest in
      #expect(await error(guest, "continue") == .refused)
      #expect(await error(host, "continue") == .refused)
    }
  }

  /// Opens the guest's copy again, as the program does when the user opens a board by name.
  private func reopened(_ configuration: BoardConfiguration, _ body: (ScriptedBoard) async throws -> Void) async throws
  {
    let guest = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await guest.run(configuration) }
      try #require(await guest.ready() != nil)
      try await body(guest)
      await guest.end()
      try await group.waitForAll()
    }
  }

  @Test("[MEM-10] a removal survives a restart, and so does the decision to continue") func restarted() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var joining = try await room.joining(ready)
        joining.identity = .ephemeral()
        try await reopened(joining) { guest in
          try await guest.perform("text 0,0 mine")
          try await host.perform("wait objects=1 timeout=30")
          try await host.perform(#"kick ben "too loud""#)
          _ = try #require(await removed(guest))
        }
        // Joining again is refused with the reason and the remaining options.
        do throws(WhiteboardError) {
          try await ScriptedBoard().run(joining)
          Issue.record("a removed peer joined")
        } catch {
          #expect(error.code == .notAllowed && error.isRemoval)
          #expect(error.message.contains("ada removed you from this board: too loud."))
          #expect(error.message.contains("--offline"))
        }
        var opening = joining
        opening.part = .host(boardName: "board")
        try await reopened(opening) { guest in
          let told = try #require(await removed(guest))
          #expect(told.readOnly && told.message.contains("too loud"))
          #expect(await refusal(guest, "text 1,1 x") != nil)
          try await guest.perform("wait objects=1 timeout=1")
          try await guest.perform("continue")
          try await guest.perform("text 1,1 more")
        }
        try await reopened(opening) { guest in
          #expect(await removed(guest)?.readOnly == false)
          try await guest.perform("text 2,2 more")
          try await guest.perform("wait objects=3 timeout=1")
        }
        // None of these edits reach the board.
        try await host.perform("wait objects=1 timeout=1")
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a copy of a board with another owner stays read-only, with advice on how to create a board") func owned()
    async throws
  {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.isOwned = true
        let owning = hosting
        group.addTask { try await host.run(owning) }
        let ready = try #require(await host.ready())
        let joining = try await room.joining(ready)
        try await reopened(joining) { guest in
          try await guest.perform("text 0,0 mine")
          try await host.perform("wait objects=1 timeout=30")
          try await host.perform("kick ben")
          let told = try #require(await removed(guest))
          #expect(told.message == "ada removed you from this board. Your copy is kept.")
          #expect(told.readOnly && !told.canContinue)
          #expect(await refusal(guest, "text 1,1 x")?.contains("boards duplicate") == true)
          #expect(await refusal(guest, "continue")?.contains("boards duplicate") == true)
        }
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a stored removal is decoded as it was encoded") func stored() throws {
    var removal = Removal(by: "abc", name: "ada", reason: "why?")
    removal.isContinued = true
    #expect(Removal(json: removal.json) == removal)
    #expect(removal.sentence == "ada removed you from this board: why?")
    #expect(Removal(json: "{}") == nil)
  }
}
