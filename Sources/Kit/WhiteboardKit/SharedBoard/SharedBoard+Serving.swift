import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension SharedBoard {
  func serve() async throws(WhiteboardError) {
    try configuration.createDirectories()
    try await readPersonalSettings()
    do { if let shared = configuration.transport { try await serve(shared) } else { try await serveAlone() } } catch let
      error as WhiteboardError
    { throw error } catch let error as SessionError { throw WhiteboardError(error) } catch {
      throw WhiteboardError(.internal, "the program cannot keep the board open: \(error)")
    }
  }

  private func serveAlone() async throws {
    var transportConfiguration = configuration.transportConfiguration
    // The transport may have truncated a long name.
    members.ownName = transportConfiguration.displayName
    transportConfiguration.linkThread = linkThread
    transportConfiguration.askBoards { [weak self] _ in self }
    let body: @Sendable (PeerTransport) async throws -> Void = { transport in try await self.serve(transport) }
    try await PeerTransport.withTransport(transportConfiguration, body)
  }

  private func readPersonalSettings() async throws(WhiteboardError) {
    guard let settings = configuration.personalSettings else { return }
    do throws(DocumentError) {
      // Follow the changes first, so that a change after the settings were read is noticed.
      let changes = try await settings.changes()
      members.ownIcon = try await settings.icon
      try await hiddenAuthors.load()
      spawn { sharedBoard in await sharedBoard.follow(changes) }
    } catch { throw WhiteboardError(error) }
  }

  private func follow(_ changes: AsyncStream<PersonalSettings.Change>) async {
    for await change in changes {
      guard await wait(until: { self.board != nil }), let board else { return }
      board.settingChanged(change)
    }
  }

  private func serve(_ transport: PeerTransport) async throws {
    defer { closeQueues() }
    try await begin(transport)
    guard let board = phase.board else { return }
    startRelayMove()
    let serving = try await open(board, transport)
    report(serving)
    await serving.active.browsers.begin()
    await transport.sessionOpened(board.session.id)
    discovery.reportPeers(to: board.session)
    start(board.session)
    await startConfiguredBroadcast()
    await runtime.untilEnding()
    await leave(serving)
  }

  private func startConfiguredBroadcast() async {
    guard let options = configuration.broadcast, ending == nil else { return }
    do throws(CommandError) { _ = try await broadcasts.start(options) } catch { end(.failed(WhiteboardError(error))) }
  }

  private func closeQueues() {
    outbox.close()
    discovery.stopAnnouncing()
  }

  // MARK: - Beginning

  /// Hosts or joins the board; returns early if the board closes before it is joined.
  private func begin(_ transport: PeerTransport) async throws {
    let copies = StoredCopies(configuration)
    if configuration.isGuest {
      phase = .joining(Joiner(runtime, configuration, discovery, copies, localRemoval, invitations, transport))
    }
    if let input { spawn { sharedBoard in await sharedBoard.commandRunner.readCommands(from: input) } }
    let known = await copies.knownPeers(includesBoards: configuration.isSearching)
    joiner?.known = known
    discovery.browse(own: transport.peerID, preferring: known)
    do {
      switch configuration.part {
      case .host(let name): try await host(.named(name), transport)
      case .keep(let board, let name): try await host(.board(board, name: name), transport)
      case .join(let target, let timeout): try await join(target, timeout: timeout, transport)
      }
    } catch {
      await persistence.close()
      throw error
    }
  }

  private func host(_ choice: BoardHost.Choice, _ transport: PeerTransport) async throws {
    let host = BoardHost(configuration: configuration, persistence: persistence, asksUser: asksUser)
    let board = try await host.host(choice, orMaking: newBoard(), transport)
    if let document = persistence.document { await localRemoval.load(from: document) }
    phase = .opening(board)
    // A peer that the host removed must not announce the board to others.
    if localRemoval.removal == nil { discovery.announce(board, transport) }
  }

  private func join(_ target: JoinTarget, timeout: Duration, _ transport: PeerTransport) async throws {
    // Join in a separate task, which is awaited below, so that joining can be canceled.
    let joining = Task {
      guard let joiner else { return }
      let (board, isAnnounced) = try await joiner.join(target, timeout: timeout)
      phase = .opening(board)
      runtime.changed()
      // The host announces its board, whichever command opened the board. Another peer's board that was found by its
      // announcement is announced here too, so that others can find the board after its host has left (DSC-23).
      if configuration.isHosting(board.session) { return discovery.announce(board, transport) }
      guard isAnnounced else { return }
      announceLater = { [discovery] board in discovery.announce(board, transport) }
      if board.admitsNewcomers(configuration) { announceIfNeeded(board) }
    }
    // If the board closes, this task withdraws the request to join.
    spawn { sharedBoard in
      _ = await sharedBoard.wait { sharedBoard.joiner == nil }
      if sharedBoard.ending != nil { joining.cancel() }
    }
    do { try await joining.value } catch { if ending == nil { throw error } }
  }

  private func announceIfNeeded(_ board: BoardSession) { announceLater.take()?(board) }

  // MARK: - Admission

  /// Follows the host's admission policy until the session ends (MEM-17).
  private func followAdmission(of session: Session) async {
    for await policy in session.admissionChanges {
      guard let serving, ending == nil else { return }
      serving.board.setPolicy(policy)
      if serving.board.admitsNewcomers(configuration) { announceIfNeeded(serving.board) }
      if case .code(let code) = policy, let typed = configuration.code, typed != code, configuration.carriage == nil {
        emit(
          .warning(
            .init(
              code: "code-differs",
              message: "The join code that you gave is not the code of this board, so this program"
                + " does not use it."
            )
          )
        )
      }
      discovery.announcementChanged()
      admissionChanged()
      guard configuration.recordingFile == nil, !configuration.isOffline,
        let record = try? await session.membershipRecord()
      else { continue }
      await persistence.storeMembership(record, code: serving.board.code)
    }
  }

  func admissionChanged() {
    guard case .serving(let serving) = phase, ending == nil, serving.board.session.endReason == nil,
      let event = serving.updateAdmission(configuration, isAnnounced: discovery.isAnnounced)
    else { return }
    emit(.admission(event))
  }

  private func startRelayMove() {
    guard !configuration.isGuest, let carrier = configuration.carrier else { return }
    phase.board?.move = .pending
    spawn { sharedBoard in
      guard let board = sharedBoard.phase.board else { return }
      let move = HostMove(
        runtime: sharedBoard.runtime,
        discovery: sharedBoard.discovery,
        board: board,
        localPeer: sharedBoard.configuration.identity.peerID,
        carrier: carrier
      )
      await move.run()
    }
  }

  // MARK: - Serving

  /// The number of objects that the board reports at once, which takes a few milliseconds.
  private static let reportsAtOnce = 512

  private func open(_ board: BoardSession, _ transport: PeerTransport) async throws -> Serving {
    let session = board.session
    let id = BoardID(session.id)
    transfers.removeOldAnswers()
    let replica = Replica(
      author: Author(
        board: id,
        key: configuration.identity,
        role: id.isOwned && configuration.isRelay ? .relay : .editor
      ),
      now: now
    )
    replica.reportsAtOnce = Self.reportsAtOnce
    photos.begin(replica, of: session.id)
    do throws(WhiteboardError) { try await openDocument(of: board, replica) } catch {
      await session.leave()
      await persistence.close()
      throw error
    }
    let active = makeActiveBoard(board, replica, transport)
    photos.active = active
    active.reports.showStoredBoard()
    await active.storeTitle()
    await persistence.loadNames()
    persistence.reportState()
    // The transport limits the length of names, so publishing the profile cannot fail.
    try? active.profiles.publish()
    let ready = await board.ready(configuration, transport, isAnnounced: discovery.isAnnounced)
    let intake = SessionIntake(
      runtime,
      active,
      invitations: invitations,
      localRemoval: localRemoval,
      discovery: discovery
    )
    if configuration.isHosting(session) {
      session.shareAdmission(membersAdmit: configuration.hostChoice.over(board.storedChoice).membersAdmit)
    }
    let timedWork = TimedWork(runtime, configuration, active)
    let serving = Serving(active, intake, timedWork, ready)
    phase = .serving(serving)
    commandRunner.begin(on: active)
    // Enable writing only now: a file that could not be read must not be written.
    persistence.replica = replica
    transfers.begin(on: active)
    active.roles.begin(owner: owner)
    active.confirmHost()
    persistence.recordName(UntrustedText(members.ownName), of: transport.peerID.text)
    persistence.recordTraffic(of: session, as: members.ownName)
    return serving
  }

  private func report(_ serving: Serving) {
    // Other programs can find the board as soon as the user learns that it is open.
    let isShown = configuration.remembersBoards && configuration.isListening && serving.showOpenBoard(configuration)
    serving.setAnnounced(discovery.isAnnounced)
    emit(.ready(serving.ready))
    discovery.readyReported()
    runtime.changed()
    if configuration.isOffline { emit(.note(.offline(serving.board.name))) }
    let host = serving.board.session.hostPeer
    if !configuration.isRelay, configuration.isFormerIdentity(host) {
      let message = configuration.formerIdentityText(serving.board.name, host)
      emit(.warning(.init(code: "former-identity", message: message)))
    }
    if let event = localRemoval.event { emit(.removed(event)) }
    guard configuration.remembersBoards, configuration.isListening else { return }
    if !isShown {
      configuration.logger.debug("Other programs cannot see that the board is open.")
    } else if !configuration.isRelay {
      let (board, directory) = (serving.ready.board, configuration.dataDirectory)
      spawn { sharedBoard in
        await InvitationRequest.serve(about: board, inDataDirectory: directory) { terms throws(CommandError) in
          try await sharedBoard.invite(terms)
        }
      }
    }
  }

  private func start(_ session: Session) {
    spawn { sharedBoard in await sharedBoard.runIntake(of: session) }
    spawn { sharedBoard in await sharedBoard.storeMembership(of: session) }
    spawn { sharedBoard in await sharedBoard.followAdmission(of: session) }
    spawn { sharedBoard in await sharedBoard.serving?.timedWork.performWhenDue() }
    spawn { sharedBoard in if let board = sharedBoard.board { await sharedBoard.commandRunner.runCommands(on: board) } }
  }

  private func runIntake(of session: Session) async {
    await configuration.beforeSessionEvents?(self)
    spawn { sharedBoard in await sharedBoard.serving?.intake.readEvents() }
    await serving?.intake.handleEvents()
    // After a removal, the user may still view the board, but further commands of a script would reach no member.
    if case .run = configuration.script, let reason = session.endReason, reason.code == .kicked {
      let message = localRemoval.event?.message ?? reason.message
      end(.failed(WhiteboardError(.notAllowed, message, isRemoval: true)))
    }
  }

  /// Stores the membership after each change (MEM-7), until the session ends.
  private func storeMembership(of session: Session) async {
    guard !configuration.isOffline else { return }
    for await record in session.membership where configuration.recordingFile == nil {
      if session.hostPeer != session.localPeer { await board?.browsers.removed(record.removed, request: nil) }
      await persistence.storeMembership(record, code: phase.board?.code)
    }
  }

  // MARK: - Leaving

  /// Deselects all objects, gives members a moment to receive pending messages, and leaves the session.
  private func leave(_ serving: Serving) async {
    phase = .leaving(serving)
    serving.hideOpenBoard()
    let active = serving.active
    await active.browsers.close(comesBack: comesBack)
    active.editor.stopImport()
    let limit = runtime.limitOfGoodbye()
    // The running command may still change the board, such as a stroke that takes some time.
    while runtime.clock.now < limit, commandRunner.isRunning { try? await runtime.clock.sleep(for: .milliseconds(5)) }
    _ = try? active.editor.liftPen()
    _ = try? active.editor.edit { (board) throws(BoardError) in try board.deselectAll() }
    active.perform(active.replica.prepareToLeave(now: now))
    let reached = members.filter(\.value.isReached).map(\.key)
    while runtime.clock.now < limit, !reached.allSatisfy({ outbox.isEmpty(to: $0) }) {
      try? await runtime.clock.sleep(for: .milliseconds(5))
    }
    _ = await active.convergence.isConfirmed(by: reached, within: limit - runtime.clock.now)
    await active.messages.finish(before: limit)
    if case .run = configuration.script, ending == .asked, let firstFailure = answers.firstFailure {
      runtime.replaceEnding(.failed(firstFailure))
    }
    await serving.board.session.leave(untilNextStart: comesBack)
    // A change that arrives while the file is being closed would be unsaved work.
    await serving.intake.finish(before: runtime.clock.now + .seconds(1))
    await persistence.close()
  }
}

extension WhiteboardError {
  package init(_ error: SessionError) {
    let code: Code =
      switch error.code {
      case .wrongCode, .lockedOut, .declined, .notKnown, .notVerified, .wrongPeer, .kicked, .withdrawn, .full:
        .notAllowed
      case .timedOut, .busy: .timedOut
      case .unreachable, .noSuchSession, .peerLost, .notConnected, .left, .shuttingDown, .disconnected, .selfDialled:
        .unreachable
      case .versionMismatch, .protocolError: .protocol
      case .system: .system
      default: .internal
      }
    self.init(code, error.message, isAboutCode: error.code == .wrongCode || error.code == .lockedOut)
  }
}

/// The key of a peer also signs the changes that the peer makes on boards (AUT-3).
extension PeerIdentity: AuthorKey {
  /// The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  public var publicKey: [UInt8] { publicKeyX963 }

  /// Signs with ECDSA and SHA-256.
  ///
  /// - Returns: *r* and *s* of the signature, 32 bytes each.
  public func signature(of bytes: [UInt8]) -> [UInt8] { rawSignature(of: bytes) }
}

extension PeerIdentity {
  /// Loads the identity from a data directory of boards; creates the directory and the identity if they are missing.
  ///
  /// Board files that are in the directory before the directory has an identity come from elsewhere. Therefore, this
  /// function first creates the secret that marks the program's own files; see ``loadOrCreate(inDirectory:)`` for the
  /// rest.
  ///
  /// - Throws: `IdentityError` if the existing file cannot be used or trusted.
  public static func loadOrCreate(forBoardsIn directory: String) throws(IdentityError) -> PeerIdentity {
    _ = DocumentSeal.loadOrCreate(inDirectory: directory)
    return try loadOrCreate(inDirectory: directory)
  }
}
