import NIOCore
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

@Suite("MessageInbox") struct MessageInboxTests {
  private var inbox = MessageInbox()

  private func payload(_ part: MessagePart, _ bytes: [UInt8]) -> ByteBuffer {
    var head: [UInt8] = []
    part.append(to: &head)
    return ByteBuffer(bytes: head + bytes)
  }

  @Test("a message in one part is completed at once") mutating func whole() throws {
    let part = MessagePart(sequence: 1, isFirst: true, isLast: true, wantsAcknowledgement: true)
    let received = try inbox.receive(payload(part, [1, 2, 3]))
    #expect(received.outcome == .completed([1, 2, 3], isRelays: false, isSplit: false))
    #expect(received.byteCount == 3)
    #expect(received.wantsAcknowledgement)
    #expect(inbox.received == 1)
  }

  @Test("the parts of a message are joined, and the first one states whose message it is") mutating func split() throws
  {
    let first = MessagePart(sequence: 1, isFirst: true, isLast: false, isRelays: true, total: 5)
    #expect(try inbox.receive(payload(first, [1, 2])).outcome == .began(total: 5))
    let second = MessagePart(sequence: 2, isFirst: false, isLast: false)
    #expect(try inbox.receive(payload(second, [3])).outcome == .incomplete)
    let last = MessagePart(sequence: 3, isFirst: false, isLast: true)
    #expect(
      try inbox.receive(payload(last, [4, 5])).outcome == .completed([1, 2, 3, 4, 5], isRelays: true, isSplit: true)
    )
  }

  @Test("[MSG-2] a part that comes twice counts as received and completes nothing") mutating func duplicate() throws {
    let part = MessagePart(sequence: 1, isFirst: true, isLast: true)
    _ = try inbox.receive(payload(part, [1]))
    #expect(try inbox.receive(payload(part, [1])).outcome == .incomplete)
    #expect(inbox.received == 1)
  }

  @Test("[MSG-3] a violation names its code and changes nothing") mutating func violations() {
    let skipped = MessagePart(sequence: 2, isFirst: true, isLast: true)
    #expect(throws: LinkViolation.self) { try inbox.receive(payload(skipped, [1])) }
    let large = MessagePart(sequence: 1, isFirst: true, isLast: false, total: Limits.message + 1)
    let error = #expect(throws: LinkViolation.self) { try inbox.receive(payload(large, [1])) }
    #expect(error?.code == .tooLarge)
    #expect(throws: LinkViolation.self) { try inbox.receive(ByteBuffer()) }
    #expect(inbox.received == 0)
  }
}
