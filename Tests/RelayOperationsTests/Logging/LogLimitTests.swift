import Testing

@testable import RelayOperations

struct LogLimitTests {
  private static let rates = LogLimit.Rates(perPeer: 2, perReason: 3, span: .seconds(60))
  private var limit = LogLimit(rates)

  @Test("two lines about one peer, three for one reason; the next tells how many were left out")
  mutating func limitsPeersAndReasons() {
    let events: [(peer: String?, second: Int, verdict: LogLimit.Verdict)] = [
      ("a", 0, .write(omitted: 0)), ("a", 1, .write(omitted: 0)), ("a", 2, .omit), ("a", 3, .omit),
      ("b", 4, .write(omitted: 0)), ("b", 5, .omit), ("c", 6, .omit), (nil, 7, .omit),
      // Of a two, of the reason three, were left out: b's, c's and the one of nobody.
      ("a", 60, .write(omitted: 5)), ("a", 61, .write(omitted: 0)), ("a", 62, .omit),
      ("b", 63, .write(omitted: 0)), ("d", 64, .omit), ("a", 120, .write(omitted: 2)),
    ]
    for (index, event) in events.enumerated() {
      let verdict = limit.consider(reason: "r", peer: event.peer, now: .seconds(event.second))
      #expect(verdict == event.verdict, "event \(index)")
    }
  }

  @Test("reasons do not use up each other's lines")
  mutating func keepsReasonsApart() {
    for _ in 0..<9 { _ = limit.consider(reason: "r", peer: "a", now: .zero) }
    #expect(limit.consider(reason: "s", peer: "a", now: .zero) == .write(omitted: 0))
  }

  @Test("what was left out is told once, when its span is over")
  mutating func takesOmissions() {
    for _ in 0..<9 { _ = limit.consider(reason: "r", peer: "a", now: .zero) }
    for _ in 0..<4 { _ = limit.consider(reason: "s", peer: nil, now: .seconds(1)) }
    #expect(limit.takeOmissions(now: .seconds(59)) == [])
    #expect(
      limit.takeOmissions(now: .seconds(60)) == [.init(reason: "r", peer: "a", count: 7)]
    )
    #expect(
      limit.takeOmissions(now: .seconds(61)) == [.init(reason: "s", peer: nil, count: 1)]
    )
    #expect(limit.takeOmissions(now: .seconds(1_000)) == [])
    #expect(limit.consider(reason: "r", peer: "a", now: .seconds(70)) == .write(omitted: 0))
  }

  @Test("each event is written, or told of, once", arguments: [1, 2, 3])
  mutating func losesNone(peers: Int) {
    var (events, told) = (0, 0)
    for second in 0..<500 {
      for peer in 0..<peers {
        events += 1
        let verdict = limit.consider(reason: "r", peer: "\(peer)", now: .seconds(second))
        if case .write(let omitted) = verdict { told += 1 + omitted }
      }
      if second % 90 == 0 {
        told += limit.takeOmissions(now: .seconds(second)).map(\.count).reduce(0, +)
      }
    }
    told += limit.takeOmissions(now: .seconds(1_000)).map(\.count).reduce(0, +)
    #expect(told == events)
  }

  @Test(
    "a crowd of strangers is written of no more often than its reason allows, and memory is bounded"
  )
  mutating func boundsCrowds() {
    var written = 0
    for index in 0..<10_000 {
      let verdict = limit.consider(reason: "r", peer: "\(index)", now: .zero)
      if verdict != .omit { written += 1 }
    }
    #expect(written == 3)
    for index in 0..<10_000 {
      let verdict = limit.consider(reason: "\(index)", peer: nil, now: .zero)
      if verdict != .omit { written += 1 }
    }
    #expect(written <= 3 + 2 * LogLimit.capacity + Self.rates.perReason)
    #expect(limit.remembered <= 2 * LogLimit.capacity + 1)
    let omitted = limit.takeOmissions(now: .seconds(60))
    #expect(omitted.map(\.count).reduce(0, +) + written == 20_000)
  }
}
