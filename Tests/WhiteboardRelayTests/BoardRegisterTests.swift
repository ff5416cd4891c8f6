import FoundationEssentials
import PeerSession
import Testing
import WhiteboardKit

@testable import WhiteboardRelay

@Suite struct BoardRegisterTests {
  private func entry(_ name: String) -> BoardRegister.Entry {
    BoardRegister.Entry(
      board: SessionID.random().text,
      name: name,
      admission: "code",
      code: "river-maple-candy-frost",
      since: 1,
      visited: 2
    )
  }

  @Test("a register reloads with the same boards in the same order; only its owner can read it") func roundTrip()
    async throws
  {
    try await RelayRoom.make { room in
      var register = try BoardRegister(inDataDirectory: room.data)
      #expect(register.entries.isEmpty)
      var first = entry("one")
      let second = entry("two")
      try register.set([first, second])
      first.isPinned = true
      try register.set(first)
      #expect(try BoardRegister(inDataDirectory: room.data).entries == [first, second])
      try register.remove(try #require(first.id))
      #expect(try BoardRegister(inDataDirectory: room.data).entries == [second])
      let attributes = try FileManager.default.attributesOfItem(atPath: room.data + "/relay.json")
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
  }

  @Test("a board is found by its name, or by at least four characters of its id") func found() async throws {
    try await RelayRoom.make { room in
      var register = try BoardRegister(inDataDirectory: room.data)
      let board = entry("one")
      try register.set(board)
      #expect(try register.entry("one") == board)
      #expect(try register.entry(String(board.board.prefix(4))) == board)
      for text in ["", "on", String(board.board.prefix(3))] {
        #expect(throws: WhiteboardError.self) { try register.entry(text) }
      }
    }
  }

  @Test(
    "a malformed file is an error with advice, and is not changed",
    arguments: ["", "{", #"{"version":2,"boards":[]}"#, #"{"version":1,"boards":[{}]}"#]
  ) func damaged(text: String) async throws {
    try await RelayRoom.make { room in
      let path = room.data + "/relay.json"
      try PrivateFile(path: path).replace(Array(text.utf8))
      #expect { () throws in try BoardRegister(inDataDirectory: room.data) } throws: {
        ($0 as? WhiteboardError)?.code == .badData
      }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
  }
}
