import Testing
import WhiteboardDocument

@testable import WhiteboardKit

@Suite struct PersistenceQueueTests {
  private let entry = DocumentEntry.batch(bytes: [1], time: 0)
  private let full = DocumentError(.full, "the disk is full")

  private final class Told { var outcomes: [DocumentError.Code?] = [] }

  private func tell(_ keeper: inout PersistenceQueue) -> [DocumentError.Code?] {
    let told = Told()
    keeper.answer { told.outcomes.append($0?.code) }
    for answer in keeper.takeAnswers() { answer() }
    return told.outcomes
  }

  @Test("entries that arrive while a keyframe repairs a document are appended after it") func mending() {
    var keeper = PersistenceQueue()
    keeper.open()
    keeper.record(entry)
    keeper.didFail(full, keeper.take(), now: 9)
    #expect(keeper.behindSince == 0)
    keeper.record(entry)
    let work = keeper.take()
    #expect(work.entries.isEmpty)
    // The keyframe of the board was made before this entry.
    keeper.record(entry)
    keeper.didStore(upTo: work.mark)
    #expect(keeper.behindSince == nil)
    #expect(tell(&keeper).isEmpty)
    let later = keeper.take()
    #expect(later.entries == [entry])
    keeper.didStore(upTo: later.mark)
    #expect(tell(&keeper) == [nil])
  }

  @Test("entries in a pause are not recorded; the keyframe at its end contains them") func paused() {
    var keeper = PersistenceQueue()
    keeper.open()
    keeper.record(entry)
    keeper.didStore(upTo: keeper.take().mark)
    keeper.pause(now: 7)
    // The writer of the earlier entries checks once more for new entries.
    #expect(keeper.take().entries.isEmpty)
    keeper.record(entry)
    #expect(keeper.take().entries.isEmpty)
    #expect(keeper.loss == nil)
    keeper.resume()
    #expect(keeper.isBehind && keeper.behindSince == 7)
    let work = keeper.take()
    keeper.record(entry)
    keeper.didStore(upTo: work.mark)
    #expect(keeper.take().entries == [entry])
  }

  @Test("an answer that comes after the document was closed fails") func closed() {
    var keeper = PersistenceQueue()
    keeper.open()
    keeper.record(entry)
    keeper.didStore(upTo: keeper.take().mark)
    keeper.close()
    #expect(keeper.isIdle)
    keeper.record(entry)
    #expect(!keeper.isIdle)
    #expect(tell(&keeper) == [.closed])
  }

  @Test("a photo that cannot be stored is retried, and fails only the answer that reports it") func photos() {
    var keeper = PersistenceQueue()
    keeper.open()
    let photo = PersistenceQueue.Photo(sha256: [1], path: "sun.png")
    keeper.record(photo, isAwaited: true)
    keeper.record(photo)
    keeper.record(entry)
    let work = keeper.take()
    #expect(keeper.takePhotos() == [photo] && work.entries == [entry])
    let isNew = keeper.didMiss(photo, full)
    #expect(isNew)
    keeper.didStore(upTo: work.mark)
    #expect(!keeper.isBehind && keeper.loss == full)
    #expect(tell(&keeper) == [.full])
    keeper.record(entry)
    keeper.didStore(upTo: keeper.take().mark)
    #expect(tell(&keeper) == [nil])
    keeper.retryPhotos()
    #expect(keeper.takePhotos() == [photo])
    let isStillNew = keeper.didMiss(photo, full)
    #expect(!isStillNew)
    keeper.didStore(photo)
    #expect(!keeper.hasPendingPhotos && keeper.take().entries.isEmpty && keeper.loss == nil)
    #expect(tell(&keeper) == [nil])
  }

  @Test("while a photo is being stored, entries are stored and answered; the answer that reports it waits")
  func photoInBackground() {
    var keeper = PersistenceQueue()
    keeper.open()
    let (received, own) = (
      PersistenceQueue.Photo(sha256: [1], path: "sun.png"), PersistenceQueue.Photo(sha256: [2], path: "moon.png")
    )
    keeper.record(received)
    #expect(keeper.takePhotos() == [received])
    keeper.record(entry)
    keeper.didStore(upTo: keeper.take().mark)
    #expect(tell(&keeper) == [nil] && keeper.state == .saving)
    keeper.record(own, isAwaited: true)
    keeper.record(entry)
    keeper.didStore(upTo: keeper.take().mark)
    #expect(tell(&keeper).isEmpty)
    #expect(keeper.takePhotos() == [own])
    keeper.didStore(received)
    #expect(keeper.takeAnswers().isEmpty)
    keeper.didStore(own)
    #expect(keeper.takeAnswers().count == 1 && keeper.state == .saved)
  }

  @Test("a photo that arrives again while it is being stored is stored again") func photoComesAgain() {
    var keeper = PersistenceQueue()
    keeper.open()
    let photo = PersistenceQueue.Photo(sha256: [1], path: "sun.png")
    keeper.record(photo)
    #expect(keeper.takePhotos() == [photo])
    keeper.record(photo)
    keeper.didStore(photo)
    #expect(keeper.takePhotos() == [photo])
  }

  @Test("a producer that is faster than the disk must wait") func room() {
    var keeper = PersistenceQueue()
    keeper.open()
    let large = DocumentEntry.answer(bytes: [UInt8](repeating: 0, count: 9 << 20), time: 0)
    keeper.record(large)
    #expect(keeper.hasRoom)
    keeper.record(large)
    #expect(!keeper.hasRoom)
    keeper.didFail(full, keeper.take(), now: 0)
    keeper.record(large)
    #expect(keeper.hasRoom)
  }

  @Test("the state is saved only if nothing is pending, nothing failed and no photo is missing") func state() {
    var keeper = PersistenceQueue()
    #expect(keeper.state == .off)
    keeper.open()
    #expect(keeper.state == .saved)
    keeper.record(entry)
    #expect(keeper.state == .saving)
    let work = keeper.take()
    #expect(keeper.state == .saving)
    keeper.didFail(full, work, now: 0)
    #expect(keeper.state == .notSaved(SaveProblem(full)))
    // Entries that are recorded and taken in the meantime are not saved either.
    keeper.record(entry)
    let whole = keeper.take()
    #expect(keeper.state == .notSaved(SaveProblem(full)))
    keeper.didCopy(upTo: whole.mark, to: "copy")
    #expect(keeper.state == .notSaved(SaveProblem(full, copy: "copy")))
    keeper.record(.head(bytes: [1], incarnation: 1, sequence: 1))
    #expect(keeper.state == .notSaved(SaveProblem(full, copy: "copy")), "a signature does not count as work")
    keeper.record(entry)
    #expect(keeper.state == .notSaved(SaveProblem(full)), "the copy lacks the entry")
    let photo = PersistenceQueue.Photo(sha256: [1], path: "sun.png")
    _ = keeper.didMiss(photo, full)
    keeper.didStore(upTo: keeper.take().mark)
    #expect(keeper.state == .notSaved(SaveProblem(full)), "a photo is missing")
    keeper.didStore(photo)
    #expect(keeper.state == .saved)
    // There are no new entries, and the file was removed.
    keeper.didFail(DocumentError(.removed, "gone"), keeper.take(), now: 0)
    #expect(keeper.state.problem?.cause == .removed && keeper.state.wouldLoseWork)
    keeper.close()
    #expect(keeper.state.problem?.cause == .removed)
  }

  @Test("an answer that does not depend on the disk keeps its order and does not fail") func answersAboutNothing() {
    var keeper = PersistenceQueue()
    keeper.open()
    keeper.record(entry)
    let told = Told()
    keeper.answer { told.outcomes.append($0?.code) }
    keeper.answer(isAboutChanges: false) { told.outcomes.append($0?.code) }
    #expect(keeper.takeAnswers().isEmpty, "an earlier answer waits")
    keeper.didFail(full, keeper.take(), now: 0)
    for answer in keeper.takeAnswers() { answer() }
    #expect(told.outcomes == [.full, nil])
  }

  @Test("a photo whose file is missing fails the answer that reports it, and is not tried again") func photoGone() {
    var keeper = PersistenceQueue()
    keeper.open()
    let photo = PersistenceQueue.Photo(sha256: [1], path: "sun.png")
    keeper.record(photo, isAwaited: true)
    let work = keeper.take()
    #expect(keeper.takePhotos() == [photo])
    keeper.didLose(photo, DocumentError(.notFound, "gone"))
    keeper.didStore(upTo: work.mark)
    #expect(tell(&keeper) == [.notFound])
    keeper.retryPhotos()
    #expect(keeper.takePhotos().isEmpty && keeper.take().entries.isEmpty && keeper.state == .saved)
  }

  @Test("without a document, nothing is pending") func none() {
    var keeper = PersistenceQueue()
    keeper.record(entry)
    #expect(keeper.isIdle)
  }
}
