import PeerSession
import Testing
import WhiteboardNode

@testable import WhiteboardRelay

/// Boards on a relay that somebody owns.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct OwnedRelayTests {
  @Test(
    "[AUT-11] a relay owns a board that it made so, also after a restart, and lets write by its code"
  )
  func own() async throws {
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
}
