import BoardWorlds
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// One replica that receives messages from scripted members.
@Suite final class ReplicaTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let log = ActionLog()
  private var scriptedReplica = ScriptedReplica(9)
  private let start = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  private var peer: MemberID { scriptedReplica.member }

  private func later(_ milliseconds: UInt64) -> Moment {
    Moment(wall: start.wall + milliseconds, uptime: start.uptime + milliseconds)
  }

  private func violations(_ actions: [ReplicaAction]) -> [ReplicaError] {
    actions.compactMap { if case .protocolViolation(_, let error) = $0 { error } else { nil } }
  }

  private func sent(_ actions: [ReplicaAction]) throws -> [SyncMessage] {
    try actions.compactMap { if case .send(let bytes, _) = $0 { try SyncMessage.decode(bytes) } else { nil } }
  }

  private func receive(_ bytes: [UInt8], _ now: Moment? = nil) {
    log += anna.replica.received(bytes, from: peer, now: now ?? start)
  }

  /// Lets the scripted replica join and introduce itself.
  private func join() {
    log += anna.replica.peerJoined(peer, now: start)
    receive(scriptedReplica.hello())
    _ = log.take()
  }

  /// Sends the scripted replica's answer to our request.
  private func answer(_ difference: Difference, of others: [AuthorRecord] = [], request: UInt64, now: Moment) {
    log += anna.replica.receivedAnswer(
      scriptedReplica.answer(difference, of: others),
      request: request,
      from: peer,
      now: now
    )
  }

  private func createText() throws -> ObjectID {
    let outcome = try anna.replica.change(now: start) { board in try board.createText("x", at: Point(x: 0, y: 0)) }
    return log.value(of: outcome)
  }

  private func report(_ hash: UInt64) -> [UInt8] { SyncMessage.state(ReplicaReport(contextHash: hash)).encode() }

  @Test func `messages from a peer that has not joined are ignored`() throws {
    receive(scriptedReplica.hello())
    receive(try scriptedReplica.sendText())
    #expect(log.take().isEmpty)
    #expect(anna.replica.board.state.objectCount == 0)
  }

  @Test("[SYN-10] received operations are not forwarded") func noEcho() throws {
    join()
    receive(try scriptedReplica.sendText())
    let actions = log.take()
    #expect(try sent(actions).isEmpty)
    // The record and the batch are stored before the object is reported.
    #expect(actions.count == 3)
    guard case .record(.author(scriptedReplica.record.bytes, scriptedReplica.incarnation)) = actions[0],
      case .record(.batch) = actions[1], case .objectAdded = actions[2]
    else {
      Issue.record("\(actions)")
      return
    }
  }

  @Test func `an input reports some of the lines bound to a moved object, and ticks report the others`() throws {
    let outcome = try anna.replica.change(now: start) { (board) throws(BoardError) in
      let hub = try board.createForm(.rectangle, at: Point(x: 0, y: 0), size: Size(width: 100, height: 50))
      let lines = try (0..<2 * LateLines.count + 9).map { index throws(BoardError) in
        let points = [Point(x: 0, y: 0), Point(x: 200, y: Double(index))]
        let line = try board.createForm(.arrow, at: Point(x: 0, y: 0), points: points)
        try board.bind(.start, of: line, to: Binding(to: hub, at: Point(x: 0, y: 0)))
        return line
      }
      return (hub: hub, lines: lines)
    }
    let (hub, lines) = log.value(of: outcome)
    while anna.replica.nextDeadline == 0 { log += anna.replica.tick(now: start) }
    func reported() -> [ObjectID] {
      log.take().compactMap { if case .objectChanged(let snapshot, _) = $0 { snapshot.id } else { nil } }
    }
    _ = reported()
    log.value(
      of: try anna.replica.change(now: start) { (board) throws(BoardError) in
        try board.move([hub], by: Point(x: 30, y: 0))
      }
    )
    var found = reported()
    #expect(found.first == hub && found.count == 1 + LateLines.count)
    while anna.replica.nextDeadline == 0 {
      log += anna.replica.tick(now: start)
      let more = reported()
      #expect(more.count <= LateLines.count)
      found += more
    }
    #expect(found.count == 1 + lines.count && Set(found) == Set([hub] + lines))
  }

  @Test("[SYN-28] a batch is sent once to all, after an author message if one of them is new") func oneWriter() throws {
    enum Said: Equatable {
      case author(to: Int)
      case batch(to: Int)
    }
    func said() -> [Said] {
      log.take().compactMap {
        guard case .send(let bytes, let members) = $0 else { return nil }
        switch bytes.first {
        case SyncMessage.batchKind: return .batch(to: members.count)
        case 0x07: return .author(to: members.count)
        default: return nil
        }
      }
    }
    join()
    _ = try createText()
    #expect(said() == [.batch(to: 1)], "the only link needs no author message")
    let bo = ScriptedReplica(10).member
    log += anna.replica.peerJoined(bo, now: start)
    #expect(said() == [.author(to: 1)])
    _ = try createText()
    #expect(said() == [.author(to: 2), .batch(to: 2)])
    _ = try createText()
    #expect(said() == [.batch(to: 2)])
    // Now both members receive the same messages from the start.
    for member in [peer, bo] { log += anna.replica.peerLeft(member, now: start) }
    for member in [peer, bo] { log += anna.replica.peerJoined(member, now: start) }
    _ = try createText()
    #expect(said() == [.author(to: 1), .author(to: 1), .batch(to: 2)])
  }

  @Test("[SYN-13] an unrequested answer that nothing is missing is refused") func unrequested() {
    join()
    receive(SyncMessage.nothingLacking(9).encode())
    #expect(violations(log.take()) == [.unrequestedAnswer])
  }

  @Test("[SYN-12] a member that lacks nothing gets that answer, and both have caught up") func nothingLacking() throws {
    join()
    let request = CatchUpRequest(number: 1, context: Context())
    receive(SyncMessage.request(request).encode())
    #expect(try sent(log.take()) == [.nothingLacking(1)])
    receive(SyncMessage.nothingLacking(1).encode())
    #expect(log.take() == [.caughtUp(peer)])
    // An answer to a finished or abandoned request counts as late.
    receive(SyncMessage.nothingLacking(1).encode())
    #expect(log.take().isEmpty)
  }

  @Test("[SYN-12] endless requests are answered once a second, one at a time") func flood() throws {
    join()
    _ = try createText()
    _ = log.take()
    var answers: [UInt64] = []
    for number: UInt64 in 1...200 {
      let now = later(number * 20)
      receive(SyncMessage.request(CatchUpRequest(number: number, context: Context())).encode(), now)
      log += anna.replica.tick(now: now)
      for case .sendAnswer(let answer, _) in log.take() {
        answers.append(answer.request)
        // Sending the second answer takes two seconds.
        if answers.count != 2 {
          log += anna.replica.answerSent(request: answers[answers.count - 1], to: peer, now: now)
        }
      }
      if number == 151 { log += anna.replica.answerSent(request: answers[1], to: peer, now: now) }
    }
    #expect(answers == [1, 51, 152])
  }

  @Test("[SYN-12] a member that does not read gets the answer to its latest request once it reads") func backlog()
    throws
  {
    join()
    anna.replica.memberIsBacklogged(peer, true)
    for number: UInt64 in 1...4 {
      let request = CatchUpRequest(number: number, context: Context())
      receive(SyncMessage.request(request).encode(), later(number * 1000))
      log += anna.replica.tick(now: later(number * 1000))
      #expect(try !sent(log.take()).contains(.nothingLacking(number)))
    }
    anna.replica.memberIsBacklogged(peer, false)
    log += anna.replica.tick(now: later(4040))
    #expect(try sent(log.take()).contains(.nothingLacking(4)))
  }

  @Test("[BRD-22] a selection ends when its member has been silent for 10 s") func lease() throws {
    join()
    let id = try createText()
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(peer.bytes))], time: 1 << 41))
    #expect(log.take().contains(.selected(id, by: peer)))
    log += anna.replica.tick(now: later(9999))
    #expect(anna.replica.board.holder(of: id) == peer)
    log += anna.replica.tick(now: later(10_000))
    #expect(log.take().contains(.selected(id, by: nil)))
    // After any message of the holder, the selection counts again.
    log += anna.replica.receivedDatagram(
      SyncDatagram.presence(counter: 1, Presence()).encode(),
      from: peer,
      now: later(10_000)
    )
    #expect(log.take().contains(.selected(id, by: peer)))
    log += anna.replica.peerLeft(peer, now: later(10_000))
    #expect(log.take().contains(.selected(id, by: nil)))
  }

  @Test("actions that are due when an input fails are returned by the next input") func dueActions() throws {
    join()
    let id = try createText()
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(peer.bytes))], time: 1 << 41))
    _ = anna.replica.tick(now: start)
    #expect(anna.replica.nextDeadline ?? 0 > 0)
    #expect(throws: BoardError.empty) { try anna.replica.change(now: later(10_000)) { _ in throw BoardError.empty } }
    #expect(anna.replica.nextDeadline == 0)
    #expect(anna.replica.tick(now: later(10_000)).contains(.selected(id, by: nil)))
    #expect(anna.replica.nextDeadline ?? 0 > 0)
  }

  @Test("[BRD-22] a member that loses a race for an object is notified") func loser() throws {
    join()
    let id = try createText()
    log += try anna.replica.change(now: start) { board in try board.object(id)?.select() }.actions
    #expect(log.take().contains(.selected(id, by: anna.member)))
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(peer.bytes))], time: 1 << 41))
    let actions = log.take()
    #expect(actions.contains(.selectionLost(id, to: peer)))
    #expect(actions.contains(.selected(id, by: peer)))
  }

  @Test(
    "[BRD-38] an answer does not let one author fill the board, and is not repeated at once",
    .enabled(if: isOptimized)
  ) func share() throws {
    join()
    let count: UInt64 = 100_100
    let author = scriptedReplica.incarnation
    var difference = Difference(context: Context())
    difference.context.insert(1...count, of: author)
    difference.living.insert(1...count, of: author)
    difference.entries = (1...count).map { sequence in
      let dot = Dot(author, sequence)
      let cell = Cell(value: .unsigned(1), time: HybridTime(sequence), dot: dot)
      return .init(object: ObjectID(dot), cells: [PropertyCell(.kind, cell)])
    }
    answer(difference, request: 1, now: start)
    let actions = log.take()
    #expect(actions.contains(.full(peer)) && actions.contains(.caughtUp(peer)))
    #expect(violations(actions).isEmpty)
    #expect(anna.replica.board.state.objectCount == BoardLimits.objects)
    _ = try createText()
    #expect(anna.replica.board.state.objectCount == BoardLimits.objects + 1)
    func requests(until end: UInt64) throws -> Int {
      log += anna.replica.tick(now: later(end))
      return try sent(log.take()).reduce(0) { count, message in if case .request = message { count + 1 } else { count }
      }
    }
    receive(report(1))
    for second: UInt64 in [30, 59] { #expect(try requests(until: 1000 * second) == 0) }
    #expect(try requests(until: 66_000) == 1)
  }

  @Test("[BRD-23] a deletion by a member that had not seen the user's changes is reported") func deletedUnseen() throws
  {
    join()
    let id = try createText()
    let seen = anna.replica.board.state.context
    log += try anna.replica.change(now: start) { board in try board.text(id).edit(replacing: 0..<0, with: "more ") }
      .actions
    let dot = Dot(scriptedReplica.incarnation, 1)
    var difference = Difference(context: seen)
    difference.context.insert(dot)
    difference.living.insert(id.dot)
    let cell = Cell(value: .unsigned(1), time: HybridTime(1 << 41), dot: dot)
    difference.entries = [.init(object: id, cells: [PropertyCell(.deleted, cell)])]
    answer(difference, request: 1, now: start)
    #expect(log.take().contains(.deletedUnseen([id], by: peer)))
    // A member that has seen the changes may delete the object without a report.
    log += try anna.replica.change(now: start) { board in try board.undelete(id) }.actions
    var later = difference
    later.context.formUnion(anna.replica.board.state.context)
    later.context.insert(Dot(scriptedReplica.incarnation, 2))
    let again = Cell(value: .unsigned(1), time: HybridTime(1 << 60), dot: Dot(scriptedReplica.incarnation, 2))
    later.entries = [.init(object: id, cells: [PropertyCell(.deleted, again)])]
    receive(report(1))
    log += anna.replica.tick(now: self.later(6000))
    answer(later, request: 2, now: self.later(6000))
    let actions = log.take()
    #expect(actions.contains(.objectRemoved(id, from: peer)))
    #expect(!actions.contains { if case .deletedUnseen = $0 { true } else { false } })
  }

  @Test("[BRD-22] the end of a lease is reported, although its member stays connected") func leaseEnd() throws {
    join()
    let id = try createText()
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(peer.bytes))], time: 1 << 41))
    #expect(log.take().contains(.selected(id, by: peer)))
    for second: UInt64 in 1...65 {
      log += anna.replica.receivedDatagram(
        SyncDatagram.presence(counter: second, Presence()).encode(),
        from: peer,
        now: later(1000 * second)
      )
      let isEnd = log.take().contains(.selected(id, by: nil))
      #expect(isEnd == (second == 60))
      #expect((anna.replica.board.holder(of: id) == peer) == (second < 60))
    }
    #expect(anna.replica.board.presentMembers == [peer])
  }

  @Test("[BRD-22] a selection in another member's name is ignored") func selectionForAnother() throws {
    join()
    let id = try createText()
    _ = log.take()
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(anna.member.bytes))], time: 1 << 41))
    #expect(anna.replica.board.holder(of: id) == nil)
    #expect(!log.take().contains { if case .selected = $0 { true } else { false } })
    // The same cell counts if its own author writes it.
    receive(try scriptedReplica.send([Operation(id, .selection, .bytes(peer.bytes))], time: 1 << 41 + 1))
    #expect(anna.replica.board.holder(of: id) == peer)
  }

  @Test("[SYN-30] an older presence does not overwrite a newer one") func presence() throws {
    join()
    let places = try [1, 3].map { try Presence(cursor: Point(x: $0, y: 0)) }
    let counters: [UInt64] = [2, 1, 3, 4]
    for (counter, shown) in zip(counters, places + places) {
      log += anna.replica.receivedDatagram(
        SyncDatagram.presence(counter: counter, shown).encode(),
        from: peer,
        now: start
      )
    }
    #expect(log.take() == places.map { .presence(peer, $0) })
  }

  @Test("[SYN-30] presence is sent every 33 ms while it changes, then once a second, and after 10 s every 3 s")
  func pace() throws {
    join()
    log += anna.replica.tick(now: start)
    _ = log.take()
    var sent: [(time: UInt64, shown: Presence)] = []
    func note(_ time: UInt64) throws {
      for case .sendDatagram(let bytes, _) in log.take() {
        guard case .presence(_, let shown, _)? = try SyncDatagram.decode(bytes) else { continue }
        sent.append((time, shown))
      }
    }
    let laser = try Presence(cursor: Point(x: 1, y: 2), isLaser: true)
    var last = laser
    last.view = try Presence.View(center: Point(x: 3, y: 4), width: 80, height: 24)
    for time in UInt64(1)...17_000 {
      switch time {
      case 10: log += anna.replica.show(laser, now: later(time))
      case 40: log += anna.replica.show(last, now: later(time))
      // No change.
      case 50, 900: log += anna.replica.show(last, now: later(time))
      default: log += anna.replica.tick(now: later(time))
      }
      try note(time)
    }
    #expect(sent.map(\.time) == [33] + Array(stride(from: 66, through: 10_066, by: 1000)) + [13_066, 16_066])
    #expect(sent.map(\.shown) == [laser] + Array(repeating: last, count: 13))
    #expect(anna.replica.shownPresence == last)
  }

  @Test("[SYN-34] a laser without a pointer is ignored; points and views beyond the board are errors") func shown()
    throws
  {
    #expect(try Presence(cursor: nil, isLaser: true) == Presence())
    #expect(throws: BoardError.outOfRange("point")) { try Presence(cursor: Point(x: 1e9, y: 0)) }
    let center = Point(x: 0, y: 0)
    for (width, height) in [(0, 1), (1, 0), (-1, 1), (67_108_865, 1), (1, .max)] {
      #expect(throws: BoardError.outOfRange("view")) { try Presence.View(center: center, width: width, height: height) }
    }
    #expect(throws: BoardError.outOfRange("point")) {
      try Presence.View(center: Point(x: 0, y: .nan), width: 1, height: 1)
    }
    _ = try Presence.View(center: center, width: 67_108_864, height: 67_108_864)
  }

  @Test(arguments: [([0x0A], "reserved"), ([], "truncated"), ([0x11, 1], "reserved")])
  func `unknown messages are skipped if allowed, and otherwise refused`(bytes: [UInt8], code: String) {
    join()
    receive([0x80, 1, 2])
    log += anna.replica.receivedDatagram([0xFF], from: peer, now: start)
    #expect(log.take().isEmpty)
    receive(bytes)
    #expect(violations(log.take()).map(\.code) == [code])
  }

  @Test func `a datagram of an unknown kind is refused`() {
    join()
    log += anna.replica.receivedDatagram([0x03], from: peer, now: start)
    #expect(violations(log.take()).map(\.code) == ["reserved"])
  }

  @Test func `the application's bytes are not changed`() {
    join()
    log += anna.replica.sendData([1, 2], isReliable: true, now: start)
    log += anna.replica.sendData([3], to: [peer], isReliable: false, now: start)
    #expect(log.take() == [.send([0x10, 1, 2], to: [peer]), .sendDatagram([0x10, 3], to: [peer])])
    log += anna.replica.received([0x10, 7], from: peer, now: start)
    log += anna.replica.receivedDatagram([0x10], from: peer, now: start)
    #expect(log.take() == [.data([7], from: peer, isReliable: true), .data([], from: peer, isReliable: false)])
  }

  @Test("profiles are sent on joining and on change") func profiles() throws {
    log += try anna.replica.setProfile(name: "Anna", icon: "\u{1F33B}", now: start)
    #expect(log.take().isEmpty)
    log += anna.replica.peerJoined(peer, now: start)
    let profile = MemberProfile(name: "Anna", icon: "\u{1F33B}")
    #expect(try sent(log.take()).contains(.profile(profile)))
    receive(SyncMessage.profile(MemberProfile(name: "Bo", icon: "")).encode() + [7])
    #expect(log.take() == [.profile(peer, name: "Bo", icon: "")])
    log += try anna.replica.setProfile(name: "Ann", icon: "", now: start)
    #expect(try sent(log.take()) == [.profile(MemberProfile(name: "Ann", icon: ""))])
    #expect(throws: BoardError.tooLong("icon")) {
      log += try anna.replica.setProfile(name: "Ann", icon: String(repeating: "x", count: 17), now: start)
    }
    receive([0x09, 0x01, 0xFF, 0x00])
    #expect(violations(log.take()).map(\.code) == ["text"])
  }

  @Test(
    "random bytes in any state neither trap nor change objects of others",
    arguments: 0..<repetitions(6, optimized: 20)
  ) func anyBytes(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let world = World(seed: seed, nodes: 2)
    world.connectAll()
    for _ in 0..<100 { world.happen() }
    world.connectAll()
    let node = world.nodes[0]
    let from = world.nodes[1].member
    let context = node.replica.board.state.context
    let samples: [[UInt8]] = [
      scriptedReplica.hello(), try scriptedReplica.sendText(), scriptedReplica.head(), report(7),
      SyncMessage.request(CatchUpRequest(number: 3, buckets: 5, context: context)).encode(),
      SyncMessage.profile(MemberProfile(name: "Bo", icon: "x")).encode(),
      SyncMessage.assetRequest(World.asset(1).id).encode(),
    ]
    for _ in 0..<400 {
      var bytes = samples[random.below(samples.count)]
      switch random.below(3) {
      case 0: bytes = Array(bytes.prefix(random.below(bytes.count + 1)))
      case 1: bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
      default: bytes = (0..<random.below(80)).map { _ in UInt8(random.below(256)) }
      }
      // The member soon breaks a rule, so it must sometimes join again.
      if random.chance(20) { _ = node.replica.peerJoined(from, now: world.now(0)) }
      _ = node.replica.received(bytes, from: from, now: world.now(0))
      _ = node.replica.receivedDatagram(bytes, from: from, now: world.now(0))
      _ = node.replica.receivedAnswer(bytes, request: 1, from: from, now: world.now(0))
    }
    // The replica still works.
    let (id, _) = try node.replica.change(now: world.now(0)) { board in
      try board.createText("alive", at: Point(x: 0, y: 0))
    }
    #expect(node.replica.board.snapshot(id)?.text == "alive")
  }

  @Test("[BRD-25, BRD-39] after a claim of all its dots, a replica sends a new record to all") func claimed() throws {
    join()
    let old = anna.replica.board.incarnation
    var claim = Difference(context: Context())
    claim.context.insert(1...BoardLimits.sequence, of: old)
    answer(claim, request: 1, now: start)
    let actions = log.take()
    #expect(violations(actions).isEmpty)
    let new = anna.replica.board.incarnation
    #expect(new != old && anna.replica.board.member(of: new) == anna.member)
    guard case .author(let message)? = try sent(actions).first else {
      Issue.record("\(actions)")
      return
    }
    let record = try AuthorRecord(message.record)
    #expect(record.incarnation == new && message.head.sequence == 0)
    let id = try createText()
    #expect(id.dot == Dot(new, 1))
    guard case .batch? = try sent(log.take()).first else {
      Issue.record("no batch was sent")
      return
    }
  }

  @Test("[BRD-30] a request fits in a message, whatever context other members cause") func longestRequest() throws {
    join()
    // The maximum number of incarnations, and the widest ranges that fit.
    var claim = Difference(context: Context())
    let perIncarnation = UInt64(BoardLimits.ranges / BoardLimits.incarnations)
    for number in 1...UInt64(BoardLimits.incarnations) {
      for range in 0..<perIncarnation {
        let first = (range + 1) << 43
        // Neighboring ranges differ, so that none counts as a repetition.
        claim.context.insert(first...(first + 1 << 42 + range), of: Incarnation(number << 40))
      }
    }
    try anna.replica.board.receive(claim)
    #expect(anna.replica.board.state.context.rangeCount == BoardLimits.ranges)
    let request = CatchUpRequest(number: .max, buckets: .max, context: anna.replica.board.state.context)
    #expect(SyncMessage.request(request).encode().count <= 16 << 20)
    #expect(violations(log.take()).isEmpty)
  }

  @Test("[BRD-30] a context beyond the limit of ranges is a violation by its sender", .enabled(if: isOptimized))
  func longContext() throws {
    join()
    var claim = Difference(context: Context())
    for number in 0...UInt64(BoardLimits.ranges) {
      claim.context.insert(Dot(scriptedReplica.incarnation, 2 * number + 1))
    }
    answer(claim, request: 1, now: start)
    #expect(violations(log.take()).map(\.code) == ["limit"])
    #expect(anna.replica.board.state.context.isEmpty)
  }

  @Test(
    "[BRD-30] an innocent member stays connected when our board is full, and is asked again later",
    .enabled(if: isOptimized)
  ) func full()
    throws
  {
    join()
    let (cleo, dora) = (ScriptedReplica(10), ScriptedReplica(11))
    var claim = Difference(context: Context())
    for number in 0..<UInt64(BoardLimits.ranges) { claim.context.insert(Dot(cleo.incarnation, 2 * number + 1)) }
    answer(claim, of: [cleo.record], request: 1, now: start)
    receive(try scriptedReplica.sendText())
    receive(try scriptedReplica.sendText())
    #expect(anna.replica.board.state.objectCount == 0)
    let actions = log.take()
    #expect(violations(actions).isEmpty)
    // The user is notified once.
    #expect(actions.filter { $0 == .full(peer) }.count == 1)
    // The author's chain continues with batches that this replica rejected.
    receive(scriptedReplica.head())
    receive(report(1))
    #expect(violations(log.take()).isEmpty)
    func requests(after seconds: UInt64) throws -> Int {
      log += anna.replica.tick(now: later(seconds * 1000))
      return try sent(log.take()).filter { if case .request = $0 { true } else { false } }.count
    }
    #expect(try requests(after: 6) == 1)
    var other = Difference(context: Context())
    other.context.insert(Dot(dora.incarnation, 1))
    answer(other, of: [dora.record], request: 2, now: later(6000))
    #expect(violations(log.take()).isEmpty)
    #expect(try requests(after: 30) == 0)
    #expect(try requests(after: 70) == 1)
  }

  @Test("[BRD-24] changes of an object with thousands of cells are reported together") func largeObjects() throws {
    join()
    let id = ObjectID(Dot(scriptedReplica.incarnation, 1))
    receive(try scriptedReplica.send([Operation(id, .kind, .unsigned(1))]))
    for number in UInt64(0)..<2 {
      receive(
        try scriptedReplica.send(
          (UInt64(0)..<4096).map { Operation(id, Property(65, index: number * 4096 + $0), .unsigned(1)) }
        )
      )
    }
    _ = log.take()
    for number in UInt64(0)..<100 {
      receive(try scriptedReplica.send([Operation(id, .color, .unsigned(number))], time: 1_700_000_000_001 + number))
    }
    let told = { (actions: [ReplicaAction]) -> [UInt32?] in
      actions.compactMap { if case .objectChanged(let snapshot, _) = $0 { snapshot.color } else { nil } }
    }
    #expect(told(log.take()).isEmpty)
    log += anna.replica.tick(now: later(1))
    #expect(told(log.take()) == [99])
  }
}
