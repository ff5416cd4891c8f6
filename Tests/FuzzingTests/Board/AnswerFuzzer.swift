@testable import Whiteboard
@testable import WhiteboardSync

/// Accepts every signature, so that the fuzzer reaches the code behind the check.
private struct Credulous: SignatureVerifier {
  func isKey(_ bytes: [UInt8]) -> Bool { true }
  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool { true }
}

/// Checks that an answer has exactly one encoding, and merges only once into any board.
func fuzzAnswer(_ input: inout Input) {
  let choice = input.byte()
  var bytes = input.rest()
  if choice & 1 == 1 {
    // The end of an answer is easy to build but hard to find at random.
    bytes += [0xFF] + [UInt8](repeating: 1, count: 8 + AuthorRecord.signatureBytes)
  }
  guard let answer = try? Answer(bytes) else { return }
  for record in answer.records {
    insist(try AuthorRecord(record.bytes) == record, "a record decodes to what was encoded")
    _ = try? record.verify(board: record.board, with: Credulous())
  }
  let difference = answer.difference
  var empty = BoardState()
  merge(difference, into: &empty, comparingAll: choice & 2 != 0)
  // A board with the answer's dots and other values under them.
  var other = BoardState()
  var changes = ChangeLog()
  for entry in difference.entries.prefix(4) {
    guard let known = entry.cells.first,
      let batch = try? Batch(
        author: known.cell.dot.incarnation,
        firstSequence: known.cell.dot.sequence,
        time: known.cell.time,
        operations: [Operation(entry.object, known.property, known.cell.value)]
      )
    else { continue }
    _ = try? other.apply(batch, changes: &changes)
  }
  merge(difference, into: &other, comparingAll: choice & 2 != 0)
}

private func merge(_ difference: Difference, into state: inout BoardState, comparingAll: Bool) {
  var changes = ChangeLog()
  guard (try? state.merge(difference, comparingAll: comparingAll, changes: &changes)) != nil else { return }
  insist(state.context.isSuperset(of: difference.context), "the merged dots are in the context")
  let once = DifferenceCoding.encode(state.difference(since: Context()))
  insist((try? state.merge(difference, comparingAll: comparingAll, changes: &changes)) != nil, "a second merge works")
  insist(DifferenceCoding.encode(state.difference(since: Context())) == once, "merging twice changes nothing")
  for id in state.orphans { insist(!state.context.contains(id.dot), "the object of an orphan can still arrive") }
  // A replica that receives everything over the network has the same board.
  var copy = BoardState()
  insist((try? copy.merge(DifferenceCoding.decode(once), changes: &changes)) != nil, "a snapshot is accepted")
  insist(BoardDigest.digest(of: copy) == BoardDigest.digest(of: state), "a snapshot has the same digest")
  insist(BucketSums.sums(of: copy) == BucketSums.sums(of: state), "a snapshot has the same sums")
  _ = changes.changes(in: state)
}
