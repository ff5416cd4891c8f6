import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Some boards, what travels between them, and what is on their disks: one seed is one world.
///
/// There is no session here and no protocol: parcels are lost, doubled and overtaken at will, and any
/// board may bring any other up to date at any time by any way there is. So what holds here holds
/// whatever a network does. `ReplicaWorld`s of the unit tests add the protocol.
public final class BoardWorld {
  /// What went wrong in a world, with what is needed to see it again.
  public struct Failure: Error, CustomStringConvertible {
    /// The world.
    public let seed: UInt64
    /// The invariant, as in `I1` to `I11` of the merge design.
    public let invariant: String
    /// What was seen.
    public let what: String

    /// One line.
    public var description: String { "seed \(seed): \(invariant): \(what)" }
  }

  /// How much happened; a run of worlds in which nothing did proves nothing.
  public struct Tally: Sendable {
    /// Operations made.
    public var operations = 0
    /// Batches made.
    public var batches = 0
    /// Batches that arrived.
    public var delivered = 0
    /// Batches that did not.
    public var lost = 0
    /// Batches that were sent twice.
    public var doubled = 0
    /// Answers merged.
    public var answers = 0
    /// Answers that broke off.
    public var torn = 0
    /// Times that batches brought a board up to date.
    public var logs = 0
    /// Boards that fell over with a lost tail.
    public var crashes = 0
    /// Boards that were set up from a backup.
    public var backups = 0
    /// Objects purged.
    public var purges = 0
    /// Boards that came late.
    public var newcomers = 0
    /// Steps undone or redone.
    public var undos = 0

    /// Nothing yet.
    public init() {}

    /// Both together.
    public static func + (left: Tally, right: Tally) -> Tally {
      var sum = left
      sum.operations += right.operations
      sum.batches += right.batches
      sum.delivered += right.delivered
      sum.lost += right.lost
      sum.doubled += right.doubled
      sum.answers += right.answers
      sum.torn += right.torn
      sum.logs += right.logs
      sum.crashes += right.crashes
      sum.backups += right.backups
      sum.purges += right.purges
      sum.newcomers += right.newcomers
      sum.undos += right.undos
      return sum
    }
  }

  /// What is on a disk: enough to make the board again.
  enum Stored {
    case batch([UInt8])
    case answer([UInt8])
  }

  final class Peer {
    let member: MemberID
    let skew: UInt64
    var board: Board
    var disk: [Stored] = []
    /// How much of the disk survives a crash.
    var durable = 0
    /// The batches at hand, which may not be all: a log may have been cut.
    var log: [Batch] = []

    init(member: MemberID, skew: UInt64, board: Board) {
      self.member = member
      self.skew = skew
      self.board = board
    }
  }

  struct Parcel {
    let to: Int
    let bytes: [UInt8]
  }

  let seed: UInt64
  var random: SeededGenerator
  var peers: [Peer] = []
  var parcels: [Parcel] = []
  var clock: UInt64 = 1_700_000_000_000
  var oracle = Oracle()
  let checksEveryStep: Bool
  /// What happened so far.
  public internal(set) var tally = Tally()

  /// A world of two to five boards.
  public init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    checksEveryStep = seed % 8 == 0
    for _ in 0..<(2 + Int(seed % 3)) { addPeer() }
  }

  func addPeer() {
    guard let member = MemberID(Array(repeating: UInt8(peers.count + 1), count: 32)) else {
      preconditionFailure("32 bytes")
    }
    // Up to an hour apart, and now and then years ahead.
    let skew = random.chance(5) ? 100_000_000_000 : UInt64.random(in: 0...3_600_000, using: &random)
    peers.append(Peer(member: member, skew: skew, board: newBoard(member)))
  }

  func newBoard(_ member: MemberID) -> Board {
    var generator = SeededGenerator(seed: random.next())
    return Board(
      incarnation: .random(using: &random),
      member: member,
      wallClock: clock,
      newIncarnation: { .random(using: &generator) }
    )
  }

  /// Runs the world to its end and holds it against the invariants.
  public func run() throws(Failure) {
    let steps = 60 + random.below(120)
    for _ in 0..<steps { try step() }
    try heal()
    try check()
  }

  func fail(_ invariant: String, _ what: String) -> Failure {
    Failure(seed: seed, invariant: invariant, what: what)
  }

  // MARK: - One thing after another

  func step() throws(Failure) {
    clock += UInt64(random.below(400))
    let one = random.below(peers.count)
    switch random.below(100) {
    case 0..<45: try edit(one)
    case 45..<75: try deliver()
    case 75..<80:
      guard !parcels.isEmpty else { return }
      parcels.remove(at: random.below(parcels.count))
      tally.lost += 1
    case 80..<91: try catchUp(one, from: random.below(peers.count))
    case 91..<94: peers[one].durable = peers[one].disk.count
    case 94..<97: try crash(one)
    case 97..<98: peers[one].log.removeFirst(random.below(peers[one].log.count + 1))
    default:
      guard peers.count < 6 else { return }
      addPeer()
      tally.newcomers += 1
    }
  }

  func edit(_ one: Int) throws(Failure) {
    let peer = peers[one]
    peer.board.wallClock = clock + peer.skew
    watching(one) {
      for _ in 0...random.below(3) {
        if RandomEdit.act(on: peer.board, &random) == .undone { tally.undos += 1 }
      }
    }
    for batch in peer.board.takeBatches() {
      for (index, operation) in batch.operations.enumerated() {
        tally.operations += 1
        if operation.property == .purge { tally.purges += 1 }
        guard oracle.issued(operation, batch.time.rawValue + UInt64(index), batch.dot(at: index))
        else { throw fail("I5", "the dot \(batch.dot(at: index)) was given twice") }
      }
      tally.batches += 1
      let bytes = BatchCoding.encode(batch)
      peer.disk.append(.batch(bytes))
      peer.log.append(batch)
      for other in peers.indices where other != one && !random.chance(10) {
        parcels.append(Parcel(to: other, bytes: bytes))
        if random.chance(15) {
          parcels.append(Parcel(to: other, bytes: bytes))
          tally.doubled += 1
        }
      }
    }
    // Read your writes.
    _ = peer.board.takeChanges()
  }

  func deliver() throws(Failure) {
    guard !parcels.isEmpty else { return }
    let parcel = parcels.remove(at: random.below(parcels.count))
    let peer = peers[parcel.to]
    let batch: Batch
    do throws(CodecError) {
      batch = try BatchCoding.decode(parcel.bytes)
    } catch {
      throw fail("I10", "a batch of ours is not read: \(error)")
    }
    guard BatchCoding.encode(batch) == parcel.bytes else {
      throw fail("I10", "a batch has two forms")
    }
    try receive(batch, parcel.bytes, at: parcel.to)
    _ = peer.board.takeChanges()
    tally.delivered += 1
  }

  func receive(_ batch: Batch, _ bytes: [UInt8], at one: Int) throws(Failure) {
    let peer = peers[one]
    peer.board.wallClock = clock + peer.skew
    do throws(BoardError) {
      try watching(one) { () throws(BoardError) in try peer.board.receive(batch) }
    } catch {
      throw fail("I1", "a batch of ours is refused: \(error)")
    }
    peer.disk.append(.batch(bytes))
    peer.log.append(batch)
  }

  // MARK: - Bringing up to date

  /// One way or another, at random: all that the other lacks, everything, or the batches themselves.
  func catchUp(_ one: Int, from other: Int) throws(Failure) {
    guard one != other else { return }
    let theirs = peers[other].board.state
    let mine = peers[one].board.state.context
    if random.chance(30), try sendLog(to: one, from: other) { return }
    let difference = theirs.difference(since: random.chance(25) ? Context() : mine)
    let bytes = DifferenceCoding.encode(difference)
    if random.chance(20) {
      // Torn on the way: nothing of it may count.
      let before = peers[one].board.state
      guard (try? DifferenceCoding.decode(Array(bytes.prefix(random.below(bytes.count))))) == nil
      else { throw fail("I8", "a part of an answer is taken for all of it") }
      guard before.context == peers[one].board.state.context else {
        throw fail("I8", "a part of an answer changed something")
      }
      tally.torn += 1
      return
    }
    try receive(bytes, at: one)
    tally.answers += 1
  }

  func receive(_ bytes: [UInt8], at one: Int) throws(Failure) {
    let peer = peers[one]
    peer.board.wallClock = clock + peer.skew
    let difference: Difference
    do throws(CodecError) {
      difference = try DifferenceCoding.decode(bytes)
    } catch {
      throw fail("I10", "an answer of ours is not read: \(error)")
    }
    do throws(BoardError) {
      try watching(one) { () throws(BoardError) in try peer.board.receive(difference) }
    } catch {
      throw fail("I1", "an answer of ours is refused: \(error)")
    }
    peer.disk.append(.answer(bytes))
    _ = peer.board.takeChanges()
  }

  /// Sends the batches that are lacking, where the log has every one of them.
  func sendLog(to one: Int, from other: Int) throws(Failure) -> Bool {
    let mine = peers[one].board.state.context
    var covered = mine
    let batches = peers[other].log.filter { !mine[$0.author].contains($0.sequences) }
    for batch in batches { covered.insert(batch.sequences, of: batch.author) }
    // Dots that came by a purge or an answer are in no log: then only a difference will do.
    guard covered.isSuperset(of: peers[other].board.state.context) else { return false }
    for batch in batches.shuffled(using: &random) {
      try receive(batch, BatchCoding.encode(batch), at: one)
    }
    tally.logs += 1
    return true
  }

  // MARK: - Falling over

  /// The program dies with what was not yet durable, or is set up again from a backup.
  func crash(_ one: Int) throws(Failure) {
    let peer = peers[one]
    var kept = peer.durable
    if random.chance(20) {
      kept = random.below(kept + 1)
      tally.backups += 1
    }
    peer.disk.removeSubrange(kept...)
    peer.durable = kept
    peer.board = newBoard(peer.member)
    peer.log = []
    for entry in peer.disk { try restore(entry, to: peer) }
    _ = peer.board.takeChanges()
    tally.crashes += 1
  }

  private func restore(_ entry: Stored, to peer: Peer) throws(Failure) {
    do {
      switch entry {
      case .batch(let bytes):
        let batch = try BatchCoding.decode(bytes)
        try peer.board.receive(batch)
        peer.log.append(batch)
      case .answer(let bytes):
        try peer.board.receive(try DifferenceCoding.decode(bytes))
      }
    } catch {
      throw fail("I11", "what was stored is not read: \(error)")
    }
  }

  // MARK: - Watching

  /// Does something to a board and sees that none of its cells goes back (I6).
  func watching<Problem: Error>(
    _ one: Int,
    _ body: () throws(Problem) -> Void
  ) throws(Problem) {
    guard checksEveryStep else {
      try body()
      return
    }
    let before = peers[one].board.state
    try body()
    if let what = Oracle.wentBack(from: before, to: peers[one].board.state) {
      oracle.complaint = oracle.complaint ?? what
    }
  }

  // MARK: - The end

  /// Everybody hears from everybody until nobody learns anything.
  func heal() throws(Failure) {
    for _ in 0..<8 {
      for one in peers.indices {
        for other in peers.indices where one != other {
          try receive(
            DifferenceCoding.encode(
              peers[other].board.state.difference(since: peers[one].board.state.context)
            ),
            at: one
          )
        }
      }
      let first = peers[0].board.state.context
      if peers.allSatisfy({ $0.board.state.context == first }) { return }
    }
    throw fail("I1", "contexts are not equal after all heard from all")
  }

  func check() throws(Failure) {
    if let complaint = oracle.complaint { throw fail("I6", complaint) }
    let first = peers[0].board.state
    let dump = Oracle.dump(first)
    for (number, peer) in peers.enumerated() {
      guard Oracle.dump(peer.board.state) == dump else {
        throw fail("I1", "board \(number) differs: \(Oracle.difference(first, peer.board.state))")
      }
      guard BoardDigest.digest(of: peer.board.state) == BoardDigest.digest(of: first) else {
        throw fail("I1", "the digest of board \(number) differs")
      }
      // An orphan whose create operation was lost with its author's disk stays one.
      guard peer.board.state.orphans.allSatisfy({ !peer.board.state.context.contains($0.dot) })
      else { throw fail("I1", "an orphan is left whose create operation was seen") }
      try replay(peer, number)
    }
    if let what = oracle.lost(in: first) { throw fail("I3", what) }
    if let what = oracle.risen(in: first) { throw fail("I4", what) }
    try checkLaws()
  }

  /// What is on the disk makes the same board again (I11).
  private func replay(_ peer: Peer, _ number: Int) throws(Failure) {
    let again = Peer(member: peer.member, skew: 0, board: newBoard(peer.member))
    for entry in peer.disk { try restore(entry, to: again) }
    guard Oracle.dump(again.board.state) == Oracle.dump(peer.board.state) else {
      throw fail("I11", "the disk of board \(number) makes another board")
    }
  }

  /// A snapshot into an empty board is the same board, and merging twice changes nothing (I2, I7).
  private func checkLaws() throws(Failure) {
    let state = peers[0].board.state
    var fresh = BoardState()
    var twice = state
    var changes = ChangeLog()
    do throws(BoardError) {
      try fresh.merge(state.difference(since: Context()), changes: &changes)
      try twice.merge(state.difference(since: Context()), changes: &changes)
    } catch {
      throw fail("I2", "a snapshot is refused: \(error)")
    }
    guard Oracle.dump(fresh) == Oracle.dump(state) else { throw fail("I7", "a snapshot differs") }
    guard Oracle.dump(twice) == Oracle.dump(state) else {
      throw fail("I2", "merging twice differs")
    }
  }
}
