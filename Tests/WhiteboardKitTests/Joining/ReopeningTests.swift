import CommandLines
import PeerSession
import Testing

@testable import WhiteboardKit

/// Members that reopen a board that they joined before.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ReopeningTests: BoardSuite {
  @Test("a board has one code, that of its host, even if a member opens its own copy")
  func oneCode() async throws {
    try await withRoom { room in
      let identity = PeerIdentity.ephemeral()
      let (host, guest, again) = (ScriptedBoard(), ScriptedBoard(), ScriptedBoard())
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var joining = try await room.joining(ready)
        joining.identity = identity
        joining.admission = .code
        let member = joining
        let joined = try await withThrowingTaskGroup(of: Void.self) { inner in
          inner.addTask { try await guest.run(member) }
          let joined = try #require(await guest.ready())
          #expect(joined.code == ready.code && ready.code != nil)
          try await guest.perform("wait peers=1 timeout=30")
          // Save the membership and the code to disk.
          try await guest.perform("save")
          await guest.end()
          try await inner.waitForAll()
          return joined
        }
        var opening = joining
        opening.part = .host(boardName: joined.boardName.raw)
        let reopened = opening
        group.addTask { try await again.run(reopened) }
        let opened = try #require(await again.ready())
        #expect(opened.board == ready.board && opened.code == ready.code)
        try await again.perform("wait peers=1 timeout=30")
        await again.end()
        await host.end()
        try await group.waitForAll()
      }
    }
  }
}
