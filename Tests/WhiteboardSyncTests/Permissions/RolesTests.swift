import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The roles of members on an owned board.
@Suite final class RolesTests {
  private let world: ReplicaWorld
  private var owner: ReplicaWorld.Node { world.nodes[0] }
  private var anna: ReplicaWorld.Node { world.nodes[1] }
  private var bo: ReplicaWorld.Node { world.nodes[2] }

  init() {
    var weather = ReplicaWorld.Weather(failures: 0, loss: 0, cuts: 0, mends: 0, crashes: 0, skew: 0)
    weather.isOwned = true
    world = ReplicaWorld(seed: 2, nodes: 3, weather: weather)
  }

  private func admit(_ number: Int, _ rights: Rights?, isAsked: Bool = false, by one: Int = 0) {
    let actions = world.nodes[one].replica.admit(
      world.nodes[number].member,
      for: rights,
      isAsked: isAsked,
      now: world.now(one)
    )
    world.carryOut(actions, one)
  }

  private func revoke(_ number: Int, by one: Int = 0) -> Bool {
    let (isRevoked, actions) = world.nodes[one].replica.revoke(world.nodes[number].member, now: world.now(one))
    world.carryOut(actions, one)
    return isRevoked
  }

  private func write(_ number: Int, _ text: String = "x") throws {
    let replica = world.nodes[number].replica
    let (_, actions) = try replica.change(now: world.now(number)) { (board) throws(BoardError) in
      try board.createText(text, at: Point(x: 0, y: 0))
    }
    world.carryOut(actions, number)
  }

  private func pass(_ milliseconds: Int = 1000) { for _ in 0..<(milliseconds / 20) { world.step(20) } }

  private var counts: [Int] { world.nodes.map { $0.replica.board.objectIDs.count } }

  @Test("[AUT-11] a new member is a viewer until the owner grants more, and learns its role") func granting() throws {
    #expect(owner.replica.role == .editor && owner.replica.mayGrant)
    #expect(anna.replica.role == .viewer && anna.replica.board.isReadOnly)
    #expect(throws: BoardError.viewer) { try write(1) }
    let before = anna.replica.board.incarnation
    world.connect(0, 1)
    world.connect(0, 2)
    admit(1, .editor)
    admit(2, nil)
    pass()
    #expect(anna.role == .editor && bo.role == .viewer)
    #expect(anna.replica.board.incarnation != before && !anna.replica.board.isReadOnly)
    #expect(owner.replica.role(of: anna.member) == .editor)
    #expect(owner.replica.role(of: bo.member) == .viewer)
    try write(1)
    #expect(throws: BoardError.viewer) { try write(2) }
    pass()
    #expect(counts[0] == 1 && world.violations.isEmpty)
  }

  @Test("[AUT-11] the owner knows who has rights, also after a restart") func knownRights() throws {
    func known(to replica: Replica) -> [Bool] { [anna, bo].map { replica.knowsRights(of: $0.member) } }
    #expect(known(to: owner.replica) == [false, false])
    world.connect(0, 1)
    world.connect(0, 2)
    admit(1, .editor)
    admit(2, nil)
    #expect(known(to: owner.replica) == [true, false])
    pass()
    try write(1)
    pass()
    let again = world.replica(owner.key, world.now(0))
    _ = try again.restore(owner.document, now: world.now(0))
    #expect(known(to: again) == [true, false])
  }

  @Test("[AUT-11] a stored grant is valid after a restart while the owner is away") func kept() throws {
    world.connect(0, 1)
    admit(1, .editor)
    pass()
    try write(1)
    for document in [anna.document, [.keyframe(anna.replica.snapshotForKeeping())]] {
      let again = world.replica(anna.key, world.now(1))
      #expect(again.role == .viewer)
      #expect(try again.restore(document, now: world.now(1)).isEmpty)
      #expect(again.role == .editor && !again.board.isReadOnly)
      _ = try again.change(now: world.now(1)) { (board) throws(BoardError) in
        try board.createText("again", at: Point(x: 0, y: 0))
      }
      #expect(again.board.objectIDs.count == 2)
    }
  }

  @Test("[AUT-12] every member refuses a viewer's batch, and counts it") func viewerWrites() throws {
    var scriptedReplica = ScriptedReplica(77, board: world.board, role: .viewer)
    for number in 0..<2 {
      let node = world.nodes[number]
      _ = node.replica.peerJoined(scriptedReplica.member, now: world.now(number))
      _ = node.replica.received(scriptedReplica.hello(), from: scriptedReplica.member, now: world.now(number))
    }
    let batch = try scriptedReplica.sendText()
    for number in 0..<2 {
      let node = world.nodes[number]
      _ = node.replica.received(batch, from: scriptedReplica.member, now: world.now(number))
      #expect(node.replica.board.state.context.isEmpty)
      #expect(node.replica.refusals.viewer == 1)
    }
  }

  @Test("[AUT-14] edits after a revocation count nowhere, in any order of arrival; earlier ones do") func revoking()
    throws
  {
    world.connectAll()
    admit(1, .editor)
    admit(2, .editor)
    pass()
    try write(1, "before")
    pass()
    world.disconnect(0, 1)
    // This edit no longer reaches the owner, but it reaches Bo.
    try write(1, "between")
    pass(200)
    #expect(counts == [1, 2, 2])
    #expect(revoke(1))
    pass(200)
    #expect(counts == [1, 1, 1])
    #expect(anna.role == .viewer && refusal(of: anna) == .viewer)
    #expect(bo.replica.role(of: anna.member) == .viewer)
    pass(10_000)
    #expect(counts == [1, 1, 1] && world.violations.isEmpty)
    #expect(Set(world.nodes.map(\.replica.digest)).count == 1)
    let contexts = world.nodes.map(\.replica.board.state.context)
    #expect(contexts[0] == contexts[1] && contexts[1] == contexts[2])
  }

  private func refusal(of node: ReplicaWorld.Node) -> BoardError? {
    do throws(BoardError) {
      _ = try node.replica.change(now: world.now(1)) { (board) throws(BoardError) in
        try board.createText("no", at: Point(x: 0, y: 0))
      }
      return nil
    } catch { return error }
  }

  @Test("[AUT-14] a member that has not received its revocation yet may send edits and stays connected") func inFlight()
    throws
  {
    world.connectAll()
    admit(1, .editor)
    pass()
    #expect(revoke(1))
    try write(1)
    pass()
    #expect(world.violations.isEmpty && owner.replica.refusals.revoked == 1)
    #expect(counts == [0, 0, 0] && anna.role == .viewer)
  }

  @Test("[AUT-14] a member that is admitted again can edit, and its revoked edits stay away") func again() throws {
    world.connectAll()
    admit(1, .editor)
    pass()
    try write(1)
    #expect(revoke(1))
    pass()
    #expect(counts == [0, 0, 0] || counts == [1, 1, 1])
    let before = counts[0]
    // The member returns with its ticket, which alone does not make it an editor.
    admit(1, .editor)
    pass()
    #expect(anna.role == .viewer)
    admit(1, .editor, isAsked: true)
    pass()
    #expect(anna.role == .editor)
    try write(1)
    pass()
    #expect(counts == [before + 1, before + 1, before + 1])
  }

  @Test("[AUT-11] a member admitted as a viewer is a viewer when it returns") func asked() throws {
    world.connectAll()
    admit(1, nil, isAsked: true)
    admit(1, .editor)
    pass()
    #expect(anna.role == .viewer)
    admit(1, .editor, isAsked: true)
    admit(1, nil)
    pass()
    #expect(anna.role == .editor)
  }

  @Test("[AUT-14] newcomers and returning members learn of a revocation, also through a viewer") func later() throws {
    world.connectAll()
    admit(1, .editor)
    admit(2, nil)
    pass()
    world.disconnect(0, 1)
    world.disconnect(1, 2)
    try write(1)
    #expect(revoke(1))
    pass()
    #expect(anna.role == .editor)
    world.disconnect(0, 2)
    world.connect(1, 2)
    pass()
    #expect(anna.role == .viewer && counts[1] == 0)
  }

  @Test("[AUT-14] revoked operations in a batch or an answer are skipped, whatever came first") func skipping() throws {
    let (anna, bo) = (Incarnation(9), Incarnation(3))
    let id = ObjectID(Dot(bo, 1))
    let first = try Batch(
      author: bo,
      firstSequence: 1,
      time: HybridTime(1 << 40),
      operations: [Operation(id, .kind, .unsigned(1)), Operation(id, .position, .pair(1, 1))]
    )
    let own = ObjectID(Dot(anna, 2))
    let second = try Batch(
      author: anna,
      firstSequence: 1,
      time: HybridTime(1 << 41),
      operations: [
        Operation(id, .angle, .unsigned(7)), Operation(own, .kind, .unsigned(1)),
        Operation(own, .position, .pair(2, 2)), Operation(id, .scale, .unsigned(9)),
      ]
    )
    var changes = ChangeLog()
    var full = BoardState()
    try full.apply(first, changes: &changes)
    try full.apply(second, changes: &changes)
    for limit in UInt64(0)...4 {
      var (early, late, answered) = (BoardState(), full, BoardState())
      early.limit([anna: limit], changes: &changes)
      try early.apply(second, changes: &changes)
      try early.apply(first, changes: &changes)
      late.limit([anna: limit], changes: &changes)
      answered.limit([anna: limit], changes: &changes)
      try answered.merge(full.difference(since: Context()), changes: &changes)
      let expected = early.difference(since: Context())
      #expect(expected.context.last(of: anna) ?? 0 == limit)
      #expect(late.difference(since: Context()) == expected)
      #expect(answered.difference(since: Context()) == expected)
      #expect(late.cellCount == early.cellCount && late.valueBytes == early.valueBytes)
      #expect((late.record(own) == nil) == (limit < 2))
      try expected.validate()
    }
  }

  @Test("[AUT-15] a member with revoked dots of an unknown author learns of the revocation") func claims() throws {
    world.connectAll()
    admit(1, .editor)
    admit(2, .editor)
    pass()
    let author = anna.replica.board.incarnation
    try write(1)
    pass()
    #expect(revoke(1))
    pass(6000)
    var context = owner.replica.board.state.context
    let last = try #require(context.last(of: author))
    for isClaimed in [false, true] {
      if isClaimed { context.insert(Dot(author, last + 1)) }
      let request = CatchUpRequest(number: isClaimed ? 101 : 100, context: context)
      var actions = owner.replica.received(SyncMessage.request(request).encode(), from: bo.member, now: world.now(0))
      world.uptime += 2000
      actions += owner.replica.tick(now: world.now(0))
      var records: [AuthorRecord] = []
      for case .sendAnswer(let answer, _) in actions {
        records += try Answer(#require(answer.encoded()).bytes).records
      }
      #expect(records.contains { $0.incarnation == author } == isClaimed)
    }
  }

  @Test("[AUT-15] overwritten values come back from members that have them, also at a viewer") func overwritten() throws
  {
    world.connectAll()
    admit(1, .editor)
    admit(2, .editor)
    pass()
    try write(0)
    pass()
    let id = try #require(owner.replica.board.objectIDs.first)
    // Bo is offline, and still has the old value of the position that Anna changes.
    world.disconnect(2, 0)
    world.disconnect(2, 1)
    let (_, moved) = try anna.replica.change(now: world.now(1)) { (board) throws(BoardError) in
      try board.object(id)?.move(to: Point(x: 500, y: 500))
    }
    world.carryOut(moved, 1)
    pass()
    #expect(owner.replica.board.snapshot(id)?.centerPosition == Point(x: 500, y: 500))
    world.disconnect(0, 1)
    // None of Anna's edits count for the owner.
    let revocation = try #require(
      owner.replica.author.makeRevocation(of: anna.member, through: 1_800_000_000_000, counting: [:])?.complete
    )
    var actions = owner.replica.peerJoined(anna.member, now: world.now(0))
    actions += owner.replica.received(
      SyncMessage.revocation(revocation.bytes).encode(),
      from: anna.member,
      now: world.now(0)
    )
    actions += owner.replica.peerLeft(anna.member, now: world.now(0))
    world.carryOut(actions, 0)
    world.connectAll()
    pass(20_000)
    for node in world.nodes {
      #expect(node.replica.board.snapshot(id)?.centerPosition == Point(x: 0, y: 0))
      #expect(node.divergences == 0)
    }
    #expect(Set(world.nodes.map(\.replica.digest)).count == 1)
  }

  @Test("[AUT-13] a member that may grant can grant and revoke, but not for others that may grant") func granters()
    throws
  {
    world.connectAll()
    admit(1, .grantingRelay)
    pass()
    #expect(anna.replica.mayGrant)
    admit(2, .editor, by: 1)
    pass()
    #expect(bo.replica.role == .editor)
    try write(2)
    pass()
    #expect(counts == [1, 1, 1])
    #expect(revoke(2, by: 1))
    pass()
    #expect(bo.replica.role == .viewer && !revoke(0, by: 1))
    // Anna does not admit the member again on her own, but admits the member on request.
    admit(2, .editor, by: 1)
    pass()
    #expect(bo.replica.role == .viewer)
    admit(2, .editor, isAsked: true, by: 1)
    pass()
    #expect(bo.replica.role == .editor)
    // The owner revokes the granter's rights, and with them the rights of the members that the granter admitted.
    #expect(revoke(1))
    pass()
    #expect(anna.replica.role == .viewer && bo.replica.role == .viewer)
    #expect(!anna.replica.mayGrant)
    #expect(counts == [1, 1, 1])
  }

  @Test("[AUT-14] stored revocations survive a restart, also in a compacted document") func keptRevocations() throws {
    world.connectAll()
    admit(1, .editor)
    pass()
    world.disconnect(0, 1)
    try write(1)
    pass()
    #expect(revoke(1))
    pass()
    let last = try #require(bo.replica.permissions.revocations.all.first)
    for document in [bo.document, [.keyframe(bo.replica.snapshotForKeeping())]] {
      let again = world.replica(bo.key, world.now(2))
      _ = try again.restore(document, now: world.now(2))
      #expect(again.permissions.revocations.contains(last))
      #expect(again.board.state.context == bo.replica.board.state.context)
      #expect(again.digest == bo.replica.digest)
    }
  }

  @Test("[AUT-11] on a board without an owner, no role is granted or revoked") func openBoard() throws {
    let open = ReplicaWorld(seed: 1, nodes: 1).nodes[0].replica
    let now = world.now(0)
    #expect(!open.isOwned && !open.mayGrant && !open.revoke(anna.member, now: now).isRevoked)
    for bytes in [[0x0A, 0], [0x0B, 0]] as [[UInt8]] {
      _ = open.peerJoined(anna.member, now: now)
      #expect(
        open.received(bytes, from: anna.member, now: now).contains(
          .protocolViolation(anna.member, .malformed(.reserved("kind")))
        )
      )
    }
  }
}
