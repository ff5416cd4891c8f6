import BoardWorlds
import PeerCore
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The host frees the space that removed members use up.
@Suite struct RetirementTests {
  private static let hostKey = SimulatedKey(1)
  private static let board = named(MemberID(publicKey: hostKey.publicKey))
  private let now = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  private static func named(_ host: MemberID) -> BoardID {
    guard let board = BoardID(bytes: BoardID.bytes(naming: host, salt: [1, 2, 3, 4])) else {
      preconditionFailure("a board id has 16 bytes")
    }
    return board
  }

  /// A replica, and what it recorded and sent.
  private final class Node {
    let replica: Replica
    let log = ActionLog()
    private(set) var stored: [StoredChange] = []

    init(_ key: UInt64, _ now: Moment, restoring changes: [StoredChange] = []) throws {
      let author = Author(board: RetirementTests.board, key: SimulatedKey(key))
      replica = Replica(author: author, now: now, localVerifier: LocalVerifier(SimulatedVerifier()))
      log += try replica.restore(changes, now: now)
      stored = changes
      _ = log.take()
    }

    var context: Context { replica.board.state.context }

    /// Performs actions, and returns them.
    @discardableResult func perform(_ actions: [ReplicaAction]) -> [ReplicaAction] {
      log += actions
      let all = log.take()
      for case .record(let change) in all { stored.append(change) }
      return all
    }

    /// Returns the retirements that were sent.
    static func retirements(_ actions: [ReplicaAction]) -> [[UInt8]] {
      actions.compactMap { action in
        guard case .send(let bytes, _) = action, bytes.first == 0x82 else { return nil }
        return bytes
      }
    }
  }

  /// Lets a scripted member join, and introduces it.
  private func join(_ member: inout ScriptedReplica, _ node: Node) -> [ReplicaAction] {
    let first = node.perform(node.replica.peerJoined(member.member, now: now))
    return first + node.perform(node.replica.received(member.hello(), from: member.member, now: now))
  }

  private func answer(_ difference: Difference, _ records: [AuthorRecord], of member: ScriptedReplica, _ node: Node)
    -> [ReplicaAction]
  {
    node.perform(
      node.replica.receivedAnswer(member.answer(difference, of: records), request: 1, from: member.member, now: now)
    )
  }

  /// The records of removed members that wrote under many incarnations, and the answer that names them.
  private struct Attack {
    var members: Set<MemberID> = []
    var records: [AuthorRecord] = []
    var difference: Difference

    /// The first incarnation of the first member left a text.
    init(keys: Int, incarnations: Int) {
      var context = Context()
      for key in 0..<UInt64(keys) {
        let author = Author(board: RetirementTests.board, key: SimulatedKey(100 + key))
        members.insert(author.member)
        for _ in 0..<incarnations { records.append(author.record(of: author.makeIncarnation())) }
      }
      for record in records { context.insert(Dot(record.incarnation, 1)) }
      let text = Dot(records[0].incarnation, 1)
      context.insert(text)
      difference = Difference(context: context)
      difference.living.insert(text)
      let cell = Cell(value: .unsigned(1), time: HybridTime(9), dot: text)
      difference.entries = [.init(object: ObjectID(text), cells: [PropertyCell(.kind, cell)])]
    }
  }

  @Test("[AUT-17] the host frees the space of removed members, also after a restart") func room() throws {
    let host = try Node(1, now)
    var bo = ScriptedReplica(9, board: Self.board)
    _ = join(&bo, host)
    let attack = Attack(keys: 3, incarnations: 2000)
    _ = answer(attack.difference, attack.records, of: bo, host)
    #expect(host.context.incarnationCount == 6_000)
    let text = ObjectID(Dot(attack.records[0].incarnation, 1))

    let (count, actions) = host.replica.giveBackRoom(ofRemoved: attack.members, now: now)
    let sent = Node.retirements(host.perform(actions))
    #expect(count == 5_999)
    #expect(sent.count == 2)
    // The visible objects remain.
    #expect(host.context.incarnations == [attack.records[0].incarnation])
    #expect(host.replica.board.state.record(text) != nil)

    // The incarnations do not come back, no matter which member sends them; changes of others arrive.
    let stranger = Author(board: Self.board, key: SimulatedKey(300))
    let record = stranger.record(of: stranger.makeIncarnation())
    var more = attack.difference
    more.context.insert(Dot(record.incarnation, 1))
    _ = join(&bo, host)
    let again = answer(more, attack.records + [record], of: bo, host)
    #expect(!again.contains(.full(bo.member)))
    #expect(host.context.incarnations == [attack.records[0].incarnation, record.incarnation].sorted())
    _ = host.perform(host.replica.received(try bo.sendText(), from: bo.member, now: now))
    #expect(host.context.contains(bo.incarnation))

    // The result is the same after a restart, from the log or from a keyframe.
    let keyframe = StoredChange.keyframe(host.replica.snapshotForKeeping())
    for changes in [host.stored, [keyframe], host.stored + [keyframe]] {
      let restarted = try Node(1, now, restoring: changes)
      #expect(restarted.context == host.context)
      #expect(restarted.replica.digest == host.replica.digest)
      #expect(restarted.replica.unrecorded == UnrecordedAuthors())
      var shown = RestoredBoard(Self.board)
      for change in changes { try shown.apply(change) }
      #expect(shown.state.context == host.context)
      #expect(shown.digest == host.replica.digest)
      #expect(try KeptState(shown.keyframe).retirements.count == 2)
      // A newcomer receives all of them.
      var newcomer = ScriptedReplica(10, board: Self.board)
      #expect(Node.retirements(join(&newcomer, restarted)).count == 2)
    }

    // A member that learns of the retirement later, and passes it on, has an equal board.
    let member = try Node(2, now)
    var cleo = ScriptedReplica(11, board: Self.board)
    _ = join(&cleo, member)
    _ = answer(more, attack.records + [record], of: cleo, member)
    #expect(member.context.incarnationCount == 6_001)
    var passedOn: [[UInt8]] = []
    _ = join(&bo, member)
    for bytes in sent {
      passedOn += Node.retirements(member.perform(member.replica.received(bytes, from: cleo.member, now: now)))
    }
    #expect(passedOn == sent)
    #expect(member.context.incarnations == [attack.records[0].incarnation, record.incarnation].sorted())
    #expect(member.replica.registry.count == 3)
    #expect(attack.members.reduce(0) { $0 + member.replica.registry.incarnations(of: $1).count } == 1)
  }

  @Test(
    "[BRD-37] one person under 16 keys, one after another, leaves room for those who were there and for newcomers",
    .enabled(if: isOptimized)
  )
  func keyAfterKey() throws {
    let host = try Node(1, now)
    var bo = ScriptedReplica(9, board: Self.board)
    _ = join(&bo, host)
    host.perform(host.replica.received(try bo.sendText(), from: bo.member, now: now))
    host.perform(host.replica.peerLeft(bo.member, now: now))
    var used: [Int] = []
    for key in 0..<UInt64(16) {
      var mallory = ScriptedReplica(100 + key, board: Self.board)
      _ = join(&mallory, host)
      let taken = host.context.incarnationCount
      let share = (BoardLimits.incarnationsOfMembers - taken) / BoardLimits.incarnationShare
      // Most incarnations arrive in an answer, because that takes less time.
      let allowed = min(share, BoardLimits.incarnationsPerAuthor)
      let most = allowed - 4
      let records = (0..<most).map { _ in mallory.author.record(of: mallory.author.makeIncarnation()) }
      _ = answer(objects(of: records), records, of: mallory, host)
      for number in 0..<8 {
        if number > 0 {
          host.perform(host.replica.received(mallory.beginIncarnation(), from: mallory.member, now: now))
        }
        let actions = host.perform(host.replica.received(try mallory.sendText(), from: mallory.member, now: now))
        #expect(actions.contains(.full(mallory.member)) == (number == 4))
      }
      host.perform(host.replica.peerLeft(mallory.member, now: now))
      #expect(host.context.incarnationCount == taken + allowed)
      used.append(allowed)
    }
    // The first key uses all the incarnations that one author may have, and each later key uses fewer.
    #expect(used.first == BoardLimits.incarnationsPerAuthor)
    #expect(used == used.sorted(by: >))
    let taken = host.context.incarnationCount
    #expect(BoardLimits.incarnationsOfMembers - taken > BoardLimits.incarnationsOfMembers / 6)

    // The host can write, even after a restart, and so can a member that was on the board before.
    try write(host)
    bo = ScriptedReplica(bo.author)
    _ = join(&bo, host)
    let actions = host.perform(host.replica.received(try bo.sendText(), from: bo.member, now: now))
    #expect(!actions.contains(.full(bo.member)))
    let restarted = try Node(1, now, restoring: host.stored)
    #expect(restarted.context == host.context)
    try write(restarted)
    #expect(restarted.context.incarnationCount == taken + 3)

    // A newcomer receives the board in one answer, and writes; the host accepts that.
    let nora = try Node(20, now)
    try connect(nora, restarted)
    #expect(nora.context == restarted.context)
    try write(nora, to: restarted)
    #expect(restarted.context.incarnationCount == taken + 4)
    #expect(nora.replica.digest == restarted.replica.digest)
  }

  /// Returns a dot of each incarnation, and an object of only every sixteenth incarnation, because creating more
  /// objects would take too long.
  private func objects(of records: [AuthorRecord]) -> Difference {
    var context = Context()
    for record in records { context.insert(Dot(record.incarnation, 1)) }
    var difference = Difference(context: context)
    let sorted = records.sorted { $0.incarnation < $1.incarnation }
    for record in stride(from: 0, to: sorted.count, by: 16).map({ sorted[$0] }) {
      let dot = Dot(record.incarnation, 1)
      difference.living.insert(dot)
      let cell = Cell(value: .unsigned(1), time: HybridTime(9), dot: dot)
      difference.entries.append(.init(object: ObjectID(dot), cells: [PropertyCell(.kind, cell)]))
    }
    return difference
  }

  /// Creates a text, and delivers it to another node.
  private func write(_ node: Node, to other: Node? = nil) throws {
    let (_, actions) = try node.replica.change(now: now) { board in
      _ = try board.createText("here", at: Point(x: 0, y: 0))
    }
    let performed = node.perform(actions)
    if let other { try deliver(performed, from: node, to: other) }
  }

  private func connect(_ one: Node, _ other: Node) throws {
    let first = one.perform(one.replica.peerJoined(other.replica.board.member, now: now))
    let second = other.perform(other.replica.peerJoined(one.replica.board.member, now: now))
    try deliver(first, from: one, to: other)
    try deliver(second, from: other, to: one)
  }

  /// Delivers messages and answers, and the messages and answers that result from them.
  private func deliver(_ actions: [ReplicaAction], from node: Node, to other: Node) throws {
    let (sender, receiver) = (node.replica.board.member, other.replica.board.member)
    for action in actions {
      var reply: [ReplicaAction] = []
      switch action {
      case .send(let bytes, let members) where members.contains(receiver):
        reply = other.perform(other.replica.received(bytes, from: sender, now: now))
      case .sendAnswer(let answer, receiver):
        let request = answer.request
        let bytes = try #require(answer.encoded()).bytes
        node.perform(node.replica.answerSent(request: request, to: receiver, now: now))
        reply = other.perform(other.replica.receivedAnswer(bytes, request: request, from: sender, now: now))
      case .protocolViolation(_, let error): Issue.record(error)
      case .full, .unrecorded: Issue.record("\(action)")
      default: break
      }
      try deliver(reply, from: other, to: node)
    }
  }

  @Test("[AUT-17] a member that skips retirements is asked once a minute") func skipping() throws {
    let host = try Node(1, now)
    var bo = ScriptedReplica(9, board: Self.board)
    _ = join(&bo, host)
    let attack = Attack(keys: 1, incarnations: 100)
    _ = answer(attack.difference, attack.records, of: bo, host)
    #expect(host.perform(host.replica.giveBackRoom(ofRemoved: attack.members, now: now).actions).count > 0)
    let context = host.context
    // Bo still has its earlier context, and answers every request with it.
    var difference = attack.difference
    difference.context.insert(Dot(bo.incarnation, 1))
    let report = SyncMessage.state(ReplicaReport(contextHash: 1, applied: 0, sums: [])).encode()
    var requests: [UInt64] = []
    for second in UInt64(1)...300 {
      let later = Moment(wall: now.wall + second * 1000, uptime: now.uptime + second * 1000)
      var actions = host.perform(host.replica.received(report, from: bo.member, now: later))
      actions += host.perform(host.replica.tick(now: later))
      for case .send(let bytes, _) in actions where bytes.first == 0x02 {
        requests.append(second)
        let number = UInt64(requests.count + 1)
        let answer = bo.answer(difference, of: attack.records)
        host.perform(host.replica.receivedAnswer(answer, request: number, from: bo.member, now: later))
      }
    }
    #expect((5...6).contains(requests.count), "\(requests)")
    #expect(host.context.incarnations == (context.incarnations + [bo.incarnation]).sorted())
  }

  @Test("[AUT-17] a board has room for 256 retirements") func limit() throws {
    let node = try Node(4, now)
    var bo = ScriptedReplica(9, board: Self.board)
    _ = join(&bo, node)
    let host = Author(board: Self.board, key: Self.hostKey)
    for number in 1...UInt64(Retirement.limit + 1) {
      let retirement = try #require(Retirement(of: [Incarnation(number)], salt: [], by: host))
      node.perform(node.replica.received([0x82] + retirement.bytes, from: bo.member, now: now))
    }
    #expect(node.replica.board.state.isRetired(Incarnation(UInt64(Retirement.limit))))
    #expect(!node.replica.board.state.isRetired(Incarnation(UInt64(Retirement.limit + 1))))
    #expect(try KeptState(node.replica.snapshotForKeeping()).retirements.count == Retirement.limit)
    var newcomer = ScriptedReplica(10, board: Self.board)
    #expect(Node.retirements(join(&newcomer, node)).count == Retirement.limit)
  }

  @Test("[AUT-17] only the host frees space, and not for only a few incarnations") func refused() throws {
    for (key, incarnations) in [(UInt64(2), 100), (1, 17)] {
      let node = try Node(key, now)
      var bo = ScriptedReplica(9, board: Self.board)
      _ = join(&bo, node)
      let attack = Attack(keys: 1, incarnations: incarnations)
      _ = answer(attack.difference, attack.records, of: bo, node)
      let (count, actions) = node.replica.giveBackRoom(ofRemoved: attack.members, now: now)
      #expect(count == 0)
      #expect(Node.retirements(node.perform(actions)).isEmpty)
      #expect(node.context.incarnationCount == incarnations)
    }
  }

  @Test("[AUT-17] a retirement that the host did not sign is refused") func forged() throws {
    let host = Author(board: Self.board, key: Self.hostKey)
    let valid = try #require(Retirement(of: [Incarnation(3), Incarnation(5)], salt: [], by: host)).bytes
    #expect(try Retirement(valid).bytes == valid)
    var signature = valid
    signature[signature.count - 1] ^= 1
    var version = valid
    version[0] = 2
    var order = valid
    order[17 + 1 + 7] = 7
    let others = try #require(
      Retirement(of: [Incarnation(3)], salt: [], by: Author(board: Self.board, key: SimulatedKey(2)))
    )
    let elsewhere = Author(board: Self.named(MemberID(publicKey: SimulatedKey(2).publicKey)), key: SimulatedKey(2))
    let wrongBoard = try #require(Retirement(of: [Incarnation(3)], salt: [], by: elsewhere))
    let salted = try #require(Retirement(of: [Incarnation(3)], salt: [1], by: host))
    let many = try #require(Retirement(of: (1...4097).map { Incarnation($0) }, salt: [], by: host))
    let none = try #require(Retirement(of: [], salt: [], by: host))
    for (bytes, error) in [
      (signature, "signature"), (version, "reserved"), (order, "canonical"), (others.bytes, "owner"),
      (wrongBoard.bytes, "wrong-board"), (salted.bytes, "reserved"), (many.bytes, "limit"), (none.bytes, "limit"),
      (valid + [0], "trailing"), (Array(valid.dropLast()), "truncated"),
    ] {
      let node = try Node(4, now)
      var bo = ScriptedReplica(9, board: Self.board)
      _ = join(&bo, node)
      let actions = node.perform(node.replica.received([0x82] + bytes, from: bo.member, now: now))
      let errors = actions.compactMap { action in
        if case .protocolViolation(_, let error) = action { error.code } else { nil }
      }
      #expect(errors == [error])
    }
  }

  @Test("[AUT-17] the owner of an owned board retires incarnations with its salt") func owned() throws {
    let owner = BoardOwner(salt: Array(1...8), key: Self.hostKey.publicKey)
    let author = Author(board: owner.board, key: Self.hostKey)
    let valid = try #require(Retirement(of: [Incarnation(3)], salt: owner.salt, by: author))
    try valid.verify(board: owner.board, with: SimulatedVerifier())
    let wrong = try #require(Retirement(of: [Incarnation(3)], salt: Array(2...9), by: author))
    #expect(throws: ReplicaError.notOwner) { try wrong.verify(board: owner.board, with: SimulatedVerifier()) }
  }

  @Test("[AUT-17] a member whose incarnation was retired continues under a new one") func own() throws {
    let node = try Node(4, now)
    var bo = ScriptedReplica(9, board: Self.board)
    _ = join(&bo, node)
    node.perform(
      try node.replica.change(now: now) { board in _ = try board.createText("mine", at: Point(x: 0, y: 0)) }.actions
    )
    let old = node.replica.board.incarnation
    let host = Author(board: Self.board, key: Self.hostKey)
    let retirement = try #require(Retirement(of: [old], salt: [], by: host))
    node.perform(node.replica.received([0x82] + retirement.bytes, from: bo.member, now: now))
    #expect(node.replica.board.incarnation != old)
    #expect(node.context.isEmpty)
    node.perform(
      try node.replica.change(now: now) { board in _ = try board.createText("new", at: Point(x: 0, y: 0)) }.actions
    )
    #expect(node.context.incarnations == [node.replica.board.incarnation])
  }

  @Test(
    "[AUT-17] replicas agree, in whatever order changes and retirements arrive",
    arguments: 0..<repetitions(10, optimized: 40)
  ) func order(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let authors = (1...4).map { Incarnation($0) }
    let retired = Array(authors.prefix(2))
    var steps: [(inout BoardState, inout ChangeLog) throws -> Void] = []
    var batches: [Batch] = []
    for author in authors {
      for sequence in UInt64(0)..<6 {
        let others = authors.filter { $0 != author }
        let target = others[Int.random(in: others.indices, using: &random)]
        let object = ObjectID(Dot(target, UInt64.random(in: 1...6, using: &random)))
        let own = ObjectID(Dot(author, sequence + 1))
        let operation =
          switch Int.random(in: 0..<4, using: &random) {
          case 0: Operation(own, .kind, .unsigned(1))
          case 1: Operation(object, .purge, .none)
          default: Operation(object, .position, .pair(Int32.random(in: 0..<9, using: &random), 0))
          }
        batches.append(
          try Batch(
            author: author,
            firstSequence: sequence + 1,
            time: HybridTime(UInt64.random(in: 1..<99, using: &random)),
            operations: [operation]
          )
        )
      }
    }
    for batch in batches { steps.append { state, changes in try state.apply(batch, changes: &changes) } }
    for incarnation in retired { steps.append { state, changes in state.retire([incarnation], changes: &changes) } }
    var states: [BoardState] = []
    for _ in 0..<6 {
      var state = BoardState()
      var changes = ChangeLog()
      for step in steps.shuffled(using: &random) { try step(&state, &changes) }
      states.append(state)
    }
    // Repair the cells that a retired incarnation had overwritten.
    for _ in 0..<2 {
      for index in states.indices {
        for other in states {
          var changes = ChangeLog()
          let difference = other.difference(since: states[index].context, buckets: .max)
          try states[index].merge(difference, comparingAll: true, changes: &changes)
        }
      }
    }
    for state in states {
      #expect(state.context == states[0].context)
      #expect(state.context.incarnations.allSatisfy { !retired.contains($0) })
      #expect(BoardDigest.digest(of: state) == BoardDigest.digest(of: states[0]))
      #expect(Set(state.storedIDs) == Set(states[0].storedIDs))
      #expect(state.storedIDs.allSatisfy { !retired.contains($0.dot.incarnation) })
    }
  }
}
