import PeerCore
import PeerDiscovery
import PeerSession
import Testing

@testable import WhiteboardKit

@Suite("[DSC-27] the order in which announced peers are asked") struct JoinSearchTests {
  private static func candidate(
    _ number: UInt8,
    board: UInt8 = 9,
    at host: String? = nil,
    _ rank: BrowserPreference.Rank = .unknown
  ) throws -> JoinSearch.Candidate {
    JoinSearch.Candidate(
      id: .init(
        peer: try #require(PeerID(bytes: [UInt8](repeating: number, count: 32))),
        board: try #require(SessionID(bytes: [UInt8](repeating: board, count: 16)))
      ),
      boardName: "plan",
      hostName: UntrustedText("peer \(number)"),
      addresses: [PeerAddress(host: host ?? "10.0.0.\(number)", port: 1)],
      rank: rank
    )
  }

  private static func search(_ boards: JoinSearch.Boards = .known) -> JoinSearch {
    JoinSearch(boards, redialLimit: .seconds(30), deadline: .seconds(30))
  }

  @Test(
    "[TCK-6] after the host declined, no member is asked; after another peer declined, the host is",
    arguments: [true, false]
  ) func declined(byHost: Bool) throws {
    let (first, second) = (try Self.candidate(1), try Self.candidate(2))
    let host = byHost ? first : second
    let board = SessionID.random(hostedBy: host.id.peer)
    let candidates = [first, second].map { candidate in
      JoinSearch.Candidate(
        id: .init(peer: candidate.id.peer, board: board),
        boardName: candidate.boardName,
        hostName: candidate.hostName,
        addresses: candidate.addresses,
        rank: candidate.rank
      )
    }
    var search = Self.search()
    search.show(candidates)
    #expect(search.next(now: .zero) == .ask(candidates[0]))
    search.refused(by: candidates[0].id, SessionError(.declined, "no"), now: .seconds(9), jitter: 0)
    if byHost {
      #expect(!search.hasNext)
      #expect(search.next(now: .seconds(9)) == .wait(until: .seconds(11)))
      #expect(search.next(now: .seconds(11)) == .giveUp)
    } else {
      #expect(search.next(now: .seconds(9)) == .ask(candidates[1]))
    }
  }

  /// Lets every candidate refuse until the search gives up; returns the order of the attempts.
  private func order(_ search: inout JoinSearch) -> [JoinSearch.Candidate.ID] {
    var order: [JoinSearch.Candidate.ID] = []
    while case .ask(let next) = search.next(now: .seconds(31)), order.count < 100 {
      order.append(next.id)
      search.refused(by: next.id, SessionError(.withdrawn, "It asks for a code."), now: .seconds(31), jitter: 0)
    }
    #expect(search.next(now: .seconds(31)) == .giveUp)
    return order
  }

  @Test("known peers come first, then known boards, then the others in the order they appear") func ranks() throws {
    let all = [
      try Self.candidate(1), try Self.candidate(2), try Self.candidate(3, .knownSession),
      try Self.candidate(4, .knownPeer),
    ]
    var search = Self.search()
    search.show(all)
    #expect(order(&search) == [4, 3, 1, 2].map { all[$0 - 1].id })
    #expect(search.refusals.count == 4)
    #expect(search.refusals[2].words.hasSuffix("asks for a code"))
  }

  @Test("many instances at one address do not delay a peer at another, and at most 32 are asked") func floods() throws {
    var all = try (1...100).map { try Self.candidate($0, at: "10.9.9.9") }
    all.append(try Self.candidate(200))
    var search = Self.search()
    search.show(all)
    let order = order(&search)
    #expect(order.count == 32)
    #expect(order[1] == all[100].id)
  }

  @Test("a host that just declined another request is not called busy") func declinedBefore() throws {
    let host = try Self.candidate(1)
    var search = Self.search()
    search.show([host])
    #expect(search.next(now: .seconds(31)) == .ask(host))
    search.refused(by: host.id, SessionError(.busy, SessionError.justDeclinedAdvice), now: .seconds(31), jitter: 0)
    #expect(search.refusals.first?.words.contains("just declined a request from this address") == true)
  }

  @Test("a peer that appears after a refusal is asked, and before one that is busy") func latecomers() throws {
    let (busy, late) = (try Self.candidate(1), try Self.candidate(2))
    var search = Self.search()
    #expect(search.next(now: .zero) == .wait(until: .seconds(30)))
    search.show([busy])
    #expect(search.next(now: .zero) == .ask(busy))
    var error = SessionError(.busy, "busy")
    search.refused(by: busy.id, error, now: .seconds(1), jitter: 0)
    guard case .wait = search.next(now: .seconds(1)) else {
      Issue.record("The search does not wait.")
      return
    }
    search.show([busy, late])
    #expect(search.next(now: .seconds(1)) == .ask(late))
    error = SessionError(.declined, "no")
    search.refused(by: late.id, error, now: .seconds(2), jitter: 0)
    #expect(search.next(now: .seconds(3)) == .wait(until: .seconds(4)))
    #expect(search.next(now: .seconds(4)) == .giveUp)
  }

  @Test("a peer whose address answers with another key is tried again at its next address") func moves() throws {
    let (stale, real) = (try Self.candidate(1), try Self.candidate(1, at: "10.0.0.9"))
    var search = Self.search()
    search.show([stale])
    #expect(search.next(now: .zero) == .ask(stale))
    let error = SessionError(.wrongPeer, "another key")
    let isAskedAgain = search.refused(by: stale.id, error, now: .zero, jitter: 0)
    #expect(!isAskedAgain)
    #expect(search.next(now: .zero) == .wait(until: .seconds(30)))
    search.show([real])
    #expect(search.next(now: .zero) == .ask(real))
    search.refused(by: real.id, error, now: .zero, jitter: 0)
    #expect(search.next(now: .seconds(31)) == .giveUp)
    #expect(search.refusals.map(\.candidate) == [real])
  }

  @Test("the user chooses between unknown boards; a known board or a code decides without the user") func choices()
    throws
  {
    let boards = [try Self.candidate(1, board: 1), try Self.candidate(2, board: 2)]
    let copy = try Self.candidate(3, board: 3, .knownSession)
    var unknown = Self.search()
    unknown.show(boards)
    #expect(unknown.next(now: .zero) == .choose(boards.map(\.id.board)))
    var known = Self.search()
    known.show(boards + [copy])
    #expect(order(&known) == [copy.id])
    var code = Self.search(.all)
    code.show(boards + [copy])
    #expect(order(&code) == [copy.id] + boards.map(\.id))
    var any = Self.search(.one)
    any.show(boards + [copy])
    #expect(any.next(now: .zero) == .choose((boards + [copy]).map(\.id.board)))
  }

  @Test("the time that a user takes for an answer does not count") func questions() throws {
    let candidate = try Self.candidate(1)
    var search = Self.search()
    search.show([candidate])
    #expect(search.next(now: .zero) == .ask(candidate))
    search.refused(
      by: candidate.id,
      SessionError(.declined, "no"),
      afterAskingFor: .seconds(60),
      now: .seconds(60),
      jitter: 0
    )
    #expect(search.next(now: .seconds(60)) == .wait(until: .seconds(62)))
  }
}
