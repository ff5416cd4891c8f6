import CommandLines
import PeerCore
import Testing
import Whiteboard

@testable import WhiteboardKit

/// Sinks that read only some of the contents of events.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EventContentsTests: BoardSuite {
  @Test("a sink that reads only the chat gets no events about objects, but all changes of objects") func chatOnly()
    async throws
  {
    try await withRoom { room in
      let configuration = await room.configuration(.host(boardName: "board"), "ada")
      let reader = ChatReader()
      let board = SharedBoard(configuration, input: reader.feed, sink: reader)
      let running = Task { try await board.run() }
      for line in [
        "text 0,0 note as=note request=1", "select note", "move note 5,5", "delete note", "say hello request=2",
      ] {
        reader.feed.push(line)
      }
      var isReturned = false
      var hasChat = false
      reading: for await event in reader.events {
        switch event {
        case .change(.chat, _): hasChat = true
        case .change(.added, _), .change(.changed, _), .change(.removed, _), .change(.selected, _):
          Issue.record("\(event)")
        case .answer(.done(_, let done), .word("1")?):
          isReturned = reader.returned.withLock { done.id != nil && $0.contains(done.id) }
        case .answer(.done, .word("2")?): break reading
        default: break
        }
      }
      #expect(hasChat)
      #expect(isReturned, "the id of a new object comes before the answer")
      #expect(reader.shown.withLock { $0.count } == 1 && reader.removed.withLock { $0.count } == 1)
      await board.requestEnd()
      try await running.value
    }
  }

  /// A sink that reads the chat, and collects the changes of the board.
  private final class ChatReader: EventSink {
    let feed = CommandFeed()
    let events: AsyncStream<SharedBoard.Output>
    let shown = Locked<Set<ObjectID>>([])
    let removed = Locked<Set<ObjectID>>([])
    /// The objects of the commands with request ids.
    let returned = Locked<[ObjectID?]>([])
    private let source: AsyncStream<SharedBoard.Output>.Continuation

    init() { (events, source) = AsyncStream.makeStream() }

    var contents: EventContents { [.chat, .stored] }

    func write(_ events: [SharedBoard.Output]) async throws(OutputError) { for event in events { source.yield(event) } }

    func commandReturned(_ outcome: CommandOutcome, to request: RequestMark) {
      returned.withLock { $0.append(outcome.id) }
    }

    func boardChanged(_ change: SharedBoard.Change) {
      switch change {
      case .added(let snapshot, _), .changed(let snapshot, _): shown.withLock { _ = $0.insert(snapshot.id) }
      case .removed(let id, _): removed.withLock { _ = $0.insert(id) }
      default: break
      }
    }
  }
}
