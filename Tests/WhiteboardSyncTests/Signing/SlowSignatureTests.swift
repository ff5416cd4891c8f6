import BoardWorlds
import Testing
import Whiteboard

@testable import WhiteboardSync

@Suite("Replicas whose owner signs and verifies") struct SlowSignatureTests {
  private static let wall: UInt64 = 1_700_000_000_000
  private let key = SimulatedKey(1)
  private let now = Moment(wall: Self.wall, uptime: 1000)
  private let replica: Replica
  private var bo = ScriptedReplica(2)

  init() {
    replica = Replica(
      author: Author(board: ReplicaWorld.board, publicKey: key.publicKey),
      now: now,
      verifier: nil
    )
  }

  /// The pending actions, apart from datagrams and reports of presence.
  private func actions() -> [ReplicaAction] {
    replica.takeActions().filter { if case .sendDatagram = $0 { false } else { true } }
  }

  private func signingRequests(_ actions: [ReplicaAction]) -> [SigningRequest] {
    actions.compactMap { if case .sign(let request) = $0 { request } else { nil } }
  }

  private func checks(_ actions: [ReplicaAction]) -> [VerificationRequest] {
    actions.compactMap { if case .verify(let request) = $0 { request } else { nil } }
  }

  private func sign(_ request: SigningRequest) {
    replica.signed(request.id, signature: key.signature(of: request.bytes), now: now)
  }

  private func writeText() throws {
    try replica.change(now: now) { board in
      _ = try board.createText("hello", at: Point(x: 0, y: 0))
    }
  }

  @Test(
    "members converge although signatures take any time, with liars and restarts",
    arguments: 0..<60 as Range<UInt64>
  )
  func converges(seed: UInt64) throws {
    let tally = try ReplicaWorld.run(seed: seed, hasSlowSignatures: true)
    #expect(tally[.signatures] > 5)
  }

  @Test(
    "members of an owned board converge although signatures take any time",
    arguments: 0..<40 as Range<UInt64>
  )
  func convergesOwned(seed: UInt64) throws {
    let tally = try ReplicaWorld.run(seed: seed, isOwned: true, hasSlowSignatures: true)
    #expect(tally[.signatures] > 5)
  }

  @Test("nothing of a batch is stored, sent or reported before the record of its author is signed")
  func recordFirst() throws {
    replica.peerJoined(bo.member, now: now)
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
    guard case .send(let message, _)? = after.first,
      case .author(let introduction)? = try SyncMessage.decode(message)
    else {
      Issue.record("the introduction is sent first")
      return
    }
    #expect(introduction.record == bytes)
    let record = try AuthorRecord(introduction.record)
    try introduction.head.verify(by: record, with: SimulatedVerifier())
  }

  @Test("a member that joins again gets nothing that was made for the lost link")
  func joinsAgain() throws {
    replica.peerJoined(bo.member, now: now)
    try writeText()
    replica.peerLeft(bo.member, now: now)
    replica.peerJoined(bo.member, now: now)
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

  @Test("messages of a member wait behind one that is being verified, those of others do not")
  mutating func waits() throws {
    var cleo = ScriptedReplica(3)
    for member in [bo.member, cleo.member] { replica.peerJoined(member, now: now) }
    _ = actions()
    replica.received(bo.hello(), from: bo.member, now: now)
    let ofBo = checks(actions())
    replica.received(try bo.sendText(), from: bo.member, now: now)
    replica.received(cleo.hello(), from: cleo.member, now: now)
    let ofCleo = checks(actions())
    replica.received(try cleo.sendText(), from: cleo.member, now: now)
    #expect(replica.isAwaitingVerification)
    #expect(replica.board.objectIDs.isEmpty)
    for check in ofCleo.reversed() { replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 1)
    for check in ofBo.dropLast() { replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 1)
    for check in ofBo.suffix(1) { replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.board.objectIDs.count == 2)
    #expect(!replica.isAwaitingVerification)
  }

  @Test("an invalid signature closes the link, and drops what waits behind it")
  mutating func invalid() throws {
    replica.peerJoined(bo.member, now: now)
    _ = actions()
    replica.received(bo.hello(), from: bo.member, now: now)
    replica.received(try bo.sendText(), from: bo.member, now: now)
    let requests = checks(actions())
    #expect(requests.count == 3)
    for check in requests {
      var isSignature = false
      if case .signature = check.subject { isSignature = true }
      replica.verified(check.id, isValid: !isSignature, now: now)
    }
    #expect(replica.board.objectIDs.isEmpty)
    #expect(!replica.isAwaitingVerification)
  }

  @Test("what waits is dropped when its member leaves, and late results are ignored")
  mutating func leaves() throws {
    replica.peerJoined(bo.member, now: now)
    _ = actions()
    replica.received(bo.hello(), from: bo.member, now: now)
    let requests = checks(actions())
    replica.peerLeft(bo.member, now: now)
    #expect(!replica.isAwaitingVerification)
    replica.peerJoined(bo.member, now: now)
    for check in requests { replica.verified(check.id, isValid: true, now: now) }
    #expect(replica.role(of: bo.member) == nil)
  }

  @Test("a member whose unverified messages exceed the limit is closed")
  mutating func floods() throws {
    replica.peerJoined(bo.member, now: now)
    _ = actions()
    replica.received(bo.hello(), from: bo.member, now: now)
    let data = SyncMessage.application([UInt8](repeating: 0, count: 1 << 20)).encode()
    for _ in 0..<16 { replica.received(data, from: bo.member, now: now) }
    #expect(
      replica.takeActions().contains {
        if case .protocolViolation(_, .malformed(.overLimit)) = $0 { true } else { false }
      }
    )
    #expect(!replica.isAwaitingVerification)
  }

  @Test("a replica is not synced while a signature is missing")
  func notSynced() {
    replica.peerJoined(bo.member, now: now)
    #expect(replica.isAwaitingSignature)
    #expect(!replica.isSynced(now: now))
    replica.peerLeft(bo.member, now: now)
    #expect(!replica.isSynced(now: now))
    for request in signingRequests(actions()) { sign(request) }
    #expect(replica.isSynced(now: now))
  }
}
