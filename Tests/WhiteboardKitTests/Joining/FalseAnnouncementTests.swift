import CommandLines
import PeerDiscovery
import PeerSession
import Testing

@testable import WhiteboardKit

/// Joining a board by name while other peers announce it falsely.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FalseAnnouncementTests: BoardSuite {
  private func advertisement(_ peer: PeerID, _ board: SessionID, port: Int) throws -> Advertisement {
    Advertisement(
      port: try #require(UInt16(exactly: port)),
      announcement: Announcement(
        peer: try #require(AnnouncedPeerID(bytes: peer.bytes)),
        session: try #require(AnnouncedSessionID(bytes: board.bytes)),
        incarnation: AnnouncedIncarnation(1),
        boardName: "plan",
        hostName: "mallory"
      )
    )
  }

  @Test("[DSC-27] a stale announcement and a false one that asks for a code do not end the search") func asksNext()
    async throws
  {
    try await withRoom { room in
      let (host, guest) = (ScriptedBoard(), ScriptedBoard())
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "plan"), "ada")
        hosting.admission = .anyone
        hosting.isAnnounced = false
        let started = hosting
        group.addTask { try await host.run(started) }
        let ready = try #require(await host.ready())
        let board = try #require(SessionID(text: ready.board))
        let address = try #require(ready.addresses.first.flatMap { HostPort($0) })
        let joining = await room.configuration(.join(.name("plan"), patience: .seconds(60)), "ben")
        group.addTask { try await guest.run(joining) }
        var mallory = TransportConfiguration(
          identity: .ephemeral(),
          displayName: "mallory",
          inboxDirectory: room.path("mallory")
        )
        mallory.listen = PeerAddress(host: "127.0.0.1", port: 0)
        try await PeerTransport.withTransport(mallory) { transport in
          _ = try await transport.host(board, admission: .code(.random()))
          let stranger = PeerIdentity.ephemeral().peerID
          let stale = try advertisement(stranger, board, port: address.port)
          let wrong = try advertisement(transport.peerID, board, port: transport.port)
          let real = try advertisement(started.identity.peerID, board, port: address.port)
          await room.host().advertise(stale) { _ in
            let isWarned = await guest.sees {
              guard case .news(.warning(let warning)) = $0 else { return false }
              return warning.code == "not-announced-peer"
            }
            #expect(isWarned)
            await room.host().advertise(wrong) { _ in
              let mallory = transport.peerID.text
              let isAsked = await guest.sees {
                if case .news(.joining(let step)) = $0 { step.peer == mallory } else { false }
              }
              #expect(isAsked)
              await room.host().advertise(real) { _ in #expect(await guest.ready()?.board == ready.board) }
            }
          }
        }
        await guest.end()
        await host.end()
        try await group.waitForAll()
      }
    }
  }
}
