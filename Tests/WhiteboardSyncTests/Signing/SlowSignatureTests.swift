import BoardWorlds
import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite("Replicas whose owner signs and verifies") struct SlowSignatureTests {
  private static let wall: UInt64 = 1_700_000_000_000
  private let key = SimulatedKey(1)
  private let now = Moment(wall: Self.wall, uptime: 1000)
  private let replica: Replica
  private let log = ActionLog()
  private var bo = ScriptedReplica(2)

  init() {
    replica = Replica(author: Author(board: ReplicaWorld.board, publicKey: key.publicKey), now: now, verifier: nil)
  }

  /// The pending actions, apart from datagrams and reports of presence.
  private func actions() -> [ReplicaAction] { log.take().filter { if case .sendDatagram = $0 { false } else { true } } }

  private func signingRequests(_ actions: [ReplicaAction]) -> [SigningRequest] {
    actions.compactMap { if case .sign(let request) = $0 { request } else { nil } }
  }

  private func checks(_ actions: [ReplicaAction]) -> [VerificationRequest] {
    actions.compactMap { if case .verify(let request) = $0 { request } else { nil } }
  }

  private func sign(_ request: SigningRequest) {
    log += replica.signed(request.id, signature: key.signature(of: request.bytes), now: now)
  }

  /// Lets Bo join, and makes the signatures of the introduction to Bo.
  private func join() throws {
    log += replica.peerJoined(bo.member, now: now)
    let requests = signingRequests(actions())
    try #require(requests.count == 2)
    for request in requests { sign(request) }
    _ = actions()
  }

  /// Lets Bo join and introduce itself, with all signatures; then Bo is asked for its changes.
  private mutating func introduce() throws {
    try join()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    for check in checks(actions()) { log += replica.verified(check.id, isValid: true, now: now) }
    _ = actions()
    try #require(replica.peers[bo.member]?.requestInFlight == 1)
  }

  private func writeText() throws {
    log += try replica.change(now: now) { board in _ = try board.createText("hello", at: Point(x: 0, y: 0)) }.actions
  }

  @Test(
    "members converge although signatures take any time, with liars and restarts",
    arguments: 0..<repetitions(12, optimized: 60) as Range<UInt64>
  ) func converges(seed: UInt64) throws {
    let tally = try ReplicaWorld.run(seed: seed, hasSlowSignatures: true)
    #expect(tally[.signatures] > 5)
  }

  @Test(
    "members of an owned board converge although signatures take any time",
    arguments: 0..<repetitions(8, optimized: 40) as Range<UInt64>
  )
  func convergesOwned(seed: UInt64) throws {
    let tally = try ReplicaWorld.run(seed: seed, isOwned: true, hasSlowSignatures: true)
    #expect(tally[.signatures] > 5)
  }

  @Test("nothing of a batch is stored, sent or reported before the record of its author is signed") func recordFirst()
    throws
  {
    log += replica.peerJoined(bo.member, now: now)
    try writeText()
    let before = actions()
    // The record, and the head in the introduction.
    let requests = signingRequests(before)
    #expect(requests.count == 2)
    #expect(before.count == 2)
    #expect(replica.isAwaitingSignature)
    sign(requests[1])
    #expect(actions().isEmpty)
    sign(requests[0])
    let after = actions()
    #expect(!replica.isAwaitingSignature)
    let stored = after.compactMap { if case .record(let change) = $0 { change } else { nil } }
    guard case .author(let bytes, _)? = stored.first, case .batch? = stored.last else {
      Issue.record("the record is stored first")
      return
    }
    try AuthorRecord(bytes).verify(board: ReplicaWorld.board, with: SimulatedVerifier())
    guard case .send(let message, _)? = after.first, case .author(let introduction)? = try SyncMessage.decode(message)
    else {
      Issue.record("the introduction is sent first")
      return
    }
    #expect(introduction.record == bytes)
    let record = try AuthorRecord(introduction.record)
    try introduction.head.verify(by: record, with: SimulatedVerifier())
  }

  @Test("a member that joins again gets nothing that was made for the lost link") func joinsAgain() throws {
    log += replica.peerJoined(bo.member, now: now)
    try writeText()
    log += replica.peerLeft(bo.member, now: now)
    log += replica.peerJoined(bo.member, now: now)
    for request in signingRequests(actions()) { sign(request) }
    let messages = actions().compactMap { action -> SyncMessage? in
      guard case .send(let bytes, _) = action else { return nil }
      return (try? SyncMessage.decode(bytes)) ?? nil
    }
    #expect(messages.count == 1)
    guard case .author(let introduction)? = messages.first else {
      Issue.record("only the introduction is sent")
      return
    }
    #expect(introduction.head.sequence > 0)
  }

  @Test("messages of a member wait behind one that is being verified, those of others do not") mutating func waits()
    throws
  {
    var cleo = ScriptedReplica(3)
    for member in [bo.member, cleo.member] { log += replica.peerJoined(member, now: now) }
    _ = actions()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    let ofBo = checks(actions())
    log += replica.received(try bo.sendText(), from: bo.member, now: now)
    log += replica.received(cleo.hello(), from: cleo.member, now: now)
    let ofCleo = checks(actions())
    log += replica.received(try cleo.sendText(), from: cleo.member, now: now)
    for member in [bo.member, cleo.member] { #expect(replica.isAwaitingVerification(from: member)) }
    #expect(replica.board.objectIDs.isEmpty)
    for check in ofCleo.reversed() { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 1)
    #expect(!replica.isAwaitingVerification(from: cleo.member))
    for check in ofBo.dropLast() { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 1)
    for check in ofBo.suffix(1) { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 2)
    #expect(!replica.isAwaitingVerification)
  }

  /// The data, batches and heads in some actions, in order.
  private func order(of actions: [ReplicaAction]) -> [String] {
    actions.compactMap { action in
      switch action {
      case .data(let bytes, _, _): "data \(bytes.last ?? 0)"
      case .record(.batch): "batch"
      case .record(.head): "head"
      default: nil
      }
    }
  }

  @Test("the messages of a member keep their order while a signature is verified") mutating func keepsOrder() throws {
    try join()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    let requests = checks(actions())
    for number in 1...3 as ClosedRange<UInt8> {
      let data = SyncMessage.application([number]).encode()
      log += replica.received(data, from: bo.member, now: now)
      log += replica.received(try bo.sendText(), from: bo.member, now: now)
    }
    log += replica.received(bo.head(), from: bo.member, now: now)
    log += replica.received(SyncMessage.application([4]).encode(), from: bo.member, now: now)
    #expect(actions().isEmpty)
    for check in requests.reversed() { log += replica.verified(check.id, isValid: true, now: now) }
    let first = actions()
    #expect(order(of: first) == ["data 1", "batch", "data 2", "batch", "data 3", "batch"])
    // The head waits for its own check, and the last message waits behind the head.
    for check in checks(first) { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(order(of: actions()) == ["head", "data 4"])
  }

  @Test("the messages of a member are verified one at a time, and each check is requested once")
  mutating func oneAtATime() throws {
    log += replica.peerJoined(bo.member, now: now)
    _ = actions()
    for _ in 0..<100 { log += replica.received(bo.beginIncarnation(), from: bo.member, now: now) }
    var counts: [Int] = []
    var requests = checks(actions())
    while !requests.isEmpty {
      counts.append(requests.count)
      for check in requests { log += replica.verified(check.id, isValid: true, now: now) }
      requests = checks(actions())
    }
    // The key, and the signatures of the record and the head.
    #expect(counts == [Int](repeating: 3, count: 100))
    #expect(!replica.isAwaitingVerification)
  }

  @Test("an answer with thousands of records requests each check once, and holds up no messages")
  mutating func largeAnswer() throws {
    try introduce()
    let others = (0..<3000 as Range<UInt64>).map { ScriptedReplica(1000 + $0 % 50).record }
    let answer = bo.answer(Difference(context: Context()), of: others)
    log += replica.receivedAnswer(answer, request: 1, from: bo.member, now: now)
    let requests = checks(actions())
    // The keys of 51 members, and the signatures of the records and of the answer.
    #expect(requests.count == 51 + 3001 + 1)
    #expect(Set(requests.map(\.subject)).count == requests.count)
    log += replica.received(SyncMessage.application([1]).encode(), from: bo.member, now: now)
    #expect(actions() == [.data([1], from: bo.member, isReliable: true)])
    #expect(replica.isAwaitingVerification)
    // The request is not given up while its answer is verified.
    let later = Moment(wall: now.wall + 20_000, uptime: now.uptime + 20_000)
    log += replica.tick(now: later)
    for check in requests.shuffled() { log += replica.verified(check.id, isValid: true, now: later) }
    #expect(actions().contains(.caughtUp(bo.member)))
    #expect(!replica.isAwaitingVerification)
  }

  @Test("results for an answer are ignored after its member broke a rule, left, or joined again")
  mutating func answerOfClosedLink() throws {
    try introduce()
    let answer = bo.answer(Difference(context: Context()))
    log += replica.receivedAnswer(answer, request: 1, from: bo.member, now: now)
    let requests = checks(actions())
    #expect(!requests.isEmpty)
    log += replica.received([SyncMessage.batchKind, 0xFF], from: bo.member, now: now)
    #expect(!replica.isAwaitingVerification)
    log += replica.verified(requests[0].id, isValid: true, now: now)
    log += replica.peerLeft(bo.member, now: now)
    log += replica.verified(requests[0].id, isValid: true, now: now)
    log += replica.peerJoined(bo.member, now: now)
    for check in requests { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(!actions().contains(.caughtUp(bo.member)))
  }

  @Test("an invalid signature closes the link, and drops the messages behind it") mutating func invalid() throws {
    log += replica.peerJoined(bo.member, now: now)
    _ = actions()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    log += replica.received(try bo.sendText(), from: bo.member, now: now)
    let requests = checks(actions())
    #expect(requests.count == 3)
    for check in requests {
      var isSignature = false
      if case .signature = check.subject { isSignature = true }
      log += replica.verified(check.id, isValid: !isSignature, now: now)
    }
    #expect(replica.board.objectIDs.isEmpty)
    #expect(!replica.isAwaitingVerification)
  }

  @Test("waiting messages are dropped when their member leaves, and late results are ignored") mutating func leaves()
    throws
  {
    log += replica.peerJoined(bo.member, now: now)
    _ = actions()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    let requests = checks(actions())
    log += replica.peerLeft(bo.member, now: now)
    #expect(!replica.isAwaitingVerification)
    log += replica.peerJoined(bo.member, now: now)
    for check in requests { log += replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.role(of: bo.member) == nil)
  }

  @Test("a member whose unverified messages exceed the limit is closed") mutating func floods() throws {
    try join()
    log += replica.received(bo.hello(), from: bo.member, now: now)
    let data = SyncMessage.application([UInt8](repeating: 0, count: 1 << 20)).encode()
    for _ in 0..<17 { log += replica.received(data, from: bo.member, now: now) }
    #expect(log.take().contains { if case .protocolViolation(_, .malformed(.overLimit)) = $0 { true } else { false } })
    #expect(!replica.isAwaitingVerification)
  }

  @Test("a restart before the record is signed loses the edits, and nothing is stored of them") func restart() throws {
    log += replica.peerJoined(bo.member, now: now)
    try writeText()
    let requests = signingRequests(actions())
    let document = actions().compactMap { if case .record(let change) = $0 { change } else { nil } }
    #expect(document.isEmpty)
    let again = Replica(author: Author(board: ReplicaWorld.board, publicKey: key.publicKey), now: now, verifier: nil)
    let actions = try again.restore(document, now: now)
    #expect(again.board.objectIDs.isEmpty)
    #expect(again.board.incarnation != replica.board.incarnation)
    // A signature that was requested before the restart does not count, and the replica requests it again.
    #expect(signingRequests(actions).map(\.bytes) != requests.map(\.bytes))
  }

  @Test("[AUT-11] a restored grant counts once the owner has verified it", arguments: [true, false]) func restoredGrant(
    isValid: Bool
  ) throws {
    let ownerKey = SimulatedKey(7)
    let owner = BoardOwner(salt: [UInt8](repeating: 1, count: 8), key: ownerKey.publicKey)
    let granter = Author(board: owner.board, key: ownerKey, grant: Grant(owner: owner))
    let grant = try #require(granter.grant(.editor, to: key.publicKey, serial: 1))
    let member = Replica(author: Author(board: owner.board, publicKey: key.publicKey), now: now, verifier: nil)
    let stored = StoredChange.answer([AnswerMerging.grant] + grant.bytes)
    log += try member.restore([stored, stored], now: now)
    #expect(member.role == .viewer && member.isAwaitingVerification)
    func verifyAll() -> [ReplicaAction] {
      let actions = log.take()
      for check in checks(actions) {
        var isSignature = false
        if case .signature = check.subject { isSignature = true }
        log += member.verified(check.id, isValid: isValid || !isSignature, now: now)
      }
      return actions
    }
    var all: [ReplicaAction] = []
    while member.isAwaitingVerification { all += verifyAll() }
    all += log.take()
    #expect(member.role == (isValid ? .editor : .viewer))
    #expect(all.contains(.role(.editor)) == isValid)
    #expect(!all.contains { if case .record = $0 { true } else { false } })
  }

  @Test("a replica is not synced while a signature is missing") func notSynced() {
    log += replica.peerJoined(bo.member, now: now)
    #expect(replica.isAwaitingSignature)
    #expect(!replica.isSynced(now: now))
    log += replica.peerLeft(bo.member, now: now)
    #expect(!replica.isSynced(now: now))
    for request in signingRequests(actions()) { sign(request) }
    #expect(replica.isSynced(now: now))
  }
}
