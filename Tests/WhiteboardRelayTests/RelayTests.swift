import CommandLines
import FoundationEssentials
import PeerSession
import PeerTestKit
import Testing
import WhiteboardDocument

@testable import WhiteboardKit
@testable import WhiteboardRelay

/// Boards on a relay, with real nodes that join them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RelayTests {
  private func digest(_ scriptedBoard: ScriptedBoard) async throws -> String {
    try await scriptedBoard.perform("digest")
    var last: String?
    for case .answer(.digest(let digest, _), _) in await scriptedBoard.events { last = digest }
    return try #require(last)
  }

  @Test("a board on a relay is complete for a late joiner after all left and the relay restarted") func outlives()
    async throws
  {
    try await RelayRoom.make { room in
      var link: String?
      var before: String?
      try await room.running(try room.relay()) { relay in
        link = try await relay.createBoard(name: "standup").link
        try await room.joined(link) { guest in
          try await guest.perform("text 0,0 \"hello\"")
          try await guest.perform("wait synced timeout=30")
          before = try await digest(guest)
        }
      }
      try await room.running(try room.relay()) { relay in
        let report = try #require(await relay.onlyReport)
        #expect(report.state == "serving")
        #expect(report.name == "standup")
        try await room.joined(report.link, as: "cy") { guest in
          try await guest.perform("wait objects=1 timeout=30")
          #expect(try await digest(guest) == before)
          #expect(await relay.onlyReport?.people == ["cy"])
        }
      }
    }
  }

  @Test("a relay whose task is canceled shuts down as on request, and creates no more boards") func canceled()
    async throws
  {
    try await RelayRoom.make { room in
      let relay = try room.relay()
      let (states, state) = AsyncStream<Void>.makeStream()
      let run = Task { try await relay.run { _ in state.yield() } }
      for await _ in states { break }
      let board = try await relay.createBoard(name: "standup").board
      run.cancel()
      try await run.value
      await #expect { try await relay.createBoard(name: "late") } throws: {
        ($0 as? WhiteboardError)?.code == .unreachable
      }
      let library = BoardLibrary(inDataDirectory: room.data)
      #expect(try await library.list().compactMap(\.board).compactMap { SessionID(bytes: $0)?.text } == [board])
    }
  }

  @Test("[HEL-2] a relay that is ready before its boards are open lets peers and commands wait for them")
  func readyBeforeOpen() async throws {
    try await RelayRoom.make { room in
      var links: [String] = []
      let names = (0..<7).map { "board \($0)" }
      try await room.running(try room.relay()) { relay in
        for name in names { _ = try await relay.createBoard(name: name) }
      }
      try await room.running(try room.relay { $0.openingLimit = .zero }) { relay in
        #expect(await relay.hindrances.isEmpty)
        for name in names.reversed() {
          var request = ControlRequest(.invite, board: name)
          request.terms = InvitationTerms()
          for case .invitation(let invitation) in await relay.answer(request) { links.append(invitation.link) }
        }
        #expect(links.count == names.count)
        #expect(await relay.reports().allSatisfy { $0.state == "serving" })
        try await room.joined(links.first) { guest in try await guest.perform("text 0,0 \"hello\"") }
      }
    }
  }

  @Test("a relay that cannot start reports the reason, and then no code waits for its boards") func cannotStart()
    async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { first in
        let port = try #require(await first.transport?.port)
        let elsewhere = room.directory + "/elsewhere"
        try FileManager.default.createDirectory(
          atPath: elsewhere,
          withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700]
        )
        let second = try room.relay(in: elsewhere) { $0.listen = PeerAddress(host: "127.0.0.1", port: port) }
        var isRunning = false
        await #expect {
          try await room.running(second) { _ in isRunning = true }
        } throws: {
          ($0 as? WhiteboardError)?.code == .system
        }
        #expect(!isRunning)
        let third = try room.relay(in: elsewhere) { $0.listen = PeerAddress(host: "127.0.0.1", port: port) }
        await #expect(throws: WhiteboardError.self) { try await third.run { _ in } }
        try #require(await third.isEnding)
        await #expect(throws: CancellationError.self) { try await third.untilBoard { _ in true } }
      }
    }
  }

  @Test("[RLY-7] a member reconnects after its relay ended and started again") func comesBack() async throws {
    try await RelayRoom.make { room in
      let port = reservedPort()
      let first = try room.relay { $0.listen = PeerAddress(host: "127.0.0.1", port: port) }
      let (states, state) = AsyncStream<Void>.makeStream()
      // The test waits for this task after it stopped the relay.
      let run = Task {
        defer { state.finish() }
        try await first.run { _ in state.yield() }
      }
      defer { run.cancel() }
      for await _ in states { break }
      let link = try await first.createBoard(name: "standup").link
      try await room.joined(link) { guest in
        // Without the board, the guest would wait for a member before it writes.
        try await guest.perform("wait synced timeout=30")
        await first.requestEnd()
        try await run.value
        try await guest.perform("text 0,0 \"while it was away\"")
        let second = try room.relay { $0.listen = PeerAddress(host: "127.0.0.1", port: port) }
        try await room.running(second) { relay in
          try await relay.untilBoard { $0.people.values.contains("ben") }
          try await guest.perform("wait synced timeout=30")
          try await room.joined(link, as: "cy") { try await $0.perform("wait objects=1 timeout=30") }
        }
      }
    }
  }

  @Test("several boards are served on one port, and each member sees only its board") func several() async throws {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        let first = try await relay.createBoard(name: "one", admission: .anyone)
        let second = try await relay.createBoard(name: "two", admission: .anyone)
        try await room.joined(first.link, as: "ben") { ben in
          try await room.joined(second.link, as: "cy") { cy in
            try await ben.perform("text 0,0 \"one\"")
            try await cy.perform("text 0,0 \"two\"")
            try await cy.perform("text 0,90 \"too\"")
            try await ben.perform("wait synced timeout=30")
            try await cy.perform("wait synced timeout=30")
            #expect(await relay.reports().map(\.people) == [["ben"], ["cy"]])
          }
        }
      }
      let library = BoardLibrary(inDataDirectory: room.data)
      #expect(try await library.list().map(\.objects) == [1, 2])
    }
  }

  @Test("a board over the limit, or with an invalid name or admission, is not created") func limits() async throws {
    try await RelayRoom.make { room in
      let relay = try room.relay { $0.limits.maximumBoards = 1 }
      try await room.running(relay) { relay in
        for (name, admission) in [("", BoardConfiguration.Admission.code), ("x", .ask)] {
          await #expect { try await relay.createBoard(name: name, admission: admission) } throws: {
            ($0 as? WhiteboardError)?.code == .usage
          }
        }
        _ = try await relay.createBoard(name: "one")
        await #expect { try await relay.createBoard(name: "two") } throws: {
          ($0 as? WhiteboardError)?.code == .notAllowed
        }
      }
    }
  }

  @Test("a deleted board is no longer served and its file is deleted; its members keep their copies") func delete()
    async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        let report = try await relay.createBoard(name: "standup")
        try await room.joined(report.link) { guest in
          try await guest.perform("text 0,0 \"mine\"")
          let entry = try #require(await relay.register.entries.first)
          try await relay.delete(entry)
          try await guest.perform("wait peers=0 timeout=30")
          try await guest.perform("wait objects=1 timeout=1")
        }
        #expect(await relay.reports().isEmpty)
        #expect(try await BoardLibrary(inDataDirectory: room.data).list().isEmpty)
      }
    }
  }

  @Test("a board without visits for a long time is removed, unless it is pinned or in use") func forgotten()
    async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay { $0.limits.retention = .days(30) }) { relay in
        let link = try await relay.createBoard(name: "in use").link
        _ = try await relay.createBoard(name: "pinned")
        _ = try await relay.createBoard(name: "forgotten")
        let pinned = try #require(await relay.register.entries.first { $0.name == "pinned" })
        _ = try await relay.pin(pinned, true)
        let day: Int64 = 86_400_000
        let now = BoardFile.now
        await relay.removeForgotten(now: now + 29 * day)
        #expect(await relay.reports().count == 3)
        try await room.joined(link) { _ in
          await relay.removeForgotten(now: now + 31 * day)
          #expect(await relay.reports().map(\.name) == ["in use", "pinned"])
        }
        #expect(try await BoardLibrary(inDataDirectory: room.data).list().count == 2)
      }
    }
  }

  @Test("a board that is too large is not served, reports why, and is served again under a new limit") func tooLarge()
    async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        let report = try await relay.createBoard(name: "standup")
        try await room.joined(report.link) { guest in
          try await guest.perform("text 0,0 \"much\"")
          try await guest.perform("wait synced timeout=30")
        }
        var limits = await relay.limits
        limits.maximumBoardMegabytes = 0
        await relay.reload(limits)
        try await relay.untilBoard { if case .failed = $0.state { true } else { false } }
        #expect(await relay.onlyReport?.problem?.contains("max-board-mb") == true)
        limits.maximumBoardMegabytes = 1
        await relay.reload(limits)
        try await relay.untilBoard { if case .serving = $0.state { true } else { false } }
        try await room.joined(await relay.onlyReport?.link) { guest in
          try await guest.perform("wait objects=1 timeout=30")
        }
      }
    }
  }

  @Test("a board that cannot be saved is still served and reported, and is saved when possible") func unsaved()
    async throws
  {
    try await RelayRoom.make { room in
      var before: String?
      try await room.running(try room.relay()) { relay in
        let link = try await relay.createBoard(name: "standup").link
        let document = try #require(await relay.boards.values.first?.sharedBoard.document)
        try await room.joined(link) { guest in
          _ = try await document.limitPages(to: 1)
          for n in 0..<20 { try await guest.perform("text 0,\(n) \"\(String(repeating: "x", count: 2_000))\"") }
          try await relay.untilBoard { $0.unsaved != nil }
          #expect(await relay.hindrances == ["NOT SAVED: disk full (1 board)"])
          #expect(await relay.onlyReport?.state == "serving")
          #expect(await relay.onlyReport?.problem?.contains("disk is full") == true)
          try await room.joined(link, as: "cy") { late in try await late.perform("wait objects=20 timeout=30") }
          _ = try await document.limitPages(to: 1_000_000)
          try await relay.untilBoard { $0.unsaved == nil }
          #expect(await relay.hindrances.isEmpty)
          before = try await digest(guest)
        }
      }
      try await room.running(try room.relay()) { relay in
        try await room.joined(await relay.onlyReport?.link, as: "dan") { guest in
          try await guest.perform("wait objects=20 timeout=30")
          #expect(try await digest(guest) == before)
        }
      }
    }
  }

  @Test("a relay that must end and cannot save a board reports that") func endsUnsaved() async throws {
    try await RelayRoom.make { room in
      await #expect {
        try await room.running(try room.relay()) { relay in
          let link = try await relay.createBoard(name: "standup").link
          let document = try #require(await relay.boards.values.first?.sharedBoard.document)
          try await room.joined(link) { guest in
            _ = try await document.limitPages(to: 1)
            for n in 0..<20 { try await guest.perform("text 0,\(n) \"\(String(repeating: "x", count: 2_000))\"") }
            try await relay.untilBoard { $0.unsaved != nil }
          }
        }
      } throws: { ($0 as? WhiteboardError) == WhiteboardError(.inputOutput, "NOT SAVED: disk full (1 board)") }
    }
  }

  @Test("[RLY-2] a board that moved to a relay is available without its host, and after a restart") func carried()
    async throws
  {
    try await RelayRoom.make { room in
      var link: String?
      try await room.running(try room.relay { $0.limits.boards = .any }) { relay in
        try await room.hosted(at: relay) { host in
          let isCarried = await host.sees { if case .news(.carried) = $0 { true } else { false } }
          #expect(isCarried)
          try await host.perform("wait peers=1 timeout=30")
          try await host.perform("text 0,0 \"from ada\"")
          try await host.perform("wait synced timeout=30")
        }
        link = await relay.onlyReport?.link
        try await room.joined(link) { guest in try await guest.perform("wait objects=1 timeout=30") }
      }
      try await room.running(try room.relay()) { relay in
        // The host is no longer on the list, but its board stays.
        try await room.joined(await relay.onlyReport?.link, as: "cy") { guest in
          try await guest.perform("wait objects=1 timeout=30")
        }
      }
    }
  }

  @Test("[AUT-11] a member that was admitted as a viewer is a viewer at the relay, too") func carriedView() async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay { $0.limits.boards = .any }) { relay in
        try await room.hosted(at: relay, isOwned: true) { host in
          let isGranted = await host.sees {
            if case .news(.role(let told)) = $0 { told.role == "relay" } else { false }
          }
          #expect(isGranted)
          try await host.perform("invite view")
          var view: String?
          for case .answer(.news(.invited(let invited)), _) in await host.events { view = invited.link }
          try await room.joined(view) { guest in
            try await guest.perform("wait peers=2 timeout=30")
            // By now, the relay has reported everything.
            try await host.perform("text 0,0 \"from ada\"")
            try await guest.perform("wait objects=1 timeout=30")
            let refused = await #expect(throws: CommandError.self) { try await guest.perform("text 0,0 \"from ben\"") }
            #expect(refused?.code == .viewer)
            #expect(await guest.roles == ["viewer"])
          }
        }
      }
    }
  }

  @Test("[AUT-11] a relay admits editors to a board of another owner, also while the owner is away") func carriedOwned()
    async throws
  {
    try await RelayRoom.make { room in
      try await room.running(try room.relay { $0.limits.boards = .any }) { relay in
        try await room.hosted(at: relay, isOwned: true) { host in
          let isGranted = await host.sees {
            if case .news(.role(let told)) = $0 { told.role == "relay" } else { false }
          }
          #expect(isGranted)
          try await host.perform("text 0,0 \"from ada\"")
          try await host.perform("wait synced timeout=30")
        }
        try await room.joined(await relay.onlyReport?.link) { guest in
          try await guest.perform("wait objects=1 timeout=30")
          try await guest.perform("text 0,0 \"from ben\"")
          try await guest.perform("wait synced timeout=30")
        }
      }
      try await room.running(try room.relay()) { relay in
        try await room.joined(await relay.onlyReport?.link, as: "cy") { guest in
          try await guest.perform("wait objects=2 timeout=30")
          try await guest.perform("text 0,0 \"from cy\"")
        }
      }
    }
  }

  @Test("the host of a board whose relay lost its data learns it; the board is moved there again") func lostData()
    async throws
  {
    try await RelayRoom.make { room in
      let host = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let listen = PeerAddress(host: "127.0.0.1", port: reservedPort())
        let full = try room.relay {
          $0.limits.boards = .any
          $0.listen = listen
        }
        try await room.running(full) { relay in
          var hosting = BoardConfiguration(
            part: .host(boardName: "standup"),
            displayName: "ada",
            identity: .ephemeral(),
            dataDirectory: room.directory + "/ada",
            logger: room.logger
          )
          hosting.listen = PeerAddress(host: "127.0.0.1", port: 0)
          hosting.carrier = .at(try #require(HostPort(host: listen.host, port: listen.port)), nil)
          let started = hosting
          group.addTask { try await host.run(started) }
          let isCarried = await host.sees { if case .news(.carried) = $0 { true } else { false } }
          #expect(isCarried)
          try await host.perform("text 0,0 \"from ada\"")
        }
        // Another directory has another key and no boards.
        let elsewhere = room.directory + "/elsewhere"
        try FileManager.default.createDirectory(
          atPath: elsewhere,
          withIntermediateDirectories: true,
          attributes: [.posixPermissions: 0o700]
        )
        let empty = try room.relay(in: elsewhere) {
          $0.limits.boards = .any
          $0.listen = listen
        }
        try await room.running(empty) { relay in
          let isWarned = await host.sees {
            guard case .news(.warning(let warning)) = $0 else { return false }
            return warning.code == "relay-replaced"
          }
          #expect(isWarned)
          // The key of the new relay causes no second warning.
          try await host.perform("wait peers=1 timeout=30")
          try await host.perform("wait synced timeout=30")
          for case .news(.warning(let warning)) in await host.events { #expect(warning.code != "changed-key") }
          #expect(await relay.onlyReport?.name == "standup")
          try await room.joined(await relay.onlyReport?.link) { guest in
            try await guest.perform("wait objects=1 timeout=30")
          }
        }
        await host.end()
        try await group.waitForAll()
      }
    }
  }

  @Test("[RLY-2] a relay that refuses a board gives the reason and the peer to allow") func notCarried() async throws {
    try await RelayRoom.make { room in
      try await room.running(try room.relay()) { relay in
        try await room.hosted(at: relay) { host in
          let isTold = await host.sees { event in
            guard case .news(.warning(let warning)) = event else { return false }
            return warning.code == "not-carried" && warning.message.contains("do not allow")
          }
          #expect(isTold)
        }
        #expect(await relay.reports().isEmpty)
      }
    }
  }

  @Test("a copy made during edits is complete, and a relay restored from it has the same identity") func backup()
    async throws
  {
    try await RelayRoom.make { room in
      let copy = room.directory + "/copy"
      let elsewhere = room.directory + "/elsewhere"
      var before: String?
      try await room.running(try room.relay()) { relay in
        let report = try await relay.createBoard(name: "standup")
        try await room.joined(report.link) { guest in
          try await guest.perform("text 0,0 \"kept\"")
          try await guest.perform("wait synced timeout=30")
          try await guest.perform("digest")
          before = try await digest(guest)
          try await relay.untilKept()
          #expect(try await RelayBackup.make(of: room.data, at: copy) == 1)
          try await guest.perform("text 0,90 \"too late\"")
        }
      }
      await #expect { try await RelayBackup.make(of: room.data, at: copy) } throws: {
        ($0 as? WhiteboardError)?.code == .cannotCreate
      }
      #expect(try await RelayBackup.restore(copy, to: elsewhere) == 1)
      let restored = try room.relay(in: elsewhere)
      let original = try PeerIdentity.loadOrCreate(inDirectory: room.data).peerID
      #expect(await restored.configuration.identity.peerID == original)
      try await room.running(restored) { relay in
        try await room.joined(await relay.onlyReport?.link, as: "cy") { guest in
          try await guest.perform("wait objects=1 timeout=30")
          #expect(try await digest(guest) == before)
        }
      }
    }
  }

  @Test("a damaged copy is not restored, and the damage is named") func damagedBackup() async throws {
    try await RelayRoom.make { room in
      let copy = room.directory + "/copy"
      try await room.running(try room.relay()) { relay in _ = try await relay.createBoard(name: "standup") }
      _ = try await RelayBackup.make(of: room.data, at: copy)
      let file = try #require(try await BoardLibrary(inDataDirectory: copy).list().first).path
      var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
      for index in 4096..<bytes.count { bytes[index] ^= 0xFF }
      try bytes.write(to: URL(fileURLWithPath: file))
      await #expect(throws: WhiteboardError.self) {
        try await RelayBackup.restore(copy, to: room.directory + "/elsewhere")
      }
      #expect(!FileManager.default.fileExists(atPath: room.directory + "/elsewhere"))
    }
  }
}

extension Relay {
  /// Waits until the only board satisfies a condition.
  fileprivate func untilBoard(_ holds: (ServedBoard) -> Bool) async throws {
    while !(boards.values.first.map(holds) ?? false) {
      // A test that is canceled cancels its relay, which then shuts down.
      guard !isEnding else { throw CancellationError() }
      await untilBoardsChange()
    }
  }

  /// Waits until the current state of every board is on disk.
  fileprivate func untilKept() async throws { for board in boards.values { try await board.sharedBoard.storeAll() } }
}

extension ScriptedBoard {
  /// The reported roles in order.
  fileprivate var roles: [String] {
    events.compactMap { event in if case .news(.role(let told)) = event, told.isOwn { told.role } else { nil } }
  }
}

extension SharedBoard {
  fileprivate var document: BoardDocument? { persistence.document }

  fileprivate func storeAll() async throws(DocumentError) { try await persistence.storeAll() }
}
