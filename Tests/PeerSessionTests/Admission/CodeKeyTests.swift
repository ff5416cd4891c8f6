import NIOConcurrencyHelpers
import PeerDiscovery
import Testing

@testable import PeerSession

/// Checks when a listener computes the keys of codes, with real transports.
@Suite(.timeLimit(.minutes(5))) struct CodeKeyTests {
  private func computed(by transport: PeerTransport) async throws -> Int {
    let core = transport.core
    return try await transport.eventLoop.submit { core.value.stretchedCodes }.get()
  }

  @Test("[ADM-5] a key is computed once, when the first dialler needs it") func onDemand() async throws {
    let (code, other) = (JoinCode.random(), JoinCode.random())
    try await withPeer("alice") { alice in
      let hosted = try await alice.host(.random(), admission: .code(code))
      for _ in 0..<20 { _ = try await alice.host(.random(), admission: .code(.random())) }
      #expect(try await computed(by: alice) == 0)
      try await withPeer("bob") { bob in
        try await withPeer("carl") { carl in
          async let first = bob.join(hosted.id, of: alice, code: code)
          async let second = carl.join(hosted.id, of: alice, code: code)
          let joined = try await [first, second]
          #expect(try await computed(by: alice) == 1)
          for session in joined { await session.leave() }
        }
      }
      try await hosted.replaceCode(with: other)
      try await withPeer("dora") { dora in
        await #expect(throws: SessionError(.wrongCode, "")) {
          _ = try await dora.join(hosted.id, of: alice, code: code)
        }
        let joined = try await dora.join(hosted.id, of: alice, code: other)
        #expect(try await computed(by: alice) == 2)
        await joined.leave()
      }
      await hosted.leave()
    }
  }
}
