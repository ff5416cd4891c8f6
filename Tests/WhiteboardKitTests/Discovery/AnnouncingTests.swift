import CommandLines
import PeerDiscovery
import PeerSession
import PeerTestKit
import Testing

@testable import WhiteboardKit

/// Announcing a board while the discovery service does not allow it.
@Suite(.timeLimit(.minutes(5))) struct AnnouncingTests: BoardSuite {
  /// Discovery that finds boards on one host, and announces boards on another.
  private struct SplitDiscovery: Advertiser, Browser {
    let advertiser: InMemoryHost
    let browser: InMemoryHost

    nonisolated(nonsending) func advertise<Result>(
      _ advertisement: Advertisement,
      _ body: nonisolated(nonsending) (Advertising) async throws -> Result
    ) async rethrows -> Result { try await advertiser.advertise(advertisement, body) }

    nonisolated(nonsending) func browse<Result>(
      _ query: BrowserQuery,
      _ body: nonisolated(nonsending) (DiscoveryEvents<BrowserEvent>) async throws -> Result
    ) async rethrows -> Result { try await browser.browse(query, body) }
  }

  private func warnings(_ board: ScriptedBoard) async -> [String] {
    await board.events.compactMap {
      guard case .news(.warning(let warning)) = $0, warning.code == SharedBoard.News.Remark.discoveryUnavailable else {
        return nil
      }
      return warning.message
    }
  }

  @Test("[DSC-20] the user learns that a board cannot be announced, and when it is announced") func forbidden()
    async throws
  {
    try await withRoom { room in
      let discovery = SplitDiscovery(advertiser: await room.host(), browser: await room.host())
      let name = discovery.advertiser.name
      await room.network.setProblem(.publishingDisabled, on: name)
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "plan"), "ada")
        hosting.discovery = discovery
        let started = hosting
        group.addTask { try await host.run(started) }
        let ready = try #require(await host.ready())
        #expect(!ready.announced)
        let isWarned = await host.sees {
          guard case .news(.warning(let warning)) = $0 else { return false }
          return warning.message.contains("disable-user-service-publishing")
        }
        #expect(isWarned)
        await room.network.setProblem(nil, on: name)
        let isAnnounced = await host.sees {
          guard case .news(.note(let note)) = $0 else { return false }
          return note.code == SharedBoard.News.Remark.announced
        }
        #expect(isAnnounced)
        #expect(await warnings(host).count == 1)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a new display name of the host is announced") func rename() async throws {
    try await withRoom { room in
      let discovery = await room.host()
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "plan"), "ada")
        group.addTask { try await host.run(hosting) }
        try #require(await host.ready() != nil)
        await discovery.browse(BrowserQuery(excluding: nil)) { events in
          for await event in events {
            switch event {
            case .found(let peer) where peer.announcement.hostName.raw == "ada":
              // A failure shows as a board that never announces the new name.
              _ = try? await host.perform("profile name=Zoe")
            case .updated(let peer) where peer.announcement.hostName.raw == "Zoe": return
            default: break
            }
          }
        }
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a guest that joins with a link is not warned about discovery, which it does not need") func link()
    async
    throws
  {
    try await withRoom { room in
      let (host, guest) = (ScriptedBoard(), ScriptedBoard())
      let discovery = await room.host()
      await room.network.setProblem(.busNotRunning, on: discovery.name)
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "plan"), "ada")
        group.addTask { try await host.run(hosting) }
        var joining = try await room.joining(try #require(await host.ready()))
        joining.discovery = discovery
        let started = joining
        group.addTask { try await guest.run(started) }
        try #require(await guest.ready() != nil)
        try await guest.perform("wait peers=1 timeout=30")
        #expect(await warnings(guest).isEmpty)
        await guest.end()
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a problem of discovery is reported once, and not if no announcement is wanted") func unavailable() async throws
  {
    try await withRoom { room in
      for isAnnounced in [true, false] {
        let discovery = await room.host()
        await room.network.setProblem(.busNotRunning, on: discovery.name)
        let host = ScriptedBoard()
        try await withThrowingTaskGroup(of: Void.self) { group in
          var hosting = await room.configuration(.host(boardName: "plan"), "ada \(isAnnounced)")
          hosting.discovery = discovery
          hosting.isAnnounced = isAnnounced
          let started = hosting
          group.addTask { try await host.run(started) }
          let ready = try #require(await host.ready())
          #expect(!ready.announced)
          if isAnnounced {
            let isWarned = await host.sees { if case .news(.warning) = $0 { true } else { false } }
            #expect(isWarned)
          }
          try await host.perform("digest")
          #expect(await warnings(host).count == (isAnnounced ? 1 : 0))
          await host.end()
          try await group.waitForAll()
        }
      }
    }
  }
}
