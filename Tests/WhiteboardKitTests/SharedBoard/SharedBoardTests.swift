import CommandLines
import FoundationEssentials
import Logging
import PeerCore
import PeerDiscovery
import PeerSession
import Testing
import Whiteboard
import WhiteboardPrograms

@testable import WhiteboardKit

/// Real boards over real sessions on loopback, found through a network in memory.
///
/// They run one after the other, because each runs whole programs with deadlines in real time.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SharedBoardTests: BoardSuite {
  @Test("a board is freed after its end") func isFreed() async throws {
    try await withRoom { room in
      var configuration = await room.configuration(.host(boardName: "board"), "ada")
      configuration.script = .run(keepsGoing: false)
      weak var ended: SharedBoard?
      do {
        let feed = CommandFeed()
        for line in ["text 0,0 one", "pen 0,0 9,9"] { feed.push(line) }
        feed.finish()
        let sharedBoard = SharedBoard(configuration, input: feed, sink: ScriptedBoard())
        try await sharedBoard.run()
        ended = sharedBoard
      }
      #expect(ended == nil)
    }
  }

  @Test("boards that have closed leave no descriptor open, also while their scripts are still in use")
  func leavesNoDescriptors() async throws {
    var used: (directory: String, boards: [ScriptedBoard])?
    try await withPair { room, host, guest in
      used = (room.directory, [host, guest])
      #expect(!descriptors(below: room.directory).isEmpty)
    }
    let (directory, boards) = try #require(used)
    // The last jobs of a board may release it a moment after it has closed.
    let deadline = ContinuousClock.now + .seconds(10)
    while !descriptors(below: directory).isEmpty, ContinuousClock.now < deadline { await Task.yield() }
    #expect(descriptors(below: directory) == [])
    for board in boards { #expect(await error(board, "digest") == .ending) }
  }

  /// The open files and directories of this process that are below a directory.
  private func descriptors(below directory: String) -> [String] {
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return numbers.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(directory) }.sorted()
  }

  @Test("each member's drawing reaches the other, and both boards have one digest") func sharing() async throws {
    try await withPair { _, host, guest in
      let text = try await host.perform(#"text 10,20 "hello" as=t"#)
      try await guest.perform("stroke 0,0 10,10 20,0 over=0.3 as=line")
      try await guest.perform("wait objects=2 timeout=30")
      let id = try #require(text.id)
      try await guest.perform("move \(id) +5,5")
      try await guest.perform("scale \(id) 2")
      try await host.perform("wait synced timeout=30")
      try await guest.perform("wait synced timeout=30")
      #expect(try await digest(host) == digest(guest))
      let moved = await host.sees { event in
        guard case .change(.changed, let details) = event, let object = details.object else { return false }
        return object.snapshot.id == id && object.snapshot.centerPosition == Point(x: 15, y: 25)
      }
      #expect(moved)
      let drawn = await host.sees { event in
        guard case .change(.changed, let details) = event, let object = details.object else { return false }
        return object.snapshot.isFinished == true && object.points?.count == 3
      }
      #expect(drawn)
      try await host.perform("delete t")
      try await guest.perform("wait synced timeout=30")
      #expect(await error(guest, "move \(id) 0,0") == .noSuchObject)
    }
  }

  @Test("[SYN-13] a late joiner gets the earlier drawing, and no transfer is shown to the user") func lateJoiner()
    async throws
  {
    try await withRoom { room in
      let host = ScriptedBoard()
      let guest = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        try await host.perform(#"text 10,20 "before""#)
        let joining = try await room.joining(ready)
        group.addTask { try await guest.run(joining) }
        try await guest.perform("wait objects=1 timeout=30")
        try await guest.perform("wait synced timeout=30")
        #expect(try await digest(host) == digest(guest))
        for scriptedBoard in [host, guest] {
          for event in await scriptedBoard.events {
            switch event {
            case .news(.resourceStarted), .news(.resourceProgress), .news(.resourceFinished), .news(.warning):
              Issue.record("\(event)")
            default: break
            }
          }
        }
        await guest.end()
        await host.end()
        try await group.waitForAll()
      }
      // Neither side keeps the file of the answer.
      for directory in ["ada/answers", "ben/inbox"] {
        let files = try FileManager.default.contentsOfDirectory(atPath: room.path(directory))
        #expect(files.allSatisfy { $0.hasPrefix(".") }, "\(files)")
      }
    }
  }

  @Test("an object that another user selected is refused until it is deselected or that user leaves") func holding()
    async throws
  {
    try await withPair { _, host, guest in
      let id = try #require(try await host.perform("text 0,0 x").id)
      try await guest.perform("wait objects=1 timeout=30")
      try await guest.perform("select \(id)")
      #expect(await host.sees { if case .change(.selected(_, by: .some), _) = $0 { true } else { false } })
      #expect(await error(host, "move \(id) 1,1") == .held)
      try await guest.perform("deselect")
      #expect(await host.sees { if case .change(.selected(_, by: nil), _) = $0 { true } else { false } })
      try await host.perform("move \(id) 1,1")
    }
  }

  @Test("an answer tells whether the command changed anything") func unchanged() async throws {
    try await withPair { _, host, _ in
      try await host.perform("text 0,0 x")
      for (line, hasChanged) in [
        ("move last 5,5", true), ("move last 5,5", false), ("scale last 2", true), ("scale last 2", false),
        ("edit last x", false), ("edit last y", true),
      ] { #expect(try await host.perform(line).hasChanged == hasChanged, "\(line)") }
    }
  }

  @Test("a board is no longer announced after its host left") func leaving() async throws {
    try await withPair { _, host, guest in
      #expect(await guest.sees { if case .news(.peerFound) = $0 { true } else { false } })
      try await host.perform("leave")
      #expect(await guest.sees { if case .news(.peerLost) = $0 { true } else { false } })
    }
  }

  @Test("a photo file appears on the other board, in the directory of assets") func photos() async throws {
    try await withPair { room, host, guest in
      let file = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: file))
      try await host.perform("photo 5,5 \(file)")
      let event = await guest.sees { event in
        guard case .change(.changed, let details) = event, let object = details.object else { return false }
        return object.changed == ["isAssetAvailable"] && object.path != nil
      }
      #expect(event)
      for case .change(.changed, let details) in await guest.events {
        let object = try #require(details.object)
        let path = try #require(object.path)
        #expect(path.hasPrefix(room.path("ben/assets/")))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(Demo.photo))
        #expect(object.snapshot.asset.map { [$0.width, $0.height] } == [48, 32])
      }
      #expect(await error(host, "photo 0,0 \(room.path("none.png"))") == .fileUnreadable)
      let words = room.path("words.png")
      try Data("no photo".utf8).write(to: URL(fileURLWithPath: words))
      #expect(await error(host, "photo 0,0 \(words)") == .notAPhoto)
    }
  }

  @Test("messages, resources and streams arrive as they were sent") func payloads() async throws {
    try await withPair { room, host, guest in
      try await host.perform(#"send "one""#)
      try await host.perform(#"send --to ben "two""#)
      #expect(
        await guest.sees {
          if case .change(.message(let bytes, _, _), _) = $0 { bytes == Array("two".utf8) } else { false }
        }
      )
      var texts: [[UInt8]] = []
      for case .change(.message(let bytes, _, let mode), _) in await guest.events {
        texts.append(bytes)
        #expect(mode == .reliable)
      }
      #expect(texts == [Array("one".utf8), Array("two".utf8)])

      let file = room.path("file.bin")
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
      try bytes.write(to: URL(fileURLWithPath: file))
      try await host.perform(#"resource \#(file) --name "../../etc/passwd""#)
      var received: SharedBoard.News.ResourceFinished?
      #expect(await guest.sees { if case .news(.resourceFinished) = $0 { true } else { false } })
      for case .news(.resourceFinished(let end)) in await guest.events { received = end }
      let end = try #require(received)
      #expect(end.outcome == .delivered)
      #expect(end.name == "../../etc/passwd")
      #expect(end.path == room.path("ben/inbox/\(end.transfer)"))
      let path = try #require(end.path)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)

      try await guest.perform("stream tail \(file)")
      #expect(await host.sees { if case .news(.streamClosed) = $0 { true } else { false } })
      var streamed = Data()
      for case .news(.streamData(let piece)) in await host.events {
        #expect(piece.offset == UInt64(streamed.count))
        let data = Data(piece.bytes)
        #expect(data.count <= SharedBoard.News.StreamData.maximumLength)
        streamed += data
      }
      #expect(streamed == bytes)
      #expect(await error(host, "resource \(file) --name x --to nobody") == .noSuchPeer)
      #expect(await error(host, "resource \(room.directory) --name x") == .fileUnreadable)
    }
  }

  @Test("each command is answered once, with its request id, and an error names its command") func answers()
    async throws
  {
    try await withPair { _, host, _ in
      try await host.perform("text 0,0 x as=a")
      #expect(await error(host, "text 0,0 y as=a") == .aliasTaken)
      #expect(await error(host, "move nothing 0,0") == .noSuchObject)
      #expect(await error(host, "move 99 0,0") == .noSuchObject)
      #expect(await error(host, "edit last") == .missingArgument)
      try await host.perform("stroke 0,0 1,1 as=line")
      #expect(await error(host, "edit line words") == .wrongKind)
      #expect(await error(host, "accept 7") == .noSuchInvitation)
      #expect(await error(host, "cancel 7") == .noSuchTransfer)
      #expect(await error(host, "wait objects=9 timeout=0.01") == .timedOut)
      try await host.perform("move 1 3,3")
      try await host.perform("help verbs")
      var answered: [String: Int] = [:]
      for event in await host.events {
        switch event {
        case .answer(.done, let request): answered["\(try #require(request))", default: 0] += 1
        case .answer(.error(let failure), _): answered["\(try #require(failure.request))", default: 0] += 1
        default: break
        }
      }
      #expect(answered.count >= 11)
      #expect(answered.values.allSatisfy { $0 == 1 })
    }
  }

  @Test("a nearby board is joined by its name, or without a name if it is the only one") func nearby() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      let byName = ScriptedBoard()
      let byNothing = ScriptedBoard()
      let code = JoinCode.random()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "standup"), "ada")
        hosting.code = code
        let first = hosting
        group.addTask { try await host.run(first) }
        _ = try #require(await host.ready())
        let isAnnounced = await host.sees {
          switch $0 {
          case .news(.ready(let ready)): ready.announced
          case .news(.note(let note)): note.code == SharedBoard.News.Remark.announced
          default: false
          }
        }
        #expect(isAnnounced)
        var joining = await room.configuration(.join(.name("STANDUP"), patience: .seconds(20)), "ben")
        joining.code = code
        let second = joining
        group.addTask { try await byName.run(second) }
        if await byName.ready() == nil { try await group.next() }
        let named = try #require(await byName.ready())
        #expect(named.boardName == "standup")
        joining = await room.configuration(.join(.nearby, patience: .seconds(20)), "cem")
        joining.code = code
        let third = joining
        group.addTask { try await byNothing.run(third) }
        try #require(await byNothing.ready() != nil)
        // Members learn of each other from the member that admitted them.
        for scriptedBoard in [host, byName, byNothing] { try await scriptedBoard.perform("wait peers=2 timeout=30") }
        for scriptedBoard in [byNothing, byName, host] { await scriptedBoard.end() }
        try await group.waitForAll()
      }
    }
  }

  @Test("[DSC-23] a board found nearby can still be joined after its host left") func nearbyWithoutItsHost()
    async throws
  {
    try await withRoom { room in
      let puppets = [ScriptedBoard(), ScriptedBoard(), ScriptedBoard()]
      let code = JoinCode.random()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let parts: [BoardConfiguration.Part] = [
          .host(boardName: "standup"), .join(.name("standup"), patience: .seconds(20)),
          .join(.name("standup"), patience: .seconds(20)),
        ]
        for (scriptedBoard, part) in zip(puppets, parts) {
          var configuration = await room.configuration(part, "peer")
          configuration.code = code
          configuration.dataDirectory += "\(UInt64.random(in: 0...UInt64.max))"
          let started = configuration
          group.addTask { try await scriptedBoard.run(started) }
          if await scriptedBoard.ready() == nil { try await group.next() }
          if scriptedBoard === puppets[1] {
            try await scriptedBoard.perform("text 1,1 \"still here\"")
            try await scriptedBoard.perform("wait synced timeout=30")
            await puppets[0].end()
          }
        }
        try await puppets[2].perform("wait objects=1 timeout=30")
        for scriptedBoard in puppets.dropFirst() { await scriptedBoard.end() }
        try await group.waitForAll()
      }
    }
  }

  @Test("with several boards nearby a joiner gets the list, and with none an error") func choice() async throws {
    try await withRoom { room in
      let hosts = [ScriptedBoard(), ScriptedBoard()]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (index, host) in hosts.enumerated() {
          let hosting = await room.configuration(.host(boardName: "board \(index)"), "host\(index)")
          group.addTask { try await host.run(hosting) }
          try #require(await host.ready() != nil)
        }
        await #expect(throws: WhiteboardError.self) {
          do throws(WhiteboardError) {
            try await ScriptedBoard().run(await room.configuration(.join(.nearby, patience: .seconds(20)), "ben"))
          } catch {
            #expect(error.code == .usage)
            #expect(error.message.contains(#""board 0""#))
            #expect(error.message.contains(#""board 1""#))
            throw error
          }
        }
        await #expect(throws: WhiteboardError.self) {
          do throws(WhiteboardError) {
            try await ScriptedBoard().run(
              await room.configuration(.join(.name("none"), patience: .milliseconds(50)), "ben")
            )
          } catch {
            #expect(error.code == .timedOut)
            throw error
          }
        }
        for host in hosts { await host.end() }
        try await group.waitForAll()
      }
    }
  }

  @Test("a host with admission `ask` admits whom its user accepts; both screens show the same words") func asking()
    async throws
  {
    try await withRoom { room in
      let host = ScriptedBoard()
      let guest = ScriptedBoard()
      let stranger = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.admission = .ask
        let first = hosting
        group.addTask { try await host.run(first) }
        let ready = try #require(await host.ready())
        let text = try #require(ready.addresses.first)
        let address = try #require(HostPort(text))
        let target = BoardConfiguration.Part.join(.address(address), patience: .seconds(1))
        let second = await room.configuration(target, "ben")
        group.addTask { try await guest.run(second) }
        let incoming = try #require(await invitation(host, from: "ben"))
        let outgoing = try #require(await invitation(guest, from: "ada"))
        #expect(incoming.direction == .incoming)
        #expect(outgoing.direction == .outgoing)
        #expect(incoming.words == outgoing.words)
        #expect(incoming.words?.split(separator: " ").count == 3)
        // The answer to a question overtakes waiting commands.
        async let waited = host.perform("wait peers=1 timeout=60")
        try await host.perform("accept ben")
        // Ben's user is still comparing the words.
        let isComparing = await host.sees {
          if case .news(.note(let note)) = $0 {
            note.code == "comparing" && note.invitation == incoming.id && note.deadline != nil
          } else {
            false
          }
        }
        #expect(isComparing)
        #expect(incoming.seconds == 300 && outgoing.seconds == 300)
        try await guest.perform("accept \(outgoing.id)")
        _ = try await waited
        try #require(await guest.ready() != nil)

        let third = await room.configuration(target, "eve")
        let refused = Task { try await stranger.run(third) }
        _ = try #require(await invitation(host, from: "eve"))
        try await host.perform(#"decline eve "not now""#)
        await #expect(throws: WhiteboardError.self) { try await refused.value }
        for scriptedBoard in [guest, host] { await scriptedBoard.end() }
        try await group.waitForAll()
      }
    }
  }

  @Test("a condition that becomes true without a report delays its waiter, but does not block it")
  func unreportedChange() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      let hosting = await room.configuration(.host(boardName: "board"), "ada")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await host.run(hosting) }
        try #require(await host.ready() != nil)
        let board = try #require(await host.sharedBoard)
        #expect(await board.noticesUnreportedChange())
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a program without commands compares words in its own way", arguments: [WordComparison.different, .noUser])
  func comparingByProgram(answer: WordComparison) async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.admission = .ask
        let first = hosting
        group.addTask { try await host.run(first) }
        let text = try #require(await host.ready()?.addresses.first)
        let target = JoinTarget.address(try #require(HostPort(text)))
        var joining = await room.configuration(.join(target, patience: .seconds(1)), "recorder")
        let asked = Locked<[String]>([])
        joining.compareWords = { verification in
          asked.withLock { $0 = verification.words }
          return verification.mustBeCompared ? answer : .same
        }
        let error = await #expect(throws: WhiteboardError.self) {
          try await SharedBoard(joining, input: nil, sink: ScriptedBoard()).run()
        }
        #expect(error?.message == answer.problem?.message)
        let question = try #require(await invitation(host, from: "recorder"))
        #expect(asked.withLock { $0.joined(separator: " ") } == question.words)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("without a user, comparing words fails at once; a script can compare them") func comparingByScript()
    async throws
  {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        var hosting = await room.configuration(.host(boardName: "board"), "ada")
        hosting.admission = .ask
        let first = hosting
        group.addTask { try await host.run(first) }
        let text = try #require(await host.ready()?.addresses.first)
        let target = JoinTarget.address(try #require(HostPort(text)))
        let mute = await room.configuration(.join(target, patience: .seconds(1)), "mute")
        let nothing = CommandFeed()
        nothing.finish()
        let isRefused: Bool
        do throws(WhiteboardError) {
          try await SharedBoard(mute, input: nothing, sink: ScriptedBoard()).run()
          isRefused = false
        } catch { isRefused = error.code == .notAllowed && error.message.contains("compare words") }
        #expect(isRefused)
        // The host does not suspect an attack.
        let isExplained = await host.sees {
          if case .news(.note(let note)) = $0 {
            note.code == SharedBoard.News.Remark.invitationEnded
              && note.message.contains("has no user to compare the words")
          } else {
            false
          }
        }
        #expect(isExplained)

        var scripted = await room.configuration(.join(target, patience: .seconds(1)), "script")
        scripted.script = .run(keepsGoing: false)
        let feed = CommandFeed()
        for line in ["text 0,0 one", "accept to-1"] { feed.push(line) }
        feed.finish()
        let last = scripted
        group.addTask { try await SharedBoard(last, input: feed, sink: ScriptedBoard()).run() }
        _ = try #require(await invitation(host, from: "script"))
        try await host.perform("accept script")
        try await host.perform("wait objects=1 timeout=30")
        // The host stays until the script has seen everything arrive.
        try await host.perform("wait peers=0 timeout=30")
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a user who finds only their own board gets a message that says so") func ownBoard() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        try #require(await host.ready() != nil)
        var joining = await room.configuration(.join(.nearby, patience: .seconds(1)), "ada2")
        joining.identity = hosting.identity
        var refusal: WhiteboardError?
        do throws(WhiteboardError) { try await ScriptedBoard().run(joining) } catch { refusal = error }
        #expect(refusal?.code == .timedOut)
        #expect(refusal?.message.contains("--data-dir") == true)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("`quit` cancels a pending join") func quitting() async throws {
    try await withRoom { room in
      let guest = ScriptedBoard()
      let joining = await room.configuration(.join(.name("none"), patience: .seconds(90)), "ben")
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await guest.run(joining) }
        try await guest.perform("quit")
        try await group.waitForAll()
      }
    }
  }

  private func invitation(_ scriptedBoard: ScriptedBoard, from name: String) async -> SharedBoard.News.Invitation? {
    _ = await scriptedBoard.sees { if case .news(.invitation(let i)) = $0 { i.name.raw == name } else { false } }
    for case .news(.invitation(let invitation)) in await scriptedBoard.events where invitation.name.raw == name {
      return invitation
    }
    return nil
  }

  @Test("a script ends when all its work reached the members, or at its first failure") func scripts() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        func script(_ lines: [String], keepsGoing: Bool = false) async throws -> WhiteboardError? {
          var joining = await room.configuration(
            .join(.link(try BoardLink(ready.link)), patience: .seconds(1)),
            "run\(Int.random(in: 0...Int.max))"
          )
          joining.script = .run(keepsGoing: keepsGoing)
          let feed = CommandFeed()
          for line in lines { feed.push(line) }
          feed.finish()
          do throws(WhiteboardError) {
            try await SharedBoard(joining, input: feed, sink: ScriptedBoard()).run()
            return nil
          } catch { return error }
        }
        let first = try await script(["text 0,0 one", "# nothing", "send x"])
        try #require(first == nil)
        try await host.perform("wait objects=1 timeout=30")
        #expect(try await script(["text 0,0 two", "move nope 0,0", "text 0,0 never"])?.code == .no)
        let third = try await script(["bogus", "text 0,0 three"], keepsGoing: true)
        #expect(third?.code == .badData)
        try await host.perform("wait objects=3 timeout=30")
        let last = try await script(["say bye", "quit", "text 0,0 never"])
        #expect(last == nil)
        #expect(await host.sees { if case .change(.chat(let line, _), _) = $0 { line.text == "bye" } else { false } })
        var words: [UntrustedText?] = []
        for case .change(.added, let added) in await host.events { words.append(added.object?.wholeText) }
        #expect(words == ["one", "two", "three"])
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a script whose peer is kicked ends with the reason") func kickedScript() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var joining = await room.configuration(.join(.link(try BoardLink(ready.link)), patience: .seconds(1)), "ben")
        joining.script = .run(keepsGoing: true)
        let (scripted, feed) = (joining, CommandFeed())
        // The script is at its end, and waits until a member has all changes of the script.
        feed.push("text 0,0 one")
        feed.push("wait objects=2 timeout=60")
        feed.finish()
        async let ended: WhiteboardError.Code? = {
          do throws(WhiteboardError) {
            try await SharedBoard(scripted, input: feed, sink: ScriptedBoard()).run()
            return nil
          } catch { return error.code }
        }()
        try await host.perform("wait objects=1 timeout=30")
        try await host.perform("kick ben out")
        #expect(await ended == .notAllowed)
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a wrong code is refused, and the answer reveals nothing more") func wrongCode() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var link = try BoardLink(ready.link)
        link.code = JoinCode.random().text.split(separator: "-").map(String.init)
        let wrong = await room.configuration(.join(.link(link), patience: .seconds(1)), "eve")
        await #expect(throws: WhiteboardError(.notAllowed, "The code is wrong.", isAboutCode: true)) {
          try await ScriptedBoard().run(wrong)
        }
        #expect(await host.events.allSatisfy { if case .change(.joined, _) = $0 { false } else { true } })
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("a refused peer gets advice, and is not asked for a code if the board has none") func advice() async throws {
    try await withRoom { room in
      for (admission, advice) in [
        (BoardConfiguration.Admission.code, "add --code WORDS"), (.anyone, "Join by its link"),
      ] {
        let host = ScriptedBoard()
        try await withThrowingTaskGroup(of: Void.self) { group in
          var hosting = await room.configuration(.host(boardName: "board"), "ada")
          hosting.admission = admission
          let first = hosting
          group.addTask { try await host.run(first) }
          let text = try #require(await host.ready()?.addresses.first)
          let target = JoinTarget.address(try #require(HostPort(text)))
          let guest = ScriptedBoard()
          let joining = await room.configuration(.join(target, patience: .seconds(1)), "ben")
          var refusal: WhiteboardError?
          do throws(WhiteboardError) { try await guest.run(joining) } catch { refusal = error }
          #expect(refusal?.code == .notAllowed)
          #expect(refusal?.message.contains(advice) == true)
          for case .news(.peerState(let change)) in await guest.events {
            #expect(change.peer == nil)
            #expect(change.address == text)
          }
          await host.end()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("a board that is hosted again under its name keeps its id") func reopening() async throws {
    try await withRoom { room in
      var boards: [String] = []
      for name in ["one", "two", "one"] {
        let host = ScriptedBoard()
        let hosting = await room.configuration(.host(boardName: name), "ada")
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await host.run(hosting) }
          let ready = try #require(await host.ready())
          boards.append(ready.board)
          await host.end()
          try await group.waitForAll()
        }
      }
      #expect(boards[0] == boards[2])
      #expect(boards[0] != boards[1])
    }
  }
}

extension SharedBoard {
  /// Waits for a condition that becomes true without a call of ``BoardRuntime/changed()``.
  fileprivate func noticesUnreportedChange() async -> Bool {
    let due = runtime.clock.now + .milliseconds(50)
    return await wait { self.runtime.clock.now >= due }
  }
}
