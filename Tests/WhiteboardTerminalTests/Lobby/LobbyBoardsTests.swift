import Testing

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The boards in the lobby")
struct LobbyBoardsTests {
  private static func found(_ board: String?, by peer: String) -> BoardEvent.FoundBoard {
    .init(peer: peer, name: "Ada", board: board, boardName: "Team", addresses: [], participants: 2)
  }

  @Test("a board is nearby until all peers that announce it are lost")
  func announcements() {
    var boards = LobbyBoards()
    boards.own = [.init(name: "Team", path: "/t", about: "3 objects", board: "teamid")]
    for peer in ["adaid", "benid"] {
      let isBoard = boards.found(Self.found("teamid", by: peer))
      #expect(isBoard && boards.list == [.nearby("teamid")])
    }
    boards.lost(.init(peer: "adaid", name: "Ada", board: "teamid"))
    #expect(boards.nearbyCount == 1 && boards.list == [.nearby("teamid")])
    boards.lost(.init(peer: "benid", name: "Ben", board: "teamid"))
    #expect(boards.hasNoneNearby && boards.list == [.own(boards.own[0])])
  }

  @Test("a relay, which announces no board, is not listed")
  func relay() {
    var boards = LobbyBoards()
    let isBoard = boards.found(Self.found(nil, by: "relay"))
    #expect(!isBoard && boards.list.isEmpty)
  }

  @Test("two peers with the same name are listed with their ids")
  func names() {
    var boards = LobbyBoards()
    for peer in ["adaid", "otherid"] { _ = boards.found(Self.found("teamid", by: peer)) }
    #expect(boards.text(.nearby("teamid")).contains("Ada (adaid) and Ada (otherid)"))
  }
}
