import PeerSession
import Testing
import WhiteboardKit

@testable import WhiteboardRelay

/// Owned boards on a relay.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OwnedRelayTests {
  @Test("[AUT-11] a relay owns a board it created, also after a restart, and its code admits editors") func own()
    async throws
  {
    try await RelayRoom.make { room in
      var link: String?
      try await room.running(try room.relay()) { relay in
        link = try await relay.createBoard(name: "standup", isOwned: true).link
        try await room.joined(link) { guest in
          try await guest.perform("text 0,0 one")
          try await guest.perform("wait synced timeout=30")
        }
      }
      try await room.running(try room.relay()) { relay in
        let report = try #require(await relay.onlyReport)
        try await room.joined(report.link, as: "cy") { guest in
          try await guest.perform("text 0,0 two")
          try await guest.perform("wait objects=2 timeout=30")
          try await guest.perform("wait synced timeout=30")
        }
      }
    }
  }

  @Test("[AUT-11] an operator admits a viewer, makes it an editor, and removes it") func operated() async throws {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        #expect(try await relay.createBoard(name: "standup", isOwned: true).isOwned)
        func answer(_ command: ControlRequest.Command, _ change: (inout ControlRequest) -> Void = { _ in }) async
          -> [ControlLine]
        {
          var request = ControlRequest(command, board: "standup")
          change(&request)
          return await relay.answer(request)
        }
        let lines = await answer(.invite) { $0.terms = InvitationTerms(isView: true, seconds: 60) }
        guard case .invitation(let view)? = lines.first else {
          Issue.record("\(lines)")
          return
        }
        #expect(view.role == "viewer" && view.expires != nil)
        try await room.joined(view.link) { guest in
          let refused = await #expect(throws: CommandError.self) { try await guest.perform("text 0,0 one") }
          #expect(refused?.code == .viewer)
          let unknown = await answer(.role) {
            $0.peer = "nobody"
            $0.role = "editor"
          }
          if case .error? = unknown.last {} else { Issue.record("\(unknown)") }
          _ = await answer(.role) {
            $0.peer = "ben"
            $0.role = "editor"
          }
          let isEditor = await guest.sees {
            if case .news(.role(let told)) = $0 { told.isOwn && told.role == "editor" } else { false }
          }
          #expect(isEditor)
          try await guest.perform("text 0,0 one")
          let kicked = await answer(.kick) { $0.peer = "ben" }
          guard case .invitation(let made)? = kicked.first else {
            Issue.record("\(kicked)")
            return
          }
          // The relay serves the board with the new code after a restart.
          let directory = await relay.configuration.dataDirectory
          let stored = try BoardRegister(inDataDirectory: directory)
          #expect(stored.entries.map(\.code) == [made.code])
          try await guest.perform("wait peers=0 timeout=30")
        }
      }
    }
  }

  @Test("at least four characters of an id select a board") func meant() async throws {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        let board = try await relay.createBoard(name: "standup").board
        let short = await relay.answer(ControlRequest(.delete, board: String(board.prefix(3))))
        if case .error? = short.last {} else { Issue.record("\(short)") }
        #expect(await relay.reports().count == 1)
        let long = await relay.answer(ControlRequest(.delete, board: String(board.prefix(4))))
        guard case .board(let deleted)? = long.first else {
          Issue.record("\(long)")
          return
        }
        #expect(deleted.board == board && deleted.state == "deleted")
        #expect(await relay.reports().isEmpty)
      }
    }
  }
}
