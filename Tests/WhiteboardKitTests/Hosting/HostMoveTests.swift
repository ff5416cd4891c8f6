import CommandLines
import PeerDiscovery
import PeerSession
import PeerTestKit
import Testing

@testable import WhiteboardKit

@Suite(.timeLimit(.minutes(5))) struct HostMoveTests: BoardSuite {
  @Test("[RLY-7] a board moves to its relay, also if the relay restarts during the first attempt") func restart()
    async throws
  {
    try await withRoom { room in
      var hosting = await room.configuration(.host(boardName: "plan"), "ada")
      let board = SessionID.ofOpenBoard(hostedBy: hosting.identity.peerID)
      hosting.part = .keep(board: board, boardName: "plan")
      var relay = TransportConfiguration(
        identity: .ephemeral(),
        displayName: "relay",
        inboxDirectory: room.path("relay")
      )
      let port = reservedPort()
      relay.listen = PeerAddress(host: "127.0.0.1", port: port)
      relay.isRelay = true
      relay.carries = { _ in .carry }
      let host = ScriptedBoard()
      let (first, begun) = (relay, hosting)
      let running = try await PeerTransport.withTransport(first) { transport in
        await transport.willOpen([board])
        await transport.startAccepting()
        var configuration = begun
        configuration.carrier = .at(try #require(HostPort(host: "127.0.0.1", port: port)), transport.peerID)
        let started = configuration
        // The test waits for this task at its end.
        let running = Task { try await host.run(started) }
        for await needed in transport.neededSessions {
          #expect(needed == board)
          break
        }
        return running
      }
      defer { running.cancel() }
      try await PeerTransport.withTransport(relay) { transport in
        await transport.startAccepting()
        var carried: SessionID?
        for await session in transport.carriedSessions {
          carried = session.session.id
          break
        }
        #expect(carried == board)
      }
      await host.end()
      try await running.value
    }
  }
}
