import Testing

@testable import PeerSession

@Suite("FloodGate")
struct FloodGateTests {
  /// A gate in a box: expectations take no mutating calls.
  private final class Gate {
    private var gate = FloodGate(bytesPerSecond: 1_000, messagesPerSecond: 100, now: .zero)
    func take(_ count: Int, now: Duration) -> FloodGate.Verdict { gate.take(count, now: now) }
    func takeDatagram(_ count: Int, now: Duration) -> Bool {
      gate.takeDatagram(count, now: now)
    }
  }

  @Test("[RLY-14] two seconds' worth passes at once, and what is beyond is waited for")
  func burst() {
    let gate = Gate()
    for _ in 0..<18 { #expect(gate.take(100, now: .zero) == .pass) }
    #expect(gate.take(200, now: .zero) == .pass)
    #expect(gate.take(500, now: .zero) == .wait(.seconds(0.5)))
    #expect(gate.take(0, now: .seconds(1)) == .pass)
  }

  @Test("[RLY-14] messages count as well as bytes")
  func messages() {
    let gate = Gate()
    for _ in 0..<200 { #expect(gate.take(0, now: .zero) == .pass) }
    #expect(gate.take(0, now: .zero) == .wait(.seconds(0.01)))
  }

  @Test("[RLY-14] who never lets up is closed after 10 s, and who pauses is not")
  func patience() {
    let gate = Gate()
    var now = Duration.zero
    var verdicts: [FloodGate.Verdict] = []
    for _ in 0..<60 {
      let verdict = gate.take(1_000, now: now)
      verdicts.append(verdict)
      if case .wait(let pause) = verdict { now += pause }
      if verdict == .close { break }
    }
    #expect(verdicts.last == .close)
    #expect(now >= .seconds(10) && now < .seconds(12))
    let other = Gate()
    now = .zero
    for _ in 0..<60 {
      let verdict = other.take(1_000, now: now)
      #expect(verdict != .close)
      if case .wait(let pause) = verdict { now += pause }
      now += .seconds(0.5)
    }
    #expect(now > .seconds(30))
  }

  @Test("[RLY-10] a datagram passes as long as the buckets hold it, and makes no debt")
  func datagrams() {
    let gate = Gate()
    for _ in 0..<2 { #expect(gate.takeDatagram(1_000, now: .zero)) }
    for _ in 0..<1_000 { #expect(!gate.takeDatagram(1, now: .zero)) }
    #expect(gate.takeDatagram(100, now: .seconds(0.2)))
  }
}
