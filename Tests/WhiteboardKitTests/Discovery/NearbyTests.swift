import PeerDiscovery
import PeerSession
import Testing

@testable import WhiteboardKit

@Suite("The boards that discovery shows") struct NearbyTests {
  private static func peer(_ number: UInt8, _ name: String, board: UInt8 = 9, participants: UInt16 = 1) throws
    -> DiscoveredPeer
  {
    DiscoveredPeer(
      announcement: Announcement(
        peer: try #require(AnnouncedPeerID(bytes: Array(repeating: number, count: 32))),
        session: try #require(AnnouncedSessionID(bytes: Array(repeating: board, count: 16))),
        incarnation: AnnouncedIncarnation(1),
        role: .member,
        boardName: "plan",
        hostName: name,
        participants: participants
      ),
      endpoints: []
    )
  }

  @Test("a board has one line that names all its announcers; boards with equal names have ids") func lines() throws {
    var nearby = Nearby()
    for (number, name) in [(1, "ada"), (2, "ben")] as [(UInt8, String)] {
      nearby.insert(try Self.peer(number, name, participants: UInt16(number)))
    }
    nearby.insert(try Self.peer(1, "ada", board: 7))
    #expect(nearby.boards.count == 2)
    let board = try #require(nearby.boards.first { $0.peers.count == 2 })
    let id = board.id.short
    #expect(board.line(isOwn: false) == #""plan" (\#(id)) by ada and ben, 2 people there"#)
    #expect(board.label == #""plan" (\#(id)) by ada and ben"#)
    #expect(board.line(isOwn: true).hasPrefix(#""plan" (\#(id)): yours"#))
    #expect(
      board.line(isOwn: true, title: "Plan B")
        == #""Plan B" (\#(id)): yours, ada and ben are on it, 2 people there"#
    )
    #expect(nearby.boards(meantBy: "plan").count == 2 && nearby.boards(meantBy: id).map(\.id) == [board.id])
    nearby.remove(try Self.peer(1, "ada", board: 7))
    let only = try #require(nearby.boards.first)
    #expect(only.line(isOwn: false) == #""plan" by ada and ben, 2 people there"#)
    #expect(only.label.hasPrefix(#""plan" by ada ("#))
    nearby.insert(try Self.peer(1, "ada", board: 7))
    nearby.remove(try Self.peer(2, "ben"))
    nearby.insert(try Self.peer(3, "ada"))
    let shared = try #require(nearby.boards.first { $0.peers.count == 2 })
    #expect(shared.names.allSatisfy { $0.hasPrefix("ada (") } && Set(shared.names).count == 2)
    nearby.remove(try Self.peer(3, "ada"))
    #expect(nearby.boards.allSatisfy { $0.line(isOwn: true).contains("yours, ada is on it") })
  }
}
