import CommandLines
import FoundationEssentials
import PeerSession
import Synchronization
import Testing
import Whiteboard

@testable import WhiteboardKit

/// Held commands of joined peers, `wait synced`, and the ends of scripts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CatchUpTests: BoardSuite {
  /// Runs a script until it ends; returns the error that ended it, and all its events.
  private func script(_ lines: [String], _ configuration: BoardConfiguration, keepsGoing: Bool = false) async -> (
    error: WhiteboardError?, events: [SharedBoard.Output]
  ) {
    var configuration = configuration
    configuration.script = .run(keepsGoing: keepsGoing)
    let feed = CommandFeed()
    for line in lines { feed.push(line) }
    feed.finish()
    let scriptedBoard = ScriptedBoard()
    do throws(WhiteboardError) {
      try await SharedBoard(configuration, input: feed, sink: scriptedBoard).run()
      return (nil, await scriptedBoard.events)
    } catch { return (error, await scriptedBoard.events) }
  }

  private func withHost(
    in room: BoardRoom,
    texts: Int,
    identity: PeerIdentity = .ephemeral(),
    _ body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void
  ) async throws {
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      var configuration = await room.configuration(.host(boardName: "board"), "ada")
      configuration.identity = identity
      let hosting = configuration
      group.addTask { try await host.run(hosting) }
      let ready = try #require(await host.ready())
      for number in 0..<texts { try await host.perform("text \(number),0 t\(number)") }
      try await body(host, ready)
      await host.end()
      try await group.waitForAll()
    }
  }

  @Test("objects of the first sync are reported with their authors, whichever member sends them") func authors()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room, texts: 0) { host, ready in
        let ben = try await room.joining(ready)
        #expect(await script(["text 0,0 kept as=a", "text 9,9 removed as=b"], ben).error == nil)
        try await host.perform("wait objects=2 timeout=30")
        let id = try #require(await host.sharedBoard?.objects.first { $0.text == "removed" }?.id)
        try await host.perform("delete \(id)")
        try await host.perform("undelete \(id)")
        var joining = ben
        (joining.identity, joining.dataDirectory) = (.ephemeral(), room.path("cy"))
        let events = await script(["wait objects=2 timeout=30"], joining).events
        var authors: [String?: MemberID?] = [:]
        for case .change(.added(let object, _), let details) in events { authors[object.text] = details.member }
        #expect(authors["kept"] == MemberID(ben.identity.peerID), "the host sent Ben's object")
        #expect(authors["removed"] == MemberID(text: ready.peer), "the host restored this object")
      }
    }
  }

  /// Runs a member of a host's session that has no board, while `body` runs.
  private func withMemberWithoutBoard(
    _ name: String,
    _ ready: SharedBoard.News.Ready,
    in room: BoardRoom,
    _ body: @Sendable () async throws -> Void
  ) async throws {
    let link = try BoardLink(ready.link)
    var request = JoinRequest(
      session: SessionID(text: link.board),
      addresses: [PeerAddress(host: link.address.host, port: link.address.port)],
      peer: link.peer.flatMap { PeerID(text: $0) },
      trust: .pinnedByLink
    )
    request.code = try ready.code.map { try JoinCode(words: $0) }
    let wanted = request
    var configuration = TransportConfiguration(
      identity: .ephemeral(),
      displayName: name,
      inboxDirectory: room.path(name)
    )
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
    try FileManager.default.createDirectory(
      atPath: room.path(name),
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    try await PeerTransport.withTransport(configuration) { transport in
      let session = try await transport.join(wanted) { _ in true }
      // The task ends with the session.
      let reading = Task { for await _ in session.events {} }
      try await body()
      await session.leave()
      await reading.value
    }
  }

  private func counts(_ events: [SharedBoard.Output]) -> [Int] {
    events.compactMap { if case .answer(.objects(let objects), _) = $0 { objects.count } else { nil } }
  }

  // MARK: - Held commands

  @Test("a script that is read before its session reports the host draws on the host's board") func earlyScript()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room, texts: 0) { host, ready in
        var joining = try await room.joining(ready)
        // The session reports nothing until the first command is held. This order of events once lost drawings.
        joining.beforeSessionEvents = { await $0.untilHolding() }
        let outcome = await script(["text 0,0 early"], joining)
        #expect(outcome.error == nil)
        try await host.perform("wait objects=1 timeout=30")
      }
    }
  }

  @Test("a script without a copy of the board reads the whole board, in any order of events") func newCopy()
    async throws
  {
    try await withRoom { room in
      try await withHost(in: room, texts: 11) { _, ready in
        var joining = try await room.joining(ready)
        joining.beforeSessionEvents = { await $0.untilHolding() }
        let file = room.path("board.json")
        let outcome = await script(["objects", "digest", "export \(file)"], joining)
        #expect(outcome.error == nil)
        #expect(counts(outcome.events) == [11])
        let exported = outcome.events.contains {
          if case .answer(.done(.export, let done), _) = $0 { done.count == 11 } else { false }
        }
        #expect(exported)
        let caughtUp = outcome.events.contains {
          if case .change(.caughtUp, let member) = $0 { member.name == "ada" } else { false }
        }
        #expect(caughtUp)
      }
    }
  }

  @Test("a script with an older copy of the board reads what the members have, not its copy") func oldCopy()
    async throws
  {
    try await withRoom { room in
      let ben = PeerIdentity.ephemeral()
      try await withHost(in: room, texts: 2) { host, ready in
        var joining = try await room.joining(ready)
        joining.identity = ben
        #expect(await counts(script(["objects"], joining).events) == [2])
        for number in 0..<3 { try await host.perform("text \(number),9 later") }
        joining.beforeSessionEvents = { await $0.untilHolding() }
        #expect(await counts(script(["objects"], joining).events) == [5])
      }
    }
  }

  @Test("piped lines wait for the board as scripts do, and typed lines do not") func pipedLines() async throws {
    try await withRoom { room in
      try await withHost(in: room, texts: 4) { _, ready in
        for isTyped in [false, true] {
          var joining = try await room.joining(ready)
          joining.dataDirectory += "\(isTyped)"
          joining.isTyped = isTyped
          let guest = ScriptedBoard()
          let (answered, answering) = AsyncStream<Void>.makeStream()
          joining.beforeSessionEvents = { sharedBoard in
            if isTyped {
              // The session is held until the command is answered, so the command does not wait for the session.
              for await _ in answered { return }
            } else {
              await sharedBoard.untilHolding()
            }
          }
          let configuration = joining
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await guest.run(configuration) }
            // While the program still joins, it refuses typed commands.
            if isTyped { try #require(await guest.ready() != nil) }
            try await guest.perform("objects")
            answering.finish()
            #expect(await counts(guest.events) == [isTyped ? 0 : 4])
            await guest.end()
            try await group.waitForAll()
          }
        }
      }
    }
  }

  @Test("changes that arrive while a member leaves do not count as unsaved") func leavingAmongChanges() async throws {
    try await withRoom { room in
      try await withHost(in: room, texts: 1) { host, ready in
        // The board does not grow, however slow the machine is.
        let moving = Task { while !Task.isCancelled { try await host.perform("move last +1,0") } }
        for number in 0..<12 {
          var joining = try await room.joining(ready)
          joining.dataDirectory += "\(number)"
          let outcome = await script(["wait objects=1"], joining)
          #expect(outcome.error == nil)
        }
        moving.cancel()
        try await moving.value
      }
    }
  }

  @Test("a command whose board does not arrive fails with a cause and a remedy; others run before") func nothingComes()
    async throws
  {
    try await withRoom { room in
      var configuration = TransportConfiguration(
        identity: .ephemeral(),
        displayName: "mute",
        inboxDirectory: room.directory
      )
      configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
      try await PeerTransport.withTransport(configuration) { transport in
        let session = try await transport.host(.ofOpenBoard(), admission: .anyone)
        // The task ends with the session.
        let reading = Task { for await _ in session.events {} }
        let target = JoinTarget.link(
          try BoardLink("whiteboard://127.0.0.1:\(transport.port)/\(session.id.text)?peer=\(transport.peerID.text)")
        )
        var joining = await room.configuration(.join(target, patience: .seconds(1)), "ben")
        joining.catchUpTimeout = .seconds(1)
        let outcome = await script(
          ["help wait", "peers", "wait peers=1", "send x", "objects", "text 0,0 x"],
          joining,
          keepsGoing: true
        )
        #expect(outcome.error?.code == .timedOut)
        let answers = outcome.events.compactMap { event -> String? in
          switch event {
          case .answer(.done(let verb, _), _): verb.rawValue
          case .answer(.error(let failure), _): "\(failure.verb ?? "") \(failure.code.rawValue)"
          default: nil
          }
        }
        #expect(answers == ["help", "peers", "wait", "send", "objects not-synced", "text not-synced"])
        let message = try #require(outcome.error?.message)
        #expect(message.contains("mute did not send the board"), "\(message)")
        #expect(message.contains("--sync-timeout") && message.contains("--offline"))
        await session.leave()
        await reading.value
      }
    }
  }

  @Test("an empty board counts at once only from the host, and from others when the host has not come for a while")
  func emptyBoardOfAGuest() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        let guest = ScriptedBoard()
        let joining = try await room.joining(ready)
        group.addTask { try await guest.run(joining) }
        let guestReady = try #require(await guest.ready())
        var reading = await room.configuration(
          .join(.link(try BoardLink(guestReady.link)), patience: .seconds(10)),
          "carol"
        )
        let fromBoth = await script(["objects"], reading)
        #expect(fromBoth.error == nil)
        #expect(counts(fromBoth.events) == [0])
        await host.end()
        #expect(await guest.sees { if case .change(.left, _) = $0 { true } else { false } })
        reading = await room.configuration(reading.part, "dora")
        reading.catchUpTimeout = .seconds(6)
        let began = ContinuousClock.now
        let fromGuest = await script(["objects"], reading)
        #expect(fromGuest.error == nil)
        #expect(counts(fromGuest.events) == [0])
        #expect(ContinuousClock.now - began >= reading.catchUpTimeout / 3)
        await guest.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("offline, the local copy is used and reported; the host's name is not taken") func offline() async throws {
    try await withRoom { room in
      var joining: BoardConfiguration?
      try await withHost(in: room, texts: 3) { _, ready in
        let configuration = try await room.joining(ready)
        joining = configuration
        #expect(await counts(script(["objects"], configuration).events) == [3])
      }
      var offline = try #require(joining)
      let files = try FileManager.default.contentsOfDirectory(atPath: room.path("ben/boards"))
      let file = try #require(files.first { $0.hasSuffix(".whiteboard") })
      offline.part = .host(boardName: "")
      offline.boardFile = room.path("ben/boards/\(file)")
      offline.isOffline = true
      offline.discovery = nil
      offline.isListening = false
      let outcome = await script(["objects", "text 0,0 later"], offline)
      #expect(outcome.error == nil)
      #expect(counts(outcome.events) == [3])
      let isTold = outcome.events.contains {
        if case .news(.note(let note)) = $0 { note.code == "offline" } else { false }
      }
      #expect(isTold)
      let ready = outcome.events.compactMap { event in if case .news(.ready(let ready)) = event { ready } else { nil } }
      #expect(ready.map(\.link) == [""], "no peer can connect")
      #expect(ready.map(\.port) == [0])
    }
  }

  @Test("each command has a requirement: those that read or write the board wait for it") func requirements() {
    for name in CommandName.allCases where name.changesBoard { #expect(name.requirement == .board, "\(name)") }
    for name: CommandName in [.objects, .export, .copy, .import, .digest, .checkpoint, .diff, .chat] {
      #expect(name.requirement == .board, "\(name)")
    }
    for name: CommandName in [.help, .quit, .accept, .decline, .peers, .cancel, .leave, .wait] {
      #expect(name.requirement == .nothing, "\(name)")
    }
  }

  // MARK: - Synced

  @Test("[SYN-44] a peer alone is not synced, and the answer says that no other peer is connected") func alone()
    async throws
  {
    try await withHost { host in
      do throws(CommandError) {
        try await host.perform("wait synced timeout=0.2")
        Issue.record("the host was synced without any other member")
      } catch {
        #expect(error.code == .timedOut)
        #expect(error.message == "not synced: no other member is connected")
      }
    }
  }

  @Test("[SYN-44] without a time limit, a peer alone does not wait to be synced") func aloneWithoutTimeout()
    async
    throws
  {
    try await withHost { host in
      do throws(CommandError) {
        try await host.perform("wait synced")
        Issue.record("the host was synced without any other member")
      } catch {
        #expect(error.code == .notSynced)
        #expect(
          error.message
            == "not synced: no other member is connected; use `wait peers=1` first to wait for a member"
        )
      }
    }
  }

  @Test("[SYN-44] the answer names the members that have the same board, on both sides") func names() async throws {
    try await withPair { _, host, guest in
      try await host.perform("text 0,0 x")
      let (here, there) = (
        try await host.perform("wait synced timeout=30"), try await guest.perform("wait synced timeout=30")
      )
      #expect(here.sync?.synced.map(\.name) == ["ben"] && here.sync?.notSynced == [])
      #expect(there.sync?.synced.map(\.name) == ["ada"] && there.sync?.notSynced == [])
      #expect(EventText.line(.answer(.done(.wait, here))) == "ok: synced with ben")
      #expect(try await digest(host) == digest(guest))
    }
  }

  @Test("[SYN-44] a member without a board is named, and is neither waited for nor counted as synced")
  func withoutBoard() async throws {
    try await withRoom { room in
      let (host, guest) = (ScriptedBoard(), ScriptedBoard())
      try await withThrowingTaskGroup(of: Void.self) { group in
        var configuration = await room.configuration(.host(boardName: "board"), "ada")
        configuration.introductionTime = .milliseconds(200)
        let hosting = configuration
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        let joining = try await room.joining(ready)
        try await withMemberWithoutBoard("cy", ready, in: room) {
          try await host.perform("wait peers=1 timeout=30")
          do throws(CommandError) {
            try await host.perform("wait synced timeout=1")
            Issue.record("the board was synced with a member that has no board")
          } catch { #expect(error.message == "not synced with cy (no board)") }
          try await withThrowingTaskGroup(of: Void.self) { inner in
            inner.addTask { try await guest.run(joining) }
            try await host.perform("wait peers=2 timeout=30")
            let done = try await host.perform("wait synced timeout=30")
            #expect(done.sync?.synced.map(\.name) == ["ben"])
            #expect(done.sync?.notSynced.map(\.name) == ["cy"])
            #expect(EventText.line(.answer(.done(.wait, done))) == "ok: synced with ben; not synced with cy (no board)")
            await guest.end()
            try await inner.waitForAll()
          }
        }
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  // MARK: - Ends of scripts

  @Test("a script whose work reached no member reports that at its end, unless it only read") func endAlone()
    async throws
  {
    try await withRoom { room in
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      hosting.isAnnounced = false
      for (line, isTold) in [("text 0,0 x", true), ("objects", false)] {
        let outcome = await script([line], hosting)
        #expect(outcome.error == nil)
        let notes = outcome.events.compactMap { event -> String? in
          if case .news(.note(let note)) = event, note.code == "not-synced" { note.message } else { nil }
        }
        let expected = "the changes have not reached any other member: no other member is connected"
        #expect(notes == (isTold ? [expected] : []))
      }
    }
  }

  @Test("a script that joined and drew after the others had left ends with an error") func endAbandoned() async throws {
    try await withRoom { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let hosting = await room.configuration(.host(boardName: "board"), "ada")
        group.addTask { try await host.run(hosting) }
        let ready = try #require(await host.ready())
        var configuration = try await room.joining(ready)
        configuration.script = .run(keepsGoing: false)
        let joining = configuration
        let (feed, guest) = (CommandFeed(), ScriptedBoard())
        feed.push("objects")
        let ending = Task { () -> WhiteboardError? in
          do throws(WhiteboardError) {
            try await SharedBoard(joining, input: feed, sink: guest).run()
            return nil
          } catch { return error }
        }
        #expect(await guest.sees { if case .answer(.objects, _) = $0 { true } else { false } })
        await host.end()
        try await group.waitForAll()
        #expect(await guest.sees { if case .change(.left, _) = $0 { true } else { false } })
        feed.push("text 0,0 late")
        feed.finish()
        let error = try #require(await ending.value, "the guest ended as if others had its text")
        #expect(error.code == .timedOut)
        #expect(error.message.contains("have not reached any other member"), "\(error.message)")
      }
    }
  }
}

extension SharedBoard {
  /// Waits until a command is held.
  fileprivate func untilHolding() async { _ = await wait { self.board?.catchUp.isHolding == true } }
}
