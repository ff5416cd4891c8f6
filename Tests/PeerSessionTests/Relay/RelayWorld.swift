import PeerDiscovery
import Testing

@testable import PeerSession

/// A host and a member that cannot dial each other, and the relay that relays the host's session.
struct RelayWorld: Sendable {
  var id: SessionID
  var relay: PeerTransport
  var alice: PeerTransport
  var bob: PeerTransport
  /// The session at each peer.
  var atRelay: Session
  var hosted: Session
  var joined: Session
  var logs: (relay: EventLog, alice: EventLog, bob: EventLog)

  static let terms = CarryTerms(name: "board", admission: .anyone)

  /// Runs `body` once alice and bob are in the session through the relay.
  static func run(
    meshSize: Int = 16,
    relay configureRelay: @escaping @Sendable (inout TransportConfiguration) -> Void = { _ in },
    isPaced: Bool = true,
    _ body: @escaping @Sendable (RelayWorld) async throws -> Void
  ) async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = {
      $0.isDiallable = false
      $0.meshSize = meshSize
      $0.isPaced = isPaced
    }
    let configure: @Sendable (inout TransportConfiguration) -> Void = {
      makeRelay(&$0)
      configureRelay(&$0)
    }
    try await withPeer("relay", configure: configure) { relay in
      try await withPeer("alice", configure: hide) { alice in
        try await withPeer("bob", configure: hide) { bob in
          await relay.startAccepting()
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          let carrier = try await hosted.carry(by: [relay.loopback], relay: relay.peerID, terms: terms)
          #expect(carrier == relay.peerID)
          let atRelay = try await relay.nextCarried()
          let joined = try await bob.join(id, of: relay)
          let world = RelayWorld(
            id: id,
            relay: relay,
            alice: alice,
            bob: bob,
            atRelay: atRelay,
            hosted: hosted,
            joined: joined,
            logs: (EventLog(), EventLog(), EventLog())
          )
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await world.logs.relay.follow(atRelay) }
            group.addTask { await world.logs.alice.follow(hosted) }
            group.addTask { await world.logs.bob.follow(joined) }
            await world.logs.alice.waitForPeers(2)
            await world.logs.bob.waitForPeers(2)
            try await body(world)
            for session in [joined, hosted, atRelay] { await session.leave() }
            try await group.waitForAll()
          }
        }
      }
    }
  }

  /// Changes a transport's configuration to that of a relay that accepts every session.
  @Sendable static func makeRelay(_ configuration: inout TransportConfiguration) {
    configuration.isRelay = true
    configuration.carries = { _ in .carry }
  }
}

extension PeerTransport {
  func nextCarried() async throws -> Session {
    for await carried in carriedSessions { return carried.session }
    throw SessionError(.sessionEnded, "No session was carried.")
  }
}

extension EventLog {
  /// Returns the reasons of all departures of `peer` so far.
  func departures(of peer: PeerID) -> [DepartureReason] {
    all.compactMap { event in if case .peerLeft(peer, let reason, _) = event { reason } else { nil } }
  }

  /// Waits until `peer` has joined a number of times.
  func waitForJoining(of peer: PeerID, times: Int) async {
    await wait { events in
      events.count { if case .peerJoined(let other) = $0 { other.id == peer } else { false } } >= times
    }
  }

  func messages(from peer: PeerID) -> [[UInt8]] {
    all.compactMap { if case .message(let bytes, peer) = $0 { bytes } else { nil } }
  }

  func waitForMessages(_ count: Int, from peer: PeerID) async {
    await wait { events in events.count { if case .message(_, peer) = $0 { true } else { false } } >= count }
  }
}
