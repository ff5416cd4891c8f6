import PeerCore
import PeerDiscovery
import PeerSession

/// Joins a board that is announced on this network; ``JoinSearch`` decides which peer is asked.
extension Joiner {
  /// Asks the announced peers of a board in turn until one admits the local peer; throws if no board matches, several
  /// boards match, or every peer refuses.
  nonisolated(nonsending) func joinNearby(_ name: String?, timeout: Duration) async throws -> BoardSession {
    defer { checkIsolation(#isolation) }
    runtime.emit(.joining(.init(step: .searching, boardName: name.map { UntrustedText($0) })))
    var search = JoinSearch(
      name == nil ? .one : configuration.code == nil ? .known : .all,
      redialLimit: .seconds(30),
      deadline: runtime.uptime + timeout
    )
    var retried: Set<JoinSearch.Candidate.ID> = []
    while runtime.ending == nil {
      try Task.checkCancellation()
      let shown = announcedPeers(name)
      await loadMembers(of: shown)
      search.show(shown.compactMap { candidate($0, name) })
      switch search.next(now: runtime.uptime) {
      case .ask(let candidate):
        do { return try await join(candidate, isAgain: retried.contains(candidate.id)) } catch let error as SessionError
          where error.code != .cancelled
        {
          // Do not ask other members: without a user, their verification words cannot be compared either.
          if error.code == .withdrawn, let problem = attempt.problem { throw problem }
          let isAskedAgain = search.refused(
            by: candidate.id,
            error,
            afterAskingFor: timeOfQuestion,
            now: runtime.uptime,
            jitter: Double.random(in: 0...1)
          )
          report(JoinSearch.Refusal(candidate: candidate, error: error), hasNext: search.hasNext)
          if isAskedAgain, retried.insert(candidate.id).inserted, !search.hasNext { reportRetry(error) }
        }
      case .wait(let due):
        let hasChanged = await runtime.wait(timeout: due - runtime.uptime) { self.announcedPeers(name) != shown }
        // Wait a moment, because other peers are often found at the same time, and the order of attempts depends on all
        // of them.
        if hasChanged { _ = await runtime.wait(timeout: .milliseconds(200)) { false } }
      case .choose(let boards):
        let meant = discovery.nearby.boards.filter { boards.contains($0.id) }
        throw WhiteboardError(choosing: meant.map(\.label), "nearby")
      case .giveUp: throw await failure(of: search, name, timeout)
      }
    }
    try Task.checkCancellation()
    throw await failure(of: search, name, timeout)
  }

  private nonisolated(nonsending) func join(_ candidate: JoinSearch.Candidate, isAgain: Bool) async throws
    -> BoardSession
  {
    defer { checkIsolation(#isolation) }
    questionStart = nil
    return try await ask(request(for: candidate), of: candidate.askedPeer, isAgain: isAgain)
  }

  func request(for candidate: JoinSearch.Candidate) -> JoinRequest {
    var request = JoinRequest(
      session: candidate.id.board,
      addresses: candidate.addresses,
      peer: candidate.id.peer,
      trust: .discovered,
      code: configuration.code
    )
    // The search itself repeats attempts, and asks other peers in between.
    request.redialLimit = .zero
    request.answerTimeout = max(JoinSearch.answerTimeout, configuration.stepTimeout / 2)
    return request
  }

  /// The time that a user has taken to answer a question during the last attempt.
  private var timeOfQuestion: Duration { questionStart.map { runtime.clock.now - $0 } ?? .zero }

  private func report(_ refusal: JoinSearch.Refusal, hasNext: Bool) {
    let peer = EventText.person(refusal.candidate.hostName, refusal.candidate.id.peer.text)
    let next = hasNext ? " Trying the next peer." : ""
    if refusal.error.code == .wrongPeer {
      let address = refusal.candidate.addresses.first?.description ?? "its address"
      let message = "The peer at \(address) is not \(peer), the peer that was announced.\(next)"
      runtime.emit(.warning(.init(code: "not-announced-peer", message: message)))
    } else if hasNext {
      runtime.emit(.warning(.init(code: "peer-refused", message: "\(refusal.words).\(next)")))
    }
  }

  // MARK: - Candidates

  private func announcedPeers(_ name: String?) -> [DiscoveredPeer] {
    let nearby = discovery.nearby
    return nearby.inOrderOfAppearance(nearby.boards(meantBy: name).flatMap(\.peers))
  }

  private func candidate(_ found: DiscoveredPeer, _ name: String?) -> JoinSearch.Candidate {
    let peer = PeerID(claimed: found.announcement.peer)
    let board = SessionID(claimed: found.announcement.session)
    let isNamed = name.map { $0.utf8.count >= 8 && peer.text.hasPrefix($0.lowercased()) } ?? false
    return JoinSearch.Candidate(
      id: .init(peer: peer, board: board),
      boardName: found.announcement.boardName,
      hostName: found.announcement.hostName,
      addresses: found.addresses,
      rank: isNamed ? .knownPeer : known.rank(of: peer, on: board)
    )
  }

  private nonisolated(nonsending) func loadMembers(of shown: [DiscoveredPeer]) async {
    for found in shown {
      let board = SessionID(claimed: found.announcement.session)
      guard known.boards.contains(board), known.members[board] == nil else { continue }
      let record = await copies.member(of: board)?.membership
      known.members[board] = Set(record.map { [$0.host] + $0.members.map(\.peer) } ?? [])
    }
  }
}

// MARK: - Joining by a link

extension Joiner {
  func announcedPeers(of board: SessionID?, or peer: PeerID?) -> [DiscoveredPeer] {
    let found = discovery.nearby.announcers { announcement in
      announcement.session.bytes == board?.bytes || announcement.peer.bytes == peer?.bytes
    }
    func rank(_ found: DiscoveredPeer) -> (Bool, BrowserPreference.Rank) {
      let id = PeerID(claimed: found.announcement.peer)
      return (id == peer, known.rank(of: id, on: SessionID(claimed: found.announcement.session)))
    }
    let ordered = found.enumerated().sorted {
      let (one, other) = (rank($0.element), rank($1.element))
      guard one.0 == other.0 else { return one.0 }
      return (other.1, $0.offset) < (one.1, $1.offset)
    }
    return ordered.prefix(JoinSearch.maximumCandidates).map(\.element)
  }

  func update(_ announced: AnnouncedListeners, from peers: [DiscoveredPeer]) {
    announced.update(
      peers.map { (PeerID(claimed: $0.announcement.peer), $0.addresses) },
      areMoreExpected: discovery.problem == nil
    )
  }

  /// Passes the announced peers to the attempt to join by a link, until the board is joined or closed.
  nonisolated(nonsending) func follow(_ announced: AnnouncedListeners, _ board: SessionID?, _ peer: PeerID?) async {
    defer { checkIsolation(#isolation) }
    while runtime.ending == nil, runtime.call({ $0.joiner != nil }) {
      let (shown, problem) = (announcedPeers(of: board, or: peer), discovery.problem)
      update(announced, from: shown)
      _ = await runtime.wait {
        self.announcedPeers(of: board, or: peer) != shown || self.discovery.problem != problem
          || self.runtime.call { $0.joiner == nil }
      }
    }
  }

  func words(_ error: SessionError, by peer: PeerID) -> String {
    let found = discovery.nearby.announcers { $0.peer.bytes == peer.bytes }.first
    let name = found?.announcement.hostName ?? UntrustedText("")
    return JoinSearch.Refusal.words(error, by: peer, name, at: found?.addresses.first)
  }
}

extension JoinSearch.Candidate {
  var askedPeer: Joiner.AskedPeer { Joiner.AskedPeer(hostName: hostName, boardName: boardName) }
}
