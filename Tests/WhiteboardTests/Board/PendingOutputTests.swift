import Testing

@testable import Whiteboard

@Suite struct PendingOutputTests {
  @Test("batches and changes come out once, in order") func once() throws {
    var output = PendingOutput()
    var state = BoardState()
    let kinds: [ObjectKind] = [.text, .settings]
    let batches = try kinds.enumerated().map { index, kind in
      let dot = Dot(Incarnation(1), UInt64(index + 1))
      return try Batch(
        author: dot.incarnation,
        firstSequence: dot.sequence,
        time: HybridTime(UInt64(index + 1)),
        operations: [Operation(ObjectID(dot), .kind, .unsigned(kind.rawValue))]
      )
    }
    for batch in batches { try state.apply(batch, changes: &output.changes) }
    output.send(batches)
    let sent = [output.removeBatches(), output.removeBatches()]
    #expect(sent == [batches, []])
    let early = output.removeSettingsChange()
    let changes = [output.removeChanges(in: state), output.removeChanges(in: state)]
    #expect(!early && changes == [[.added(ObjectID(batches[0].dot(at: 0)))], []])
    let later = [output.removeSettingsChange(), output.removeSettingsChange()]
    #expect(later == [true, false])
  }
}
