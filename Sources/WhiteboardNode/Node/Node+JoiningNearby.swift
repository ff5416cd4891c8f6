import PeerDiscovery
import PeerSession
import WhiteboardDocument
import WhiteboardRendering

/// Joins a board that is announced on this network; ``JoinSearch`` decides which peer is asked.
extension Node {
  /// The peers and boards that this computer knows.
  struct Acquaintances: Sendable {
    /// The peers whose keys were verified before.
    var peers: Set<PeerID> = []
    /// The boards with a copy on this computer.
    var boards: Set<SessionID> = []
    /// The members of these boards, as far as they were loaded.
    var members: [SessionID: Set<PeerID>] = [:]
  }

  /// Asks the announced peers of a board in turn until one admits the local peer.
  ///
  /// - Parameters:
  ///   - name: What the user calls the board; nil for any board.
  ///   - patience: How long to wait for further peers.
  ///   - transport: The local endpoint.
  /// - Returns: The session.
  /// - Throws: ``NodeError`` if the board is not found, several match, or every peer refuses.
  func joinNearby(
    _ name: String?,
    patience: Duration,
    _ transport: PeerTransport
  ) async throws -> Session {
    emit(.joining(.init(step: .searching, boardName: name)))
    var search = JoinSearch(
      name == nil ? .one : configuration.code == nil ? .known : .all,
      redialLimit: .seconds(30),
      deadline: runtime.uptime + patience
    )
    var retried: Set<JoinSearch.Candidate.ID> = []
    while ending == nil {
      try Task.checkCancellation()
      let shown = announced(name)
      await loadMembers(of: shown)
      search.show(shown.compactMap { candidate($0, name) })
      switch search.next(now: runtime.uptime) {
      case .ask(let candidate):
        do {
          return try await join(candidate, isAgain: retried.contains(candidate.id), transport)
        } catch let error as SessionError where error.code != .cancelled {
          let isAskedAgain = search.refused(
            by: candidate.id,
            error,
            afterAskingFor: timeOfQuestion,
            now: runtime.uptime,
            jitter: Double.random(in: 0...1)
          )
          tell(JoinSearch.Refusal(candidate: candidate, error: error), hasNext: search.hasNext)
          if isAskedAgain, retried.insert(candidate.id).inserted, !search.hasNext {
            tellRetry(error)
          }
        }
      case .wait(let due):
        let isChanged = await wait(timeout: due - runtime.uptime) { self.announced(name) != shown }
        // Others may be heard in the same moment; the order is decided when they have been.
        if isChanged { _ = await wait(timeout: .milliseconds(200)) { false } }
      case .choose(let boards): throw choice(nearby.boards.filter { boards.contains($0.id) })
      case .giveUp: throw await failure(of: search, name, patience)
      }
    }
    try Task.checkCancellation()
    throw await failure(of: search, name, patience)
  }

  private func join(
    _ candidate: JoinSearch.Candidate,
    isAgain: Bool,
    _ transport: PeerTransport
  ) async throws -> Session {
    boardName = candidate.boardName
    questionStart = nil
    let session = try await ask(
      request(for: candidate),
      of: candidate.hostName,
      isAgain: isAgain,
      transport
    )
    // It was found announced, so the local peer announces it too, for when its host has left (DSC-23).
    if admission != .known {
      announce(transport, session)
    }
    return session
  }

  private func request(for candidate: JoinSearch.Candidate) -> JoinRequest {
    var request = JoinRequest(
      session: candidate.id.board,
      addresses: candidate.addresses,
      peer: candidate.id.peer,
      trust: .discovered,
      code: configuration.code
    )
    // The search asks again itself, and others meanwhile.
    request.redialLimit = .zero
    request.answerTimeout = JoinSearch.answerTimeout
    return request
  }

  /// How long a user was asked during the last attempt.
  private var timeOfQuestion: Duration { questionStart.map { clock.now - $0 } ?? .zero }

  // MARK: - Candidates

  /// The announced peers of the boards that are meant, in order of appearance.
  private func announced(_ name: String?) -> [DiscoveredPeer] {
    nearby.inOrderOfAppearance(nearby.boards(meantBy: name).flatMap(\.peers))
  }

  private func candidate(
    _ found: DiscoveredPeer,
    _ name: String?
  ) -> JoinSearch.Candidate? {
    guard let peer = PeerID(bytes: found.announcement.peer.bytes),
      let board = SessionID(bytes: found.announcement.session.bytes)
    else { return nil }
    let isNamed = name.map { $0.utf8.count >= 8 && peer.text.hasPrefix($0.lowercased()) } ?? false
    let isKnown = known.peers.contains(peer) || known.members[board]?.contains(peer) ?? false
    return JoinSearch.Candidate(
      id: .init(peer: peer, board: board),
      boardName: found.announcement.boardName.raw,
      hostName: found.announcement.hostName.raw,
      addresses: found.endpoints.map { PeerAddress(host: $0.host, port: Int($0.port)) },
      rank: isNamed || isKnown
        ? .knownPeer : known.boards.contains(board) ? .knownSession : .unknown
    )
  }

  private func loadMembers(of shown: [DiscoveredPeer]) async {
    for found in shown {
      guard let board = SessionID(bytes: found.announcement.session.bytes),
        known.boards.contains(board), known.members[board] == nil
      else { continue }
      let record = await storedMember(of: board)?.membership
      known.members[board] = Set(record.map { [$0.host] + $0.members.map(\.peer) } ?? [])
    }
  }

  /// Returns the peers that are known on this computer and, if a search needs them, the boards, for which it
  /// opens every stored one.
  func acquaintances() async -> Acquaintances {
    var known = Acquaintances()
    for peer in await configuration.peerStore?.all ?? [] where peer.verified != .anyone {
      known.peers.insert(peer.peer)
    }
    guard isSearching, configuration.remembersBoards, configuration.recordingFile == nil else {
      return known
    }
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    for summary in (try? await library.list()) ?? [] {
      if let id = summary.board.flatMap({ SessionID(bytes: $0) }) { known.boards.insert(id) }
    }
    return known
  }

  /// Whether the local peer joins a board that discovery is to find.
  private var isSearching: Bool {
    guard case .join(let target, _) = configuration.part else { return false }
    switch target {
    case .nearby, .name: return true
    case .link, .address: return false
    }
  }

  // MARK: - Reporting

  /// Reports a refusal after which another peer is asked.
  private func tell(_ refusal: JoinSearch.Refusal, hasNext: Bool) {
    let peer = EventText.person(refusal.candidate.hostName, refusal.candidate.id.peer.text)
    let next = hasNext ? " Trying the next peer." : ""
    if refusal.error.code == .wrongPeer {
      let address = refusal.candidate.addresses.first?.description ?? "its address"
      let message = "The peer at \(address) is not the announced one, \(peer).\(next)"
      emit(.warning(.init(code: "not-announced-peer", message: message)))
    } else if hasNext {
      emit(.warning(.init(code: "peer-refused", message: "\(refusal.words).\(next)")))
    }
  }

  /// Why no announced peer admitted the local peer.
  private func failure(
    of search: JoinSearch,
    _ name: String?,
    _ patience: Duration
  ) async -> any Error {
    let refusals = search.refusals
    guard let first = refusals.first else { return notFound(name, patience) }
    let sure = refusals.first {
      refusals.count == 1
        || $0.candidate.rank == .knownPeer && [.kicked, .wrongCode].contains($0.error.code)
    }
    if let sure, sure.error.code != .unreachable {
      if refusals.count > 1 { doubt = nil }
      return await explained(sure.error, request(for: sure.candidate), sure.candidate.hostName)
    }
    if refusals.allSatisfy({ $0.error.code == .unreachable }), refusals.count == 1 {
      return NodeError(
        .unreachable,
        first.error.message + " The board is announced, but nothing answers there: "
          + "`whiteboard-peer doctor` looks for the cause."
      )
    }
    let codes = refusals.map { NodeError($0.error).code }
    var message =
      "No peer admitted you to \(TerminalText.quoted(first.candidate.boardName)): "
      + refusals.map(\.words).joined(separator: "; ") + "."
    if configuration.code == nil, refusals.contains(where: { $0.error.code == .withdrawn }) {
      message += " Join with a code\(NodeError.codeAdvice)"
    }
    return NodeError(codes.contains(.notAllowed) ? .notAllowed : codes[0], message)
  }

  private func choice(_ boards: [Nearby.Board]) -> NodeError {
    let list = boards.prefix(16).map(\.label).joined(separator: ", ")
    return NodeError(
      .usage,
      "\(boards.count) boards are nearby: \(list). Name one: whiteboard-peer join NAME, or the "
        + "start of the id in brackets"
    )
  }

  private func notFound(_ name: String?, _ patience: Duration) -> NodeError {
    let seconds = Int(patience / .seconds(1))
    let wanted = name.map { "no board called \(TerminalText.quoted($0))" } ?? "no board"
    var message = "\(wanted) was found nearby in \(seconds) s"
    if let ownBoard, nearby.boards.isEmpty, name.map({ $0 == ownBoard }) ?? true {
      message +=
        " but this peer's own, \(TerminalText.quoted(ownBoard)); to join it as another peer, "
        + "use another --data-dir"
    } else if let discoveryProblem {
      message += ". \(discoveryProblem.description)"
    } else if name != nil, !nearby.boards.isEmpty {
      message += "; there is \(nearby.boards.prefix(16).map(\.label).joined(separator: ", "))"
    } else {
      message += "; join by link or HOST:PORT, or see: whiteboard-peer doctor"
    }
    return NodeError(.timedOut, message)
  }
}

extension Node.Acquaintances {
  /// What a browser resolves first and forgets last.
  var preference: BrowserPreference {
    BrowserPreference(
      peers: Set(peers.compactMap { AnnouncedPeerID(bytes: $0.bytes) }),
      sessions: Set(boards.compactMap { AnnouncedSessionID(bytes: $0.bytes) })
    )
  }
}
