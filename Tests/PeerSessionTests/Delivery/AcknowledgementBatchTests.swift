import Testing

@testable import PeerSession

@Suite("AcknowledgementBatch") struct AcknowledgementBatchTests {
  private var batch = AcknowledgementBatch()

  @Test("[MSG-4] a few parts are acknowledged when the timer fires") mutating func timer() {
    #expect(batch.readCompleted() == .nothing)
    batch.received(10, atOnce: false)
    #expect(batch.isOwed)
    #expect(batch.readCompleted() == .startTimer)
    batch.received(10, atOnce: false)
    #expect(batch.readCompleted() == .nothing)
    let isOwed = batch.timerFired()
    #expect(isOwed)
    batch.cleared()
    #expect(batch.readCompleted() == .nothing)
  }

  @Test("[MSG-4] 256 parts, 256 KiB or a part that asks for it are acknowledged at once") func atOnce() {
    var parts = AcknowledgementBatch()
    for _ in 1..<AcknowledgementBatch.maximumParts { parts.received(1, atOnce: false) }
    #expect(parts.readCompleted() == .startTimer)
    parts.received(1, atOnce: false)
    #expect(parts.readCompleted() == .send)
    var bytes = AcknowledgementBatch()
    bytes.received(AcknowledgementBatch.maximumBytes, atOnce: false)
    #expect(bytes.readCompleted() == .send)
    var wanted = AcknowledgementBatch()
    wanted.received(1, atOnce: true)
    #expect(wanted.readCompleted() == .send)
  }

  @Test("a timer that runs when ACK is sent earlier does not send another one") mutating func sentEarlier() {
    batch.received(1, atOnce: false)
    #expect(batch.readCompleted() == .startTimer)
    batch.cleared()
    let isOwed = batch.timerFired()
    #expect(!isOwed)
    batch.received(1, atOnce: false)
    #expect(batch.readCompleted() == .startTimer)
  }
}
