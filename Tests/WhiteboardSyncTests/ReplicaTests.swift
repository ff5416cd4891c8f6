import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// One replica and the bytes that others might send it.
@Suite struct ReplicaTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let peer: MemberID
  private let start = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  init() throws {
    peer = try #require(MemberID(Array(repeating: 9, count: 32)))
  }

  private func violations(_ actions: [ReplicaAction]) -> [ReplicaError] {
    actions.compactMap {
      if case .protocolViolation(_, let error) = $0 { error } else { nil }
    }
  }

  private func sent(_ actions: [ReplicaAction]) throws -> [SyncMessage] {
    try actions.compactMap {
      if case .send(let bytes, _) = $0 { try SyncMessage.decode(bytes) } else { nil }
    }
  }

  private func batch(
    _ author: Incarnation,
    first: UInt64 = 1,
    text: String = "x"
  ) throws -> Batch {
    let id = ObjectID(Dot(author, first))
    return try Batch(
      author: author,
      firstSequence: first,
      time: HybridTime(1_700_000_000_000 << 16),
      operations: [
        Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(64, -64)),
      ]
    )
  }

  @Test func `nothing is heard from one who has not joined`() throws {
    let bytes = SyncMessage.batch(try batch(Incarnation(5))).encode()
    anna.replica.received(bytes, from: peer, now: start)
    #expect(anna.replica.takeActions().isEmpty)
    #expect(anna.replica.board.state.objectCount == 0)
  }

  @Test("[SYN-10] what is received is not sent on")
  func noEcho() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    anna.replica.received(
      SyncMessage.batch(try batch(Incarnation(5))).encode(),
      from: peer,
      now: start
    )
    let actions = anna.replica.takeActions()
    #expect(try sent(actions).isEmpty)
    #expect(actions.count == 1)
  }

  @Test("[SYN-9] a batch in our name that we never wrote is refused")
  func forged() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = try anna.replica.change(now: start) { board in
      try board.createText("mine", at: Point(x: 0, y: 0))
    }
    let own = try #require(
      try sent(anna.replica.takeActions()).first {
        if case .batch = $0 { true } else { false }
      }
    )
    // Our own batch that comes back is nothing new.
    anna.replica.received(own.encode(), from: peer, now: start)
    #expect(violations(anna.replica.takeActions()).isEmpty)
    let forged = try batch(anna.replica.board.incarnation, first: 50)
    anna.replica.received(SyncMessage.batch(forged).encode(), from: peer, now: start)
    #expect(violations(anna.replica.takeActions()) == [.forgedBatch])
    #expect(anna.replica.board.objectIDs.count == 1)
  }

  @Test("[SYN-13] an answer to nothing that was asked is refused")
  func unrequested() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    let part = AnswerPart.split([1, 2, 3], request: 9)[0]
    anna.replica.received(SyncMessage.answerPart(part).encode(), from: peer, now: start)
    #expect(violations(anna.replica.takeActions()) == [.unrequestedAnswer])
  }

  @Test("[SYN-7] a part of an answer changes nothing, wherever it is cut")
  func partial() throws {
    let other = try #require(MemberID(Array(repeating: 8, count: 32)))
    let sender = Replica(incarnation: Incarnation(77), member: other, now: start)
    // Some megabytes of values, so that the answer has parts.
    for _ in 0..<6 {
      try sender.change(now: start) { board in
        let id = try board.createText("", at: Point(x: 0, y: 0))
        for number in 0..<10 {
          try board.stage(
            id,
            Property(UInt16(20 + number)),
            .bytes([UInt8](repeating: 3, count: 60_000))
          )
        }
      }
    }
    let answer = DifferenceCoding.encode(sender.board.state.difference(since: Context()))
    let parts = AnswerPart.split(answer, request: 1)
    #expect(parts.count == 4)
    anna.replica.peerJoined(other, now: start)
    for part in parts.dropLast() {
      anna.replica.received(SyncMessage.answerPart(part).encode(), from: other, now: start)
      #expect(anna.replica.board.state.objectCount == 0)
      #expect(anna.replica.board.state.context.isEmpty)
    }
    #expect(violations(anna.replica.takeActions()).isEmpty)
    // The last part with one bit wrong.
    var bytes = SyncMessage.answerPart(parts[3]).encode()
    bytes[bytes.count - 1] ^= 1
    anna.replica.received(bytes, from: other, now: start)
    #expect(violations(anna.replica.takeActions()) == [.malformed(.checksum)])
    #expect(anna.replica.board.state.context.isEmpty)
    // It asks again when contexts are compared, and then all of it counts at once.
    anna.replica.received(
      SyncMessage.state(
        ReplicaReport(contextHash: 1, applied: 0, incarnation: nil, received: SequenceRanges())
      ).encode(),
      from: other,
      now: start
    )
    anna.replica.tick(now: Moment(wall: start.wall, uptime: start.uptime + 6000))
    let requests = try sent(anna.replica.takeActions()).filter {
      if case .request(let request) = $0 { request.number == 2 } else { false }
    }
    #expect(requests.count == 1)
    for part in AnswerPart.split(answer, request: 2) {
      anna.replica.received(SyncMessage.answerPart(part).encode(), from: other, now: start)
    }
    #expect(anna.replica.digest == sender.digest)
    #expect(anna.replica.takeActions().contains(.caughtUp(other)))
  }

  @Test("[SYN-12] requests without end are answered once a second")
  func flood() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    var answers = 0
    for number in 1...100 {
      let now = Moment(wall: start.wall, uptime: start.uptime + UInt64(number * 20))
      let request = CatchUpRequest(
        number: UInt64(number),
        incarnation: Incarnation(5),
        context: Context()
      )
      anna.replica.received(SyncMessage.request(request).encode(), from: peer, now: now)
      anna.replica.tick(now: now)
      for case .answerPart in try sent(anna.replica.takeActions()) { answers += 1 }
    }
    #expect(answers == 2)
  }

  @Test("[SYN-12] one who takes nothing is answered once it takes again, its latest request")
  func backlog() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    anna.replica.memberIsBacklogged(peer, true)
    var requests: [UInt64] = []
    for number: UInt64 in 1...5 {
      let now = Moment(wall: start.wall, uptime: start.uptime + number * 1_000)
      let request = CatchUpRequest(
        number: number,
        incarnation: Incarnation(5),
        context: Context()
      )
      if number == 5 { anna.replica.memberIsBacklogged(peer, false) }
      anna.replica.received(SyncMessage.request(request).encode(), from: peer, now: now)
      anna.replica.tick(now: now)
      for case .answerPart(let part) in try sent(anna.replica.takeActions()) {
        requests.append(part.request)
      }
    }
    #expect(requests == [5])
    anna.replica.memberIsBacklogged(peer, true)
    let request = CatchUpRequest(number: 6, incarnation: Incarnation(5), context: Context())
    let asked = Moment(wall: start.wall, uptime: start.uptime + 10_000)
    anna.replica.received(SyncMessage.request(request).encode(), from: peer, now: asked)
    #expect(try sent(anna.replica.takeActions()).allSatisfy { !$0.isAnswer })
    anna.replica.memberIsBacklogged(peer, false)
    anna.replica.tick(now: Moment(wall: start.wall, uptime: start.uptime + 10_040))
    #expect(try sent(anna.replica.takeActions()).contains { $0.isAnswer })
  }

  @Test("[BRD-22] a selection ends when its holder has been silent for 10 s")
  func lease() throws {
    anna.replica.peerJoined(peer, now: start)
    let id = try anna.replica.change(now: start) { board in
      try board.createText("x", at: Point(x: 0, y: 0))
    }
    let select = try Batch(
      author: Incarnation(5),
      firstSequence: 1,
      time: HybridTime(1_800_000_000_000 << 16),
      operations: [Operation(id, .selection, .bytes(peer.bytes))]
    )
    anna.replica.received(SyncMessage.batch(select).encode(), from: peer, now: start)
    #expect(anna.replica.takeActions().contains(.selected(id, by: peer)))
    let later = Moment(wall: start.wall, uptime: start.uptime + 9999)
    anna.replica.tick(now: later)
    #expect(anna.replica.board.holder(of: id) == peer)
    let late = Moment(wall: start.wall, uptime: start.uptime + 10_000)
    anna.replica.tick(now: late)
    #expect(anna.replica.takeActions().contains(.selected(id, by: nil)))
    // Any sign of it, and it holds again.
    anna.replica.receivedDatagram(
      SyncDatagram.presence(counter: 1, cursor: nil).encode(),
      from: peer,
      now: late
    )
    #expect(anna.replica.takeActions().contains(.selected(id, by: peer)))
    anna.replica.peerLeft(peer, now: late)
    #expect(anna.replica.takeActions().contains(.selected(id, by: nil)))
  }

  @Test("[BRD-22] the loser of a race for an object is told")
  func loser() throws {
    anna.replica.peerJoined(peer, now: start)
    let id = try anna.replica.change(now: start) { board in
      try board.createText("x", at: Point(x: 0, y: 0))
    }
    try anna.replica.change(now: start) { board in
      try board.object(id)?.select(by: board.member)
    }
    #expect(anna.replica.takeActions().contains(.selected(id, by: anna.member)))
    let select = try Batch(
      author: Incarnation(5),
      firstSequence: 1,
      time: HybridTime(1_800_000_000_000 << 16),
      operations: [Operation(id, .selection, .bytes(peer.bytes))]
    )
    anna.replica.received(SyncMessage.batch(select).encode(), from: peer, now: start)
    let actions = anna.replica.takeActions()
    #expect(actions.contains(.selectionLost(id, to: peer)))
    #expect(actions.contains(.selected(id, by: peer)))
  }

  @Test("[SYN-30] an older presence does not overwrite a newer one")
  func presence() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    for (counter, x) in [(2, 16), (1, 32), (3, 16), (4, 48)] {
      anna.replica.receivedDatagram(
        SyncDatagram.presence(
          counter: UInt64(counter),
          cursor: InkPoint(x: Int32(x), y: 0)
        ).encode(),
        from: peer,
        now: start
      )
    }
    #expect(
      anna.replica.takeActions() == [
        .presence(peer, cursor: Point(x: 1, y: 0)), .presence(peer, cursor: Point(x: 3, y: 0)),
      ]
    )
  }

  @Test func `unknown messages that may be skipped are, and others are refused`() {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    anna.replica.received([0x80, 1, 2], from: peer, now: start)
    anna.replica.receivedDatagram([0xFF], from: peer, now: start)
    #expect(anna.replica.takeActions().isEmpty)
    anna.replica.received([0x07], from: peer, now: start)
    anna.replica.received([], from: peer, now: start)
    anna.replica.receivedDatagram([0x03], from: peer, now: start)
    #expect(
      violations(anna.replica.takeActions()).map(\.code) == [
        "reserved", "truncated", "reserved",
      ]
    )
  }

  @Test func `the application's bytes pass as they are`() {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    anna.replica.sendData([1, 2], isReliable: true, now: start)
    anna.replica.sendData([3], to: [peer], isReliable: false, now: start)
    #expect(
      anna.replica.takeActions() == [
        .send([0x10, 1, 2], to: [peer]), .sendDatagram([0x10, 3], to: [peer]),
      ]
    )
    anna.replica.received([0x10, 7], from: peer, now: start)
    anna.replica.receivedDatagram([0x10], from: peer, now: start)
    #expect(
      anna.replica.takeActions() == [
        .data([7], from: peer, isReliable: true), .data([], from: peer, isReliable: false),
      ]
    )
  }

  @Test(
    "any bytes in any state neither trap nor change what was not theirs to change",
    arguments: 0..<20
  )
  func anyBytes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = World(seed: seed, nodes: 2)
    world.connectAll()
    for _ in 0..<100 { world.happen() }
    world.connectAll()
    let node = world.nodes[0]
    let from = world.nodes[1].member
    let samples: [SyncMessage] = [
      .batch(try batch(Incarnation(5))),
      .request(
        CatchUpRequest(
          number: 3,
          incarnation: Incarnation(5),
          context: node.replica.board.state.context
        )
      ),
      .answerPart(
        AnswerPart.split(
          DifferenceCoding.encode(node.replica.board.state.difference(since: .init())),
          request: 1
        )[0]
      ),
      .assetRequest(World.asset(1).id),
    ]
    for _ in 0..<400 {
      var bytes = samples[random.below(samples.count)].encode()
      switch random.below(3) {
      case 0: bytes = Array(bytes.prefix(random.below(bytes.count + 1)))
      case 1: bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
      default: bytes = (0..<random.below(80)).map { _ in UInt8(random.below(256)) }
      }
      node.replica.received(bytes, from: from, now: world.now(0))
      node.replica.receivedDatagram(bytes, from: from, now: world.now(0))
    }
    // It still works.
    let id = try node.replica.change(now: world.now(0)) { board in
      try board.createText("alive", at: Point(x: 0, y: 0))
    }
    #expect(node.replica.board.snapshot(id)?.text == "alive")
  }

  /// What the peer's answer to our request is, as the messages that bring it.
  private func answer(_ bytes: [UInt8], request: UInt64, now: Moment) {
    for part in AnswerPart.split(bytes, request: request) {
      anna.replica.received(SyncMessage.answerPart(part).encode(), from: peer, now: now)
    }
  }

  @Test("[BRD-25] after a claim of all our dots we write on, and tell everyone who we are now")
  func claimed() throws {
    anna.replica.peerJoined(peer, now: start)
    let old = anna.replica.board.incarnation
    _ = anna.replica.takeActions()
    var claim = Difference(context: Context())
    claim.context.insert(1...BoardLimits.sequence, of: old)
    answer(DifferenceCoding.encode(claim), request: 1, now: start)
    #expect(violations(anna.replica.takeActions()).isEmpty)
    let id = try anna.replica.change(now: start) { board in
      try board.createText("mine", at: Point(x: 0, y: 0))
    }
    let new = anna.replica.board.incarnation
    #expect(new != old && id.dot == Dot(new, 1))
    let messages = try sent(anna.replica.takeActions())
    #expect(
      messages.contains { if case .batch(let batch) = $0 { batch.author == new } else { false } }
    )
    #expect(
      messages.contains {
        if case .request(let request) = $0 { request.incarnation == new } else { false }
      }
    )
    // Neither name is anybody else's.
    for author in [old, new] {
      let forged = try batch(author, first: 50)
      anna.replica.received(SyncMessage.batch(forged).encode(), from: peer, now: start)
      #expect(violations(anna.replica.takeActions()) == [.forgedBatch])
    }
  }

  @Test("[BRD-30] a request fits in a message, whatever context a member can bring about")
  func longestRequest() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    // As many incarnations as there may be, and ranges as wide as fit.
    var claim = Difference(context: Context())
    let perIncarnation = UInt64(BoardLimits.ranges / BoardLimits.incarnations)
    for number in 1...UInt64(BoardLimits.incarnations) {
      for range in 0..<perIncarnation {
        let first = (range + 1) << 43
        claim.context.insert(first...(first + 1 << 42), of: Incarnation(number << 40))
      }
    }
    let bytes = DifferenceCoding.encode(claim)
    answer(bytes, request: 1, now: start)
    #expect(anna.replica.board.state.context.rangeCount == BoardLimits.ranges)
    let request = CatchUpRequest(
      number: .max,
      incarnation: anna.replica.board.incarnation,
      context: anna.replica.board.state.context
    )
    #expect(SyncMessage.request(request).encode().count <= 16 << 20)
    #expect(violations(anna.replica.takeActions()).isEmpty)
  }

  @Test("[BRD-30] a context beyond the limit of ranges is its sender's breach")
  func longContext() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    var claim = Difference(context: Context())
    for number in 0...UInt64(BoardLimits.ranges) {
      claim.context.insert(Dot(Incarnation(9), 2 * number + 1))
    }
    answer(DifferenceCoding.encode(claim), request: 1, now: start)
    #expect(violations(anna.replica.takeActions()).map(\.code) == ["limit"])
    #expect(anna.replica.board.state.context.isEmpty)
  }

  @Test("[BRD-30] who broke no rule stays when our board is full, and is asked again later")
  func full() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    var claim = Difference(context: Context())
    for number in 0..<UInt64(BoardLimits.ranges) {
      claim.context.insert(Dot(Incarnation(9), 2 * number + 1))
    }
    answer(DifferenceCoding.encode(claim), request: 1, now: start)
    let honest = SyncMessage.batch(try batch(Incarnation(5))).encode()
    anna.replica.received(honest, from: peer, now: start)
    #expect(anna.replica.board.state.objectCount == 0)
    #expect(violations(anna.replica.takeActions()).isEmpty)
    let report = ReplicaReport(
      contextHash: 1,
      applied: 0,
      incarnation: nil,
      received: SequenceRanges()
    )
    anna.replica.received(SyncMessage.state(report).encode(), from: peer, now: start)
    func requests(after seconds: UInt64) throws -> Int {
      anna.replica.tick(now: Moment(wall: start.wall, uptime: start.uptime + seconds * 1000))
      return try sent(anna.replica.takeActions()).filter {
        if case .request = $0 { true } else { false }
      }.count
    }
    #expect(try requests(after: 6) == 1)
    var other = Difference(context: Context())
    other.context.insert(Dot(Incarnation(5), 1))
    let now = Moment(wall: start.wall, uptime: start.uptime + 6000)
    answer(DifferenceCoding.encode(other), request: 2, now: now)
    #expect(violations(anna.replica.takeActions()).isEmpty)
    #expect(try requests(after: 30) == 0)
    #expect(try requests(after: 70) == 1)
  }

  @Test("[BRD-24] changes of an object of thousands of cells are told together")
  func largeObjects() throws {
    anna.replica.peerJoined(peer, now: start)
    _ = anna.replica.takeActions()
    let id = ObjectID(Dot(Incarnation(5), 1))
    func receive(_ first: UInt64, _ operations: [Operation]) throws {
      let batch = try Batch(
        author: Incarnation(5),
        firstSequence: first,
        time: HybridTime(first),
        operations: operations
      )
      anna.replica.received(SyncMessage.batch(batch).encode(), from: peer, now: start)
    }
    try receive(1, [Operation(id, .kind, .unsigned(1))])
    for number in UInt64(0)..<2 {
      try receive(
        2 + number * 4096,
        (UInt64(0)..<4096).map {
          Operation(id, Property(65, index: number * 4096 + $0), .unsigned(1))
        }
      )
    }
    _ = anna.replica.takeActions()
    for number in UInt64(0)..<100 {
      try receive(9000 + number, [Operation(id, .color, .unsigned(number))])
    }
    #expect(anna.replica.takeActions().isEmpty)
    anna.replica.tick(now: Moment(wall: start.wall, uptime: start.uptime + 1))
    let told = anna.replica.takeActions().compactMap {
      if case .objectChanged(let snapshot, _) = $0 { snapshot.color } else { nil }
    }
    #expect(told == [99])
  }
}

extension SyncMessage {
  /// Whether it is a part of an answer.
  fileprivate var isAnswer: Bool {
    if case .answerPart = self { true } else { false }
  }
}
