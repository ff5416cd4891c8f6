import CommandLines
import PeerCore
import Testing
import WhiteboardDocument

@testable import Whiteboard
@testable import WhiteboardKit

/// Hidden authors, whose objects and messages are not shown, now and after a restart.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HidingTests: BoardSuite {
  @Test("a hidden author's objects and messages do not show until the author is unhidden") func hiding() async throws {
    try await withRoom { room in
      let settings = room.path("settings.json")
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      hosting.personalSettings = PersonalSettings(path: settings)
      let configuration = hosting
      let screen = Display()
      let guest = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let sharedBoard = SharedBoard(configuration, input: screen.feed, sink: screen)
        group.addTask { try await sharedBoard.run() }
        let ready = try #require(await screen.ready())
        let joining = try await room.joining(ready)
        group.addTask { try await guest.run(joining) }
        try await guest.perform("wait peers=1 timeout=30")
        let own = try #require(await screen.perform("text 0,0 mine").id)
        let first = try #require(try await guest.perform("text 0,0 first").id?.description)
        try await guest.perform("wait synced timeout=30")
        #expect(screen.objects == [own, first])
        #expect(await screen.perform("hide ben").objects == 1)
        #expect(screen.objects == [own])
        let second = try #require(try await guest.perform("text 0,9 second").id?.description)
        try await guest.perform("move \(first) 5,5")
        try await guest.perform("say spam")
        try await guest.perform("wait synced timeout=30")
        #expect(screen.objects == [own])
        #expect(screen.chat == [])
        // Other members hide nothing, and lists show everything.
        let listed = await screen.perform("objects")
        #expect(listed.verb == "objects" && screen.listed == 3)
        #expect(await screen.perform("hide ben").objects == 2)
        let author = try #require(try await PersonalSettings(path: settings).value("hidden"))
        // The author need not be connected.
        await guest.end()
        #expect(await screen.perform("unhide ben").objects == 2)
        #expect(screen.objects == [own, first, second])
        #expect(screen.history == ["spam"])
        #expect(try await PersonalSettings(path: settings).hiddenAuthors.isEmpty)
        // Another program of the same user hides and shows the author.
        let stored = PersonalSettings(path: settings)
        try await stored.set("hidden", to: author)
        #expect(await screen.setting()?.new == author)
        #expect(screen.objects == [own])
        try await stored.set("hidden", to: nil)
        #expect(await screen.setting()?.old == author)
        #expect(screen.objects == [own, first, second])
        #expect(await screen.perform("hide ada").verb == "error: bad-argument")
        #expect(await screen.perform("hide nobody").verb == "error: no-such-peer")
        await screen.perform("hide ben")
        await sharedBoard.requestEnd()
        try await group.waitForAll()
        // The next run still hides the author.
        let again = Display()
        let next = SharedBoard(configuration, input: again.feed, sink: again)
        group.addTask { try await next.run() }
        _ = await again.ready()
        #expect(again.objects == [own])
        await next.requestEnd()
        try await group.waitForAll()
      }
    }
  }

  /// A user who sees the visible objects of the board and writes lines.
  private final class Display: EventSink {
    struct Answer: Sendable {
      var verb: String
      var id: String?
      var objects: Int?
    }

    private struct State {
      var objects: Set<String> = []
      var chat: [String] = []
      var history: [String] = []
      var listed = 0
      var asked = 0
    }

    let feed = CommandFeed()
    private let state = Locked(State())
    private let told: AsyncStream<SharedBoard.Output>
    private let telling: AsyncStream<SharedBoard.Output>.Continuation

    init() { (told, telling) = AsyncStream.makeStream() }

    var objects: Set<String> { state.withLock { $0.objects } }
    var chat: [String] { state.withLock { $0.chat } }
    var history: [String] { state.withLock { $0.history } }
    var listed: Int { state.withLock { $0.listed } }

    func boardChanged(_ change: SharedBoard.Change) {
      state.withLock { state in
        switch change {
        case .added(let snapshot, _), .changed(let snapshot, _): state.objects.insert(snapshot.id.description)
        case .removed(let id, _): state.objects.remove(id.description)
        default: break
        }
      }
    }

    func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
      for event in events {
        state.withLock { state in
          if case .change(.chat(let line, _), _) = event { state.chat.append(line.text) }
          if case .answer(.chat(let lines), _) = event { state.history = lines.map(\.text) }
          if case .answer(.objects(let list), _) = event { state.listed = list.count }
        }
        telling.yield(event)
      }
    }

    func ready() async -> SharedBoard.News.Ready? {
      for await case .news(.ready(let ready)) in told { return ready }
      return nil
    }

    func setting() async -> SharedBoard.PersonalSettingChange? {
      for await case .change(.personalSetting(let change), _) in told { return change }
      return nil
    }

    @discardableResult func perform(_ line: String) async -> Answer {
      let mark = state.withLock { state in
        state.asked += 1
        return "mark-\(state.asked)"
      }
      feed.push("\(line) request=\(mark)")
      for await event in told {
        switch event {
        case .answer(.done(let verb, let done), .word(mark)?):
          return Answer(verb: verb.rawValue, id: done.id?.description, objects: done.count)
        case .answer(.error(let error), .word(mark)?): return Answer(verb: "error: \(error.code.rawValue)")
        default: break
        }
      }
      return Answer(verb: "ended")
    }
  }
}
