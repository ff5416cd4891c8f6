import CommandLines
import PeerSession
import Testing

@testable import WhiteboardKit

/// Removals that hold after a restart of the host.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KickingTests: BoardSuite {
  private func invited(_ scriptedBoard: ScriptedBoard) async -> SharedBoard.News.Invited? {
    var last: SharedBoard.News.Invited?
    for case .answer(.news(.invited(let invited)), _) in await scriptedBoard.events { last = invited }
    return last
  }

  private func withHost(
    _ configuration: BoardConfiguration,
    _ body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void
  ) async throws {
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await host.run(configuration) }
      let ready = try #require(await host.ready())
      try await body(host, ready)
      await host.end()
      try await group.waitForAll()
    }
  }

  /// Runs a guest until it is on the board, runs `body`, and ends it.
  private func withGuest(_ configuration: BoardConfiguration, _ body: (ScriptedBoard) async throws -> Void) async throws
  {
    try await withHost(configuration) { guest, _ in
      try await guest.perform("wait peers=1 timeout=30")
      try await body(guest)
    }
  }

  private func refusal(_ configuration: BoardConfiguration) async -> WhiteboardError? {
    do throws(WhiteboardError) {
      try await ScriptedBoard().run(configuration)
      return nil
    } catch { return error }
  }

  @Test("[MEM-12] the kicked key and the old code are refused after a restart; the new code admits") func code()
    async throws
  {
    try await withRoom { room in
      let hosting = await room.configuration(.host(boardName: "board"), "ada")
      var kicked: BoardConfiguration?
      var code = ""
      try await withHost(hosting) { host, ready in
        let joining = try await room.joining(ready)
        kicked = joining
        try await withGuest(joining) { guest in
          try await host.perform("wait peers=1 timeout=30")
          try await host.perform("peers")
          for case .answer(.peers(let peers, _), _) in await host.events {
            #expect(peers.first?.admittedBy == ready.peer)
            #expect(peers.first?.admittedByName == "ada")
            let line = EventText.line(.answer(.peers(peers, connected: 1))) ?? ""
            #expect(line.contains("admitted by ada"))
          }
          try await host.perform(#"kick ben "too loud""#)
        }
        let made = try #require(await invited(host))
        let new = try #require(made.code)
        #expect(new != ready.code && made.link.contains(new) && made.link != ready.link)
        code = new
      }
      let ben = try #require(kicked)
      try await withHost(hosting) { host, ready in
        // The new code was stored with the board.
        #expect(ready.code == code)
        let old = try #require(self.link(of: ben))
        let current = try BoardLink(ready.link)
        let stale = BoardLink(address: current.address, board: current.board, peer: current.peer, code: old.code)
        var stranger = await room.configuration(.join(.link(stale), patience: .seconds(1)), "dee")
        #expect(await refusal(stranger)?.code == .notAllowed)
        // The kicked key is refused with any code.
        var again = ben
        again.part = .join(.link(current), patience: .seconds(1))
        #expect(await refusal(again)?.isRemoval == true)
        stranger.part = .join(.link(current), patience: .seconds(10))
        try await withGuest(stranger) { _ in
          try await host.perform("wait peers=1 timeout=30")
          // --keep-code does not change the code.
          try await host.perform("kick --keep-code dee")
        }
        #expect(await invited(host) == nil)
      }
      try await withHost(hosting) { _, ready in #expect(ready.code == code) }
    }
  }

  private func link(of configuration: BoardConfiguration) -> BoardLink? {
    if case .join(.link(let link), _) = configuration.part { link } else { nil }
  }

  @Test("[MEM-12] a kicked peer is no longer a known peer after a restart, even for another board") func known()
    async throws
  {
    try await withRoom { room in
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      let peers = room.path("ada-peers/peers.json")
      hosting.peerStore = try PeerStore(file: peers)
      var kicked: BoardConfiguration?
      try await withHost(hosting) { host, ready in
        let joining = try await room.joining(ready)
        kicked = joining
        try await withGuest(joining) { _ in
          try await host.perform("wait peers=1 timeout=30")
          try await host.perform("kick ben")
        }
      }
      let ben = try #require(kicked)
      for (board, isRemoval) in [("board", true), ("other", false)] {
        var opening = hosting
        opening.part = .host(boardName: board)
        opening.admission = .known
        opening.peerStore = try PeerStore(file: peers)
        try await withHost(opening) { _, ready in
          var again = ben
          again.part = .join(.link(try BoardLink(ready.link)), patience: .seconds(1))
          let error = try #require(await refusal(again))
          #expect(error.code == .notAllowed && error.isRemoval == isRemoval)
        }
      }
    }
  }

  @Test("[MEM-13] --with-admitted also removes the members that the kicked member admitted") func withAdmitted()
    async throws
  {
    try await withRoom { room in
      let hosting = await room.configuration(.host(boardName: "board"), "ada")
      try await withHost(hosting) { host, ready in
        try await withGuest(try await room.joining(ready)) { ben in
          let way = try #require(await ben.ready())
          let joining = await room.configuration(.join(.link(try BoardLink(way.link)), patience: .seconds(10)), "cy")
          try await withGuest(joining) { cy in
            try await host.perform("wait peers=2 timeout=30")
            try await host.perform("kick --with-admitted ben spam")
            for guest in [ben, cy] {
              let isTold = await guest.sees { if case .news(.removed) = $0 { true } else { false } }
              #expect(isTold)
            }
          }
        }
        try await host.perform("wait peers=0 timeout=30")
      }
    }
  }

  @Test("[MEM-3] the error for a member that tries to remove another one says what to do") func notHost() async throws {
    try await withPair { _, host, guest in
      do throws(CommandError) {
        try await guest.perform("kick ada")
        Issue.record("a member removed the host")
      } catch {
        #expect(error.code == .refused && error.message.contains("only the host, ada"))
        #expect(error.message.contains("boards duplicate board NAME"))
      }
    }
  }

  @Test("[MEM-15] after `identity new`, a board of the old identity names no false host, and the user gets a warning")
  func formerIdentity() async throws {
    try await withRoom { room in
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      let old = try PeerIdentity.loadOrCreate(inDirectory: hosting.dataDirectory)
      hosting.identity = old
      try await withHost(hosting) { host, _ in try await host.perform("text 0,0 one") }
      #expect(
        await BoardFile.boards(hostedBy: old.peerID, dataDirectory: hosting.dataDirectory).map(\.name) == ["board"]
      )
      hosting.identity = try PeerIdentity.renew(inDirectory: hosting.dataDirectory).new
      try await withHost(hosting) { host, ready in
        let isTold = await host.sees {
          if case .news(.warning(let warning)) = $0 {
            warning.code == "former-identity" && warning.message.contains("boards duplicate board NAME")
          } else {
            false
          }
        }
        #expect(isTold)
        try await withGuest(try await room.joining(ready)) { guest in
          try await host.perform("wait peers=1 timeout=30")
          let isWarned = await guest.events.contains {
            if case .news(.warning(let w)) = $0 { w.code == "false-host" } else { false }
          }
          #expect(!isWarned)
          #expect(await error(host, "kick ben") == .refused)
        }
      }
    }
  }
}
