import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

extension BoardWorld {
  /// Exchanges updates, directly or all through one board, until no board learns anything new.
  func heal() throws(Failure) {
    let hub = checksEveryStep ? nil : random.below(peers.count)
    for _ in 0..<8 {
      for one in peers.indices {
        for other in peers.indices where one != other && (hub ?? one) == one { try learn(one, from: other) }
      }
      if let hub { for one in peers.indices where one != hub { try learn(one, from: hub) } }
      let first = peers[0].board.state.context
      if peers.allSatisfy({ $0.board.state.context == first }) { return }
    }
    throw fail("I1", "contexts differ after all boards exchanged their updates")
  }

  private func learn(_ one: Int, from other: Int) throws(Failure) {
    let difference = peers[other].board.state.difference(since: peers[one].board.state.context)
    try receive(DifferenceCoding.encode(difference), at: one)
  }

  func check() throws(Failure) {
    if let complaint = oracle.complaint { throw fail("I6", complaint) }
    let first = peers[0].board.state
    let dump = Oracle.dump(first)
    for (number, peer) in peers.enumerated() {
      guard Oracle.dump(peer.board.state) == dump else {
        throw fail("I1", "board \(number) differs: \(Oracle.difference(first, peer.board.state))")
      }
      guard !checksEveryStep || BoardDigest.digest(of: peer.board.state) == BoardDigest.digest(of: first) else {
        throw fail("I1", "the digest of board \(number) differs")
      }
      // If the create operation of an orphan was lost with its author's disk, the orphan remains.
      guard peer.board.state.orphans.allSatisfy({ !peer.board.state.context.contains($0.dot) }) else {
        throw fail("I1", "an orphan remains although its create operation is in the context")
      }
      if checksEveryStep || number == Int(seed) % peers.count { try replay(peer, number) }
    }
    try checkChat()
    if let what = oracle.lost(in: first) { throw fail("I3", what) }
    if let what = oracle.risen(in: first) { throw fail("I4", what) }
    if seed % 2 == 0 { try checkReadings() }
    try checkLaws()
    if seed % 4 == 1 { try checkRepair() }
  }

  /// Checks that all boards have equal readings, and that each reading agrees with the cells of its board (I1).
  private func checkReadings() throws(Failure) {
    let members = peers.map { $0.member }
    let two = [peers[0], peers[1 + random.below(peers.count - 1)]]
    for peer in two {
      peer.board.authors = authors
      peer.board.presentMembers = []
    }
    let readings = two.map { Reading(wholeOf: $0.board, members: members) }
    guard readings[0] == readings[1] else { throw fail("I1", "one sees \(readings[0].difference(from: readings[1]))") }
    if let what = SecondReading(two[0].board).contradiction { throw fail("I1", what) }
    for id in two[0].board.objectIDs { tally[.moves] += two[0].board.gameView(id, for: members[0])?.moveCount ?? 0 }
  }

  /// Checks that the stored contents of a board restore it (I11).
  private func replay(_ peer: Peer, _ number: Int) throws(Failure) {
    let again = Peer(member: peer.member, skew: 0, board: newBoard(peer.member))
    for entry in peer.disk { try restore(entry, to: again) }
    guard Oracle.dump(again.board.state) == Oracle.dump(peer.board.state) else {
      throw fail("I11", "the stored changes of board \(number) give another board")
    }
  }

  /// Checks that a snapshot merged into an empty board gives the same board, and that merging it twice changes nothing
  /// (I2, I7).
  private func checkLaws() throws(Failure) {
    let state = peers[0].board.state
    var fresh = BoardState()
    var twice = state
    var changes = ChangeLog()
    do throws(BoardError) {
      try fresh.merge(state.difference(since: Context()), changes: &changes)
      try twice.merge(state.difference(since: Context()), changes: &changes)
    } catch { throw fail("I2", "a snapshot is refused: \(error)") }
    guard Oracle.dump(fresh) == Oracle.dump(state) else { throw fail("I7", "a snapshot differs") }
    guard Oracle.dump(twice) == Oracle.dump(state) else { throw fail("I2", "merging twice differs") }
  }

  /// Checks that two boards with different operations under one dot are found to differ, and that a repair makes them
  /// equal (SYN-42).
  private func checkRepair() throws(Failure) {
    let state = peers[0].board.state
    let ids = state.storedIDs.filter { !state.orphans.contains($0) }.sorted()
    guard let id = random.element(of: ids) else { return }
    let author = Incarnation.random(using: &random)
    let wall = (clock + 2_000_000_000_000) << 16
    let property = [Property.position, .color, .zIndex, .title, Property(60)][random.below(5)]
    var values = [Stranger.value(&random), Stranger.value(&random)]
    // Values that differ only in their last bits, or in their shape.
    if random.chance(50) { values = [.unsigned(random.next() | 1), .unsigned(1 << 40)] }
    guard values[0] != values[1] else { return }
    var boards = [state, state]
    var changes = ChangeLog()
    for index in 0..<2 {
      let batch = try valid { () throws(CodecError) in
        try Batch(
          author: author,
          firstSequence: 1,
          time: HybridTime(wall),
          operations: [Operation(id, property, values[index])]
        )
      }
      try valid { () throws(BoardError) in try boards[index].apply(batch, changes: &changes) }
    }
    let sums = boards.map { BucketSums.sums(of: $0) }
    guard sums[0] != sums[1] else { throw fail("I1", "no sum covers \(property) of \(id)") }
    guard !state.isVisible(id) || BoardDigest.digest(of: boards[0]) != BoardDigest.digest(of: boards[1]) else {
      throw fail("I1", "\(property) of \(id) is not in the digest")
    }
    var buckets: UInt16 = 0
    for bucket in 0..<16 where sums[0][bucket] != sums[1][bucket] { buckets |= 1 << bucket }
    var answers: [Difference] = []
    for board in boards {
      let answer = DifferenceCoding.encode(board.difference(since: board.context, buckets: buckets))
      answers.append(try valid { () throws(CodecError) in try DifferenceCoding.decode(answer) })
    }
    for (one, other) in [(0, 1), (1, 0)] {
      try valid { () throws(BoardError) in try boards[one].merge(answers[other], comparingAll: true, changes: &changes)
      }
    }
    guard Oracle.dump(boards[0]) == Oracle.dump(boards[1]) else {
      throw fail("I1", "a repair leaves \(Oracle.difference(boards[0], boards[1]))")
    }
    tally[.repairs] += 1
  }

  /// Calls a function of a repair, which must not fail.
  private func valid<Result, Problem: Error>(_ body: () throws(Problem) -> Result) throws(Failure) -> Result {
    do throws(Problem) { return try body() } catch { throw fail("I1", "a repair is refused") }
  }
}
