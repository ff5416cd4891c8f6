import CommandLines
import FoundationEssentials
import PeerCore
import PeerSession
import Testing
import WhiteboardTerminal

@testable import WhiteboardKit

/// Boards that their hosts own, over real sessions.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OwnedBoardTests: BoardSuite {
  /// Runs a host that owns its board, and ends it.
  private func withOwner(
    _ name: String = "board",
    in room: BoardRoom,
    _ change: (inout BoardConfiguration) -> Void = { _ in },
    _ body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void
  ) async throws {
    var configuration = await room.configuration(.host(boardName: name), "ada")
    configuration.isOwned = true
    change(&configuration)
    let hosting = configuration
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await host.run(hosting) }
      guard let ready = await host.ready() else {
        try await group.next()
        return
      }
      try await body(host, ready)
      await host.end()
      try await group.waitForAll()
    }
  }

  private func withGuest(
    _ link: String,
    in room: BoardRoom,
    as name: String = "ben",
    identity: PeerIdentity = .ephemeral(),
    _ body: (ScriptedBoard) async throws -> Void
  ) async throws {
    var configuration = await room.configuration(.join(.link(try BoardLink(link)), patience: .seconds(10)), name)
    configuration.identity = identity
    let joining = configuration
    let guest = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await guest.run(joining) }
      guard await guest.ready() != nil else {
        try await group.next()
        return
      }
      try await body(guest)
      await guest.end()
      try await group.waitForAll()
    }
  }

  private final class Count: Sendable {
    private let count = Locked(0)

    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
  }

  @Test("[CST-18] only the owner may show the board to people who are not members") func pictures() async throws {
    try await withRoom { room in
      try await withOwner(in: room, Self.showToOthers) { host, ready in
        #expect(
          await host.sees {
            guard case .news(.note(let note)) = $0 else { return false }
            return note.message == "pictures: https://192.0.2.7:8080/secret/" && note.links?.count == 2
              && note.fingerprint == "4F:4F"
          }
        )
        for command in ["invite", "invite view"] {
          let link = try await invited(host, command).link
          var joining = await room.configuration(.join(.link(try BoardLink(link)), patience: .seconds(10)), command)
          Self.showToOthers(&joining)
          let (guest, configuration) = (ScriptedBoard(), joining)
          let error = await #expect(throws: WhiteboardError.self) { try await guest.run(configuration) }
          #expect(error?.message.hasPrefix("only the owner of the board can show it") == true)
          let isServed = await guest.events.contains {
            if case .news(.note(let note)) = $0 { note.links != nil } else { false }
          }
          #expect(!isServed)
        }
      }
    }
  }

  @Test("[CST-18] a member that cannot admit people may not show the board to others; other members may")
  func picturesByMembers() async throws {
    try await withRoom { room in
      for admission in [BoardConfiguration.Admission.code, .ask] {
        let (host, guest) = (ScriptedBoard(), ScriptedBoard())
        try await withThrowingTaskGroup(of: Void.self) { group in
          var hosting = await room.configuration(.host(boardName: "\(admission)"), "ada \(admission)")
          hosting.admission = admission
          hosting.membersAdmit = false
          let asking = hosting
          group.addTask { try await host.run(asking) }
          var joining = try await room.joining(try #require(await host.ready()))
          Self.showToOthers(&joining)
          let configuration = joining
          let outcome = Task { try await guest.run(configuration) }
          if admission == .ask {
            #expect(await host.sees { if case .news(.invitation) = $0 { true } else { false } })
            try await host.perform("accept ben")
            let error = await #expect(throws: WhiteboardError.self) { try await outcome.value }
            #expect(error?.message.hasPrefix("you cannot admit people to this board, so") == true)
          } else {
            #expect(await guest.sees { if case .news(.note(let note)) = $0 { note.links != nil } else { false } })
            await guest.end()
            try await outcome.value
          }
          await host.end()
          try await group.waitForAll()
        }
      }
    }
  }

  private static func showToOthers(_ configuration: inout BoardConfiguration) {
    configuration.framePainter = BoardPainter()
    configuration.broadcast = Broadcast.Options()
    configuration.servesBroadcastToOthers = true
    configuration.serveBroadcast = { broadcast, report in
      await report(["https://192.0.2.7:8080/secret/", "https://ada.local:8080/secret/"], "4F:4F")
      for await _ in broadcast.events {}
    }
  }

  /// Waits until a role was reported a number of times.
  private func sees(_ scriptedBoard: ScriptedBoard, _ role: String, ofSelf isOwn: Bool, times: Int = 1) async -> Bool {
    let count = Count()
    return await scriptedBoard.sees {
      guard case .news(.role(let told)) = $0, told.role == role, told.isOwn == isOwn else { return false }
      return count.next() == times
    }
  }

  private func invited(_ scriptedBoard: ScriptedBoard, _ line: String) async throws -> SharedBoard.News.Invited {
    try await scriptedBoard.perform(line)
    var last: SharedBoard.News.Invited?
    for case .answer(.news(.invited(let invited)), _) in await scriptedBoard.events { last = invited }
    return try #require(last)
  }

  @Test("[AUT-11] a peer that joins an owned board can edit at once, and both sides get the roles") func joining()
    async throws
  {
    try await withRoom { room in
      try await withOwner(in: room) { host, ready in
        try await withGuest(ready.link, in: room) { guest in
          // The first command of a script must not run too early.
          try await guest.perform("text 0,0 mine")
          try await host.perform("wait objects=1 timeout=30")
          #expect(await sees(guest, "editor", ofSelf: true))
          #expect(await sees(host, "editor", ofSelf: false))
          try await host.perform("role ben viewer")
          // A new member is a viewer until it gets a role.
          #expect(await sees(guest, "viewer", ofSelf: true, times: 2))
          let refused = await error(guest, "text 0,0 more")
          #expect(refused == .viewer)
          let refusedToo = await error(guest, "role ada viewer")
          #expect(refusedToo == .viewer)
          try await host.perform("role ben editor")
          try await host.perform("wait synced timeout=30")
          try await guest.perform("text 0,0 again")
          try await host.perform("wait objects=2 timeout=30")
        }
      }
    }
  }

  @Test("[AUT-11] after a restart, a board has the same owner, and a guest the same role") func restart() async throws {
    try await withRoom { room in
      let (ada, ben) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral())
      var board = ""
      try await withOwner(in: room, { $0.identity = ada }) { host, ready in
        board = ready.board
        try await withGuest(ready.link, in: room, identity: ben) { guest in
          try await guest.perform("text 0,0 mine")
          try await guest.perform("wait synced timeout=30")
        }
      }
      // Hosted without `isOwned`: the stored board decides whether it is owned.
      try await withOwner(
        in: room,
        {
          $0.identity = ada
          $0.isOwned = false
        }
      ) { host, ready in
        #expect(ready.board == board)
        try await host.perform("text 0,0 too")
        try await withGuest(ready.link, in: room, identity: ben) { guest in
          try await guest.perform("text 0,0 again")
          try await host.perform("wait objects=3 timeout=30")
        }
      }
    }
  }

  @Test("--owned does not change an existing board") func openBoard() async throws {
    try await withRoom { room in
      try await withOwner(in: room, { $0.isOwned = false }) { host, _ in
        #expect(await error(host, "role ben viewer") == .noSuchPeer)
        try await host.perform("text 0,0 x")
      }
      await #expect { try await withOwner(in: room) { _, _ in } } throws: { ($0 as? WhiteboardError)?.code == .usage }
    }
  }

  @Test("[AUT-13] a kicked member can no longer edit anywhere, and its earlier drawing stays") func kick() async throws
  {
    try await withRoom { room in
      try await withOwner(in: room) { host, ready in
        try await withGuest(ready.link, in: room) { guest in
          try await guest.perform("text 0,0 mine")
          try await host.perform("wait objects=1 timeout=30")
          try await host.perform("kick ben")
          #expect(await sees(guest, "viewer", ofSelf: true))
          try await host.perform("wait peers=0 timeout=30")
          try await host.perform("wait objects=1 timeout=1")
        }
      }
    }
  }

  @Test("[ADM-9] an additional code admits viewers, and an expired code admits no peer") func codes() async throws {
    try await withRoom { room in
      try await withOwner(in: room) { host, _ in
        let view = try await invited(host, "invite view")
        #expect(view.role == "viewer" && view.expires == nil)
        try await withGuest(view.link, in: room) { guest in
          #expect(await error(guest, "text 0,0 x") == .viewer)
          #expect(await sees(guest, "viewer", ofSelf: true))
        }
        let short = try await invited(host, "invite expires=1s")
        #expect(short.role == "editor" && short.expires != nil)
        try await host.perform("wait 1.1")
        await #expect { try await withGuest(short.link, in: room, as: "cy") { _ in } } throws: {
          ($0 as? WhiteboardError)?.code == .notAllowed
        }
      }
    }
  }

  @Test("[ADM-9] another program of the same user can create a code if the board is open") func askedFor() async throws
  {
    try await withRoom { room in
      try await withOwner(in: room) { _, ready in
        let directory = room.path("ada")
        let open = try #require(OpenBoard.all(inDataDirectory: directory).first)
        let answer = try await InvitationRequest.ask(
          InvitationTerms(isView: true, seconds: 3600),
          of: open,
          inDataDirectory: directory
        )
        #expect(answer.role == "viewer" && answer.expires != nil)
        let invitation = BoardInvitation(open, answer)
        #expect(invitation.code == answer.code && invitation.links.count > 0)
        try await withGuest(invitation.links[0], in: room) { guest in
          #expect(await error(guest, "text 0,0 x") == .viewer)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: directory + "/open")
        #expect(left == ["\(ready.board).json"])
      }
      try await withOwner("other", in: room, { $0.isOwned = false }) { _, _ in
        let directory = room.path("ada")
        let open = try #require(OpenBoard.all(inDataDirectory: directory).first)
        await #expect {
          try await InvitationRequest.ask(InvitationTerms(isView: true), of: open, inDataDirectory: directory)
        } throws: { ($0 as? WhiteboardError)?.message.contains("--owned") ?? false }
      }
    }
  }

  @Test(
    "the lifetime of a code is a number and a unit",
    arguments: [
      ("90s", 90), ("15m", 900), ("2h", 7200), ("30d", 2_592_000), ("31d", nil), ("0s", nil), ("2", nil), ("h", nil),
      ("-1h", nil), ("9223372036854775807d", nil), ("", nil),
    ] as [(String, Int?)]
  ) func times(text: String, seconds: Int?) { #expect(InvitationTerms.seconds(text) == seconds) }
}
