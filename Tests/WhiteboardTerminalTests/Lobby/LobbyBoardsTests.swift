import Testing

@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("The boards in the lobby") struct LobbyBoardsTests {
  private static func found(_ board: String?, by peer: String) -> SharedBoard.News.FoundBoard {
    .init(peer: peer, name: "Ada", board: board, boardName: "Team", addresses: [], participants: 2)
  }

  @Test("a board is nearby until all peers that announce it are lost") func announcements() {
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

  @Test("a board that does not answer is listed with the user's own boards, or marked") func unreachable() {
    var boards = LobbyBoards()
    boards.own = [.init(name: "Team", path: "/t", about: "3 objects", board: "teamid")]
    for board in ["teamid", "otherid"] { _ = boards.found(Self.found(board, by: "adaid")) }
    for board in ["teamid", "otherid", "unknown"] { boards.answered(false, board) }
    #expect(boards.list == [.nearby("otherid"), .own(boards.own[0])])
    #expect(boards.text(.nearby("otherid")).contains("does not answer"))
    boards.answered(true, "teamid")
    #expect(boards.list == [.nearby("otherid"), .nearby("teamid")])
    boards.answered(false, "teamid")
    _ = boards.found(Self.found("teamid", by: "benid"))
    #expect(boards.nearbyCount == 2)
  }

  @Test("a new search forgets the boards that were nearby before") func newSearch() {
    var boards = LobbyBoards()
    boards.own = [.init(name: "Team", path: "/t", about: "3 objects", board: "teamid")]
    _ = boards.found(Self.found("teamid", by: "adaid"))
    boards.searchBegan()
    #expect(boards.list == [.own(boards.own[0])])
  }

  @Test("a row that the user highlighted stays highlighted when boards appear") func highlight() {
    var lobby = LobbyClient(columns: 80, rows: 24, suggestion: "board")
    lobby.setBoards([.init(name: "A", path: "/a", about: ""), .init(name: "B", path: "/b", about: "", board: "bid")])
    _ = lobby.handleInput(.key(.down, []), now: .zero)
    lobby.found(Self.found("teamid", by: "adaid"))
    #expect(lobby.boards.list[lobby.chosen].key == "bid")
    lobby.found(Self.found("bid", by: "adaid"))
    #expect(lobby.boards.list[lobby.chosen] == .nearby("bid"))
    lobby.searchBegan()
    #expect(lobby.boards.list[lobby.chosen].key == "bid")
  }

  @Test("a relay, which announces no board, is not listed") func relay() {
    var boards = LobbyBoards()
    let isBoard = boards.found(Self.found(nil, by: "relay"))
    #expect(!isBoard && boards.list.isEmpty)
  }

  @Test("two boards with the same name are listed with their ids, or with their files") func namesakes() {
    var boards = LobbyBoards()
    _ = boards.found(Self.found("teamid", by: "ada"))
    #expect(!boards.text(.nearby("teamid")).contains("(teamid)"))
    _ = boards.found(Self.found("otherid", by: "ben"))
    for id in ["teamid", "otherid"] { #expect(boards.text(.nearby(id)).contains("(\(id))")) }
    boards.own = ["/a/plan.whiteboard", "/a/plan-2.whiteboard"].map {
      .init(name: "plan", path: $0, about: "today", board: nil, title: nil)
    }
    let texts = boards.own.map { boards.text(.own($0)) }
    #expect(texts == ["plan (plan.whiteboard)  today", "plan (plan-2.whiteboard)  today"])
  }

  @Test("two peers with the same name are listed with their ids") func names() {
    var boards = LobbyBoards()
    for peer in ["adaid", "otherid"] { _ = boards.found(Self.found("teamid", by: peer)) }
    #expect(boards.text(.nearby("teamid")).contains("Ada (adaid) and Ada (otherid)"))
  }
}
