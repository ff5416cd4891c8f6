import Dispatch
import Testing

@testable import WhiteboardTerminal

@Suite(.timeLimit(.minutes(5))) struct TerminalEventsTests {
  /// Counts the calls that stop and continue reading; confined to the queue of the test.
  // `@unchecked Sendable` is safe because of this confinement.
  private final class Reading: @unchecked Sendable { var changes: [Bool] = [] }

  @Test("no event is dropped: reading stops while many events wait, and continues with its reader") func keepsAll()
    async
  {
    let queue = DispatchQueue(label: "test")
    let reading = Reading()
    let events = TerminalEvents(on: queue) { reading.changes.append($0) }
    let sent = (0..<TerminalEvents.limit + 10).map { Terminal.Event.bytes([UInt8($0 % 256)]) }
    queue.sync { for event in sent { events.add(event) } }
    #expect(queue.sync { reading.changes } == [false])
    var iterator = events.stream.makeAsyncIterator()
    var received: [Terminal.Event] = []
    while received.count < sent.count, let event = await iterator.next() { received.append(event) }
    #expect(received == sent)
    #expect(queue.sync { reading.changes } == [false, true])
  }

  @Test("changes of size are merged; after the terminal was closed, the stream ends") func ends() async {
    let queue = DispatchQueue(label: "test")
    let reading = Reading()
    let events = TerminalEvents(on: queue) { reading.changes.append($0) }
    queue.sync {
      for event in [Terminal.Event.resized, .resized, .bytes([1]), .resized, .hungUp, .bytes([2])] { events.add(event) }
    }
    var received: [Terminal.Event] = []
    for await event in events.stream { received.append(event) }
    #expect(received == [.resized, .bytes([1]), .resized, .hungUp])
    // A closed terminal is not read, because it would report its end repeatedly.
    #expect(queue.sync { reading.changes } == [false])
    events.close()
    #expect(queue.sync { reading.changes } == [false, true])
  }

  @Test("a canceled reader ends") func canceled() async {
    let queue = DispatchQueue(label: "test")
    let events = TerminalEvents(on: queue) { _ in }
    let reader = Task {
      var count = 0
      for await _ in events.stream { count += 1 }
      return count
    }
    queue.sync { events.add(.resized) }
    reader.cancel()
    #expect(await reader.value <= 1)
  }
}
