import PeerDiscovery
import PeerSession
import PeerTestKit
import Testing

@testable import WhiteboardKit

private func incomingPeer(_ number: UInt8) -> PeerID {
  guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else {
    preconditionFailure("32 bytes are an id")
  }
  return peer
}

@Suite struct IncomingEventsTests {
  private let anna = incomingPeer(1)
  private let bo = incomingPeer(2)
  private var incoming = IncomingEvents()
  private var now = Duration.seconds(5)

  private mutating func send(_ bytes: [UInt8], from peer: PeerID) -> IncomingEvents.Verdict {
    incoming.append(.message(bytes, from: peer), now: now)
  }

  /// Returns the first byte of the next message, or nil if no message can be handled now.
  private mutating func next() -> UInt8? {
    guard case .handle(.message(let bytes, from: _), of: _) = incoming.nextStep(now: now) else { return nil }
    return bytes[0]
  }

  @Test("the events of a member keep their order, and the members take turns") mutating func turns() {
    for number in UInt8(0)..<4 { #expect(send([number], from: anna) == .pass) }
    #expect(send([10], from: bo) == .pass)
    #expect(send([11], from: bo) == .pass)
    #expect((0..<6).map { _ in next() } == [0, 10, 1, 11, 2, 3])
    #expect(next() == nil)
    #expect(incoming.isEmpty)
  }

  @Test("a member that has used up its share delays only its own events") mutating func share() {
    for number in UInt8(0)..<3 { _ = send([number], from: anna) }
    #expect(next() == 0)
    incoming.charge(2, to: anna, now: now)
    for number in UInt8(10)..<13 { _ = send([number], from: bo) }
    #expect((0..<4).map { _ in next() } == [10, 11, 12, nil])
    guard case .wait(let due) = incoming.nextStep(now: now) else {
      Issue.record("no event waits")
      return
    }
    // The member had one second of work in reserve, and owes another second.
    #expect(due - now == .seconds(1 / IncomingEvents.share) + .milliseconds(1))
    now = due
    #expect(next() == 1)
    #expect(next() == 2)
  }

  @Test("the debt of a member is limited") mutating func debt() {
    _ = send([0], from: anna)
    _ = next()
    incoming.charge(1000, to: anna, now: now)
    _ = send([1], from: anna)
    now += .seconds(4 * IncomingEvents.burst / IncomingEvents.share)
    #expect(next() == 1)
  }

  @Test("[MSG-5] reading stops while a link has many unhandled messages, and resumes at half of them")
  mutating func stopping() {
    var verdicts: [IncomingEvents.Verdict] = []
    for _ in 0..<IncomingEvents.messages { verdicts.append(send([0], from: anna)) }
    #expect(verdicts.last == .stopReading(anna))
    #expect(verdicts.dropLast().allSatisfy { $0 == .pass })
    // Messages that were read before still arrive.
    #expect(send([0], from: anna) == .pass)
    #expect(send([0], from: bo) == .pass)
    var handled = 0
    while case .handle(_, of: let peer?) = incoming.nextStep(now: now) {
      if peer == anna { handled += 1 }
      if incoming.resume(peer) {
        #expect(peer == anna)
        break
      }
    }
    #expect(handled == IncomingEvents.messages / 2 + 1)
    #expect(send(Array(repeating: 0, count: IncomingEvents.bytes), from: bo) == .stopReading(bo))
  }

  @Test("[MSG-5] a link is not resumed if its member sent more while an event was handled")
  mutating func moreMeanwhile() {
    let large = [UInt8](repeating: 0, count: IncomingEvents.bytes)
    var resumed: [Bool] = []
    #expect(send(large, from: anna) == .stopReading(anna))
    #expect(next() == 0)
    #expect(send(large, from: anna) == .pass)
    resumed.append(incoming.resume(anna))
    #expect(next() == 0)
    resumed.append(incoming.resume(anna))
    resumed.append(incoming.resume(anna))
    #expect(resumed == [false, true, false])
  }

  @Test("[MSG-5] a member with too many unhandled messages is disconnected") mutating func tooMuch() {
    let large = [UInt8](repeating: 0, count: 16 << 20)
    #expect(send(large, from: anna) == .stopReading(anna))
    #expect(send(large, from: anna) == .pass)
    #expect(send(large, from: anna) == .disconnect(anna))
    #expect(send([0], from: bo) == .pass)
  }

  @Test("datagrams of a member that has used up its share are dropped") mutating func datagrams() {
    _ = incoming.append(.datagram([1], from: anna), now: now)
    guard case .handle(.datagram, of: anna) = incoming.nextStep(now: now) else {
      Issue.record("no datagram")
      return
    }
    incoming.charge(2, to: anna, now: now)
    _ = incoming.append(.datagram([1], from: anna), now: now)
    #expect(incoming.isEmpty)
    for _ in 0..<2 * IncomingEvents.messages { _ = incoming.append(.datagram([1], from: bo), now: now) }
    var count = 0
    while case .handle = incoming.nextStep(now: now) { count += 1 }
    #expect(count == IncomingEvents.messages)
  }

  @Test("the messages that a member sent before it left are handled first, at once") mutating func leaving() {
    _ = send([0], from: anna)
    _ = next()
    incoming.charge(2, to: anna, now: now)
    _ = send([1], from: anna)
    #expect(next() == nil)
    _ = incoming.append(.peerLeft(anna, .left, undelivered: 0), now: now)
    _ = incoming.append(.peerStateChanged(anna, .connecting), now: now)
    #expect(next() == 1)
    guard case .handle(.peerLeft, of: anna) = incoming.nextStep(now: now) else {
      Issue.record("the member did not leave")
      return
    }
    // A member that returns still has its debt.
    guard case .wait = incoming.nextStep(now: now) else {
      Issue.record("the debt is gone")
      return
    }
  }

  @Test("[MEM-11] no more messages of a removed member are handled") mutating func removed() {
    for number in UInt8(0)..<4 { _ = send([number], from: anna) }
    _ = send([10], from: bo)
    let reason = DepartureReason.kicked(reason: .init(""))
    _ = incoming.append(.peerLeft(anna, reason, undelivered: 0), now: now)
    var left = 0
    var messages: [PeerID] = []
    while case .handle(let event, of: _) = incoming.nextStep(now: now) {
      switch event {
      case .peerLeft: left += 1
      case .message(_, let peer): messages.append(peer)
      default: Issue.record("another event")
      }
    }
    #expect(left == 1)
    #expect(messages == [bo])
    #expect(incoming.isEmpty)
  }

  @Test("at the end of the session, pending messages are handled despite any debt") mutating func ending() {
    _ = send([0], from: anna)
    _ = next()
    incoming.charge(2, to: anna, now: now)
    _ = send([1], from: anna)
    #expect(next() == nil)
    incoming.ignoresShares = true
    #expect(next() == 1)
  }

  @Test("each message is handled once and in order, whatever arrives", arguments: 0..<40) mutating func anything(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    let peers = (1...5).map(incomingPeer)
    var sent: [PeerID: UInt8] = [:]
    var handled: [PeerID: UInt8] = [:]
    func take(_ incoming: inout IncomingEvents, _ now: inout Duration) {
      switch incoming.nextStep(now: now) {
      case .handle(.message(let bytes, let peer), of: let member):
        #expect(peer == member)
        #expect(bytes[0] == handled[peer, default: 0])
        handled[peer, default: 0] &+= 1
        incoming.charge(Double(random.below(100)) / 50, to: peer, now: now)
      case .handle: Issue.record("another event")
      case .wait(let due):
        #expect(due > now)
        now = due
      case .none: break
      }
    }
    for _ in 0..<1000 {
      now += .milliseconds(random.below(20))
      if random.chance(50) {
        let peer = peers[random.below(peers.count)]
        _ = send([sent[peer, default: 0]], from: peer)
        sent[peer, default: 0] &+= 1
      } else {
        take(&incoming, &now)
      }
    }
    while !incoming.isEmpty { take(&incoming, &now) }
    #expect(handled == sent)
    now += .seconds(100)
    incoming.trim(now: now)
    guard case .none = incoming.nextStep(now: now) else {
      Issue.record("an event is left")
      return
    }
  }
}
