import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Two processes that use one key at the same time.
@Suite("Copied identity", .timeLimit(.minutes(5))) struct CopyTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private let one = SessionIncarnation(1)
  private let two = SessionIncarnation(2)

  @Test("[DUP-6] a process that returns after another one replaced it waits before it replaces that one")
  func formerIncarnations() {
    var former = FormerIncarnations()
    #expect(!former.contains(one) && former.mayReturn(now: Self.start))
    former.replace(one, with: two, now: Self.start)
    #expect(former.contains(one) && !former.contains(two))
    #expect(!former.mayReturn(now: Self.start + .milliseconds(3_999)))
    #expect(former.mayReturn(now: Self.start + .seconds(4)))
    former.replace(two, with: one, now: Self.start + .seconds(4))
    #expect(former.contains(two) && !former.contains(one))
    for number in UInt64(10)..<40 { former.replace(SessionIncarnation(number), with: one, now: Self.start) }
    #expect(!former.contains(two) && former.contains(SessionIncarnation(39)))
  }

  @Test("[DUP-7] a process whose links another process takes over dials after growing pauses") func pauses() throws {
    var policy = RedialPolicy(lostAfter: .seconds(60))
    let ben = PeerID.numbered(1)
    var now = Self.start
    for pause in [4, 8, 16, 32, 32] {
      policy[ben].linkOpened(dialledHere: true)
      policy[ben].linkBroke(now: now)
      policy[ben].linkTaken(now: now, jitter: 0)
      #expect(policy[ben].next == now + .seconds(Int64(pause)))
      now = now + .seconds(60)
    }
    let outcome = policy.dialFailed(
      ben,
      .init(incarnation: one, redial: .notApplicable, code: .identityInUse, isJoined: true),
      now: now,
      jitter: 1
    )
    #expect(outcome == .planned)
    #expect(policy[ben].next == now + .milliseconds(41_600))
    policy[ben].linkTaken(now: now + .minutes(11), jitter: 0)
    #expect(policy[ben].next == now + .minutes(11) + .seconds(4))
  }

  @Test("[DUP-6] two processes with one key take turns, and all three programs say so") func turns() async throws {
    let identity = PeerIdentity.ephemeral()
    try await withPeer("ben") { ben in
      let id = SessionID.random()
      let hosted = try await ben.host(id, admission: .anyone)
      let logs = (ben: EventLog(), first: EventLog(), second: EventLog())
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await logs.ben.follow(hosted) }
        try await withPeer("ada", identity: identity) { first in
          let original = try await first.join(id, of: ben)
          try await withPeer("ada", identity: identity) { second in
            let copy = try await second.join(id, of: ben)
            try await withThrowingTaskGroup(of: Void.self) { group in
              group.addTask { await logs.first.follow(original) }
              group.addTask { await logs.second.follow(copy) }
              try await Self.warning(logs.first, of: identity.peerID)
              try await Self.warning(logs.second, of: identity.peerID)
              try await Self.warning(logs.ben, of: identity.peerID)
              // The messages of both arrive.
              for (session, message) in [(original, UInt8(1)), (copy, 2)] {
                while (try? await session.sendConfirmed([message], to: [ben.peerID])) == nil {
                  await Self.log(session, logs, original).waitForJoin(of: ben.peerID)
                }
              }
              for message in [UInt8(1), 2] {
                _ = try await logs.ben.first { event in
                  if case .message(let bytes, _) = event, bytes == [message] { true } else { nil }
                }
              }
              let joins = await logs.ben.all.count { if case .peerJoined = $0 { true } else { false } }
              #expect(joins < 10)
              await copy.leave()
              await original.leave()
              try await group.waitForAll()
            }
          }
        }
        await hosted.leave()
        try await group.waitForAll()
      }
    }
  }

  private static func log(
    _ session: Session,
    _ logs: (ben: EventLog, first: EventLog, second: EventLog),
    _ original: Session
  ) -> EventLog { session === original ? logs.first : logs.second }

  private static func warning(_ log: EventLog, of peer: PeerID) async throws {
    let warning = try await log.first { event in if case .warning(let warning) = event { warning } else { nil } }
    #expect(warning.code == SessionWarning.identityInUse && warning.peer == peer)
  }
}

extension EventLog {
  /// Waits until a peer has joined again.
  fileprivate func waitForJoin(of peer: PeerID) async {
    let joins = all.count { if case .peerJoined(let other) = $0 { other.id == peer } else { false } }
    await waitForJoining(of: peer, times: joins + 1)
  }
}
