import Testing

@testable import WhiteboardKit

@Suite struct CommandQueueTests {
  @Test("commands leave the queue in order; only the first one can be removed by a condition") func order() {
    var queue = CommandQueue()
    let wait = CommandRequest(.wait(.synced, timeout: nil))
    let accept = CommandRequest(.accept(target: "1"))
    queue.append(.request(wait))
    queue.append(.request(accept))
    let isAccept: (Command) -> Bool = { $0.name == .accept }
    #expect(queue.popFirst(where: isAccept) == nil)
    #expect(queue.popFirst() == .request(wait))
    #expect(queue.popFirst(where: isAccept) == accept)
    #expect(queue.popFirst() == nil)
    #expect(queue.popFirst() == nil)
  }

  @Test("`popAny` removes a matching command at any position, and the rest keep their order") func anywhere() {
    var queue = CommandQueue()
    for verb in [Command.digest, .accept(target: "to-1"), .quit, .objects] {
      queue.append(.request(CommandRequest(verb)))
    }
    #expect(queue.contains { $0.answersInvitation })
    #expect(queue.popAny { verb, _ in verb.answersInvitation }?.command == .accept(target: "to-1"))
    #expect(!queue.contains { $0.answersInvitation })
    #expect(queue.popAny { verb, isFirst in verb == .quit && isFirst } == nil)
    #expect(queue.popAny { verb, _ in verb == .objects }?.command == .objects)
    #expect(queue.popFirst() == .request(CommandRequest(.digest)))
    #expect(queue.popAny { verb, isFirst in verb == .quit && isFirst }?.command == .quit)
    #expect(queue.popFirst() == nil)
    queue.append(.request(CommandRequest(.peers)))
    #expect(queue.popFirst() == .request(CommandRequest(.peers)))
  }

  @Test("a queue is full at its capacity, and has room again after a command was removed") func capacity() {
    var queue = CommandQueue()
    for _ in 0..<CommandQueue.capacity {
      #expect(!queue.isFull)
      queue.append(.request(CommandRequest(.digest)))
    }
    #expect(queue.isFull)
    _ = queue.popFirst()
    #expect(!queue.isFull)
  }
}
