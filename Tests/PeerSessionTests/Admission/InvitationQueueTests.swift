import Testing

@testable import PeerSession

struct InvitationQueueTests {
  private func block(_ number: Int) -> AddressBlock { AddressBlock(host: "192.0.2.\(number)") }
  private func stranger() -> PeerID { PeerIdentity.ephemeral().peerID }

  @Test("[HEL-5] one address has two places, and another address finds room") func onePerAddress() {
    var queue = InvitationQueue<Int>()
    for id in 0..<16 { _ = queue.enter(id, peer: stranger(), from: block(1), isExpected: false) }
    #expect(queue.count == 2)
    #expect(queue.reception(of: stranger(), from: block(1), isExpected: true, now: .zero) == .busy)
    #expect(queue.reception(of: stranger(), from: block(2), isExpected: false, now: .zero) == .ask)
  }

  @Test("[HEL-5] if all places are taken, a newcomer gets the newest place of an address with more") func evicted() {
    var queue = InvitationQueue<Int>()
    for id in 0..<12 { _ = queue.enter(id, peer: stranger(), from: block(id / 2), isExpected: false) }
    let honest = stranger()
    #expect(queue.reception(of: honest, from: block(9), isExpected: false, now: .zero) == .ask)
    #expect(queue.enter(12, peer: honest, from: block(9), isExpected: false) == 11)
    #expect(queue.count == 12)
  }

  @Test("[HEL-5] [HEL-9] four places are reserved for known peers and for holders of the join link") func reserved() {
    var queue = InvitationQueue<Int>()
    for id in 0..<12 { _ = queue.enter(id, peer: stranger(), from: block(id), isExpected: false) }
    for id in 12..<16 {
      #expect(queue.enter(id, peer: stranger(), from: block(id), isExpected: true) == nil)
      #expect(queue.count == id + 1)
    }
  }

  @Test("[HEL-5] a peer has one place, also from several addresses, until it leaves") func onePerPeer() {
    var queue = InvitationQueue<Int>()
    let peer = stranger()
    #expect(queue.enter(0, peer: peer, from: block(1), isExpected: false) == nil)
    #expect(queue.reception(of: peer, from: block(2), isExpected: false, now: .zero) == .busy)
    queue.leave(0)
    #expect(queue.reception(of: peer, from: block(2), isExpected: false, now: .zero) == .ask)
    #expect(queue.count == 0)
  }

  @Test("[ADM-11] a user's refusal silences only that address, for a minute") func silence() {
    var queue = InvitationQueue<Int>()
    queue.declined(block(1), now: .seconds(5))
    func received(_ address: Int, _ now: Duration) -> InvitationReception {
      queue.reception(of: stranger(), from: block(address), isExpected: false, now: now)
    }
    #expect(received(1, .seconds(64.9)) == .silenced)
    #expect(received(2, .seconds(6)) == .ask)
    #expect(received(1, .seconds(65)) == .ask)
  }

  @Test("the number of silenced addresses is bounded, and the latest are remembered") func bounded() {
    var queue = InvitationQueue<Int>()
    for number in 0..<1_000 {
      queue.declined(AddressBlock(host: "host \(number)"), now: .milliseconds(number))
      #expect(queue.silencedCount <= InvitationQueue<Int>.maximumSilenced)
    }
    let last = AddressBlock(host: "host 999")
    let received = queue.reception(of: stranger(), from: last, isExpected: false, now: .seconds(1))
    #expect(received == .silenced)
  }
}
