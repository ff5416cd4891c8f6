import CommandLines
import PeerSession
import Testing
import WhiteboardDocument

@testable import WhiteboardKit

/// Joining a board by its address only, and joining it again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct JoiningAgainTests: BoardSuite {
  /// Runs a guest until `body` is done.
  private func withGuest(
    _ configuration: BoardConfiguration,
    _ body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void
  ) async throws {
    let guest = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await guest.run(configuration) }
      guard let ready = await guest.ready() else {
        // The error of the first task is more informative than the end of the other tasks.
        try await group.next()
        return
      }
      try await guest.perform("wait peers=1 timeout=30")
      try await body(guest, ready)
      await guest.end()
      try await group.waitForAll()
    }
  }

  private func withHost(
    in room: BoardRoom,
    _ body: (ScriptedBoard, SharedBoard.News.Ready, BoardConfiguration) async throws -> Void
  ) async throws {
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      let hosting = await room.configuration(.host(boardName: "plan"), "ada")
      group.addTask { try await host.run(hosting) }
      let ready = try #require(await host.ready())
      let address = try #require(ready.addresses.first.flatMap { HostPort($0) })
      var joining = await room.configuration(.join(.address(address), patience: .seconds(1)), "ben")
      joining.code = ready.code.flatMap { try? JoinCode(words: $0) }
      try await body(host, ready, joining)
      await host.end()
      try await group.waitForAll()
    }
  }

  private func boards(_ configuration: BoardConfiguration) async throws -> [DocumentSummary] {
    try await BoardLibrary(directory: configuration.boardsDirectory).list()
  }

  @Test("a board that is joined by its address only has the name that its host gave it") func nameByAddress()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room) { _, _, joining in
        try await withGuest(joining) { _, ready in #expect(ready.boardName == "plan") }
        #expect(try await boards(joining).map(\.name) == ["plan"])
      }
    }
  }

  @Test("a copy that was named with an id prefix gets the board's name when it is joined again") func correctedName()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room) { _, _, joining in
        var board = ""
        try await withGuest(joining) { _, ready in board = ready.board }
        let path = try #require(try await boards(joining).first?.path)
        let document = try await BoardDocument.open(at: path, mode: .writing)
        try await document.rename(to: String(board.prefix(8)))
        try await document.close()
        try await withGuest(joining) { _, ready in #expect(ready.boardName == "plan") }
        #expect(try await boards(joining).map(\.name) == ["plan"])
      }
    }
  }

  @Test("boards are listed with their titles, and a title opens its board") func title() async throws {
    try await withRoom { room in
      try await withHost(in: room) { host, ready, joining in
        try await withGuest(joining) { guest, _ in
          try await host.perform(#"set title "Plan B""#)
          let isHere = await guest.sees {
            if case .change(.settings(let settings), _) = $0 { settings.title == "Plan B" } else { false }
          }
          #expect(isHere)
          try await guest.perform("save")
        }
        let summary = try #require(try await boards(joining).first)
        #expect(summary.name == "plan" && summary.title == "Plan B")
        #expect(BoardLibrary.Filter(text: "plan b").passes(summary))
        var opening = joining
        opening.part = .host(boardName: "Plan B")
        try await withGuest(opening) { _, opened in #expect(opened.board == ready.board) }
        #expect(try await boards(joining).count == 1)
      }
    }
  }

  @Test("[MEM-17] a returning member with a wrong code shows the host's code, and no other") func wrongCode()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room) { _, first, joining in
        try await withGuest(joining) { guest, _ in try await guest.perform("save") }
        var again = joining
        again.code = .random()
        try await withGuest(again) { guest, ready in
          #expect(ready.code == nil && ready.link.isEmpty && ready.admitters?.count == 1)
          let isCorrected = await guest.sees {
            if case .news(.admission(let admission)) = $0 {
              admission.code == first.code && !admission.link.isEmpty
            } else {
              false
            }
          }
          #expect(isCorrected)
          let isWarned = await guest.sees {
            if case .news(.warning(let warning)) = $0 { warning.code == "code-differs" } else { false }
          }
          #expect(isWarned)
        }
      }
    }
  }

  @Test("a board that was joined by its address needs no code when it is joined there again") func withoutCode()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room) { _, first, joining in
        try await withGuest(joining) { guest, _ in try await guest.perform("save") }
        var again = joining
        again.code = nil
        try await withGuest(again) { guest, ready in #expect(ready.board == first.board && ready.code == first.code) }
        var stranger = again
        stranger.identity = .ephemeral()
        stranger.dataDirectory = room.path("eve")
        await #expect { try await ScriptedBoard().run(stranger) } throws: {
          ($0 as? WhiteboardError)?.message.contains("--code") ?? false
        }
      }
    }
  }
}
