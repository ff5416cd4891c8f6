import CommandLines
import FoundationEssentials
import PeerCore
import PeerSession
import Testing
import WhiteboardDocument

@testable import WhiteboardKit

/// Boards whose file another person wrote.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ForeignFileTests: BoardSuite {
  private let board = SessionID.ofOpenBoard()
  private let code = JoinCode.random()
  private let identity = PeerIdentity.ephemeral()
  private let stranger = PeerIdentity.ephemeral().peerID

  /// Creates a file with a member and a code, as another program with its own data directory does.
  private func gift(_ room: BoardRoom, admission: String = "code") async throws -> String {
    let path = room.path("gift.whiteboard")
    let document = try await BoardDocument.create(
      at: path,
      board: board.bytes,
      name: "gift",
      now: BoardFile.now,
      seal: .loadOrCreate(inDirectory: room.directory)
    )
    var record = MembershipRecord(host: stranger)
    record.members = [
      .init(
        peer: PeerIdentity.ephemeral().peerID,
        name: UntrustedText("mal"),
        addresses: [PeerAddress(host: "127.0.0.1", port: 9)]
      )
    ]
    try await document.setMembership(record.json, code: code.text)
    try await document.setFact(.admission, admission)
    try await document.setFact(.browserLinks, "[]")
    try await document.setFact(.removal, "{}")
    try await document.close()
    return path
  }

  private func hosted(_ path: String, in room: BoardRoom, trusted: Bool) async throws -> (
    code: String?, host: PeerID?, members: Int, warnings: [String]
  ) {
    var configuration = await room.configuration(.host(boardName: ""), "ada")
    configuration.identity = identity
    configuration.boardFile = path
    configuration.trustsFile = trusted
    let host = ScriptedBoard()
    let hosting = configuration
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await host.run(hosting) }
      let ready = try #require(await host.ready())
      let session = try #require(await host.sharedBoard?.session)
      let record = try await session.membershipRecord()
      await host.end()
      try await group.waitForAll()
      let warnings = await host.events.compactMap { event -> String? in
        if case .news(.warning(let remark)) = event { remark.code } else { nil }
      }
      return (ready.code, record.host, record.members.count, warnings)
    }
  }

  @Test("[REC-20] a foreign file connects nowhere, admits no key and gives no code") func foreign() async throws {
    try await withRoom { room in
      let path = try await gift(room, admission: "anyone")
      let first = try await hosted(path, in: room, trusted: false)
      #expect(first.code != code.text && first.code != nil)
      #expect(first.host != stranger && first.members == 0)
      #expect(first.warnings.contains("foreign-file"))
      // From now on, the board belongs to this computer.
      let again = try await hosted(path, in: room, trusted: false)
      #expect(again.code == first.code && again.host == first.host)
      #expect(!again.warnings.contains("foreign-file"))
    }
  }

  @Test("[REC-20] a copy from another computer of the user keeps its members and its code") func trusted() async throws
  {
    try await withRoom { room in
      let path = try await gift(room)
      #expect(await BoardFile.hasForeignFacts(path, dataDirectory: room.path("ada")))
      for isFirst in [true, false] {
        let found = try await hosted(path, in: room, trusted: isFirst)
        #expect(found.code == code.text && found.host == stranger && found.members == 1)
        #expect(!found.warnings.contains("foreign-file"))
      }
      #expect(await !BoardFile.hasForeignFacts(path, dataDirectory: room.path("ada")))
    }
  }

  @Test("[REC-20] a foreign copy in the data directory is not used to join its board") func joining() async throws {
    try await withRoom { room in
      let configuration = await room.configuration(.host(boardName: "x"), "ada")
      try configuration.createDirectories()
      _ = configuration.boardLibrary
      let copy = configuration.boardLibrary.path(name: "gift", board: board.bytes)
      try FileManager.default.copyItem(atPath: try await gift(room), toPath: copy)
      let stored = try #require(await StoredCopies(configuration).member(of: board))
      #expect(stored.code == nil && stored.membership == nil)
    }
  }
}
