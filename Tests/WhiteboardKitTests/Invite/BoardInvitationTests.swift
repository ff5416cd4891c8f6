import CommandLines
import Foundation
import Testing

@testable import WhiteboardKit

@Suite(.timeLimit(.minutes(5))) struct BoardInvitationTests: BoardSuite {
  private func invitation(
    name: String = "standup",
    admit: String? = "code",
    code: String? = "borrow-good-adjust-boil",
    open: Bool = true,
    hosts: [String] = ["192.168.1.20", "203.0.113.9"]
  ) -> BoardInvitation {
    BoardInvitation(
      board: String(repeating: "a", count: 26),
      boardName: name,
      peer: String(repeating: "b", count: 52),
      admit: admit,
      code: code,
      open: open,
      hosts: hosts,
      port: 26_273
    )
  }

  @Test("each address has a link that names host, board, peer and code") func links() throws {
    let links = invitation().links
    #expect(links.count == 2)
    let link = try BoardLink(links[0])
    #expect(link.address.description == "192.168.1.20:26273")
    #expect(link.code == ["borrow", "good", "adjust", "boil"])
    #expect(link.peer == String(repeating: "b", count: 52))
  }

  @Test("the invitation of a board that is not open shows the command that hosts it") func closed() {
    let text = invitation(name: "Ada's \u{1B}[31mboard", open: false).text()
    #expect(text.contains("is not open here now"))
    #expect(text.contains(#"whiteboard-peer host 'Ada'\''s \u{1b}[31mboard'"#))
    #expect(!text.contains("\u{1B}"))
    #expect(invitation(admit: nil, code: nil, open: false).text().contains("The board has no code yet"))
    #expect(invitation(hosts: []).text().contains("whiteboard-peer doctor"))
  }

  @Test("other programs can find a board while it is open") func openBoard() async throws {
    try await withRoom { room in
      let scriptedBoard = ScriptedBoard()
      let hosting = await room.configuration(.host(boardName: "standup"), "ada")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await scriptedBoard.run(hosting) }
        let ready = try #require(await scriptedBoard.ready())
        // The event comes before the file, but the file exists before any command is answered.
        try await scriptedBoard.perform("digest")
        let open = try #require(OpenBoard.all(inDataDirectory: room.path("ada")).first)
        #expect(open.board == ready.board)
        #expect(BoardInvitation(open).links.first == ready.link)
        #expect(BoardInvitation(open).code == ready.code)
        await scriptedBoard.end()
        try await group.waitForAll()
      }
      #expect(OpenBoard.all(inDataDirectory: room.path("ada")).isEmpty)
    }
  }

  @Test("the file of an open board is ignored after its program has ended") func stale() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: directory) }
    let open = directory.appending(path: "open")
    try FileManager.default.createDirectory(at: open, withIntermediateDirectories: true)
    let board = OpenBoard(
      board: "a",
      boardName: "standup",
      peer: "b",
      port: 1,
      listen: nil,
      interface: nil,
      admit: "ask",
      code: nil
    )
    try JSONEncoder().encode(board).write(to: open.appending(path: "a.json"))
    #expect(OpenBoard.all(inDataDirectory: directory.path).isEmpty)
    let held = OpenBoardFile(board, inDataDirectory: directory.path)
    #expect(OpenBoard.all(inDataDirectory: directory.path) == [board])
    withExtendedLifetime(held) {}
  }
}
