import Testing

@testable import PeerSession

@Suite("RateLimiter") struct RateLimiterTests {
  /// Wraps a gate in a class, because expectations cannot contain mutating calls.
  private final class Gate {
    private var gate = RateLimiter(RelayRate(copies: 100, bytes: 1_000), now: .zero)
    func charge(_ count: Int, copies: Int = 1, now: Duration) -> RateLimiter.Verdict {
      gate.charge(count, copies: copies, now: now)
    }
    func allowsDatagram(_ count: Int, copies: Int = 1, now: Duration) -> Bool {
      gate.allowsDatagram(count, copies: copies, now: now)
    }
  }

  @Test("[RLY-14] the volume of two seconds passes at once, and anything above it is delayed") func burst() {
    let gate = Gate()
    for _ in 0..<18 { #expect(gate.charge(100, now: .zero) == .pass) }
    #expect(gate.charge(200, now: .zero) == .pass)
    #expect(gate.charge(500, now: .zero) == .wait(.seconds(0.5)))
    #expect(gate.charge(0, now: .seconds(1)) == .pass)
  }

  @Test("[RLY-14] a member that was silent for an hour has the volume of two seconds, and no more") func silence() {
    let gate = Gate()
    #expect(gate.charge(2_000, now: .seconds(3_600)) == .pass)
    #expect(gate.charge(500, now: .seconds(3_600)) == .wait(.seconds(0.5)))
  }

  @Test("[RLY-14] bytes count, and copies count, one for each recipient of a message") func copies() {
    let gate = Gate()
    for _ in 0..<20 { #expect(gate.charge(0, copies: 10, now: .zero) == .pass) }
    #expect(gate.charge(0, now: .zero) == .wait(.seconds(0.01)))
    #expect(Gate().charge(500, copies: 5, now: .zero) == .wait(.seconds(0.5)))
    #expect(!Gate().allowsDatagram(0, copies: 201, now: .zero))
  }

  @Test("[RLY-14] a member within its rate is never read more slowly, however much it sends") func paced() {
    let rate = RelayRate(copies: 1_000, bytes: 100_000)
    let pace = RelayPace(rate, now: .zero)
    var gate = RateLimiter(rate, now: .zero)
    var now = Duration.zero
    var sent = 0
    while now < .seconds(60) {
      #expect(gate.charge(100, copies: 7, now: now) == .pass)
      now += pace.charge(100, copies: 7, now: now)
      sent += 7
    }
    // Nine tenths of the maximum, plus the first burst.
    #expect((55_000...57_000).contains(sent))
  }

  @Test("[RLY-14] a member that floods without a pause is closed after 10 s; one that pauses is not") func patience() {
    let gate = Gate()
    var now = Duration.zero
    var verdicts: [RateLimiter.Verdict] = []
    for _ in 0..<60 {
      let verdict = gate.charge(1_000, now: now)
      verdicts.append(verdict)
      if case .wait(let pause) = verdict { now += pause }
      if verdict == .close { break }
    }
    #expect(verdicts.last == .close)
    #expect(now >= .seconds(10) && now < .seconds(12))
    let other = Gate()
    now = .zero
    for _ in 0..<60 {
      let verdict = other.charge(1_000, now: now)
      #expect(verdict != .close)
      if case .wait(let pause) = verdict { now += pause }
      now += .seconds(0.5)
    }
    #expect(now > .seconds(30))
  }

  @Test("[RLY-10] a datagram passes only if the buckets have enough for it, and leaves no debt") func datagrams() {
    let gate = Gate()
    for _ in 0..<2 { #expect(gate.allowsDatagram(1_000, now: .zero)) }
    for _ in 0..<1_000 { #expect(!gate.allowsDatagram(1, now: .zero)) }
    #expect(gate.allowsDatagram(100, now: .seconds(0.2)))
  }
}
