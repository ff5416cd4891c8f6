import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct DivergenceCheckTests {
  private let calm = World.Weather(failures: 0, loss: 0, cuts: 0, crashes: 0, skew: 0)

  @Test("[SYN-42] sums that are computed in steps equal those that are computed at once, unless the board changes")
  func steps() throws {
    let world = World(seed: 10, nodes: 1, weather: calm)
    for _ in 0..<100 { world.edit(0) }
    let replica = world.nodes[0].replica
    var check = DivergenceCheck()
    check.step = replica.board.state.cellCount / 4
    var calls = 0
    func complete() -> [UInt64] {
      while true {
        calls += 1
        if let sums = check.sums(of: replica.board.state) { return sums }
      }
    }
    #expect(complete() == BucketSums.sums(of: replica.board.state))
    #expect((3...6).contains(calls))
    #expect(check.sums(of: replica.board.state) != nil)
    check.begin()
    #expect(check.sums(of: replica.board.state) == nil)
    _ = try replica.change(now: world.now(0)) { try $0.createText("x", at: Point(x: 0, y: 0)) }
    #expect(complete() == BucketSums.sums(of: replica.board.state))
  }

  @Test("[SYN-42] a large board computes no sums while it is being edited, and computes them after a pause")
  func pauses() throws {
    let world = World(seed: 17, nodes: 1)
    let anna = world.nodes[0].replica
    var bo = ScriptedReplica(9)
    var now = world.now(0)
    _ = anna.peerJoined(bo.member, now: now)
    _ = anna.received(bo.hello(), from: bo.member, now: now)
    _ = anna.received(SyncMessage.nothingLacking(1).encode(), from: bo.member, now: now)
    anna.reports.divergenceCheck.step = 50
    func sums(edits: Bool) throws -> Int {
      var count = 0
      for _ in 0..<300 {
        now = Moment(wall: now.wall + 100, uptime: now.uptime + 100)
        var actions = anna.tick(now: now)
        if edits { actions += try anna.change(now: now) { try $0.createText("x", at: Point(x: 0, y: 0)) }.actions }
        count += try actions.count {
          guard case .send(let bytes, _) = $0, case .state(let report)? = try SyncMessage.decode(bytes) else {
            return false
          }
          return report.sums == BucketSums.sums(of: anna.board.state)
        }
      }
      return count
    }
    #expect(try sums(edits: true) == 0)
    #expect(try sums(edits: false) > 0)
  }

  /// Makes every board large, so that its sums are computed in steps.
  private func useSteps(_ step: Int, in world: World) {
    for node in world.nodes { node.replica.reports.divergenceCheck.step = step }
  }

  @Test("[SYN-42] a different cell is found, reported and repaired within two intervals", arguments: [50_000, 2])
  func repair(step: Int) throws {
    let world = World(seed: 11, nodes: 3, weather: calm)
    useSteps(step, in: world)
    world.connectAll()
    let (id, actions) = try world.nodes[0].replica.change(now: world.now(0)) { board in
      try board.createText("right", at: Point(x: 0, y: 0))
    }
    world.carryOut(actions, 0)
    #expect(world.settle())
    // The same dot with another value, as bad memory or a malicious author could cause.
    let author = Incarnation(99)
    for (number, value) in [(0, UInt64(5)), (1, 5), (2, 4)] {
      let batch = try Batch(
        author: author,
        firstSequence: 1,
        time: HybridTime(1 << 57),
        operations: [Operation(id, .color, .unsigned(value))]
      )
      let (_, actions) = try world.nodes[number].replica.change(now: world.now(number)) { board in
        try board.receive(batch)
      }
      world.carryOut(actions, number)
    }
    #expect(world.nodes[0].replica.digest != world.nodes[2].replica.digest)
    for _ in 0..<400 { world.step(25) }
    #expect(world.nodes.contains { $0.divergences > 0 })
    #expect(world.nodes.allSatisfy { $0.replica.digest == world.nodes[0].replica.digest })
    #expect(world.nodes[2].replica.board.snapshot(id)?.color == 5)
    #expect(world.violations.isEmpty)
    // There are no further reports.
    let told = world.nodes.map(\.divergences)
    for _ in 0..<800 { world.step(25) }
    #expect(world.nodes.map(\.divergences) == told)
  }

  @Test("[SYN-42] a report contains the sums every 5 s, and equal replicas send nothing more") func reports() throws {
    let world = World(seed: 12, nodes: 2, weather: calm)
    world.connectAll()
    for _ in 0..<100 { world.edit(0) }
    for _ in 0..<900 { world.step(25) }
    #expect(world.nodes.allSatisfy { $0.divergences == 0 })
    let replica = world.nodes[0].replica
    let later = Moment(wall: world.now(0).wall, uptime: world.uptime + 6000)
    let reports = try replica.tick(now: later).compactMap { action -> ReplicaReport? in
      guard case .send(let bytes, _) = action, case .state(let report)? = try SyncMessage.decode(bytes) else {
        return nil
      }
      return report
    }
    #expect(reports.map(\.sums) == [BucketSums.sums(of: replica.board.state)])
  }

  @Test("[SYN-42] sums count only with an equal context, and a repair is requested once in 5 s") func once() throws {
    let world = World(seed: 13, nodes: 1)
    let anna = world.nodes[0].replica
    var bo = ScriptedReplica(9)
    let now = world.now(0)
    _ = anna.peerJoined(bo.member, now: now)
    _ = anna.received(bo.hello(), from: bo.member, now: now)
    _ = anna.received(SyncMessage.nothingLacking(1).encode(), from: bo.member, now: now)
    func told(_ hash: UInt64, _ now: Moment) throws -> [UInt16] {
      let report = ReplicaReport(contextHash: hash, sums: [1, 0, 0, 4] + [UInt64](repeating: 0, count: 12))
      let actions = anna.received(SyncMessage.state(report).encode(), from: bo.member, now: now)
      return try actions.compactMap {
        guard case .send(let bytes, _) = $0, case .request(let request)? = try SyncMessage.decode(bytes) else {
          return nil
        }
        return request.buckets
      }
    }
    #expect(try told(anna.reports.currentContextHash &+ 1, now).isEmpty)
    #expect(try told(anna.reports.currentContextHash, now) == [0b1001])
    _ = anna.received(SyncMessage.nothingLacking(2).encode(), from: bo.member, now: now)
    #expect(try told(anna.reports.currentContextHash, now).isEmpty)
    let later = Moment(wall: now.wall, uptime: now.uptime + 5000)
    #expect(try told(anna.reports.currentContextHash, later) == [0b1001])
    // A member that repeatedly answers that nothing is missing cannot prevent a repair by another.
    _ = anna.received(SyncMessage.nothingLacking(3).encode(), from: bo.member, now: later)
    bo = ScriptedReplica(10)
    _ = anna.peerJoined(bo.member, now: later)
    _ = anna.received(bo.hello(), from: bo.member, now: later)
    _ = anna.received(SyncMessage.nothingLacking(1).encode(), from: bo.member, now: later)
    #expect(try told(anna.reports.currentContextHash, later) == [0b1001])
  }

  @Test("[SYN-44] boards are equal if contexts and sums are equal; sums are sent at once", arguments: [50_000, 20])
  func equality(step: Int) throws {
    let world = World(seed: 14, nodes: 3, weather: calm)
    useSteps(step, in: world)
    let (anna, bo) = (world.nodes[0], world.nodes[1])
    world.carryOut(anna.replica.proveEquality(true, now: world.now(0)), 0)
    #expect(!anna.replica.isEqual(to: bo.member), "no other member is connected")
    world.connectAll()
    for _ in 0..<20 { world.edit(1) }
    // This is much less than the 5 s after which sums are sent in any case.
    for _ in 0..<80 { world.step(25) }
    #expect(anna.replica.isEqual(to: bo.member))
    #expect(anna.replica.digest == bo.replica.digest)
    let (_, actions) = try anna.replica.change(now: world.now(0)) { board in
      try board.createText("x", at: Point(x: 0, y: 0))
    }
    #expect(!anna.replica.isEqual(to: bo.member))
    world.carryOut(actions, 0)
    #expect(!anna.replica.isEqual(to: bo.member))
    for _ in 0..<80 { world.step(25) }
    #expect(anna.replica.isEqual(to: bo.member))
    world.disconnect(0, 1)
    #expect(!anna.replica.isEqual(to: bo.member))
    #expect(anna.replica.isEqual(to: world.nodes[2].member))
  }

  @Test("[SYN-44] different boards with one context are not equal until they are repaired", arguments: [50_000, 2])
  func inequality(step: Int) throws {
    let world = World(seed: 15, nodes: 2, weather: calm)
    useSteps(step, in: world)
    let (anna, bo) = (world.nodes[0].replica, world.nodes[1].replica)
    world.carryOut(anna.proveEquality(true, now: world.now(0)), 0)
    world.connectAll()
    let (id, actions) = try anna.change(now: world.now(0)) { board in
      try board.createText("right", at: Point(x: 0, y: 0))
    }
    world.carryOut(actions, 0)
    #expect(world.settle())
    for (number, value) in [(0, UInt64(5)), (1, 4)] {
      let batch = try Batch(
        author: Incarnation(99),
        firstSequence: 1,
        time: HybridTime(1 << 57),
        operations: [Operation(id, .color, .unsigned(value))]
      )
      let (_, actions) = try world.nodes[number].replica.change(now: world.now(number)) { board in
        try board.receive(batch)
      }
      world.carryOut(actions, number)
    }
    var wasDifferent = false
    for _ in 0..<400 {
      world.step(25)
      if anna.digest != bo.digest {
        wasDifferent = true
        #expect(!anna.isEqual(to: bo.board.member))
      }
    }
    #expect(wasDifferent)
    #expect(anna.digest == bo.digest && anna.isEqual(to: bo.board.member))
  }

  @Test("[SYN-44] sums with an equal context are answered with local sums, once for each context") func answeringSums()
    throws
  {
    let world = World(seed: 16, nodes: 1)
    let anna = world.nodes[0].replica
    var bo = ScriptedReplica(9)
    let now = world.now(0)
    _ = anna.peerJoined(bo.member, now: now)
    _ = anna.received(bo.hello(), from: bo.member, now: now)
    _ = anna.received(SyncMessage.nothingLacking(1).encode(), from: bo.member, now: now)
    _ = anna.tick(now: now)
    func answers(_ hash: UInt64) throws -> Int {
      let sums = BucketSums.sums(of: anna.board.state)
      let report = ReplicaReport(contextHash: hash, sums: sums)
      var actions = anna.received(SyncMessage.state(report).encode(), from: bo.member, now: now)
      actions += anna.tick(now: now)
      return try actions.count {
        guard case .send(let bytes, _) = $0, case .state(let report)? = try SyncMessage.decode(bytes) else {
          return false
        }
        return report.sums == sums
      }
    }
    #expect(try answers(anna.reports.currentContextHash &+ 1) == 0)
    #expect(try answers(anna.reports.currentContextHash) == 1)
    #expect(try answers(anna.reports.currentContextHash) == 0)
  }
}
