import Testing

@testable import PeerSession

struct DatagramPathStateTests {
  private typealias Action = DatagramPathState.Action

  @Test("[DGM-9] the first probe is sent at once, then one every 200 ms until one is answered") func opening() {
    var path = DatagramPathState(firstProbe: 7, now: 1_000)
    #expect(!path.usesPackets && path.wakeAt == 1_000)
    #expect(path.timePassed(now: 1_000) == Action(probe: 7))
    #expect(path.timePassed(now: 1_199) == Action())
    #expect(path.timePassed(now: 1_200) == Action(probe: 8))
    #expect(path.answered(8, now: 1_210) == Action(usesPackets: true))
    #expect(path.usesPackets && path.wakeAt == 6_210)
  }

  @Test("[DGM-9] after five unanswered probes one is sent every 5 s, and an answer still counts") func fallBackAtOnce()
  {
    var path = DatagramPathState(firstProbe: 0, now: 0)
    for number in 0..<5 { #expect(path.timePassed(now: UInt64(number) * 200) == Action(probe: UInt64(number))) }
    #expect(path.timePassed(now: 1_000) == Action(probe: 5, usesPackets: false))
    #expect(path.wakeAt == 6_000)
    #expect(path.timePassed(now: 6_000) == Action(probe: 6))
    #expect(!path.usesPackets)
    #expect(path.answered(6, now: 6_010) == Action(usesPackets: true))
  }

  @Test("[DGM-10] while packets pass, a probe is sent every 5 s; two unanswered ones end their use") func passing() {
    var path = DatagramPathState(firstProbe: 0, now: 0)
    _ = path.timePassed(now: 0)
    _ = path.answered(0, now: 10)
    #expect(path.timePassed(now: 5_010) == Action(probe: 1))
    #expect(path.answered(1, now: 5_020) == Action())
    #expect(path.timePassed(now: 10_010) == Action(probe: 2))
    #expect(path.timePassed(now: 15_010) == Action(probe: 3))
    #expect(path.usesPackets)
    #expect(path.timePassed(now: 20_010) == Action(probe: 4, usesPackets: false))
    #expect(!path.usesPackets && path.wakeAt == 25_010)
    #expect(path.answered(4, now: 20_020) == Action(usesPackets: true))
    #expect(path.wakeAt == 25_020)
  }

  @Test("on a path of 700 ms, an answer that comes after further probes counts") func slowPath() {
    var path = DatagramPathState(firstProbe: .max, now: 0)
    for number in 0..<4 { _ = path.timePassed(now: UInt64(number) * 200) }
    #expect(path.answered(.max, now: 700) == Action(usesPackets: true))
    #expect(path.answered(0, now: 900) == Action())
    #expect(path.usesPackets)
  }

  @Test("an answer to no probe, or a repeated one, changes nothing") func strangeAnswers() {
    var path = DatagramPathState(firstProbe: 100, now: 0)
    #expect(path.answered(100, now: 0) == Action())
    _ = path.timePassed(now: 0)
    #expect(path.answered(99, now: 1) == Action())
    #expect(path.answered(101, now: 1) == Action())
    #expect(!path.usesPackets)
    #expect(path.answered(100, now: 1) == Action(usesPackets: true))
    _ = path.timePassed(now: 5_001)
    _ = path.timePassed(now: 10_001)
    #expect(path.answered(100, now: 10_002) == Action())
    #expect(path.timePassed(now: 15_001).usesPackets == false)
  }

  @Test("a machine that was suspended during many probes counts only one as missed") func sleptThrough() {
    var path = DatagramPathState(firstProbe: 0, now: 0)
    _ = path.timePassed(now: 0)
    _ = path.answered(0, now: 10)
    #expect(path.timePassed(now: 1_000_000) == Action(probe: 1))
    #expect(path.usesPackets && path.wakeAt == 1_005_000)
  }
}
