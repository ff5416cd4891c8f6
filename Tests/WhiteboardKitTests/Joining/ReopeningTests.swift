import CommandLines
import PeerSession
import Testing

@testable import WhiteboardKit

/// Members that reopen a board that they joined before.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ReopeningTests: BoardSuite {
  @Test("a board has one code, that of its host, even if a member opens its own copy") func oneCode() async throws {
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

  @Test("a second window of one user is refused before it disturbs the first one", arguments: [true, false])
  func secondWindow(byLink: Bool) async throws {
    try await withRoom { room in
      let (host, first, second) = (ScriptedBoard(), ScriptedBoard(), ScriptedBoard())
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        let joining = try await room.joining(ready)
        group.addTask { try await first.run(joining) }
        try #require(await first.ready() != nil)
        try await host.perform("wait peers=1 timeout=30")
        var again = joining
        if !byLink {
          again.part = .join(.name("board"), patience: .seconds(30))
          again.code = ready.code.flatMap { try? JoinCode(words: $0) }
        }
        let window = again
        do throws(WhiteboardError) {
          try await second.run(window)
          Issue.record("the second window opened the board")
        } catch { #expect(error.code == .timedOut && error.message.contains("another window"), "\(error)") }
        // Each window has its own session events, so these commands come after anything that the second window caused.
        try await first.perform("text 0,0 \"still here\"")
        try await host.perform("wait objects=1 timeout=30")
        let joins = await host.events.count { if case .change(.joined, _) = $0 { true } else { false } }
        let departures = await first.events.count { if case .change(.left, _) = $0 { true } else { false } }
        #expect(joins == 1 && departures == 0)
        await first.end()
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("each command that is typed while the program searches is answered once", arguments: [true, false])
  func typedWhileSearching(isTyped: Bool) async throws {
    try await withRoom { room in
      let board = ScriptedBoard()
      var joining = await room.configuration(.join(.name("nosuch"), patience: .seconds(isTyped ? 60 : 1)), "ben")
      joining.isTyped = isTyped
      let configuration = joining
      let running = Task { try await board.run(configuration) }
      _ = await board.sees { if case .news(.joining) = $0 { true } else { false } }
      #expect(await error(board, "objects") == (isTyped ? .notConnected : .ending))
      if isTyped {
        try await board.perform("help")
        try await board.perform("peers")
        try await board.perform("quit")
        try await running.value
      } else {
        await #expect(throws: WhiteboardError.self) { try await running.value }
      }
    }
  }
}
