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

  /// Runs a script that hosts a board and moves it to a relay. The relay starts after the first attempt to reach it
  /// failed.
  private func script(_ answer: CarryAnswer, in room: BoardRoom) async throws -> (
    error: WhiteboardError?, events: [SharedBoard.Output]
  ) {
    var configuration = await room.configuration(.host(boardName: "plan"), "ada")
    let port = reservedPort()
    configuration.carrier = .at(try #require(HostPort(host: "127.0.0.1", port: port)), nil)
    configuration.introductionTime = .milliseconds(200)
    configuration.script = .run(keepsGoing: false)
    var relay = TransportConfiguration(
      identity: .ephemeral(),
      displayName: "relay",
      inboxDirectory: room.path("relay")
    )
    relay.listen = PeerAddress(host: "127.0.0.1", port: port)
    relay.isRelay = true
    relay.carries = { _ in answer }
    let (feed, host, hosting) = (CommandFeed(), ScriptedBoard(), configuration)
    feed.push("text 0,0 x")
    feed.finish()
    // The test waits for this task.
    let running = Task { () -> WhiteboardError? in
      do throws(WhiteboardError) {
        try await SharedBoard(hosting, input: feed, sink: host).run()
        return nil
      } catch { return error }
    }
    defer { running.cancel() }
    #expect(await host.sees { if case .news(.warning(let one)) = $0 { one.code == "not-carried" } else { false } })
    let error = try await PeerTransport.withTransport(relay) { transport in
      await transport.startAccepting()
      let serving = Task { for await _ in transport.carriedSessions {} }
      defer { serving.cancel() }
      return await running.value
    }
    return (error, await host.events)
  }

  @Test("[RLY-7] a script that moves its board to a relay ends when the relay has the board") func endOfScript()
    async throws
  {
    try await withRoom { room in
      let (error, events) = try await script(.carry, in: room)
      #expect(error == nil)
      #expect(events.contains { if case .news(.carried) = $0 { true } else { false } })
    }
  }

  @Test("[RLY-2] a script whose board is refused by the relay ends with the reason") func refusedScript() async throws {
    try await withRoom { room in
      let error = try #require(try await script(.refuse(reason: "full up"), in: room).error)
      #expect(error.code == .notAllowed)
      #expect(error.message.contains("The relay did not accept the board") && error.message.contains("full up"))
    }
  }
}
