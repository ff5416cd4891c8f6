import CommandLines
import PeerCore
import PeerDiscovery
import Testing
import WhiteboardKit

@testable import PeerSession
@testable import WhiteboardRelay

@Suite struct BoardRefusalTests {
  private static let grant = RelayGrant(key: [1], signature: [2])

  private func host() -> PeerID { PeerIdentity.ephemeral().peerID }

  private func entry(of host: PeerID? = nil, at address: String = "192.0.2.1") -> BoardRegister.Entry {
    BoardRegister.Entry(
      board: SessionID.random().text,
      name: "board",
      admission: "anyone",
      carriage: host.map { .init(host: $0, Self.grant, address: address) },
      since: 0,
      visited: 0
    )
  }

  private func limits(_ change: (inout RelayConfiguration.Limits) -> Void = { _ in }) -> RelayConfiguration.Limits {
    var limits = RelayConfiguration.Limits()
    limits.boards = .any
    change(&limits)
    return limits
  }

  @Test("a host has at most the allowed number of boards, at any address; other hosts are not affected") func perHost()
  {
    let (ada, ben) = (host(), host())
    let limits = limits { $0.maximumBoardsPerHost = 2 }
    let entries = [entry(of: ada, at: "192.0.2.1"), entry(of: ada, at: "192.0.2.2")]
    #expect(limits.refusal(of: ada, at: "192.0.2.3", among: [entries[0]]) == nil)
    #expect(limits.refusal(of: ada, at: "192.0.2.3", among: entries) == .host(2))
    #expect(limits.refusal(of: ben, at: "192.0.2.1", among: entries) == nil)
  }

  @Test("an address has at most the allowed number of boards; other addresses are not affected") func perAddress() {
    let entries = (0..<16).map { _ in entry(of: host()) }
    #expect(limits().refusal(of: host(), at: "192.0.2.1", among: entries) == .address(16))
    #expect(limits().refusal(of: host(), at: "192.0.2.2", among: entries) == nil)
    #expect(limits().refusal(of: host(), at: "192.0.2.1", among: Array(entries.dropLast())) == nil)
  }

  @Test("some boards are reserved for the operator, by default a tenth") func reserved() {
    let entries = (0..<19).map { entry(of: host(), at: "192.0.2.\($0)") }
    let limits = limits { $0.maximumBoards = 20 }
    let stranger = host()
    #expect(limits.refusal(of: stranger, at: "::", among: Array(entries.prefix(17))) == nil)
    #expect(limits.refusal(of: stranger, at: "::", among: Array(entries.prefix(18))) == .reserved(2))
    let none = self.limits {
      $0.maximumBoards = 19
      $0.reservedBoards = 0
    }
    #expect(none.refusal(of: stranger, at: "::", among: Array(entries.prefix(18))) == nil)
    #expect(none.refusal(of: stranger, at: "::", among: entries) == .full(19))
  }

  @Test("a host that the operator allowed does not count as a stranger") func allowed() {
    let (ada, ben) = (host(), host())
    let limits = limits {
      $0.allowed = [ada]
      $0.maximumBoards = 10
      $0.maximumBoardsPerHost = 1
      $0.maximumBoardsPerAddress = 1
    }
    let entries = (0..<8).map { _ in entry(of: ada) }
    #expect(limits.refusal(of: ben, at: "192.0.2.1", among: entries) == nil)
    let more = entries + [entry(of: ben)]
    #expect(limits.refusal(of: ada, at: "192.0.2.1", among: more) == nil)
    #expect(limits.refusal(of: ada, at: "192.0.2.1", among: more + [entry()]) == .full(10))
  }

  @Test("an allow-list has no limits for strangers") func allowList() {
    let (ada, ben) = (host(), host())
    let limits = limits {
      $0.boards = .allowList
      $0.allowed = [ada]
      $0.maximumBoardsPerHost = 1
    }
    #expect(limits.refusal(of: ada, at: "::", among: [entry(of: ada)]) == nil)
    #expect(limits.refusal(of: ben, at: "::", among: []) == .notAllowed)
  }

  @Test("by default, only strangers' boards expire, and no pinned board does") func retention() {
    let (ada, ben) = (host(), host())
    let open = limits { $0.allowed = [ada] }
    var pinned = entry(of: ben)
    pinned.isPinned = true
    #expect(open.retention(of: entry(of: ben)) == 90)
    #expect(open.retention(of: pinned) == nil)
    #expect(open.retention(of: entry(of: ada)) == nil)
    #expect(open.retention(of: entry()) == nil)
    #expect(limits { $0.boards = .allowList }.retention(of: entry(of: ben)) == nil)
    #expect(limits { $0.retention = .never }.retention(of: entry(of: ben)) == nil)
    let set = limits { $0.retention = .days(7) }
    #expect(set.retention(of: entry()) == 7)
    #expect(set.retention(of: pinned) == nil)
  }

  @Test("a refusal names its setting and a remedy, in at most as many bytes as the host gets") func reasons() {
    for (refusal, setting) in [
      (BoardRefusal.host(8), "max-boards-per-host"), (.address(16), "max-boards-per-address"),
      (.reserved(10), "reserved-boards"),
    ] {
      #expect(refusal.reason.contains(setting))
      #expect(refusal.reason.contains("Ask its operator"))
      #expect(refusal.reason.utf8.count <= 512)
    }
  }

  @Test("a relay counts its boards, also after a restart, and accepts a known board again") func counts() async throws {
    try await RelayRoom.make { room in
      let (ada, ben) = (host(), host())
      func request(_ session: SessionID, _ host: PeerID) -> CarryRequest {
        CarryRequest(
          session: session,
          host: host,
          hostName: UntrustedText("ada"),
          name: UntrustedText("standup"),
          admission: .anyone,
          grant: Self.grant,
          addressBlock: "192.0.2.1"
        )
      }
      let board = SessionID.random()
      for _ in 0..<2 {
        let relay = try room.relay {
          $0.limits.boards = .any
          $0.limits.maximumBoardsPerHost = 1
          $0.limits.maximumBoardsPerAddress = 2
        }
        #expect(await relay.answer(request(board, ada)) == .carry)
        let further = await relay.answer(request(.random(), ada))
        #expect(further == .refuse(reason: BoardRefusal.host(1).reason))
      }
      let relay = try room.relay {
        $0.limits.boards = .any
        $0.limits.maximumBoardsPerAddress = 1
      }
      let other = await relay.answer(request(.random(), ben))
      #expect(other == .refuse(reason: BoardRefusal.address(1).reason))
    }
  }

  @Test(
    "the retention of boards is a number of days, auto or never",
    arguments: [("auto", BoardRetention.auto), ("never", .never), ("30", .days(30))]
  ) func setting(text: String, meant: BoardRetention) throws {
    #expect(try SettingKey.retain.parse(text) == meant)
    #expect(throws: SettingFault.self) { try SettingKey.retain.parse("0") }
    #expect(throws: SettingFault.self) { try SettingKey.reservedBoards.parse("-1") }
  }
}
