import NIOCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

@Suite("RedialPolicy") struct RedialPolicyTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
  private static let ada = peer(1)
  private static let process = SessionIncarnation(7)

  private static func peer(_ byte: UInt8) -> PeerID {
    guard let peer = PeerID(bytes: [UInt8](repeating: byte, count: 32)) else {
      preconditionFailure("32 bytes are a peer id")
    }
    return peer
  }

  private var policy = RedialPolicy(lostAfter: .seconds(60))
  private let start = Self.start
  private let ada = Self.ada
  private let process = Self.process

  /// A proven member without a link.
  private func member(_: PeerID) -> RedialPolicy.Standing { .init(isProven: true) }

  private func isDialled(
    _ peer: PeerID,
    after wait: TimeAmount,
    _ standing: RedialPolicy.Standing = .init(isProven: true)
  ) -> Bool { policy.allowsDial(of: peer, now: start + wait) { _ in standing } }

  // MARK: The peer that dials first

  @Test(
    "[LIV-3] the side that dialled the broken link dials again at once, the other after a second",
    arguments: [(dialledHere: true, wait: TimeAmount.zero), (false, .seconds(1))]
  ) mutating func firstDial(dialledHere: Bool, wait: TimeAmount) {
    policy[ada].linkOpened(dialledHere: dialledHere)
    policy[ada].linkBroke(now: start)
    #expect(policy[ada].next == start + wait)
    #expect(isDialled(ada, after: wait))
    #expect(!isDialled(ada, after: wait - .nanoseconds(1)))
  }

  @Test("[LIV-3] a peer that replaces a link dials at once, whichever side dialled it") mutating func renewal() {
    policy[ada].linkOpened(dialledHere: false)
    policy[ada].dialledLast = true
    policy[ada].linkBroke(now: start)
    #expect(isDialled(ada, after: .zero))
  }

  // MARK: Consequences of a CLOSE

  private struct CloseCase: CustomTestStringConvertible {
    var code: CloseCode
    var isRelay = false
    var isAdmittedByPerson = false
    var consequence: RedialPolicy.CloseConsequence
    /// When the peer is dialed next; nil for never.
    var next: TimeAmount?
    var bar: DialPlan.Bar?
    var testDescription: String { "\(code), relay: \(isRelay), by user: \(isAdmittedByPerson)" }
  }

  private static let closeCases = [
    CloseCase(code: .shuttingDown, isRelay: true, consequence: .departs, next: .seconds(1)),
    CloseCase(code: .shuttingDown, consequence: .departs, bar: .untilRestart(of: process)),
    CloseCase(code: .tooSlow, consequence: .departs, next: .seconds(5)),
    CloseCase(code: .tooFast, consequence: .departs, next: .seconds(5)),
    CloseCase(code: .timedOut, isAdmittedByPerson: true, consequence: .withdrawn, bar: .untilRestart(of: process)),
    CloseCase(code: .left, consequence: .departs, bar: .untilRestart(of: process)),
    CloseCase(code: .kicked, consequence: .departs, bar: .always), CloseCase(code: .replaced, consequence: .reconnects),
  ]

  @Test("[CLS-2] the code of a CLOSE decides when the peer is dialled again", arguments: closeCases)
  private mutating func close(_ row: CloseCase) {
    policy[ada].linkOpened(dialledHere: true)
    let consequence = policy.linkClosed(
      ada,
      row.code,
      by: process,
      isRelay: row.isRelay,
      isAdmittedByPerson: row.isAdmittedByPerson,
      now: start,
      jitter: 0
    )
    #expect(consequence == row.consequence)
    #expect(policy[ada].bar == row.bar)
    #expect(policy[ada].next == row.next.map { start + $0 })
  }

  // MARK: Reasons for not dialing

  @Test(
    "a due dial waits while there is a link, and never starts to a removed or relayed peer",
    arguments: [
      RedialPolicy.Standing(hasLink: true, isProven: true), .init(isRemoved: true, isProven: true),
      .init(isLeftToRelays: true, isProven: true),
    ]
  ) mutating func standing(_ standing: RedialPolicy.Standing) {
    policy[ada].named(of: process, dialAt: start)
    #expect(isDialled(ada, after: .zero))
    #expect(!isDialled(ada, after: .zero, standing))
  }

  @Test("a dial that runs, a bar and the end of the session prevent a dial") mutating func prevented() {
    policy[ada].named(of: process, dialAt: start)
    var running = policy
    running[ada].began()
    #expect(!running.allowsDial(of: ada, now: start, standing: member))
    #expect(running.due(now: start).isEmpty)
    var barred = policy
    barred[ada].bar(.untilRestart(of: process))
    barred[ada].named(of: process, dialAt: start)
    #expect(barred.due(now: start).isEmpty)
    barred[ada].named(of: SessionIncarnation(8), dialAt: start)
    #expect(barred.due(now: start) == [ada])
    policy.end()
    policy[ada].named(of: SessionIncarnation(8), dialAt: start)
    #expect(policy.due(now: start).isEmpty)
    #expect(!isDialled(ada, after: .seconds(10)))
  }

  @Test("a new proof lifts the bar of a peer that did not accept the old one") mutating func proof() {
    policy[ada].bar(.untilProof(of: process))
    policy.proofChanged(now: start)
    #expect(policy.due(now: start) == [ada])
  }

  @Test("[MEM-6] only a few peers that were merely named are dialled at a time") mutating func strangers() {
    let peers = (1...UInt8(Limits.dialsToStrangers) + 1).map(Self.peer)
    for peer in peers { policy[peer].named(of: process, dialAt: start) }
    #expect(policy.due(now: start).count == peers.count)
    for peer in peers.dropLast() {
      #expect(isDialled(peer, after: .zero, .init()))
      policy[peer].began()
    }
    let last = peers[peers.count - 1]
    #expect(!isDialled(last, after: .zero, .init()))
    // A proven member is dialled nevertheless.
    let isAllowed = policy.allowsDial(of: last, now: start) { .init(isProven: $0 == last) }
    #expect(isAllowed)
    policy[peers[0]].ended()
    #expect(isDialled(last, after: .zero, .init()))
  }

  // MARK: Failed dials

  private struct FailureCase: CustomTestStringConvertible {
    var name: String
    var dial: RedialPolicy.FailedDial
    var outcome: DialPlan.Outcome
    var wait: TimeAmount?
    var testDescription: String { name }
  }

  private static func failure(_ redial: CloseCode.Redial = .later, _ code: SessionError.Code = .unreachable)
    -> RedialPolicy.FailedDial
  { .init(incarnation: process, redial: redial, code: code) }

  private static let failureCases: [FailureCase] = {
    var relayed = failure(.never, .declined)
    relayed.isRelayed = true
    relayed.hasRelays = true
    var elsewhere = failure(.later, .wrongPeer)
    elsewhere.hasRelays = true
    var kicked = relayed
    kicked.code = .kicked
    let ending = failure(.afterRestart, .shuttingDown)
    var endingRelay = ending
    endingRelay.isRelay = true
    return [
      FailureCase(name: "unreachable", dial: failure(), outcome: .planned, wait: .milliseconds(200)),
      FailureCase(name: "declined", dial: failure(.never, .declined), outcome: .barred),
      FailureCase(name: "full", dial: failure(.later, .full), outcome: .planned, wait: .seconds(30)),
      FailureCase(name: "declined behind a relay", dial: relayed, outcome: .planned, wait: .seconds(30)),
      FailureCase(name: "wrong peer behind a relay", dial: elsewhere, outcome: .planned, wait: .seconds(30)),
      FailureCase(name: "kicked behind a relay", dial: kicked, outcome: .barred),
      FailureCase(name: "shutting down", dial: ending, outcome: .barred),
      FailureCase(name: "a relay shutting down", dial: endingRelay, outcome: .planned, wait: .milliseconds(200)),
    ]
  }()

  @Test("[LIV-3] [RLY-6] [RLY-7] the reason of a failure decides on the next dial", arguments: failureCases)
  private mutating func failed(_ row: FailureCase) {
    policy[ada].named(of: process, dialAt: start)
    policy[ada].began()
    let outcome = policy.dialFailed(ada, row.dial, now: start, jitter: 0)
    #expect(outcome == row.outcome)
    #expect(policy[ada].next == row.wait.map { start + $0 })
  }

  @Test("[MEM-6] a peer that never answers is forgotten, and a proven member is not") mutating func forgotten() {
    var member = Self.failure()
    member.isMember = true
    var kept = policy
    for _ in 1..<Limits.dialsToOneStranger {
      #expect(policy.dialFailed(ada, Self.failure(), now: start, jitter: 0) == .planned)
      #expect(kept.dialFailed(ada, member, now: start, jitter: 0) == .planned)
    }
    #expect(policy.dialFailed(ada, Self.failure(), now: start, jitter: 0) == .forgotten)
    #expect(kept.dialFailed(ada, member, now: start, jitter: 0) == .planned)
  }

  @Test("[LIV-3] jitter adds up to 30 % to a wait") mutating func jitter() {
    _ = policy.dialFailed(ada, Self.failure(), now: start, jitter: 1)
    #expect(policy[ada].next == start + .milliseconds(260))
  }

  // MARK: Lost peers

  @Test("[LIV-4] a peer is given up after the limit, not counting the time of a stop") mutating func overdue() {
    policy[ada].linkOpened(dialledHere: true)
    policy[ada].linkBroke(now: start)
    policy[ada].linkBroke(now: start + .seconds(30))
    #expect(!policy.isOverdue(ada, now: start + .seconds(59)))
    #expect(policy.isOverdue(ada, now: start + .seconds(60)))
    policy.excuse(.seconds(10))
    #expect(!policy.isOverdue(ada, now: start + .seconds(69)))
    #expect(policy.isOverdue(ada, now: start + .seconds(70)))
    policy[ada].departed()
    #expect(!policy.isOverdue(ada, now: start + .hours(1)))
  }

  @Test("[LIV-4] one lost peer is dialled at a time, the one that waits longest first") mutating func lost() {
    let peers = (1...3).map { Self.peer($0) }
    for (index, peer) in peers.enumerated() { policy[peer].lost(now: start + .seconds(Int64(index)), jitter: 0) }
    let later = start + .seconds(10)
    #expect(policy.due(now: later).isEmpty)
    #expect(policy.lostPeerDue(now: later, standing: member) == peers[0])
    policy[peers[0]].began()
    #expect(policy.lostPeerDue(now: later, standing: member) == nil)
    // Discovery shows the second peer, so this peer is dialled like a peer that is online.
    policy[peers[1]].discovered(process, isMoved: false, hasLink: false, now: later)
    #expect(policy.due(now: later) == [peers[1]])
    policy[peers[0]].ended()
    policy.forget(peers[0])
    #expect(policy.lostPeerDue(now: later, standing: member) == peers[2])
  }

  @Test("[LIV-4] when one peer returns, lost peers are dialled at once") mutating func recovery() {
    policy[ada].lost(now: start, jitter: 0)
    #expect(policy.lostPeerDue(now: start, standing: member) == nil)
    policy.peerReturned(now: start)
    #expect(policy.lostPeerDue(now: start, standing: member) == ada)
  }

  // MARK: Time

  @Test("the next work is the earlier of the dial and the end of the patience") mutating func nextDue() {
    #expect(policy.nextDue(for: ada) == nil)
    policy[ada].linkOpened(dialledHere: false)
    #expect(policy.nextDue(for: ada) == nil)
    policy[ada].linkBroke(now: start)
    #expect(policy.nextDue(for: ada) == start + .seconds(1))
    policy[ada].began()
    #expect(policy.nextDue(for: ada) == start + .seconds(60))
  }

  @Test("[MEM-1] a peer that is dialled now or soon keeps its place") mutating func idle() {
    #expect(policy.isIdle(ada))
    policy[ada].named(of: process, dialAt: start)
    #expect(!policy.isIdle(ada))
    policy[ada].began()
    #expect(!policy.isIdle(ada))
    policy[ada].ended()
    policy[ada].bar(.always)
    #expect(policy.isIdle(ada))
  }
}
