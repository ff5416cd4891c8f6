import FoundationEssentials
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension Node {
  /// Hosts or joins, and stays until the node is to end.
  func serve() async throws(NodeError) {
    try configuration.createDirectories()
    try await readPersonalSettings()
    do {
      if let shared = configuration.transport {
        try await serve(shared)
      } else {
        try await serveAlone()
      }
    } catch let error as NodeError {
      throw error
    } catch let error as SessionError {
      throw NodeError(error)
    } catch {
      throw NodeError(.internal, "the node cannot go on: \(error)")
    }
  }

  /// Serves on a port of our own.
  private func serveAlone() async throws {
    var transportConfiguration = TransportConfiguration(
      identity: configuration.identity,
      displayName: configuration.displayName,
      inboxDirectory: configuration.inboxDirectory,
      logger: configuration.logger
    )
    // The name as handshakes tell it, which may be cut.
    members.ownName = transportConfiguration.displayName
    transportConfiguration.isListening = configuration.isListening
    transportConfiguration.listen = configuration.listen
    transportConfiguration.interface = configuration.interface
    transportConfiguration.maximumPeers = configuration.maximumPeers
    transportConfiguration.lostAfter = configuration.lostAfter
    transportConfiguration.peerStore = configuration.peerStore
    transportConfiguration.isRequestedResource = { [weak self] _, info in
      await self?.isRequested(info) ?? false
    }
    transportConfiguration.wantsResource = { [weak self] _, info in
      await self?.wants(info) ?? false
    }
    transportConfiguration.isTemporaryResource = { Node.answer(named: $0.raw) != nil }
    let body: @Sendable (PeerTransport) async throws -> Void = { transport in
      try await self.serve(transport)
    }
    try await PeerTransport.withTransport(transportConfiguration, body)
  }

  private func readPersonalSettings() async throws(NodeError) {
    guard let settings = configuration.personalSettings else { return }
    do throws(DocumentError) {
      members.ownIcon = try await settings.icon
      try await hiddenAuthors.load()
    } catch {
      throw NodeError(error)
    }
  }

  private func serve(_ transport: PeerTransport) async throws {
    defer { closeQueues() }
    if let input {
      spawn { node in await node.commandRunner.read(input) }
    }
    known = await acquaintances()
    browse(except: transport.peerID)
    let begun: Session?
    do {
      begun = try await begin(transport)
    } catch {
      await persistence.close()
      throw error
    }
    guard let session = begun else { return }
    self.session = session
    guard let id = BoardID(session.id.bytes) else {
      throw NodeError(.internal, "the session has no board")
    }
    transfers.removeOldAnswers()
    let replica = Replica(
      author: Author(
        board: id,
        key: IdentityKey(identity: configuration.identity),
        role: id.isOwned && configuration.isRelay ? .relay : .editor
      ),
      now: now
    )
    photos.begin(replica, of: session.id)
    do throws(NodeError) {
      try await openDocument(of: session, replica)
    } catch {
      await session.leave()
      await persistence.close()
      throw error
    }
    let board = ActiveBoard(
      runtime,
      configuration,
      session,
      replica,
      members: members,
      persistence: persistence,
      photos: photos,
      outbox: outbox,
      transfers: transfers,
      answers: answers,
      hiddenAuthors: hiddenAuthors
    )
    board.reports.showStoredBoard()
    await persistence.loadNames()
    persistence.reportState()
    // A name of a handshake is within the limit of a profile.
    try? board.profiles.publish()
    self.board = board
    // Not before: a board that could not be read must not be written.
    persistence.replica = replica
    transfers.begin(replica, session)
    board.roles.begin(owner: owner)
    await storeTitle()
    persistence.recordName(members.ownName, of: transport.peerID.text)
    persistence.recordTraffic(of: session, as: members.ownName)
    await tellReady(transport, session)
    reportFoundMembers(to: session)
    spawn { node in await node.followSession(session) }
    spawn { node in await node.storeMembership(of: session) }
    spawn { node in
      await node.outbox.sendDatagrams(by: session) { node.members.isReached($0) }
    }
    spawn { node in await node.keepTime() }
    spawn { node in if let board = node.board { await node.commandRunner.runCommands(on: board) } }
    await runtime.untilEnding()
    await goodbye(session)
  }

  /// Releases all held objects, and leaves.
  private func goodbye(_ session: Session) async {
    openBoard = nil
    _ = try? board?.editor.endStroke()
    _ = try? change { (board) throws(BoardError) in try board.deselectAll() }
    replica?.prepareToLeave(now: now)
    performActions()
    let limit = runtime.limitOfGoodbye()
    let reached = members.filter(\.value.isReached).map(\.key)
    while clock.now < limit, !reached.allSatisfy({ outbox.isEmpty(to: $0) }) {
      try? await clock.sleep(for: .milliseconds(5))
    }
    _ = await board?.convergence.isConfirmed(by: reached, within: limit - clock.now)
    await board?.messages.finish(before: limit)
    if case .run = configuration.script, ending == .asked, let firstFailure = answers.firstFailure {
      runtime.replaceEnding(.failed(firstFailure))
    }
    await session.leave(untilNextStart: comesBack)
    await persistence.close()
  }

  private func closeQueues() {
    outbox.close()
    participantSource.finish()
  }

  // MARK: - Beginning

  /// Hosts or joins; nil when the node is to end before that came to anything.
  private func begin(_ transport: PeerTransport) async throws -> Session? {
    switch configuration.part {
    case .host(let name):
      return try await host(.named(name), transport)
    case .keep(let board, let name):
      return try await host(.board(board, name: name), transport)
    case .join(let target, let patience):
      let joining = Task { try await self.join(target, patience: patience, transport) }
      // An end that is asked for meanwhile takes the invitation back.
      spawn { node in
        await node.untilEndingOrBegun()
        if node.ending != nil {
          joining.cancel()
        }
      }
      defer { begun() }
      do {
        return try await joining.value
      } catch {
        guard ending == nil else { return nil }
        throw error
      }
    }
  }

  private func untilEndingOrBegun() async {
    _ = await wait { self.isBegun }
  }

  private func begun() {
    isBegun = true
    changed()
  }

  private func host(_ meant: MeantBoard, _ transport: PeerTransport) async throws -> Session {
    boardName = meant.name
    let new = newBoard()
    var id = meant.id ?? new
    var code: JoinCode?
    var membership: MembershipRecord?
    if configuration.remembersBoards {
      (id, boardName, code) = try await openHosted(meant, orMaking: new)
      // An offline node dials no members and leaves the stored membership unchanged.
      if let document = persistence.document, !configuration.isOffline {
        membership = await storedMembership(in: document)
      }
      if let document = persistence.document { await localRemoval.load(from: document) }
    }
    if configuration.isOwned, BoardID(id.bytes)?.isOwned != true {
      throw NodeError(
        .usage,
        "this board was made for everybody to write on: --owned makes a new one; give another name"
      )
    }
    // Use the code of a board that another peer created, since a new code would not work for its
    // members.
    let isOurs = membership.map { $0.host == transport.peerID } ?? true
    let policy = admissionPolicy(default: isOurs || code != nil ? .code : .known, kept: code)
    let session: Session
    if let carriage = configuration.carriage {
      session =
        if let open = carriage.session {
          open
        } else {
          try await transport.host(
            id,
            admission: policy,
            host: carriage.host,
            grant: carriage.grant,
            membership: membership
          )
        }
      if carriage.session != nil, let membership { await session.restore(membership) }
      await session.setName(boardName)
    } else {
      session = try await transport.host(
        id,
        admission: policy,
        name: boardName,
        membership: membership
      )
    }
    announce(transport, session)
    if let carrier = configuration.carrier {
      spawn { node in await node.moveToRelay(carrier, session, policy) }
    }
    return session
  }

  /// Who is let in, as the session wants it; makes a code where one is needed and there is none.
  ///
  /// - Parameters:
  ///   - fallback: Who is let in where nobody says.
  ///   - kept: The code that the board had before.
  /// - Returns: The policy.
  func admissionPolicy(
    default fallback: NodeConfiguration.Admission,
    kept: JoinCode? = nil
  ) -> AdmissionPolicy {
    let admission = configuration.admission ?? fallback
    self.admission = admission
    switch admission {
    case .ask: return .ask
    case .known: return .known
    case .anyone: return .anyone
    case .code:
      let code = configuration.code ?? kept ?? .random()
      self.code = code
      return .code(code)
    }
  }

  private func tellReady(_ transport: PeerTransport, _ session: Session) async {
    var hosts: [String] = []
    if configuration.isListening {
      hosts = await transport.addresses()
      if let listen = configuration.listen, !["0.0.0.0", "::"].contains(listen.host) {
        hosts = [listen.host]
      }
      if hosts.isEmpty { hosts = ["127.0.0.1"] }
    }
    let addresses = hosts.compactMap { HostPort(host: $0, port: transport.port) }
    let words = code.map { $0.text.split(separator: "-").map(String.init) } ?? []
    let link = addresses.first.map {
      BoardLink(
        address: $0,
        board: session.id.text,
        peer: transport.peerID.text,
        pass: pass(for: session.id),
        code: words
      ).text
    }
    let told = NodeEvent.Ready(
      peer: transport.peerID.text,
      name: configuration.displayName,
      addresses: addresses.map(\.description),
      port: transport.port,
      board: session.id.text,
      boardName: boardName,
      admit: (admission ?? .known).rawValue,
      code: code?.text,
      link: link ?? "",
      announced: isAnnouncing
    )
    ready = told
    emit(.ready(told))
    if configuration.isOffline { emit(.note(.offline(boardName))) }
    if let event = localRemoval.event { emit(.removed(event)) }
    guard configuration.remembersBoards, configuration.isListening else { return }
    showOpenBoard(told)
    if openBoard == nil {
      configuration.logger.debug("other programs cannot see that the board is open")
    } else if admission == .code, !configuration.isRelay {
      spawn { node in await node.board?.admission.serveInvitationRequests() }
    }
  }

  /// The pass of the links to this host; nil if it does not ask a person (HEL-9).
  private func pass(for session: SessionID) -> String? {
    admission == .ask ? configuration.identity.invitationPass(for: session).text : nil
  }

  /// Publishes a new join code to the other programs of this user.
  func publish(_ code: JoinCode, link: String) {
    self.code = code
    ready?.code = code.text
    ready?.link = link
    if openBoard != nil, let ready { showOpenBoard(ready) }
  }

  /// Shows the board to the other programs of this user, with its present code.
  func showOpenBoard(_ ready: NodeEvent.Ready) {
    // The former file holds the lock until it is released.
    openBoard = nil
    openBoard = OpenBoardFile(
      OpenBoard(
        board: ready.board,
        boardName: ready.boardName,
        peer: ready.peer,
        port: ready.port,
        listen: configuration.listen?.host,
        interface: configuration.interface,
        admit: ready.admit,
        code: ready.code,
        pass: session.flatMap { pass(for: $0.id) }
      ),
      inDataDirectory: configuration.dataDirectory
    )
  }

  // MARK: - Discovery

  /// Lets the board be found by way of us, where that is wanted.
  func announce(_ transport: PeerTransport, _ session: Session) {
    // A board from which this peer was removed is not its to offer.
    guard configuration.isAnnounced, localRemoval.removal == nil,
      let discovery = configuration.discovery,
      let peer = AnnouncedPeerID(bytes: transport.peerID.bytes),
      let board = AnnouncedSessionID(bytes: session.id.bytes),
      let port = UInt16(exactly: transport.port)
    else { return }
    isAnnouncing = true
    var announcement = Announcement(
      peer: peer,
      session: board,
      incarnation: AnnouncedIncarnation(session.incarnation.value),
      role: configuration.isRelay ? .relay : .member,
      boardName: boardName,
      hostName: configuration.displayName,
      participants: 1
    )
    announcement.admission = admission
    let first = announcement
    let advertisement = Advertisement(port: port, announcement: first)
    spawn { node in
      let changes = node.participantChanges
      await discovery.advertise(advertisement) { advertising in
        var announcement = first
        for await _ in changes {
          announcement.participants = UInt16(clamping: node.members.count + 1)
          await advertising.update(announcement)
        }
      }
    }
  }

  private func browse(except own: PeerID) {
    // A relay looks for nobody: who wants its boards comes.
    guard let discovery = configuration.discovery, !configuration.isRelay else { return }
    // Who joins and finds only a board of its own wants to be told so.
    let excluded = isJoining ? nil : AnnouncedPeerID(bytes: own.bytes)
    let query = BrowserQuery(excluding: excluded, preferring: known.preference)
    spawn { node in
      await discovery.browse(query) { events in
        for await event in events {
          node.discovered(event, own)
          await node.runtime.room()
        }
      }
    }
  }

  private func discovered(_ event: BrowserEvent, _ own: PeerID) {
    switch event {
    case .found(let peer) where peer.announcement.peer.bytes == own.bytes,
      .updated(let peer) where peer.announcement.peer.bytes == own.bytes:
      ownBoard = peer.announcement.boardName.raw
    case .lost(let peer) where peer.announcement.peer.bytes == own.bytes:
      ownBoard = nil
    case .found(let peer):
      nearby.insert(peer)
      emit(.peerFound(NodeEvent.FoundBoard(peer)))
      reportFound(peer)
    case .updated(let peer):
      nearby.insert(peer)
      emit(.peerUpdated(NodeEvent.FoundBoard(peer)))
      reportFound(peer)
    case .lost(let peer):
      // A hint: it ends no session.
      nearby.remove(peer)
      if let session, peer.announcement.session.bytes == session.id.bytes,
        let id = PeerID(bytes: peer.announcement.peer.bytes)
      {
        session.vanished(id)
      }
      emit(.peerLost(NodeEvent.LostBoard(peer)))
    case .unavailable(let problem):
      discoveryProblem = problem
      emit(
        .warning(.init(code: NodeEvent.Remark.discoveryUnavailable, message: problem.description))
      )
    case .available:
      if discoveryProblem != nil {
        emit(
          .note(
            .init(
              code: NodeEvent.Remark.discoveryAvailable,
              message: "Boards nearby can be found."
            )
          )
        )
      }
      discoveryProblem = nil
    }
    changed()
  }

  private func reportFound(_ peer: DiscoveredPeer) {
    guard let session, peer.announcement.session.bytes == session.id.bytes else { return }
    reportFound(peer, to: session)
  }

  /// Reports to the session that discovery shows one of its peers (MEM-9).
  func reportFound(_ peer: DiscoveredPeer, to session: Session) {
    guard let id = PeerID(bytes: peer.announcement.peer.bytes) else { return }
    session.found(
      id,
      at: peer.endpoints.map { PeerAddress(host: $0.host, port: Int($0.port)) },
      as: SessionIncarnation(peer.announcement.incarnation.value)
    )
  }
}

extension NodeError {
  /// Why a session could not be had, as the end of the program.
  package init(_ error: SessionError) {
    let code: Code =
      switch error.code {
      case .wrongCode, .lockedOut, .declined, .notKnown, .notVerified, .wrongPeer, .kicked,
        .withdrawn, .full:
        .notAllowed
      case .timedOut, .busy: .timedOut
      case .unreachable, .noSuchSession, .peerLost, .notConnected, .left, .shuttingDown,
        .disconnected, .selfDialled:
        .unreachable
      case .versionMismatch, .protocolError: .protocol
      case .system: .system
      default: .internal
      }
    self.init(code, error.message)
  }
}
