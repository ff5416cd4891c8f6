import Testing

@testable import PeerSession

struct AttemptLimiterTests {
  private let mallory = PeerIdentity.ephemeral().peerID
  private let other = PeerIdentity.ephemeral().peerID

  @Test("[ADM-3] three wrong proofs lock both the address and the key, in any combination") func locks() {
    var limiter = AttemptLimiter()
    for second in 0..<3 {
      #expect(!limiter.isLocked(address: "a", peer: mallory, now: .seconds(second)))
      limiter.proofWasWrong(address: "a", peer: mallory, now: .seconds(second))
    }
    #expect(limiter.isLocked(address: "a", peer: mallory, now: .seconds(3)))
    #expect(limiter.isLocked(address: "a", peer: other, now: .seconds(3)))
    #expect(limiter.isLocked(address: "b", peer: mallory, now: .seconds(3)))
    #expect(!limiter.isLocked(address: "b", peer: other, now: .seconds(3)))
    #expect(limiter.isLocked(address: "a", peer: mallory, now: .seconds(61.9)))
    #expect(!limiter.isLocked(address: "a", peer: mallory, now: .seconds(62)))
  }

  @Test("[ADM-3] one address with many keys, and one key at many addresses, are both locked") func spread() {
    var limiter = AttemptLimiter()
    for _ in 0..<3 { limiter.proofWasWrong(address: "a", peer: PeerIdentity.ephemeral().peerID, now: .zero) }
    #expect(limiter.isLocked(address: "a", peer: other, now: .zero))
    for number in 0..<3 { limiter.proofWasWrong(address: "b\(number)", peer: mallory, now: .zero) }
    #expect(limiter.isLocked(address: "c", peer: mallory, now: .zero))
    #expect(!limiter.isLocked(address: "c", peer: other, now: .zero))
  }

  @Test("[ADM-3] wrong proofs of members lock out no newcomer at their address, and each key is still limited")
  func members() {
    let keys = (0..<4).map { _ in PeerIdentity.ephemeral().peerID }
    for standing in [AttemptLimiter.Standing.member, .memberOfOwnedBoard] {
      var limiter = AttemptLimiter()
      for key in keys.prefix(3) { limiter.proofWasWrong(address: "a", peer: key, as: standing, now: .zero) }
      #expect(!limiter.isLocked(address: "a", peer: other, now: .zero))
      // On an owned board, the code may give more rights, so many keys of members share three attempts.
      let isLocked = limiter.isLocked(address: "a", peer: keys[3], as: standing, now: .zero)
      #expect(isLocked == (standing == .memberOfOwnedBoard))
      #expect(!limiter.isLocked(address: "b", peer: keys[3], as: standing, now: .zero))
      for _ in 0..<3 { limiter.proofWasWrong(address: "c", peer: mallory, as: standing, now: .zero) }
      #expect(limiter.isLocked(address: "d", peer: mallory, as: standing, now: .zero))
      #expect(limiter.isLocked(address: "d", peer: mallory, now: .zero))
    }
    var limiter = AttemptLimiter()
    for _ in 0..<3 { limiter.proofWasWrong(address: "a", peer: mallory, now: .zero) }
    #expect(!limiter.isLocked(address: "a", peer: other, as: .member, now: .zero))
  }

  @Test("[ADM-3] the addresses of one IPv6 /64 count as one address") func block() {
    var limiter = AttemptLimiter()
    for number in 1...3 {
      let key = PeerIdentity.ephemeral().peerID
      limiter.proofWasWrong(address: "2001:db8:0:1::\(number)", peer: key, now: .zero)
    }
    #expect(limiter.isLocked(address: "2001:db8:0:1:ffff::", peer: other, now: .zero))
    #expect(!limiter.isLocked(address: "2001:db8:0:2::1", peer: other, now: .zero))
  }

  @Test("wrong proofs that are more than a minute apart are not added up") func slow() {
    var limiter = AttemptLimiter()
    for number in 0..<20 {
      limiter.proofWasWrong(address: "a", peer: mallory, now: .seconds(30 * number))
      #expect(!limiter.isLocked(address: "a", peer: mallory, now: .seconds(30 * number)))
    }
  }

  @Test("after a lock, three more wrong proofs lock again") func again() {
    var limiter = AttemptLimiter()
    for _ in 0..<3 { limiter.proofWasWrong(address: "a", peer: mallory, now: .zero) }
    for _ in 0..<2 {
      limiter.proofWasWrong(address: "a", peer: mallory, now: .seconds(60))
      #expect(!limiter.isLocked(address: "a", peer: mallory, now: .seconds(60)))
    }
    limiter.proofWasWrong(address: "a", peer: mallory, now: .seconds(60))
    #expect(limiter.isLocked(address: "a", peer: mallory, now: .seconds(119)))
  }

  @Test("memory is bounded, and the latest wrong proofs are remembered") func bounded() {
    var limiter = AttemptLimiter()
    for _ in 0..<3 { limiter.proofWasWrong(address: "a", peer: mallory, now: .seconds(100)) }
    for number in 0..<3_000 {
      limiter.proofWasWrong(address: "old \(number)", peer: mallory, now: .milliseconds(number))
      #expect(limiter.count <= AttemptLimiter.maximumEntries)
    }
    #expect(limiter.isLocked(address: "a", peer: other, now: .seconds(101)))
  }
}
