import CommandLines
import PeerDiscovery
import PeerSession
import Testing

@testable import WhiteboardKit

/// Joining by a link whose host has left, or has another address now.
@Suite("[DSC-28] links whose address is dead", .serialized, .timeLimit(.minutes(5))) struct DeadLinkTests: BoardSuite {
  /// Runs a host, and a member that joined by name; `body` receives the host's link, and a function that ends the host.
  private func withBoard(
    _ admission: BoardConfiguration.Admission = .code,
    _ body: (BoardRoom, BoardLink, _ hostLeaves: () async -> Void) async throws -> Void
  ) async throws {
    try await withRoom { room in
      let (host, member) = (ScriptedBoard(), ScriptedBoard())
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "plan"), "ada")
        hosting.admission = admission
        let (hostEnd, hostEndSource) = AsyncStream<Void>.makeStream()
        group.addTask { [hosting] in
          defer { hostEndSource.finish() }
          try await host.run(hosting)
        }
        let link = try BoardLink(try #require(await host.ready()).link)
        var joining = await room.configuration(.join(.name("plan"), patience: .seconds(60)), "ben")
        joining.code = try link.code.isEmpty ? nil : JoinCode(words: link.code.joined(separator: "-"))
        let started = joining
        group.addTask { try await member.run(started) }
        _ = try #require(await member.ready())
        try await member.perform("wait peers=1 timeout=30")
        try await body(room, link) {
          await host.end()
          for await _ in hostEnd {}
        }
        await host.end()
        await member.end()
        try await group.waitForAll()
      }
    }
  }

  private func join(_ link: BoardLink, in room: BoardRoom) async throws -> [SharedBoard.Output] {
    let guest = ScriptedBoard()
    var configuration = await room.configuration(.join(.link(link), patience: .seconds(10)), "carol")
    // No member knows that the board is empty, so the command waits for a third of this time.
    configuration.catchUpTimeout = .seconds(15)
    let joining = configuration
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await guest.run(joining) }
      if await guest.ready() == nil { try await group.next() }
      try await guest.perform("wait peers=1 timeout=30")
      try await guest.perform("text 0,0 hello")
      await guest.end()
      try await group.waitForAll()
    }
    return await guest.events
  }

  @Test("a link works after its host left, through a member that is announced") func hostLeft() async throws {
    try await withBoard { room, link, hostLeaves in
      await hostLeaves()
      let events = try await join(link, in: room)
      #expect(isReady(events, link))
    }
  }

  @Test("a link works after its host got another address, if the host is announced") func hostMoved() async throws {
    try await withBoard { room, link, _ in
      var old = link
      old.address = try #require(HostPort(host: "127.0.0.1", port: 1))
      let events = try await join(old, in: room)
      #expect(isReady(events, link))
      let isRefused = events.contains {
        if case .news(.warning(let warning)) = $0 { warning.code == "peer-refused" } else { false }
      }
      #expect(!isRefused)
    }
  }

  @Test("[MEM-8] without a code, the ticket of the host that the link names proves a member") func ticketProves()
    async throws
  {
    try await withBoard(.anyone) { room, link, hostLeaves in
      #expect(link.code.isEmpty)
      await hostLeaves()
      try await withMallory(.anyone, on: link, in: room) {
        let events = try await join(link, in: room)
        #expect(isReady(events, link))
        let joined = events.compactMap { if case .change(.joined, let details) = $0 { details.name?.raw } else { nil } }
        #expect(joined.first == "ben")
      }
    }
  }

  @Test("false announcements of the board delay a link, but do not stop it") func falseAnnouncements() async throws {
    try await withBoard { room, link, hostLeaves in
      await hostLeaves()
      try await withMallory(.code(.random()), on: link, in: room) {
        let events = try await join(link, in: room)
        #expect(isReady(events, link))
      }
    }
  }

  @Test("a link without a code does not trust an announced peer that proves nothing") func withoutProof() async throws {
    try await withBoard { room, link, hostLeaves in
      var withoutCode = link
      withoutCode.code = []
      let bare = withoutCode
      await hostLeaves()
      try await withMallory(.anyone, on: link, in: room) {
        await #expect { _ = try await join(bare, in: room) } throws: { error in
          guard let error = error as? WhiteboardError else { return false }
          return error.code == .notAllowed && error.message.contains("asks for a code")
            && error.message.contains("mallory")
        }
      }
    }
  }

  private func isReady(_ events: [SharedBoard.Output], _ link: BoardLink) -> Bool {
    events.contains { if case .news(.ready(let ready)) = $0 { ready.board == link.board } else { false } }
  }

  /// Lets another peer announce the board of a link while `body` runs.
  private func withMallory(
    _ admission: AdmissionPolicy,
    on link: BoardLink,
    in room: BoardRoom,
    _ body: () async throws -> Void
  ) async throws {
    let board = try #require(SessionID(text: link.board))
    var mallory = TransportConfiguration(
      identity: .ephemeral(),
      displayName: "mallory",
      inboxDirectory: room.path("mallory")
    )
    mallory.listen = PeerAddress(host: "127.0.0.1", port: 0)
    try await PeerTransport.withTransport(mallory) { transport in
      _ = try await transport.host(board, admission: admission)
      let announcement = Announcement(
        peer: try #require(AnnouncedPeerID(bytes: transport.peerID.bytes)),
        session: try #require(AnnouncedSessionID(bytes: board.bytes)),
        incarnation: AnnouncedIncarnation(1),
        boardName: "plan",
        hostName: "mallory"
      )
      let port = try #require(UInt16(exactly: transport.port))
      try await room.host().advertise(Advertisement(port: port, announcement: announcement)) { _ in try await body() }
    }
  }
}
