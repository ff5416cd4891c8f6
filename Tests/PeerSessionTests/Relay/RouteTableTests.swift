import PeerWire
import Testing

@testable import PeerSession

@Suite("RouteTable") struct RouteTableTests {
  private let a = PeerID.numbered(1)
  private let b = PeerID.numbered(2)
  private let c = PeerID.numbered(3)

  /// Returns a table with the members `a`, `b` and `c`, as incarnations 1, 2 and 3.
  private func seated() -> RouteTable {
    var table = RouteTable()
    for (number, peer) in [a, b, c].enumerated() {
      #expect(table.joined(peer, SessionIncarnation(UInt64(number + 1))).isEmpty)
    }
    return table
  }

  private func routed() throws -> RouteTable {
    var table = seated()
    #expect(try table.reach(from: a, to: b, SessionIncarnation(2)).isEmpty)
    #expect(
      try table.reach(from: b, to: a, SessionIncarnation(1)) == [
        .open(at: a, route: 0, to: b), .open(at: b, route: 0, to: a),
      ]
    )
    return table
  }

  @Test("[RLY-4] a route opens when both peers have asked for each other's current incarnation") func opens() throws {
    let table = try routed()
    #expect(table.isOpen(a, b) && table.isOpen(b, a))
    #expect(table.routeCount == 1)
    #expect(table.targets(of: RouteSet([0, 1, 200]), from: a).map(\.peer) == [b])
    #expect(table.targets(of: RouteSet([0]), from: c).isEmpty)
    #expect(table.targets(of: RouteSet([0]), from: .numbered(9)).isEmpty)
  }

  @Test("[RLY-4] a request for an old incarnation opens no route; the answer names the current one")
  func otherIncarnation() throws {
    var table = seated()
    _ = try table.reach(from: b, to: a, SessionIncarnation(1))
    #expect(try table.reach(from: a, to: b, SessionIncarnation(77)) == [.correct(a, about: b)])
    #expect(!table.isOpen(a, b))
    #expect(try table.reach(from: a, to: b, SessionIncarnation(2)).count == 2)
  }

  @Test("[RLY-17] a bridge opens no route beyond its maximum") func fullOfRoutes() throws {
    var table = try routed()
    _ = try table.reach(from: a, to: c, SessionIncarnation(3), maximumRoutes: 1)
    #expect(try table.reach(from: c, to: a, SessionIncarnation(1), maximumRoutes: 1).isEmpty)
    #expect(table.hasRoutes(a) && !table.hasRoutes(c))
    #expect(try table.reach(from: c, to: a, SessionIncarnation(1), maximumRoutes: 2).count == 2)
  }

  @Test("[RLY-4] a request waits for a peer that is not there yet") func waits() throws {
    var table = seated()
    let d = PeerID.numbered(4)
    #expect(try table.reach(from: a, to: d, SessionIncarnation(4)).isEmpty)
    #expect(table.joined(d, SessionIncarnation(4)).isEmpty)
    #expect(try table.reach(from: d, to: a, SessionIncarnation(1)).count == 2)
  }

  @Test("[RLY-5] a number is reused only after its end was acknowledged") func numbers() throws {
    var table = try routed()
    #expect(
      table.unreach(from: a, to: b, .rerouted) == [
        .close(at: b, route: 0, .rerouted), .close(at: a, route: 0, .rerouted),
      ]
    )
    #expect(table.targets(of: RouteSet([0]), from: a).isEmpty)
    _ = try table.reach(from: a, to: c, SessionIncarnation(3))
    #expect(
      try table.reach(from: c, to: a, SessionIncarnation(1)) == [
        .open(at: a, route: 1, to: c), .open(at: c, route: 0, to: a),
      ]
    )
    try table.free(0, of: a)
    #expect(throws: RouteTable.Violation.nonsense) { try table.free(0, of: a) }
    #expect(throws: RouteTable.Violation.nonsense) { try table.free(1, of: a) }
    _ = try table.reach(from: a, to: b, SessionIncarnation(2))
    #expect(
      try table.reach(from: b, to: a, SessionIncarnation(1)) == [
        .open(at: a, route: 0, to: b), .open(at: b, route: 1, to: a),
      ]
    )
  }

  @Test("[RLY-7] when a route ends, both requests for it end too") func wishes() throws {
    var table = try routed()
    _ = table.unreach(from: a, to: b, .rerouted)
    #expect(try table.reach(from: a, to: b, SessionIncarnation(2)).isEmpty)
    #expect(!table.isOpen(a, b))
  }

  @Test("[RLY-7] when a peer leaves or restarts, its routes end", arguments: [RouteEnd.left, .lost]) func leaves(
    _ end: RouteEnd
  ) throws {
    var table = try routed()
    #expect(table.left(a, end) == [.close(at: b, route: 0, end)])
    #expect(table.left(a, end).isEmpty)
    table = try routed()
    #expect(table.joined(b, SessionIncarnation(20)) == [.close(at: a, route: 0, .restarted)])
    #expect(try table.reach(from: b, to: a, SessionIncarnation(1)).isEmpty)
  }

  @Test("[RLY-12] all routes of one member end for both sides") func overrun() throws {
    var table = try routed()
    #expect(table.closeAll(of: b, .overrun) == [.close(at: a, route: 0, .overrun), .close(at: b, route: 0, .overrun)])
    #expect(table.routeCount == 0)
  }

  @Test("[RLY-4] a peer cannot ask for more peers than a session has, or for itself") func floods() throws {
    var table = seated()
    for number in 0..<Limits.members {
      _ = try table.reach(from: a, to: .numbered(1_000 + number), SessionIncarnation(1))
    }
    // A peer that was requested before can be requested again.
    _ = try table.reach(from: a, to: .numbered(1_000), SessionIncarnation(2))
    #expect(throws: RouteTable.Violation.tooManyWishes) {
      try table.reach(from: a, to: .numbered(9_999), SessionIncarnation(1))
    }
    #expect(throws: RouteTable.Violation.nonsense) { try table.reach(from: b, to: b, SessionIncarnation(2)) }
  }

  @Test("[RLY-5] there are 256 numbers, and no route opens without one") func full() throws {
    var table = RouteTable()
    _ = table.joined(a, SessionIncarnation(1))
    var opened = 0
    for number in 0..<300 {
      let peer = PeerID.numbered(1_000 + number)
      _ = table.joined(peer, SessionIncarnation(5))
      _ = try table.reach(from: peer, to: a, SessionIncarnation(1))
      guard let actions = try? table.reach(from: a, to: peer, SessionIncarnation(5)) else { break }
      if !actions.isEmpty { opened += 1 }
    }
    #expect(opened == 256)
  }
}

extension PeerID {
  /// Returns an id; greater numbers compare greater.
  static func numbered(_ number: Int) -> PeerID {
    var bytes = [UInt8](repeating: 0, count: 30)
    bytes.append(UInt8(truncatingIfNeeded: number >> 8))
    bytes.append(UInt8(truncatingIfNeeded: number))
    guard let peer = PeerID(bytes: bytes) else { preconditionFailure("32 bytes are an id") }
    return peer
  }
}
