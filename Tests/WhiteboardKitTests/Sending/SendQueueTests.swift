import PeerSession
import Testing

@testable import WhiteboardKit

/// The pending messages for recipients on one route.
@Suite struct SendQueueTests {
  private let anna = Self.peer(1)
  private let ben = Self.peer(2)
  private var queue = SendQueue(number: 1)

  private static func peer(_ number: UInt8) -> PeerID {
    guard let peer = PeerID(bytes: [UInt8](repeating: number, count: 32)) else {
      preconditionFailure("32 bytes are an id")
    }
    return peer
  }

  /// Returns the next pending message, or nil if there will be none.
  private mutating func next() async -> SendQueue.Message? { await withCheckedContinuation { queue.dequeue($0) } }

  @Test mutating func `a message to several peers is queued once, and sent to all of them`() async {
    queue.enter(anna, joining: 7)
    queue.enter(ben, joining: 8)
    queue.append([1, 2, 3], to: [anna, ben])
    #expect(queue.byteCount == 3 && !queue.isEmpty)
    #expect(await next()?.joinings == [anna: 7, ben: 8])
    queue.sent(3)
    #expect(queue.isEmpty)
  }

  @Test mutating func `a peer that joins later, or again, receives only later messages`() async {
    queue.enter(anna, joining: 7)
    queue.append([1], to: [anna, ben])
    queue.enter(ben, joining: 8)
    queue.append([2], to: [anna, ben])
    queue.leave(anna)
    queue.enter(anna, joining: 9)
    queue.append([3], to: [anna, ben])
    // The first message was only for Anna's earlier process.
    let second = await next()
    #expect(second?.bytes == [2] && second?.joinings == [ben: 8])
    #expect(await next()?.joinings == [anna: 9, ben: 8])
    queue.sent(1)
    queue.sent(1)
    #expect(queue.isEmpty)
  }

  @Test mutating func `no message is queued for peers that left, or after the queue is closed`() async {
    queue.enter(anna, joining: 7)
    queue.append([1], to: [anna])
    #expect(queue.isLast(anna))
    queue.enter(ben, joining: 8)
    #expect(!queue.isLast(anna))
    queue.leave(anna)
    queue.append([2], to: [anna])
    #expect(queue.byteCount == 1)
    queue.close()
    #expect(queue.isEmpty)
    #expect(await next() == nil)
  }

  @Test mutating func `the load and the deadline follow the number of queued bytes`() async {
    queue.enter(anna, joining: 7)
    #expect(queue.load == .light && queue.nextDeadline(after: .now) == nil)
    queue.append([UInt8](repeating: 0, count: SendQueue.patience), to: [anna])
    #expect(queue.load == .heavy && queue.nextDeadline(after: .now) != nil)
    let far = ContinuousClock.now + .seconds(3600)
    #expect(queue.nextDeadline(after: far) == nil, "a peer without progress is reported once")
    queue.sent(SendQueue.patience)
    #expect(queue.load == .light)
  }
}
