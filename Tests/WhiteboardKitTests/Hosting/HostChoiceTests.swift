import CommandLines
import PeerSession
import Testing

@testable import WhiteboardKit

/// How a board admits peers when its host opens it again.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostChoiceTests: BoardSuite {
  private let identity = PeerIdentity.ephemeral()

  @Test("a choice has a stored form, and unknown words are skipped") func text() {
    for (choice, text) in [
      (HostChoice(), nil), (HostChoice(admission: .ask), "ask"), (HostChoice(membersAdmit: false), "no-members"),
      (HostChoice(admission: .code, membersAdmit: true), "code members"),
    ] as [(HostChoice, String?)] {
      #expect(choice.text == text)
      #expect(HostChoice(text: text ?? "") == choice)
    }
    #expect(HostChoice(text: "later known  words") == HostChoice(admission: .known))
    #expect(
      HostChoice(membersAdmit: true).over(HostChoice(admission: .ask, membersAdmit: false))
        == HostChoice(admission: .ask, membersAdmit: true)
    )
  }

  @Test("a relay is not given a board whose host was asked before, because it has no user to ask") func relay()
    async throws
  {
    try await withRoom { room in
      var configuration = await room.configuration(.host(boardName: "board"), "ada")
      configuration.hostAdmission = .code
      #expect(configuration.hostPolicy(HostChoice(admission: .ask), code: nil) == .ask)
      configuration.carrier = .nearby
      guard case .code = configuration.hostPolicy(HostChoice(admission: .ask), code: nil) else {
        Issue.record("the policy still asks")
        return
      }
      #expect(configuration.hostPolicy(HostChoice(admission: .known), code: nil) == .known)
    }
  }

  /// Hosts the board once, on a terminal that asks by default, and returns its event `ready`.
  private func hosted(
    in room: BoardRoom,
    as part: BoardConfiguration.Part = .host(boardName: "board"),
    choosing choice: HostChoice = HostChoice(),
    code: JoinCode? = nil,
    topology: SessionTopology? = nil,
    otherwise standard: BoardConfiguration.Admission = .ask,
    isListening: Bool = true,
    during body: (ScriptedBoard, SharedBoard.News.Ready) async throws -> Void = { _, _ in }
  ) async throws -> SharedBoard.News.Ready {
    var configuration = await room.configuration(part, "ada")
    configuration.identity = identity
    configuration.hostAdmission = standard
    configuration.admission = choice.admission
    configuration.membersAdmit = choice.membersAdmit
    configuration.code = code
    configuration.topology = topology
    if !isListening {
      configuration.isListening = false
      configuration.isAnnounced = false
      configuration.discovery = nil
    }
    let (host, hosting) = (ScriptedBoard(), configuration)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await host.run(hosting) }
      let ready = try #require(await host.ready())
      try await body(host, ready)
      await host.end()
      try await group.waitForAll()
      return ready
    }
  }

  @Test("the admission that a host chose stays with its copy of the board until it chooses again") func kept()
    async throws
  {
    try await withRoom { room in
      // Without a choice, nothing is stored.
      #expect(try await hosted(in: room, otherwise: .code).admit == "code")
      #expect(try await hosted(in: room).admit == "ask")

      for admission in [BoardConfiguration.Admission.anyone, .known, .ask] {
        let choice = HostChoice(admission: admission)
        #expect(try await hosted(in: room, choosing: choice).admit == admission.rawValue)
        #expect(try await hosted(in: room, otherwise: .code).admit == admission.rawValue)
      }
      let first = try await hosted(in: room, choosing: HostChoice(admission: .code))
      #expect(first.admit == "code" && first.code != nil)
      let board = try #require(SessionID(text: first.board))
      let copies = StoredCopies(await room.configuration(.host(boardName: "board"), "ada"))
      #expect(await copies.member(of: board)?.hostChoice == HostChoice(admission: .code))
      for part in [BoardConfiguration.Part.host(boardName: "board"), .keep(board: board, boardName: "board")] {
        let again = try await hosted(in: room, as: part)
        #expect(again.admit == "code")
        #expect(again.code == first.code)
      }
      // An import admits no peer, so it stores no choice.
      _ = try await hosted(in: room, choosing: HostChoice(admission: .known), isListening: false)
      #expect(try await hosted(in: room).admit == "code")
      // A host that gives a code admits by code.
      let code = JoinCode.random()
      #expect(try await hosted(in: room, code: code).code == code.text)
      #expect(try await hosted(in: room).code == code.text)
    }
  }

  @Test("[RLY-18] the topology that a host chose stays with its copy of the board until it chooses again")
  func topology() async throws {
    try await withRoom { room in
      let copies = StoredCopies(await room.configuration(.host(boardName: "board"), "ada"))
      let steps: [(chosen: SessionTopology?, stored: SessionTopology?)] = [
        (nil, nil), (.star, .star), (nil, .star), (.mesh, .mesh), (nil, .mesh),
      ]
      for step in steps {
        let board = try #require(SessionID(text: try await hosted(in: room, topology: step.chosen).board))
        #expect(await copies.member(of: board)?.membership?.topology == step.stored)
      }
    }
  }

  @Test("a host that returns through a member admits as it chose before, and can choose again") func returning()
    async throws
  {
    try await withRoom { room in
      let ben = ScriptedBoard()
      try await withThrowingTaskGroup(of: Void.self) { group in
        _ = try await hosted(in: room, choosing: HostChoice(admission: .anyone, membersAdmit: false)) { host, ready in
          let joining = await room.configuration(
            .join(.link(try BoardLink(ready.link)), patience: .seconds(1)),
            "ben"
          )
          group.addTask { try await ben.run(joining) }
          try #require(await ben.ready() != nil)
          try await host.perform("wait peers=1 timeout=30")
        }
        let member = try #require(await ben.ready())
        let address = try #require(member.addresses.first.flatMap { HostPort($0) })
        let link = BoardLink(address: address, board: member.board, peer: member.peer)
        let part = BoardConfiguration.Part.join(.link(link), patience: .seconds(30))
        #expect(try await hosted(in: room, as: part).admit == "anyone")
        #expect(try await hosted(in: room, as: part, choosing: HostChoice(admission: .known)).admit == "known")
        #expect(try await hosted(in: room, as: part).admit == "known")
        await ben.end()
        try await group.waitForAll()
      }
      #expect(try await hosted(in: room).admit == "known")
      let configuration = await room.configuration(.host(boardName: "board"), "ada")
      let copies = StoredCopies(configuration)
      let board = try #require(SessionID(text: try await hosted(in: room).board))
      #expect(await copies.member(of: board)?.hostChoice == HostChoice(admission: .known, membersAdmit: false))
    }
  }
}
