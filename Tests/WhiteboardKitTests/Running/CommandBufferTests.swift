import Testing

@testable import WhiteboardKit

/// The buffer between the input and the runner of commands.
@Suite @MainActor struct CommandBufferTests {
  private let digest = CommandInput.request(CommandRequest(.digest))

  @Test("the runner waits for a command, and gets nil after the last one") func waiting() async {
    let buffer = CommandBuffer(hasInput: true)
    let next = Task { await buffer.nextCommand() }
    await Task.yield()
    buffer.append(digest)
    #expect(await next.value == digest)
    let end = Task { await buffer.nextCommand() }
    await Task.yield()
    buffer.endInput()
    #expect(await end.value == nil)
    #expect(await CommandBuffer(hasInput: false).nextCommand() == nil)
  }

  @Test("the reader waits while the buffer is full") func room() async {
    let buffer = CommandBuffer(hasInput: true)
    for _ in 0..<CommandQueue.capacity {
      await buffer.room()
      buffer.append(digest)
    }
    #expect(buffer.isAtEndOrFull)
    var hasRoom = false
    let reader = Task {
      await buffer.room()
      hasRoom = true
    }
    await Task.yield()
    #expect(!hasRoom)
    _ = await buffer.nextCommand()
    await reader.value
    #expect(hasRoom && !buffer.isAtEndOrFull)
  }

  @Test("closing ends the waits of both sides") func closing() async {
    let buffer = CommandBuffer(hasInput: true)
    let next = Task { await buffer.nextCommand() }
    await Task.yield()
    buffer.close()
    #expect(await next.value == nil)
    for _ in 0...CommandQueue.capacity {
      buffer.append(digest)
      await buffer.room()
    }
    #expect(await buffer.nextCommand() == nil)
  }

  @Test("a question can be answered while input may follow, or by a command in the buffer") func answers() {
    let buffer = CommandBuffer(hasInput: true)
    #expect(buffer.canHoldAnswer)
    buffer.endInput()
    #expect(!buffer.canHoldAnswer)
    buffer.append(.request(CommandRequest(.accept(target: "1"))))
    #expect(buffer.canHoldAnswer)
    #expect(buffer.popFirst { $0.answersInvitation } != nil)
    #expect(!buffer.canHoldAnswer)
  }
}
