import NIOCore
import NIOEmbedded
import Testing

@testable import PeerSession

@Suite("AcknowledgementBatch") struct AcknowledgementBatchTests {
  private var batch = AcknowledgementBatch()
  private let loop = EmbeddedEventLoop()
  private let sent = Counter()
  private let quarter = TimeAmount.nanoseconds(AcknowledgementBatch.delay.nanoseconds / 4)

  private final class Counter { var value = 0 }

  private mutating func receive(_ byteCount: Int = 10, atOnce: Bool = false) -> Bool {
    batch.received(byteCount, atOnce: atOnce)
    return batch.readCompleted(on: loop) { [sent] in sent.value += 1 }
  }

  @Test("[MSG-4] the first of a few parts is acknowledged within 75 ms") mutating func timer() {
    #expect(AcknowledgementBatch.delay <= .milliseconds(75))
    for _ in 1...3 {
      let isDue = receive()
      #expect(!isDue && batch.isOwed)
      loop.advanceTime(by: quarter)
      #expect(sent.value == 0)
    }
    loop.advanceTime(by: quarter)
    #expect(sent.value == 1)
  }

  @Test("[MSG-4] 256 parts, 256 KiB or a part that asks for it are acknowledged at once") mutating func atOnce() {
    for number in 1...AcknowledgementBatch.maximumParts {
      let isDue = receive()
      #expect(isDue == (number == AcknowledgementBatch.maximumParts))
    }
    batch.sent()
    #expect(!batch.isOwed)
    let isLargeDue = receive(AcknowledgementBatch.maximumBytes)
    #expect(isLargeDue)
    batch.sent()
    let isWantedDue = receive(1, atOnce: true)
    #expect(isWantedDue)
  }

  /// Otherwise, a part that arrives just after an ACK would soon cause another packet.
  @Test("after an ACK that was sent earlier, the delay begins again with the next part") mutating func sentEarlier() {
    _ = receive()
    loop.advanceTime(by: quarter * 3)
    batch.sent()
    _ = receive()
    loop.advanceTime(by: quarter * 3)
    #expect(sent.value == 0)
    loop.advanceTime(by: quarter)
    #expect(sent.value == 1)
  }
}
