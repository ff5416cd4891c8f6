import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct ClockComparisonTests {
  private let me = Self.member(1)
  private let ben = Self.member(2)
  private let cleo = Self.member(3)
  private let year: Int64 = 31_557_600_000

  private static func member(_ number: UInt8) -> MemberID {
    guard let member = MemberID(bytes: Array(repeating: number, count: 32)) else { preconditionFailure("32 bytes") }
    return member
  }

  private func report(_ member: MemberID, _ finding: ClockReport.Finding, _ difference: Int64) -> ClockReport {
    ClockReport(member: member, finding: finding, difference: difference)
  }

  @Test("[SYN-43] with two members it is unknown whose clock is wrong, and each reports it once") func two() {
    var (here, there) = (ClockComparison(own: me), ClockComparison(own: ben))
    #expect(here.judge([ben: 300_001]) == [report(ben, .differs, 300_001)])
    #expect(there.judge([me: -300_001]) == [report(me, .differs, -300_001)])
    #expect(here.judge([ben: 300_001]) == [])
    // A clock counts as correct again only well within the limit.
    #expect(here.judge([ben: 299_000]) == [])
    #expect(here.judge([ben: 150_000]) == [report(ben, .isRight, 150_000)])
    #expect(here.judge([ben: 300_000]) == [])
  }

  @Test("[SYN-43] if most clocks agree, all members report the one that does not") func majority() {
    var here = ClockComparison(own: me)
    let off = here.judge([ben: 20 * year, cleo: 20 * year + 7])
    #expect(off == [report(me, .isOff, -20 * year)])
    #expect(here.judge([ben: 20 * year, cleo: 20 * year + 7]) == [])
    #expect(here.judge([ben: 3, cleo: 7]) == [report(me, .isRight, -3)])
    var there = ClockComparison(own: ben)
    #expect(there.judge([me: -20 * year, cleo: 7]) == [report(me, .isOff, -20 * year)])
    #expect(there.judge([me: 1, cleo: 7]) == [report(me, .isRight, 1)])
  }

  @Test("[SYN-43] a third member decides whose clock was wrong") func third() {
    var here = ClockComparison(own: me)
    #expect(here.judge([ben: year]) == [report(ben, .differs, year)])
    #expect(here.judge([ben: year, cleo: year]) == [report(me, .isOff, -year)])
    var there = ClockComparison(own: me)
    #expect(there.judge([ben: year]) == [report(ben, .differs, year)])
    #expect(there.judge([ben: year, cleo: 0]) == [report(ben, .isOff, year)])
  }

  @Test("[SYN-43] a majority does not make the local clock wrong if another member agrees with it") func lies() {
    var here = ClockComparison(own: me)
    let liars = (10..<13).map { Self.member($0) }
    var differences: [MemberID: Int64] = [ben: -20]
    for liar in liars { differences[liar] = year }
    #expect(here.judge(differences) == liars.map { report($0, .differs, year) })
    // Without that member, no clock supports the local clock.
    differences[ben] = nil
    let reports = here.judge(differences)
    #expect(reports.first == report(me, .isOff, -year))
  }

  @Test("[SYN-43] if no clocks agree, no clock is reported as wrong") func none() {
    var here = ClockComparison(own: me)
    #expect(here.judge([ben: -year, cleo: year]) == [report(ben, .differs, -year), report(cleo, .differs, year)])
    #expect(here.judge([:]) == [])
  }

  @Test("[SYN-43] the difference is too low by the shortest delay of a datagram") func samples() {
    var samples = ClockSamples()
    let delays: [UInt64] = [400, 30, 2000, 50, 90]
    for (index, delay) in delays.enumerated() {
      #expect(samples.difference(Moment(wall: 0, uptime: 0)) == nil || index >= 4)
      let uptime = 10_000 + UInt64(index) * 1000
      // The other clock shows 5,000,000 when the uptime is 10,000.
      #expect(samples.note(wall: 5_000_000 + UInt64(index) * 1000 - delay, at: uptime) == true)
    }
    // The local clock shows 1,000,000 at that uptime, and is set before the second comparison.
    #expect(samples.difference(Moment(wall: 1_003_000, uptime: 13_000)) == Int64(3_999_970))
    #expect(samples.difference(Moment(wall: 5_003_000, uptime: 13_000)) == Int64(-30))
    // Datagrams that waited in a queue arrive together, and the best of them is one sample.
    #expect(samples.note(wall: 5_004_000, at: 14_010) == false)
    #expect(samples.difference(Moment(wall: 5_004_010, uptime: 14_010)) == Int64(-10))
  }

  @Test("[SYN-43] replicas exchange their wall clocks and report a difference once") func replicas() throws {
    let world = World(seed: 3, nodes: 3, weather: .init(loss: 0, cuts: 0, crashes: 0, skew: 0))
    world.nodes[1].skew = 631_000_000_000
    world.connectAll()
    for _ in 0..<400 { world.step(25) }
    for number in 0..<3 {
      let reports = world.nodes[number].clockReports
      #expect(reports.map(\.member) == [world.nodes[1].member])
      #expect(reports.map(\.finding) == [.isOff])
      let off = (reports.first?.difference ?? 0) - 631_000_000_000
      #expect((-200...200).contains(off))
    }
    world.nodes[1].skew = 0
    // Presence that does not change is sent every 3 s, and 8 samples count.
    for _ in 0..<1200 { world.step(25) }
    for number in 0..<3 { #expect(world.nodes[number].clockReports.map(\.finding) == [.isOff, .isRight]) }
  }
}
