import CommandLines
import PeerDiscovery
import PeerSession
import Testing

@testable import WhiteboardKit

@Suite(.timeLimit(.minutes(1))) struct HostMoveTests: BoardSuite {
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
      relay.listen = PeerAddress(host: "127.0.0.1", port: 0)
      relay.isRelay = true
      relay.carries = { _ in .carry }
      let host = ScriptedBoard()
      let (first, begun) = (relay, hosting)
      let (port, running) = try await PeerTransport.withTransport(first) { transport in
        await transport.willOpen([board])
        await transport.startAccepting()
        var configuration = begun
        configuration.carrier = .at(try #require(HostPort(host: "127.0.0.1", port: transport.port)), transport.peerID)
        let started = configuration
        // The test waits for this task at its end.
        let running = Task { try await host.run(started) }
        for await needed in transport.neededSessions {
          #expect(needed == board)
          break
        }
        return (transport.port, running)
      }
      defer { running.cancel() }
      relay.listen = PeerAddress(host: "127.0.0.1", port: port)
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
