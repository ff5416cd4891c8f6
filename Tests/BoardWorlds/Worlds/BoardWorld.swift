import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

/// A world of several boards, the packets between them, and their disks, determined by one seed.
///
/// There is no session and no protocol. Packets are lost, duplicated and reordered at random, and any board may bring
/// another board up to date at any time. Invariants that hold here therefore hold on any network. The `ReplicaWorld`s
/// of the unit tests add the protocol.
public final class BoardWorld {
  /// A violated invariant, with the seed that repeats it.
  public struct Failure: Error, CustomStringConvertible {
    /// The seed of the world.
    public let seed: UInt64
    /// The name of the invariant, `I1` to `I14` of the merge design.
    public let invariant: String
    /// A description of the violation.
    public let what: String

    /// The seed, the invariant and the violation in one line.
    public var description: String { "seed \(seed): \(invariant): \(what)" }
  }

  /// A stored change on a disk; all of them together restore a board.
  enum Stored {
    case batch([UInt8])
    case answer([UInt8])
  }

  final class Peer {
    let member: MemberID
    /// The number of milliseconds by which the board's wall clock is ahead.
    var skew: Int64
    var board: Board
    var disk: [Stored] = []
    /// The number of stored changes that survive a crash.
    var durable = 0
    var log: [Batch] = []

    init(member: MemberID, skew: Int64, board: Board) {
      self.member = member
      self.skew = skew
      self.board = board
    }
  }

  struct Packet {
    let to: Int
    let bytes: [UInt8]
  }

  let seed: UInt64
  var random: SeededGenerator
  var peers: [Peer] = []
  var packets: [Packet] = []
  var clock: UInt64 = 1_700_000_000_000
  var oracle = Oracle()
  let incarnations = Incarnations()
  var authors: [Incarnation: MemberID] { incarnations.authors }
  var strangers: [Stranger] = []
  let checksEveryStep: Bool
  /// The number of events so far.
  public internal(set) var tally = Tally()

  /// Creates a world of two to four boards, some with a ``Stranger``.
  public init(seed: UInt64) {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    checksEveryStep = seed % 8 == 0
    for _ in 0..<(2 + Int(seed % 3)) { addPeer() }
    if seed % 4 < 2 { strangers.append(Stranger(.random(using: &random))) }
  }

  func addPeer() {
    guard let member = MemberID(bytes: Array(repeating: UInt8(peers.count + 1), count: 32)) else {
      preconditionFailure("32 bytes")
    }
    peers.append(Peer(member: member, skew: newSkew(), board: newBoard(member)))
  }

  func newBoard(_ member: MemberID) -> Board {
    let first = Incarnation.random(using: &random)
    var generator = SeededGenerator(seed: random.next())
    incarnations.authors[first] = member
    return Board(
      incarnation: first,
      member: member,
      wallClock: 0,
      newIncarnation: { [incarnations] in
        let next = Incarnation.random(using: &generator)
        incarnations.authors[next] = member
        incarnations.claims += 1
        return next
      }
    )
  }

  final class Incarnations {
    var authors: [Incarnation: MemberID] = [:]
    /// The number of new incarnations that were needed because another peer claimed dots of the old incarnation.
    var claims = 0
  }

  /// Runs the world to its end and checks the invariants.
  public func run() throws(Failure) {
    defer { tally[.claims] += incarnations.claims }
    if seed % Flood.every == Flood.every - 1 { try Flood(self).run() }
    if seed % 4 == 2 { try undoAlone() }
    let steps = 60 + random.below(120)
    for _ in 0..<steps { try step() }
    try heal()
    try check()
  }

  func fail(_ invariant: String, _ what: String) -> Failure { Failure(seed: seed, invariant: invariant, what: what) }

  // MARK: - Steps

  func step() throws(Failure) {
    clock += UInt64(random.below(400))
    let one = random.below(peers.count)
    switch random.below(100) {
    case 0..<38: try edit(one)
    case 38..<45: try undo(one)
    case 45..<73: try deliver()
    case 73..<78:
      guard !packets.isEmpty else { return }
      packets.remove(at: random.below(packets.count))
      tally[.lost] += 1
    case 78..<80: try beStrange(about: one)
    case 80..<91: try catchUp(one, from: random.below(peers.count))
    case 91..<95: peers[one].durable = peers[one].disk.count
    case 95..<97: try crash(one)
    case 97..<98: peers[one].log.removeFirst(random.below(peers[one].log.count + 1))
    case 98:
      if random.chance(40) { setClock(of: one) }
      try undoAndRedo(one)
    default:
      guard peers.count < 6 else { return }
      addPeer()
      tally[.newcomers] += 1
    }
  }

  /// Updates the clock and the connected members of a board before an edit.
  func prepare(_ one: Int) {
    let board = peers[one].board
    board.wallClock = wall(of: peers[one])
    board.authors = authors
    // Sometimes the other members are connected, and their selections count.
    let isAmongOthers = random.chance(20)
    board.presentMembers = isAmongOthers ? Set(peers.map { $0.member }) : []
    board.presentMembers.remove(board.member)
  }

  func edit(_ one: Int) throws(Failure) {
    let peer = peers[one]
    prepare(one)
    let before = peer.board.state
    watching(one) {
      for _ in 0...random.below(3) {
        var edit = RandomEdit(board: peer.board, random: random)
        if !edit.act() { tally[.refusals] += 1 }
        random = edit.random
      }
    }
    try publish(peer.board.takeBatches(), of: one, since: before)
  }

  func publish(_ batches: [Batch], of one: Int, since before: BoardState) throws(Failure) {
    try checkTimes(of: batches, of: one, since: before)
    if let what = Oracle.beaten(batches, in: peers[one].board.state) { throw fail("I6", what) }
    for batch in batches {
      for operation in batch.operations where operation.property == .purge { tally[.purges] += 1 }
      let bytes = try post(batch, from: one)
      peers[one].disk.append(.batch(bytes))
      peers[one].log.append(batch)
    }
    _ = peers[one].board.takeChanges()
  }

  /// Sends a batch to all other boards, or to most of them.
  @discardableResult func post(_ batch: Batch, from one: Int?) throws(Failure) -> [UInt8] {
    for (index, operation) in batch.operations.enumerated() {
      tally[.operations] += 1
      guard oracle.issued(operation, batch.time.rawValue + UInt64(index), batch.dot(at: index)) else {
        throw fail("I5", "the dot \(batch.dot(at: index)) was assigned twice")
      }
    }
    tally[.batches] += 1
    let bytes = BatchCoding.encode(batch)
    for other in peers.indices where other != one && !random.chance(10) {
      packets.append(Packet(to: other, bytes: bytes))
      if random.chance(15) {
        packets.append(Packet(to: other, bytes: bytes))
        tally[.doubled] += 1
      }
    }
    return bytes
  }

  func beStrange(about one: Int) throws(Failure) {
    guard var stranger = strangers.popLast() else { return }
    let state = peers[one].board.state
    if let batch = stranger.batch(about: state, wall: clock, &random) {
      try post(batch, from: nil)
      tally[.strange] += 1
    }
    strangers.append(stranger)
  }

  func deliver() throws(Failure) {
    guard !packets.isEmpty else { return }
    let packet = packets.remove(at: random.below(packets.count))
    let peer = peers[packet.to]
    let batch: Batch
    do throws(CodecError) { batch = try BatchCoding.decode(packet.bytes) } catch {
      throw fail("I10", "a batch does not decode: \(error)")
    }
    guard BatchCoding.encode(batch) == packet.bytes else { throw fail("I10", "a batch has two encodings") }
    try receive(batch, packet.bytes, at: packet.to)
    _ = peer.board.takeChanges()
    tally[.delivered] += 1
  }

  func receive(_ batch: Batch, _ bytes: [UInt8], at one: Int) throws(Failure) {
    let peer = peers[one]
    peer.board.wallClock = wall(of: peer)
    do throws(BoardError) { try watching(one) { () throws(BoardError) in try peer.board.receive(batch) } } catch {
      throw fail("I1", "a valid batch is refused: \(error)")
    }
    peer.disk.append(.batch(bytes))
    peer.log.append(batch)
  }

  // MARK: - Crashes

  /// Restarts a board without its changes that were not durable, or from a backup.
  func crash(_ one: Int) throws(Failure) {
    let peer = peers[one]
    var kept = peer.durable
    if random.chance(20) {
      kept = random.below(kept + 1)
      tally[.backups] += 1
    }
    peer.disk.removeSubrange(kept...)
    peer.durable = kept
    if random.chance(40) { setClock(of: one) }
    peer.board = newBoard(peer.member)
    peer.board.wallClock = wall(of: peer)
    peer.log = []
    for entry in peer.disk { try restore(entry, to: peer) }
    _ = peer.board.takeChanges()
    tally[.crashes] += 1
  }

  func restore(_ entry: Stored, to peer: Peer) throws(Failure) {
    switch entry {
    case .batch(let bytes):
      let batch = try stored { () throws(CodecError) in try BatchCoding.decode(bytes) }
      try stored { () throws(BoardError) in try peer.board.receive(batch) }
      peer.log.append(batch)
    case .answer(let bytes):
      let difference = try stored { () throws(CodecError) in try DifferenceCoding.decode(bytes) }
      try stored { () throws(BoardError) in try peer.board.receive(difference) }
    }
  }

  /// Calls a function with stored bytes, which must not fail.
  private func stored<Result, Problem: Error>(_ body: () throws(Problem) -> Result) throws(Failure) -> Result {
    do throws(Problem) { return try body() } catch { throw fail("I11", "a stored change cannot be read") }
  }

  // MARK: - Checks

  /// Changes a board, and checks that no cell gets an earlier time (I6).
  func watching<Problem: Error>(_ one: Int, _ body: () throws(Problem) -> Void) throws(Problem) {
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
}
