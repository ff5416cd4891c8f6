import PeerDiscovery
import Testing

@testable import PeerSession

/// Sessions that a relay opens after it began to accept connections, between real transports.
@Suite(.timeLimit(.minutes(5))) struct OpeningSessionsTests {
  private static let relay: @Sendable (inout TransportConfiguration) -> Void = {
    $0.isRelay = true
    $0.carries = { _ in .carry }
  }

  @Test("[HEL-2] a dialler waits for a session that is about to be opened, which is reported once") func waits()
    async throws
  {
    let (first, second) = (SessionID.random(), SessionID.random())
    try await withPeer("relay", configure: Self.relay) { relay in
      await relay.willOpen([first, second])
      await relay.startAccepting()
      try await withPeer("bob") { bob in
        try await withPeer("carl") { carl in
          async let joined = bob.join(second, of: relay)
          var needed = relay.neededSessions.makeAsyncIterator()
          #expect(await needed.next() == second)
          async let alsoJoined = carl.join(second, of: relay)
          let hosted = try await relay.host(second, admission: .anyone)
          await relay.sessionOpened(second)
          for session in try await [joined, alsoJoined] {
            #expect(session.id == second)
            await session.leave()
          }
          // A session that cannot be served is refused as usual.
          async let refused = bob.join(first, of: relay)
          #expect(await needed.next() == first)
          await relay.sessionOpened(first)
          do {
            _ = try await refused
            Issue.record("a session that is not served was joined")
          } catch let error as SessionError { #expect(error.code == .noSuchSession) }
          await #expect(throws: SessionError(.noSuchSession, "")) { _ = try await bob.join(.random(), of: relay) }
          await hosted.leave()
        }
      }
    }
  }
}
