import Testing
import WhiteboardDocument

@testable import WhiteboardNode

/// What is answered to whom, whatever becomes of the file.
@Suite struct DocumentKeeperTests {
  private let entry = DocumentEntry.batch(bytes: [1], time: 0)
  private let full = DocumentError(.full, "the disk is full")

  /// A keeper of an open document, and what it told.
  private final class Told { var outcomes: [DocumentError.Code?] = [] }

  private func tell(_ keeper: inout DocumentKeeper) -> [DocumentError.Code?] {
    let told = Told()
    keeper.answer { told.outcomes.append($0?.code) }
    for answer in keeper.takeAnswers() { answer() }
    return told.outcomes
  }

  @Test("what is recorded while the whole board is written to mend a document is appended after it")
  func mending() {
    var keeper = DocumentKeeper()
    keeper.open()
    keeper.record(entry)
    _ = keeper.take()
    keeper.didFail(full)
    keeper.record(entry)
    let (entries, mark) = keeper.take()
    #expect(entries.isEmpty)
    // The board was written down before this.
    keeper.record(entry)
    keeper.didKeep(upTo: mark)
    #expect(tell(&keeper).isEmpty)
    let (later, last) = keeper.take()
    #expect(later == [entry])
    keeper.didKeep(upTo: last)
    #expect(tell(&keeper) == [nil])
  }

  @Test("nothing is said to be kept that came after the document was closed")
  func closed() {
    var keeper = DocumentKeeper()
    keeper.open()
    keeper.record(entry)
    let (_, mark) = keeper.take()
    keeper.didKeep(upTo: mark)
    keeper.close()
    #expect(keeper.isIdle)
    keeper.record(entry)
    #expect(!keeper.isIdle)
    #expect(tell(&keeper) == [.closed])
  }

  @Test("where no document is, there is nothing to wait for")
  func none() {
    var keeper = DocumentKeeper()
    keeper.record(entry)
    #expect(keeper.isIdle)
  }
}
