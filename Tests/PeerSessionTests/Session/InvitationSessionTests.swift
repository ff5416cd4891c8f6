import PeerDiscovery
import Testing

@testable import PeerSession

/// Requests to join that a user decides, between real transports.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InvitationSessionTests {
  private func request(_ session: Session, at host: PeerTransport, within seconds: Int) -> JoinRequest {
    var request = JoinRequest(session: session.id, addresses: [host.loopback], peer: nil, trust: .unverified)
    request.timeout = .seconds(seconds)
    return request
  }

  @Test("[HEL-5] a question ends when the dialler's time is over, and can no longer be answered") func timedOut()
    async throws
  {
    let log = EventLog()
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let hosted = try await alice.host(SessionID.random(), admission: .ask)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(hosted) }
          await #expect(throws: SessionError(.timedOut, "")) {
            _ = try await bob.join(request(hosted, at: alice, within: 1)) { _ in true }
          }
          let ended = try await log.first { event -> (InvitationID, SessionError)? in
            if case .invitationEnded(let id, let error) = event { (id, error) } else { nil }
          }
          #expect(ended.1.code == .timedOut)
          await #expect(throws: SessionError(.unknown, "")) { try await hosted.respond(to: ended.0, .accept) }
          await hosted.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("[ADM-16] a dialler whose user never confirms the words does not join, and is not dialed") func unconfirmed()
    async throws
  {
    let log = EventLog()
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let hosted = try await alice.host(SessionID.random(), admission: .ask)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(hosted) }
          group.addTask {
            // Bob's user never answers, so Bob's timeout passes after Alice's user accepted.
            await #expect(throws: SessionError(.timedOut, "")) {
              _ = try await bob.join(request(hosted, at: alice, within: 8)) { _ in
                while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(100)) }
                return false
              }
            }
          }
          let id = try await log.first { event -> InvitationID? in
            if case .invitation(let invitation) = event { invitation.id } else { nil }
          }
          #expect(try await hosted.respond(to: id, .accept))
          let ended = try await log.first { event -> (InvitationID, SessionError)? in
            if case .invitationEnded(let id, let error) = event { (id, error) } else { nil }
          }
          #expect(ended.0 == id && ended.1.code == .timedOut)
          let isKnown = await log.all.contains { event in
            switch event {
            case .peerJoined, .peerStateChanged: true
            default: false
            }
          }
          #expect(!isKnown)
          await hosted.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("a session's name reaches a peer that joined by an address, and peers that join through it") func name()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        try await withPeer("cy") { cy in
          let hosted = try await alice.host(SessionID.random(), admission: .anyone, name: "plan")
          var request = JoinRequest(session: nil, addresses: [alice.loopback], peer: nil, trust: .unverified)
          request.allowsUnproved = true
          request.admission = .anyone
          let joined = try await bob.join(request) { _ in true }
          #expect(joined.name.raw == "plan")
          request.addresses = [bob.loopback]
          let second = try await cy.join(request) { _ in true }
          #expect(second.name.raw == "plan")
          await second.leave()
          await joined.leave()
          await hosted.leave()
        }
      }
    }
  }
}
