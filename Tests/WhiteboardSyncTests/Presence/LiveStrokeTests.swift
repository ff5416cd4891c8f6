import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct LiveStrokeTests {
  @Test("[SYN-32] the preview of a member that left is forgotten, and no other") func memberLeft() throws {
    var tails = StrokeTails()
    let members = [ScriptedReplica(2).member, ScriptedReplica(3).member]
    let strokes = (1...2).map { ObjectID(Dot(Incarnation(1), $0)) }
    for (stroke, member) in zip(strokes, members) {
      #expect(tails.received(stroke, first: 0, [try InkPoint(Point(x: 1, y: 1))], from: member, committed: 0))
    }
    #expect(tails.memberLeft(members[0]) == [strokes[0]])
    #expect(strokes.map { tails.tail(of: $0, committed: 0).count } == [0, 1])
  }

  @Test("[SYN-32] the preview of a stroke grows while it is drawn and never shrinks", arguments: 0..<20) func grows(
    seed: UInt64
  ) throws {
    let world = World(seed: seed, nodes: 2, weather: .init(loss: 40, cuts: 0, crashes: 0, skew: 1000))
    world.connectAll()
    #expect(world.settle())
    let (author, other) = (world.nodes[0].replica, world.nodes[1].replica)
    let (stroke, actions) = try author.beginStroke(now: world.now(0))
    world.carryOut(actions, 0)
    var drawn: [InkPoint] = []
    var shown: [InkPoint] = []
    var grewBetweenCommits = 0
    for index in 0..<200 {
      let point = Point(x: Double(index) * 1.5, y: Double(index % 17))
      drawn.append(try InkPoint(point))
      world.carryOut(try author.extendStroke(stroke, with: [point], now: world.now(0)), 0)
      world.step(10)
      let next = other.shownInk(of: stroke)
      #expect(next.starts(with: shown), "seed \(seed): shown points moved or disappeared")
      #expect(drawn.starts(with: next), "seed \(seed): shows points that were not drawn")
      let committed = other.board.snapshot(stroke)?.ink?.count ?? 0
      if next.count > shown.count, next.count > committed { grewBetweenCommits += 1 }
      shown = next
    }
    world.carryOut(try author.endStroke(stroke, now: world.now(0)), 0)
    #expect(world.settle())
    #expect(other.shownInk(of: stroke) == drawn)
    #expect(other.board.snapshot(stroke)?.isFinished == true)
    #expect(grewBetweenCommits > 20, "seed \(seed): few points were shown before their commit")
    #expect(throws: BoardError.unknownObject(stroke)) {
      try author.extendStroke(stroke, with: [Point(x: 0, y: 0)], now: world.now(0))
    }
  }

  @Test("[SYN-31] [SYN-49] previews go only to members that show them, and without them a stroke causes work rarely")
  func viewers() throws {
    let world = World(seed: 1, nodes: 3)
    let author = world.nodes[0].replica
    let hidden = try world.nodes[1].replica.setProfile(name: "", icon: "", showsPreviews: false, now: world.now(1))
    world.carryOut(hidden, 1)
    world.connectAll()
    #expect(world.settle())
    let (stroke, actions) = try author.beginStroke(with: [Point(x: 0, y: 0)], now: world.now(0))
    world.carryOut(actions, 0)
    world.step(50)
    let begun = try author.extendStroke(stroke, with: [Point(x: 1, y: 1)], now: world.now(0))
    #expect(previews(in: begun).map(\.recipients) == [[world.nodes[2].member]])
    #expect(author.strokeInterval == LiveStroke.previewInterval)
    world.carryOut(begun, 0)

    world.disconnect(0, 2)
    let extended = try author.extendStroke(stroke, with: [Point(x: 2, y: 2)], now: world.now(0))
    #expect(previews(in: extended).isEmpty)
    #expect(author.strokeInterval == LiveStroke.commitInterval)
    let due = try #require(author.strokes.nextDeadline)
    #expect(due > world.now(0).uptime + LiveStroke.previewInterval)
    world.carryOut(extended, 0)
    world.carryOut(try author.endStroke(stroke, now: world.now(0)), 0)
    world.connectAll()
    #expect(world.settle())
    #expect(world.nodes[1].replica.board.snapshot(stroke)?.ink?.count == 3)
  }

  private func previews(in actions: [ReplicaAction]) -> [(recipients: [MemberID], bytes: [UInt8])] {
    actions.compactMap {
      guard case .sendDatagram(let bytes, let recipients) = $0, bytes.first == 0x02 else { return nil }
      return (recipients, bytes)
    }
  }

  @Test("[SYN-31] the first points are committed at once, and later points with those that are almost due")
  func commits() throws {
    let world = World(seed: 1, nodes: 1)
    func committed(_ stroke: ObjectID) -> Int? { world.nodes[0].replica.board.snapshot(stroke)?.ink?.count }
    let author = world.nodes[0].replica
    let start = world.now(0)
    func later(_ milliseconds: UInt64) -> Moment {
      Moment(wall: start.wall + milliseconds, uptime: start.uptime + milliseconds)
    }
    let stroke = try author.beginStroke(with: [Point(x: 0, y: 0), Point(x: 1, y: 0)], now: start).id
    #expect(committed(stroke) == 2)
    _ = try author.extendStroke(stroke, with: [Point(x: 2, y: 0)], now: later(200))
    #expect(committed(stroke) == 2)
    _ = try author.extendStroke(stroke, with: [Point(x: 3, y: 0)], now: later(240))
    #expect(committed(stroke) == 4)
    _ = try author.endStroke(stroke, with: [Point(x: 4, y: 0)], now: later(250))
    #expect(committed(stroke) == 5)
    #expect(author.board.snapshot(stroke)?.isFinished == true)
  }

  @Test("[SYN-33] a preview by another member, or of a finished stroke, is ignored") func strangers() throws {
    let world = World(seed: 1, nodes: 3)
    world.connectAll()
    #expect(world.settle())
    let author = world.nodes[0].replica
    let (stroke, actions) = try author.beginStroke(now: world.now(0))
    world.carryOut(actions, 0)
    #expect(world.settle())
    let other = world.nodes[1].replica
    let forged = SyncDatagram.preview(stroke: stroke, first: 0, points: [InkPoint(x: 1, y: 1)]).encode()
    _ = other.receivedDatagram(forged, from: world.nodes[2].member, now: world.now(1))
    #expect(other.shownInk(of: stroke).isEmpty)
    _ = other.receivedDatagram(forged, from: world.nodes[0].member, now: world.now(1))
    #expect(other.shownInk(of: stroke) == [InkPoint(x: 1, y: 1)])
    let point = Point(x: 5, y: 5)
    world.carryOut(try author.extendStroke(stroke, with: [point], now: world.now(0)), 0)
    world.carryOut(try author.endStroke(stroke, now: world.now(0)), 0)
    #expect(world.settle())
    _ = other.receivedDatagram(
      SyncDatagram.preview(stroke: stroke, first: 1, points: [InkPoint(x: 1, y: 1)]).encode(),
      from: world.nodes[0].member,
      now: world.now(1)
    )
    #expect(other.shownInk(of: stroke) == [InkPoint(x: 80, y: 80)])
  }

  @Test("a stroke that is being drawn can be cancelled, and has the pressure of the pen") func cancels() throws {
    let world = World(seed: 1, nodes: 2)
    world.connectAll()
    #expect(world.settle())
    let (author, other) = (world.nodes[0].replica, world.nodes[1].replica)
    let (stroke, actions) = try author.beginStroke(now: world.now(0))
    world.carryOut(actions, 0)
    let ink = [InkPoint(x: 16, y: 32, pressure: 200), InkPoint(x: 48, y: 32, pressure: 100)]
    world.carryOut(try author.extendStroke(stroke, withInk: ink, now: world.now(0)), 0)
    #expect(world.settle())
    #expect(other.board.snapshot(stroke)?.ink == ink)
    world.carryOut(try author.cancelStroke(stroke, now: world.now(0)), 0)
    #expect(world.settle())
    #expect(author.board.snapshot(stroke) == nil)
    #expect(other.board.snapshot(stroke) == nil)
    #expect(throws: BoardError.unknownObject(stroke)) { try author.cancelStroke(stroke, now: world.now(0)) }
    #expect(throws: BoardError.unknownObject(stroke)) {
      try author.extendStroke(stroke, withInk: ink, now: world.now(0))
    }
  }
}
