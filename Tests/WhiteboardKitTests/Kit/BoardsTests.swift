import PeerDiscovery
import PeerSession
import Testing
import Whiteboard
import WhiteboardDocument

@testable import WhiteboardKit

/// Boards of the public interface, over real sessions on loopback.
@Suite("Boards of a program", .serialized, .timeLimit(.minutes(5))) struct BoardsTests: BoardSuite {
  private func options() -> Boards.Options {
    var options = Boards.Options()
    options.discovery = nil
    options.listen = PeerAddress(host: "127.0.0.1", port: 0)
    return options
  }

  private func withPair(
    options: Boards.Options? = nil,
    _ body: @Sendable (_ ada: SharedBoard, _ ben: SharedBoard) async throws -> Void
  ) async throws {
    let options = options ?? self.options()
    try await withRoom { room in
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: options) {
        hosting in
        let ada = try await hosting.host("standup", admitting: .code(.random()))
        let link = try #require(await ada.link)
        try await Boards.with(identity: .ephemeral(), name: "Ben", directory: room.path("ben"), options: options) {
          joining in
          let ben = try await joining.join(link)
          try await ben.caughtUp()
          try await body(ada, ben)
        }
      }
    }
  }

  @Test("edits of both members reach the other, in one order for each reader") func sharing() async throws {
    try await withPair { ada, ben in
      let changes = ben.changes
      let note = try await ada.add(.text("hello", at: Point(x: 10, y: 20)))
      try await ada.edit { board in
        let object = try #require(board.object(note))
        try object.select()
        try object.move(to: Point(x: 40, y: -30))
        try object.deselect()
        #expect(object.centerPosition == Point(x: 40, y: -30), "an edit reads its own writes")
      }
      var seen: [String] = []
      for await change in changes {
        switch change {
        case .added(let object, by: .other(let author)): seen.append("\(author.name) added \(object.kind)")
        case .changed(let object, by: .other):
          seen.append("changed")
          if object.centerPosition == Point(x: 40, y: -30) { break }
          continue
        default: continue
        }
        if seen.contains("changed") { break }
      }
      #expect(seen.first == "Ada added text" && seen.last == "changed")
      try await ben.say("fine")
      try await ben.synced(within: .seconds(20))
      #expect(await ada.chat.map(\.text) == ["fine"])
      #expect(await ada.digest == ben.digest)
      #expect(await ada.connectedMembers.map(\.name.displayed) == ["Ben"])
      // One undo step has all edits of one call.
      try await ada.undo()
      #expect(await ada.object(note)?.centerPosition == Point(x: 10, y: 20))
    }
  }

  @Test("an edit that throws changes nothing") func failingEdit() async throws {
    struct Stop: Error {}
    try await withPair { ada, _ in
      let note = try await ada.add(.text("hello", at: Point(x: 0, y: 0)))
      let digest = await ada.digest
      await #expect(throws: Stop.self) {
        try await ada.edit { board in
          try board.object(note)?.move(to: Point(x: 5, y: 5))
          throw Stop()
        }
      }
      #expect(await ada.digest == digest)
      await #expect(throws: CommandError.self) { try await ada.add(.text("far", at: Point(x: 1e9, y: 0))) }
      do {
        try await ada.undo()
        try await ada.undo()
        Issue.record("a second step was undone")
      } catch let error as CommandError { #expect(error.code == .nothingToUndo) }
    }
  }

  @Test("messages arrive with their sender and mode") func messages() async throws {
    try await withPair { ada, ben in
      let changes = ben.changes
      try await ada.send([1, 2, 3])
      for await change in changes {
        guard case .message(let bytes, from: let sender, mode: .reliable) = change else { continue }
        #expect(bytes == [1, 2, 3] && sender.name.displayed == "Ada")
        break
      }
      let member = try #require(await ada.connectedMembers.first)
      try await ada.send(Array("to Ben".utf8), to: [member])
      for await change in changes {
        guard case .message(let bytes, _, _) = change else { continue }
        #expect(bytes == Array("to Ben".utf8))
        break
      }
    }
  }

  @Test("a setting that another program stored is used, and reported with the old and the new value")
  func personalSettings() async throws {
    try await withRoom { room in
      let stored = PersonalSettings(path: room.path("settings.json"))
      var options = options()
      options.settings = PersonalSettings(path: room.path("settings.json"))
      let (hosting, joining) = (options, self.options())
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: hosting) {
        boards in
        let ada = try await boards.host("standup", admitting: .code(.random()))
        let link = try #require(await ada.link)
        try await Boards.with(identity: .ephemeral(), name: "Ben", directory: room.path("ben"), options: joining) {
          boards in
          let ben = try await boards.join(link)
          try await ben.caughtUp()
          let (changes, seen) = (ada.changes, ben.changes)
          func next() async -> SharedBoard.PersonalSettingChange? {
            for await case .personalSetting(let change) in changes { return change }
            return nil
          }
          try await stored.set("name", to: "Zoe")
          #expect(await next() == .init(key: "name", old: nil, new: "Zoe", isApplied: true))
          // Settings of other programs are not reported.
          try await stored.set(["name": "Ann", "icon": "👻", "accent": "red", "theme": "dark"])
          #expect(await next() == .init(key: "icon", old: nil, new: "👻", isApplied: true))
          #expect(await next() == .init(key: "name", old: "Zoe", new: "Ann", isApplied: true))
          try await ada.say("hello")
          for await case .chat(let line, by: .other) in seen {
            #expect(line.name == "Ann" && line.icon == "👻")
            break
          }
          // The board does not report its own changes.
          try await ada.perform(.profile(name: "Own", icon: nil))
          try await stored.set("name", to: String(repeating: "x", count: 65))
          let long = try #require(await next())
          #expect(!long.isApplied && long.new?.count == 65, "the name is too long")
          try await ada.say("bye")
          for await case .chat(let line, by: .other) in seen {
            #expect(line.name == "Own")
            break
          }
        }
      }
    }
  }

  @Test("added objects are on disk when the call returns, and a hosted board is opened again") func durability()
    async throws
  {
    try await withRoom { room in
      let identity = PeerIdentity.ephemeral()
      func run(_ body: @Sendable (SharedBoard) async throws -> Void) async throws {
        try await Boards.with(identity: identity, name: "Ada", directory: room.path("ada"), options: options()) {
          boards in try await body(try await boards.host("standup", admitting: .anyone))
        }
      }
      try await run { board in try await board.add(.stroke([Point(x: 0, y: 0), Point(x: 9, y: 9)])) }
      try await run { board in #expect(await board.objects.map(\.kind) == [.drawing]) }
    }
  }

  @Test("one program can have several boards open on one port") func severalBoards() async throws {
    try await withRoom { room in
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: options()) {
        hosting in
        let one = try await hosting.host("one", admitting: .code(.random()))
        let two = try await hosting.host("two", admitting: .code(.random()))
        let links = [try #require(await one.link), try #require(await two.link)]
        #expect(links[0].address == links[1].address)
        try await Boards.with(identity: .ephemeral(), name: "Ben", directory: room.path("ben"), options: options()) {
          joining in
          for (board, link) in zip([one, two], links) {
            let joined = try await joining.join(link)
            try await joined.caughtUp()
            try await joined.add(.text("here", at: Point(x: 0, y: 0)))
            try await joined.synced(within: .seconds(20))
            #expect(await joined.digest == board.digest)
          }
        }
      }
    }
  }

  @Test("a wrong code, and a board without a host, fail with the reason") func refusals() async throws {
    try await withPair { ada, ben in
      _ = ben
      var link = try #require(await ada.link)
      link.code = ["river", "river", "river", "river"]
      let wrong = link
      try await withRoom { room in
        try await Boards.with(identity: .ephemeral(), name: "Eve", directory: room.path("eve"), options: options()) {
          boards in
          do {
            _ = try await boards.join(wrong, within: .seconds(5))
            Issue.record("a wrong code was accepted")
          } catch let error as WhiteboardError { #expect(error.code == .notAllowed, "\(error)") }
        }
      }
    }
  }

  @Test("the changes end when the board is left, and commands then fail") func leaving() async throws {
    try await withPair { ada, ben in
      let changes = ben.changes
      await ben.leave()
      for await _ in changes {}
      await #expect(throws: CommandError.self) { try await ben.add(.text("late", at: Point(x: 0, y: 0))) }
      _ = ada
    }
  }

  @Test("a board that could not be joined does not end the program") func handledRefusal() async throws {
    try await withPair { ada, _ in
      var link = try #require(await ada.link)
      link.code = ["river", "river", "river", "river"]
      let wrong = link
      try await withRoom { room in
        let digest = try await Boards.with(
          identity: .ephemeral(),
          name: "Eve",
          directory: room.path("eve"),
          options: options()
        ) { boards in
          await #expect(throws: WhiteboardError.self) { try await boards.join(wrong) }
          return await (try boards.host("own", admitting: .anyone)).digest
        }
        #expect(!digest.isEmpty)
      }
    }
  }

  @Test("a board that was left is freed, and can be hosted again at once") func again() async throws {
    try await withRoom { room in
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: options()) {
        boards in
        for round in 0..<3 {
          weak var left: SharedBoard?
          do {
            let board = try await boards.host("standup", admitting: .anyone)
            #expect(await board.objects.count == round)
            try await board.add(.text("round", at: Point(x: 0, y: 0)))
            await board.leave()
            left = board
          }
          // The list of boards removes the board a moment later.
          while left != nil { await Task.yield() }
        }
      }
    }
  }

  @Test("a canceled task does not wait for the result of a command") func cancellation() async throws {
    try await withRoom { room in
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: options()) {
        boards in
        let board = try await boards.host("alone", admitting: .anyone)
        let waiting = Task { try await board.synced() }
        waiting.cancel()
        await #expect(throws: CommandError.self) { try await waiting.value }
        try await board.add(.text("still open", at: Point(x: 0, y: 0)))
      }
    }
  }

  @Test("a host that is asked admits one peer and refuses another") func asking() async throws {
    try await withRoom { room in
      try await Boards.with(identity: .ephemeral(), name: "Ada", directory: room.path("ada"), options: options()) {
        hosting in
        let ada = try await hosting.host(
          "asked",
          admitting: .asking { invitation in invitation.name.raw == "Ben" ? .accept : .decline(reason: "not today") }
        )
        let link = try #require(await ada.link)
        for name in ["Ben", "Cy"] {
          try await Boards.with(identity: .ephemeral(), name: name, directory: room.path(name), options: options()) {
            joining in
            do {
              try await joining.join(link).caughtUp()
              #expect(name == "Ben")
            } catch let error as WhiteboardError {
              #expect(name == "Cy" && error.code == .notAllowed)
              #expect(error.message.contains("not today"), "\(error.message)")
            }
          }
        }
      }
    }
  }

  @Test("a byte stream of a member is read by the program") func streams() async throws {
    let (received, receiving) = AsyncStream<[UInt8]>.makeStream()
    var options = options()
    options.readStream = { stream, board in
      var all: [UInt8] = Array(await board.connectedMembers[0].name.raw.utf8)
      do {
        for try await bytes in stream.inbound { all += bytes }
        try await stream.finish()
      } catch { Issue.record("\(error)") }
      receiving.yield(all)
    }
    try await withPair(options: options) { ada, ben in
      let session = try #require(await ben.session)
      let member = try #require(await ben.connectedMembers.first)
      let stream = try await session.openStream(named: "numbers", to: member.id)
      try await stream.write([1, 2, 3])
      try await stream.finish()
      var first = received.makeAsyncIterator()
      #expect(await first.next() == Array("Ben".utf8) + [1, 2, 3])
      _ = ada
    }
  }

  @Test("a message that is too long fails, and later ones arrive") func tooLongMessage() async throws {
    try await withPair { ada, ben in
      let changes = ben.changes
      do throws(CommandError) {
        try await ada.send([UInt8](repeating: 0, count: 16 << 20))
        Issue.record("a message of 16 MiB was accepted")
      } catch { #expect(error.code == .tooBig) }
      try await ada.send([7])
      for await change in changes {
        guard case .message(let bytes, _, _) = change else { continue }
        #expect(bytes == [7])
        break
      }
    }
  }
}
