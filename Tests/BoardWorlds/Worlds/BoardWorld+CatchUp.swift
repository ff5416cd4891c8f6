import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Catching up: differences, snapshots and batches.
extension BoardWorld {
  /// Brings a board up to date in a random way: with a difference, a snapshot, or the batches.
  func catchUp(_ one: Int, from other: Int) throws(Failure) {
    guard one != other else { return }
    let theirs = peers[other].board.state
    let mine = peers[one].board.state.context
    if random.chance(30), try sendLog(to: one, from: other) { return }
    let difference = theirs.difference(since: random.chance(25) ? Context() : mine)
    let bytes = DifferenceCoding.encode(difference)
    if random.chance(20) {
      // A truncated answer must change nothing. A short answer is truncated at every byte.
      let cuts = bytes.count < 300 ? Array(bytes.indices) : [random.below(bytes.count)]
      for cut in cuts where (try? DifferenceCoding.decode(Array(bytes.prefix(cut)))) != nil {
        throw fail("I8", "a part of an answer decodes as a whole answer")
      }
      tally[.torn] += 1
      return
    }
    try receive(bytes, at: one)
    tally[.answers] += 1
  }

  func receive(_ bytes: [UInt8], at one: Int) throws(Failure) {
    let peer = peers[one]
    peer.board.wallClock = wall(of: peer)
    let difference: Difference
    do throws(CodecError) { difference = try DifferenceCoding.decode(bytes) } catch {
      throw fail("I10", "an answer does not decode: \(error)")
    }
    do throws(BoardError) { try watching(one) { () throws(BoardError) in try peer.board.receive(difference) } } catch {
      throw fail("I1", "a valid answer is refused: \(error)")
    }
    peer.disk.append(.answer(bytes))
    _ = peer.board.takeChanges()
  }

  /// Sends the missing batches, if the log has all of them.
  func sendLog(to one: Int, from other: Int) throws(Failure) -> Bool {
    let mine = peers[one].board.state.context
    var covered = mine
    let batches = peers[other].log.filter { !mine[$0.author].contains($0.sequences) }
    for batch in batches { covered.insert(batch.sequences, of: batch.author) }
    // Dots from a purge or an answer are in no log, so only a difference can transfer them.
    guard covered.isSuperset(of: peers[other].board.state.context) else { return false }
    for batch in random.shuffled(batches) { try receive(batch, BatchCoding.encode(batch), at: one) }
    tally[.logs] += 1
    return true
  }
}
