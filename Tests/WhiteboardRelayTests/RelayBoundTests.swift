import CommandLines
import PeerSession
import Testing
import WhiteboardKit
import WhiteboardRelay

@Suite("RelayBound") struct RelayBoundTests {
  @Test("each limit is described with its current numbers") func numbers() throws {
    var limits = RelayConfiguration.Limits()
    limits.maximumBoards = 17
    limits.retention = .days(90)
    limits.boards = .any
    limits.maximumBoardsPerHost = 3
    limits.reservedBoards = 2
    var passing = RelayLimits()
    passing.rate = RelayRate(copies: 1234, bytes: 5 << 20)
    let bounds = RelayBound.all(limits, passing)
    func limit(_ what: String) -> String? { bounds.first { $0.what == what }?.limit }
    #expect(limit("boards") == "17")
    #expect(limit("boards of one peer that is not in `allow`") == "3")
    #expect(limit("boards of peers at one address that are not in `allow`") == "16")
    #expect(limit("boards of all peers that are not in `allow`")?.contains("15 boards") == true)
    #expect(limit("time without a visitor to a board") == "90 days")
    #expect(limit("message copies made for a member") == "1234 a second")
    #expect(limit("bytes copied for a member") == "5 MB a second")
    #expect(Set(bounds.map(\.what)).count == bounds.count)
    limits.boards = .allowList
    let closed = RelayBound.all(limits, passing)
    #expect(closed.first { $0.what == "boards of one peer that is not in `allow`" }?.limit == "none are accepted")
  }

  @Test(
    "the listening address and the health address are parsed alike, also with port 0",
    arguments: [("127.0.0.1:0", 0), ("[::]:26273", 26_273)]
  ) func places(text: String, port: Int) throws {
    #expect(try SettingKey.listen.parse(text).port == port)
    guard case .at(let place) = try SettingKey.http.parse(text) else {
      Issue.record("no address")
      return
    }
    #expect(place.port == port)
    #expect(throws: SettingFault.self) { try SettingKey.listen.parse("127.0.0.1") }
    #expect(try SettingKey.http.parse("none") == .nowhere)
  }
}
