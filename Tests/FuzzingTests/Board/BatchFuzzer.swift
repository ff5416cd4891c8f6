import Whiteboard
import WhiteboardSync

/// Checks both forms of batches. Each form has exactly one encoding, converts to the other form, and applies only once.
func fuzzBatch(_ input: inout Input) {
  if input.byte() & 1 == 0 { full(input.rest()) } else { link(&input) }
}

private func full(_ bytes: [UInt8]) {
  guard let encoded = try? EncodedBatch(decoding: bytes) else { return }
  insist(encoded.bytes == bytes, "a batch keeps its received bytes")
  insist(BatchCoding.encode(encoded.batch) == bytes, "a batch has one encoding")
  var writer = LinkBatchWriter()
  var reader = LinkBatchReader()
  reader.beginAuthor(encoded.batch.author, lastSequence: encoded.batch.firstSequence - 1)
  let message = writer.encode(encoded)
  insist(try reader.decode(message, from: 0) == encoded, "the link form decodes to the same batch")
  var state = BoardState()
  apply(encoded.batch, to: &state)
}

/// Checks consecutive messages of a link. In the input, a length precedes each message; the length 0 begins another
/// incarnation.
private func link(_ input: inout Input) {
  var reader = LinkBatchReader()
  var writer = LinkBatchWriter()
  var incarnation: UInt64 = 7
  reader.beginAuthor(Incarnation(incarnation), lastSequence: 0)
  var state = BoardState()
  while !input.isEmpty {
    let length = Int(input.byte())
    if length == 0 {
      incarnation += 1
      reader.beginAuthor(Incarnation(incarnation), lastSequence: UInt64(input.short()))
      writer.beginAuthor()
      continue
    }
    let message = input.bytes(length)
    guard let encoded = try? reader.decode(message, from: 0) else { return }
    insist(writer.encode(encoded) == message, "a link message has one encoding")
    insist(BatchCoding.encode(encoded.batch) == encoded.bytes, "the full form of a batch is canonical")
    apply(encoded.batch, to: &state)
  }
}

private func apply(_ batch: Batch, to state: inout BoardState) {
  var changes = ChangeLog()
  insist((try? state.apply(batch, changes: &changes)) != nil, "a board with enough space accepts a legal batch")
  insist(state.context[batch.author].contains(batch.sequences), "the applied dots are in the context")
  let once = DifferenceCoding.encode(state.difference(since: Context()))
  insist((try? state.apply(batch, changes: &changes)) != nil, "a batch is accepted again")
  insist(DifferenceCoding.encode(state.difference(since: Context())) == once, "applying twice changes nothing")
  for id in state.orphans { insist(!state.context.contains(id.dot), "the object of an orphan can still arrive") }
  _ = changes.changes(in: state)
}
