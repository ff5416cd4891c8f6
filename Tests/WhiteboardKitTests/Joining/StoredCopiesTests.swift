import PeerCore
import PeerDiscovery
import PeerSession
import Testing
import WhiteboardDocument

@testable import WhiteboardKit

@Suite struct StoredCopiesTests: BoardSuite {
  private let board = SessionID.ofOpenBoard()

  private func store(_ room: BoardRoom, code: JoinCode, at address: PeerAddress) async throws -> BoardConfiguration {
    let configuration = await room.configuration(.host(boardName: "plan"), "ada")
    try configuration.createDirectories()
    var record = MembershipRecord(host: PeerIdentity.ephemeral().peerID)
    record.members = [.init(peer: PeerIdentity.ephemeral().peerID, name: UntrustedText("ben"), addresses: [address])]
    let document = try await configuration.boardLibrary.open(board: board.bytes, name: "plan", now: BoardFile.now)
    try await document.setMembership(record.json, code: code.text)
    try await document.close()
    return configuration
  }

  @Test("a copy is found by its board and by the address of a member, with the code and the members") func finding()
    async throws
  {
    try await withRoom { room in
      let code = JoinCode.random()
      let address = PeerAddress(host: "10.0.0.2", port: 4)
      let copies = StoredCopies(try await store(room, code: code, at: address))
      let stored = try #require(await copies.member(of: board))
      #expect(stored.code == code)
      #expect(stored.membership?.members.map(\.name.raw) == ["ben"])
      #expect(await copies.members(at: address).map(\.board) == [board])
      #expect(await copies.members(at: PeerAddress(host: "10.0.0.3", port: 4)).isEmpty)
      #expect(await copies.member(of: .ofOpenBoard()) == nil)
    }
  }

  @Test("[ADM-3] a code that was removed is not offered again") func removingTheCode() async throws {
    try await withRoom { room in
      let address = PeerAddress(host: "10.0.0.2", port: 4)
      let copies = StoredCopies(try await store(room, code: .random(), at: address))
      await copies.removeCode(of: board)
      let stored = try #require(await copies.member(of: board))
      #expect(stored.code == nil)
      #expect(stored.membership != nil)
    }
  }

  @Test("copies are not used if boards are not saved, or while a board is recorded") func unused() async throws {
    try await withRoom { room in
      let address = PeerAddress(host: "10.0.0.2", port: 4)
      let configuration = try await store(room, code: .random(), at: address)
      var ephemeral = configuration
      ephemeral.remembersBoards = false
      var recording = configuration
      recording.recordingFile = room.path("recording")
      for configuration in [ephemeral, recording] {
        let copies = StoredCopies(configuration)
        #expect(await copies.member(of: board) == nil)
        #expect(await copies.members(at: address).isEmpty)
        #expect(await copies.knownPeers(includesBoards: true).boards.isEmpty)
      }
      let copies = StoredCopies(configuration)
      #expect(await copies.knownPeers(includesBoards: true).boards == [board])
      #expect(await copies.knownPeers(includesBoards: false).boards.isEmpty)
    }
  }

  @Test("a known peer has precedence over a known board") func rank() {
    let (ada, ben) = (PeerIdentity.ephemeral().peerID, PeerIdentity.ephemeral().peerID)
    let other = SessionID.ofOpenBoard()
    var known = KnownPeers(peers: [ada], boards: [board])
    #expect(known.rank(of: ada, on: other) == .knownPeer)
    #expect(known.rank(of: ben, on: board) == .knownSession)
    #expect(known.rank(of: ben, on: other) == .unknown)
    known.members[board] = [ben]
    #expect(known.rank(of: ben, on: board) == .knownPeer)
    #expect(known.rank(of: ben, on: other) == .unknown)
  }
}
