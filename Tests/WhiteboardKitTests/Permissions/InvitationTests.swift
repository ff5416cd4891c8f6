import CommandLines
import PeerSession
import Testing

@testable import WhiteboardKit

/// Requests to join that the host's user decides.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InvitationTests: BoardSuite {
  private func invitation(_ scriptedBoard: ScriptedBoard, from name: String) async -> SharedBoard.News.Invitation? {
    _ = await scriptedBoard.sees { if case .news(.invitation(let i)) = $0 { i.name.raw == name } else { false } }
    for case .news(.invitation(let invitation)) in await scriptedBoard.events where invitation.name.raw == name {
      return invitation
    }
    return nil
  }

  /// Runs a host that asks its user and stores known peers in a file.
  private func withAsking(
    _ board: String,
    in room: BoardRoom,
    as identity: PeerIdentity = .ephemeral(),
    _ body: (ScriptedBoard, HostPort) async throws -> Void
  ) async throws {
    let host = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      var hosting = await room.configuration(.host(boardName: board), "ada")
      hosting.admission = .ask
      hosting.identity = identity
      hosting.peerStore = try PeerStore(file: room.path("ada-peers/peers.json"))
      let asking = hosting
      group.addTask { try await host.run(asking) }
      let text = try #require(await host.ready()?.addresses.first)
      try await body(host, try #require(HostPort(text)))
      await host.end()
      try await group.waitForAll()
    }
  }

  private func message(_ scriptedBoard: ScriptedBoard, _ line: String) async -> String? {
    do throws(CommandError) {
      try await scriptedBoard.perform(line)
      return nil
    } catch { return error.code == .noSuchInvitation ? error.message : nil }
  }

  @Test("a question ends when the peer stops asking, and a late answer gets an error message") func gone() async throws
  {
    try await withRoom { room in
      try await withAsking("board", in: room) { host, address in
        let guest = ScriptedBoard()
        let joining = await room.configuration(.join(.address(address), patience: .seconds(1)), "ben")
        let attempt = Task { try await guest.run(joining) }
        let asked = try #require(await invitation(host, from: "ben"))
        #expect(asked.known == nil)
        await guest.end()
        try await attempt.value
        let isTold = await host.sees {
          if case .news(.note(let note)) = $0 {
            note.code == "invitation-ended" && note.invitation == asked.id
              && note.message.contains("no longer asks to join")
          } else {
            false
          }
        }
        #expect(isTold)
        for line in ["accept \(asked.id)", "accept ben", "decline last", "accept ben always"] {
          let told = try #require(await message(host, line))
          let problem = line == "decline last" ? "no request is waiting" : "nothing left to answer"
          #expect(told.contains("ben") && told.contains(problem), "\(line)")
        }
        // If the user leaves the board, the question ends, too.
        let second = ScriptedBoard()
        let again = await room.configuration(.join(.address(address), patience: .seconds(1)), "cy")
        let refused = Task { try await second.run(again) }
        let open = try #require(await invitation(host, from: "cy"))
        try await host.perform("leave")
        await #expect(throws: WhiteboardError.self) { try await refused.value }
        let isOver = await host.sees {
          if case .news(.note(let note)) = $0 { note.invitation == open.id } else { false }
        }
        #expect(isOver)
        #expect(await message(host, "accept nobody")?.contains("no invitation is called") == true)
      }
    }
  }

  @Test("[ADM-10] a peer that is always admitted is not asked about again, on any board") func always() async throws {
    try await withRoom { room in
      let (ada, ben) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral())
      var joining = await room.configuration(.join(.nearby, patience: .seconds(1)), "ben")
      joining.identity = ben
      joining.peerStore = try PeerStore(file: room.path("ben-peers/peers.json"))
      for (board, isAsked) in [("first", true), ("second", false)] {
        try await withAsking(board, in: room, as: ada) { host, address in
          let guest = ScriptedBoard()
          var part = joining
          part.part = .join(.address(address), patience: .seconds(1))
          let entering = part
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await guest.run(entering) }
            if isAsked {
              let outgoing = try #require(await invitation(guest, from: "ada"))
              _ = try #require(await invitation(host, from: "ben"))
              try await guest.perform("accept \(outgoing.id)")
              try await host.perform("accept ben always")
            }
            try #require(await guest.ready() != nil)
            try await host.perform("wait peers=1 timeout=30")
            let questions = await host.events.count { if case .news(.invitation) = $0 { true } else { false } }
            #expect(questions == (isAsked ? 1 : 0))
            await guest.end()
            try await group.waitForAll()
          }
        }
      }
      let stored = await (try PeerStore(file: room.path("ada-peers/peers.json"))).all
      #expect(stored.map(\.isAlwaysAdmitted) == [true])
    }
  }

  @Test("users who know each other's keys need not compare words on another board") func known() async throws {
    try await withRoom { room in
      let (ada, ben) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral())
      var joining = await room.configuration(.join(.nearby, patience: .seconds(1)), "ben")
      joining.identity = ben
      joining.peerStore = try PeerStore(file: room.path("ben-peers/peers.json"))
      for (board, isKnown) in [("first", false), ("second", true)] {
        try await withAsking(board, in: room, as: ada) { host, address in
          let guest = ScriptedBoard()
          var part = joining
          part.part = .join(.address(address), patience: .seconds(1))
          let entering = part
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await guest.run(entering) }
            let incoming = try #require(await invitation(host, from: "ben"))
            let outgoing = try #require(await invitation(guest, from: "ada"))
            #expect(incoming.known == (isKnown ? true : nil))
            #expect(outgoing.mustAnswer == !isKnown)
            if !isKnown { try await guest.perform("accept \(outgoing.id)") }
            try await host.perform("accept ben")
            try #require(await guest.ready() != nil)
            try await host.perform("wait peers=1 timeout=30")
            await guest.end()
            try await group.waitForAll()
          }
        }
      }
    }
  }

  /// Joins a board whose host asks its user, until `body` is done.
  private func withMember(
    of host: ScriptedBoard,
    _ name: String,
    in room: BoardRoom,
    _ body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void
  ) async throws {
    let member = ScriptedBoard()
    try await withThrowingTaskGroup(of: Void.self) { group in
      let link = try BoardLink(try #require(await host.ready()).link)
      let joining = await room.configuration(.join(.link(link), patience: .seconds(1)), name)
      group.addTask { try await member.run(joining) }
      let asked = try #require(await invitation(host, from: name))
      try await host.perform("accept \(asked.id)")
      let ready = try #require(await member.ready())
      try await body(member, ready)
      await member.end()
      try await group.waitForAll()
    }
  }

  @Test("[TCK-6] a member of a board whose host asks admits newcomers after the host has left") func askedMember()
    async throws
  {
    try await withRoom { room in
      try await withAsking("board", in: room) { host, _ in
        try await withMember(of: host, "ben", in: room) { ben, ready in
          #expect(ready.admit == "ask" && !ready.link.isEmpty && ready.admitters == nil)
          await host.end()
          try await withMember(of: ben, "dora", in: room) { _, ready in
            // Only the host can give the right to admit, so the newcomer shows no link. It shows the name of a member
            // that can admit peers.
            #expect(ready.link.isEmpty && ready.admitters?.map(\.name.raw) == ["ben"])
          }
        }
      }
    }
  }

  @Test("[MEM-17] a host that returns through a member hosts as before, and meets those admitted in its absence")
  func returningHost() async throws {
    try await withRoom { room in
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      hosting.hostAdmission = .ask
      hosting.admission = .ask
      let (first, again) = (ScriptedBoard(), ScriptedBoard())
      let opening = hosting
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await first.run(opening) }
        try await withMember(of: first, "ben", in: room) { ben, ready in
          await first.end()
          try await withMember(of: ben, "cy", in: room) { cy, _ in
            var returning = hosting
            returning.admission = nil
            returning.part = .join(.link(try BoardLink(ready.link)), patience: .seconds(30))
            let joining = returning
            group.addTask { try await again.run(joining) }
            let host = try #require(await again.ready())
            #expect(host.admit == "ask" && !host.link.isEmpty && host.admitters == nil)
            // The three members are connected, even after the member between them has left.
            for board in [again, cy, ben] { try await board.perform("wait peers=2 timeout=30") }
            let isClosed = await ben.events.contains { event in
              if case .news(.admission(let admission)) = event { admission.admit != "ask" } else { false }
            }
            #expect(!isClosed)
            await ben.end()
            try await cy.perform("text 0,0 \"still here\"")
            try await again.perform("wait objects=1 timeout=30")
            // The host gave the newcomer the right to admit, too.
            let hasRight = await cy.sees {
              if case .news(.admission(let admission)) = $0 {
                admission.admit == "ask" && !admission.link.isEmpty
              } else {
                false
              }
            }
            #expect(hasRight)
            try await withMember(of: again, "dora", in: room) { dora, _ in
              try await dora.perform("wait peers=2 timeout=30")
            }
            await again.end()
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
