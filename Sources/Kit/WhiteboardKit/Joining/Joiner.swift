import PeerCore
import PeerSession
import WhiteboardDocument

/// Finds the board that the user named, and requests admission from its peers. Reports each step, asks the user to
/// compare words if necessary, and explains failures. Confined to the actor of its board.
final class Joiner {
  struct AskedPeer {
    var hostName = UntrustedText("")
    var boardName = UntrustedText("")
  }

  struct Attempt {
    /// The address that accepted the connection and has not answered yet.
    var silentAddress: String?
    var askedName: UntrustedText?
    var endedUnconfirmed = false
    var problem: WhiteboardError?
  }

  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let discovery: BoardDiscovery
  let copies: StoredCopies
  let localRemoval: LocalRemoval
  let invitations: Invitations
  let transport: PeerTransport
  var known = KnownPeers()
  var attempt = Attempt()
  /// The time at which a remote user was asked to admit the local peer.
  var questionStart: ContinuousClock.Instant?
  /// Reserves the local copy of the requested board, because two programs must not join with the same copy.
  var reservation: (board: SessionID, copy: BoardReservation?)?
  private var retryReason: SessionError.Code?
  private var reportedSteps: [SharedBoard.News.Joining] = []
  /// The stored choices of the user, if the local peer is the host of the board.
  private var hostChoice = HostChoice()

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    _ discovery: BoardDiscovery,
    _ copies: StoredCopies,
    _ localRemoval: LocalRemoval,
    _ invitations: Invitations,
    _ transport: PeerTransport
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.discovery = discovery
    self.copies = copies
    self.localRemoval = localRemoval
    self.invitations = invitations
    self.transport = transport
  }

  /// Joins a board, and returns whether it was found by its announcement. Throws if no board or several boards are
  /// found, or no peer admits the local peer.
  nonisolated(nonsending) func join(_ target: JoinTarget, timeout: Duration) async throws -> (
    BoardSession, isAnnounced: Bool
  ) {
    defer { checkIsolation(#isolation) }
    switch target {
    case .link(let link): return (try await join(by: link), false)
    case .address(let address): return (try await join(at: PeerAddress(host: address.host, port: address.port)), false)
    case .nearby: return (try await joinNearby(nil, timeout: timeout), true)
    case .name(let name): return (try await joinNearby(name, timeout: timeout), true)
    }
  }

  // MARK: - At a given address

  /// Joins a known board that had a member at this address, if the peer at the address still has that board; otherwise,
  /// joins the peer's only board.
  private nonisolated(nonsending) func join(at address: PeerAddress) async throws -> BoardSession {
    var request = JoinRequest(at: address, code: configuration.code)
    for stored in await copies.members(at: address) {
      request.session = stored.board
      do { return try await joinDirectly(request) } catch let error as SessionError where error.code == .noSuchSession {
        continue
      }
    }
    request.session = nil
    return try await joinDirectly(request)
  }

  /// Joins at the address in a link, or at a peer that announces the board or has the key in the link (DSC-28).
  private nonisolated(nonsending) func join(by link: BoardLink) async throws -> BoardSession {
    defer { checkIsolation(#isolation) }
    var request = try JoinRequest(link, code: configuration.code)
    if request.peer == nil { warnOfLinkWithoutPeer() }
    if configuration.discovery != nil {
      let announced = AnnouncedListeners()
      request.announced = announced
      let (board, peer) = (request.session, request.peer)
      update(announced, from: announcedPeers(of: board, or: peer))
      runtime.spawn { sharedBoard in await sharedBoard.joiner?.follow(announced, board, peer) }
    }
    return try await joinDirectly(request)
  }

  private nonisolated(nonsending) func joinDirectly(_ request: JoinRequest) async throws -> BoardSession {
    defer { checkIsolation(#isolation) }
    do { return try await ask(request, of: AskedPeer()) } catch let error as SessionError {
      let explanation = await explain(error, request, of: AskedPeer())
      guard let error = explanation as? SessionError, error.isDeparture || error.code == .wrongPeer else {
        throw explanation
      }
      if let refusals = request.announced?.refusals, !refusals.isEmpty {
        throw failure(error, refusals, hasCode: request.code != nil)
      }
      guard error.code == .unreachable else { throw error }
      let cause =
        attempt.silentAddress.map { "\($0) accepted the connection, but did not answer like a whiteboard." }
        ?? error.message
      throw WhiteboardError(
        .unreachable,
        cause + " Check the address and that the board is open there; to find the cause, run "
          + "`whiteboard-peer doctor` on that computer. `whiteboard-peer nearby` lists the boards on " + "this network."
      )
    }
  }

  private func warnOfLinkWithoutPeer() {
    let message =
      "The link does not name the host, so a join code or compared words must prove which peer it is."
    runtime.emit(.warning(.init(code: "link-without-peer", message: message)))
  }

  // MARK: - Asking

  /// Uses the stored code if the request has no code, and no code if the peer does not ask for one. Repeated attempts
  /// are not reported.
  nonisolated(nonsending) func ask(_ request: JoinRequest, of peer: AskedPeer, isAgain: Bool = false) async throws
    -> BoardSession
  {
    defer { checkIsolation(#isolation) }
    var request = request
    if let board = request.session { try await reserve(board) }
    let stored: StoredCopies.Member? = if let board = request.session { await copies.member(of: board) } else { nil }
    request.membership = stored?.membership
    request.earlierCode = stored?.code
    hostChoice = stored?.hostChoice ?? HostChoice()
    if request.code == nil, let code = stored?.code {
      request.code = code
      do { return try await askOnce(request, of: peer, isAgain: isAgain) } catch let error as SessionError
        where error.code == .notVerified
      {
        // The board no longer admits peers by code.
        request.code = nil
      }
    }
    return try await askOnce(request, of: peer, isAgain: isAgain)
  }

  /// Reserves the local copy of a board, and releases the copy that was reserved before.
  private nonisolated(nonsending) func reserve(_ board: SessionID) async throws(WhiteboardError) {
    defer { checkIsolation(#isolation) }
    guard reservation?.board != board else { return }
    reservation = nil
    reservation = (board, try await copies.reserve(board))
  }

  private nonisolated(nonsending) func askOnce(_ request: JoinRequest, of peer: AskedPeer, isAgain: Bool) async throws
    -> BoardSession
  {
    defer { checkIsolation(#isolation) }
    var request = request
    // All members of a board use the same code, so the local peer admits others by the code with which it joined.
    request.followsHost = configuration.followsHost
    request.asksUser = runtime.call { $0.asksUser }
    request.hosting = HostAdmission(
      policy: configuration.hostPolicy(hostChoice, code: request.code),
      membersAdmit: configuration.hostChoice.over(hostChoice).membersAdmit
    )
    request.admission =
      request.followsHost
      ? request.code.map { .code($0) } ?? .known : configuration.admissionPolicy(default: .known, code: request.code)
    if !isAgain {
      reportConnecting(request, peer)
      retryReason = nil
      reportedSteps = []
    }
    let timeout = request.timeout
    attempt = Attempt()
    let (steps, stepSource) = AsyncStream<JoinStep>.makeStream()
    let id = request.peer
    runtime.spawn { sharedBoard in for await step in steps { sharedBoard.joiner?.report(step, id, peer) } }
    defer { stepSource.finish() }
    let session: Session
    do {
      session = try await transport.join(
        request,
        progress: { stepSource.yield($0) },
        comparing: { [sharedBoard = runtime.sharedBoard] in await Joiner.compare($0, timeout: timeout, on: sharedBoard)
        }
      )
    } catch {
      attempt.endedUnconfirmed = !invitations.comparisons.isEmpty
      invitations.endComparisons(because: error)
      throw error
    }
    let name = name(of: session, announcedAs: peer.boardName)
    // The host did not send the board's name in the handshake, but announces it.
    if session.name.isEmpty, !peer.boardName.isEmpty { await session.setName(name) }
    var policy = try await session.admissionPolicy()
    // If the host has already sent another code, the board reports the code as a change.
    if let code = request.code, case .code(let present) = policy, present != code,
      !configuration.isHosting(session)
    {
      policy = .known
    }
    let board = BoardSession(session, name: name, policy: policy, hostChoice)
    if reservation?.board == session.id { board.reservation = reservation?.copy }
    reservation = nil
    return board
  }

  /// Returns the announced name, or else the name that the host sent, or else an id prefix.
  private func name(of session: Session, announcedAs announced: UntrustedText) -> String {
    guard announced.isEmpty else { return announced.raw }
    return session.name.isEmpty ? session.id.short : session.name.raw
  }

  // MARK: - Reporting

  private func reportConnecting(_ request: JoinRequest, _ peer: AskedPeer) {
    runtime.emit(
      .peerState(
        .init(
          peer: request.peer?.text,
          name: peer.hostName,
          state: .connecting,
          address: request.peer == nil ? request.addresses.first?.description : nil
        )
      )
    )
  }

  private func report(_ step: JoinStep, _ id: PeerID?, _ peer: AskedPeer) {
    guard runtime.ending == nil else { return }
    var joining = SharedBoard.News.Joining(
      step: .provingCode,
      peer: id?.text,
      name: peer.hostName.isEmpty ? nil : peer.hostName,
      boardName: peer.boardName.isEmpty ? nil : peer.boardName
    )
    switch step {
    case .connecting(let address): (joining.step, joining.address) = (.connecting, address.description)
    case .awaitingAnswer(let address):
      (joining.step, joining.address) = (.awaitingAnswer, address.description)
      attempt.silentAddress = address.description
    case .provingCode: attempt.silentAddress = nil
    case .awaitingAcceptance(let name):
      (joining.step, joining.name) = (.awaitingAcceptance, name)
      attempt.askedName = name
      attempt.silentAddress = nil
      questionStart = runtime.clock.now
    case .refused(let peer, let error):
      let message = "\(words(error, by: peer)). Trying the next peer."
      return runtime.emit(.warning(.init(code: "peer-refused", message: message)))
    case .retrying(let error): return reportRetry(error)
    }
    // If the host is dialed again, only the reason is reported. A step is not reported again, unless the host's user is
    // asked.
    guard joining.step == .awaitingAcceptance || !reportedSteps.contains(joining) else { return }
    reportedSteps.append(joining)
    runtime.emit(.joining(joining))
  }

  func reportRetry(_ error: SessionError) {
    guard retryReason != error.code else { return }
    retryReason = error.code
    let reason =
      switch error.code {
      case .busy where error.message == SessionError.justDeclinedAdvice:
        "The host just declined a request from this address, and answers no other one for a minute."
      case .busy: "The host is busy."
      case .lockedOut: "The host accepts no codes for a minute: too many were wrong."
      case .timedOut: "The host did not answer in time."
      default: UntrustedText(error.message).escaped()
      }
    runtime.emit(.warning(.init(code: "retrying", message: "\(reason) Trying again.")))
  }
}

extension JoinRequest {
  /// Creates the request to join the board of a link. The code in the link, if there is one, replaces `code`.
  package init(_ link: BoardLink, code: JoinCode?) throws(WhiteboardError) {
    guard let board = SessionID(text: link.board) else { throw WhiteboardError(.usage, LinkError.badBoard.description) }
    let peer = link.peer.flatMap { PeerID(text: $0) }
    self.init(
      session: board,
      addresses: [PeerAddress(host: link.address.host, port: link.address.port)],
      peer: peer,
      trust: peer == nil ? .unverified : .pinnedByLink,
      code: code
    )
    pass = link.pass.flatMap { InvitationPass(text: $0) }
    guard !link.code.isEmpty else { return }
    do { self.code = try JoinCode(words: link.code.joined(separator: "-")) } catch {
      throw WhiteboardError(.usage, "the code in the link is not a join code: \(error)")
    }
  }

  /// Creates the request to join the only board of the peer at an address.
  package init(at address: PeerAddress, code: JoinCode?) {
    self.init(session: nil, addresses: [address], peer: nil, trust: .unverified, code: code)
  }
}

extension JoinTarget {
  package var words: String {
    switch self {
    case .nearby: ""
    // A whole board id is not useful to a user.
    case .name(let name): SessionID(text: name) == nil ? name : ""
    case .link(let link): link.address.description
    case .address(let address): address.description
    }
  }
}

extension Joiner {
  /// Asks the user to compare the verification words, if nothing else proves the identity of the host.
  static func compare(_ verification: Verification, timeout: Duration, on sharedBoard: isolated SharedBoard) async
    -> WordComparison
  { await sharedBoard.joiner?.compare(verification, timeout: timeout) ?? .stopped }

  private nonisolated(nonsending) func compare(_ verification: Verification, timeout: Duration) async -> WordComparison
  {
    defer { checkIsolation(#isolation) }
    guard runtime.ending == nil else { return .stopped }
    if let compareWords = configuration.compareWords {
      let answer = await withTaskExecutorPreference(globalConcurrentExecutor) { await compareWords(verification) }
      attempt.problem = answer.problem
      return answer
    }
    let mustAnswer = verification.mustBeCompared
    guard !mustAnswer || runtime.call({ $0.commandRunner.buffer.canHoldAnswer }) else {
      reportNoUser()
      return .noUser
    }
    // If the attempt has ended in the meantime, the answer no longer matters.
    guard !Task.isCancelled else { return .stopped }
    let id = invitations.nextComparisonID()
    runtime.emit(
      .invitation(
        .init(
          id: id,
          peer: verification.peer.text,
          name: verification.name,
          words: verification.words.joined(separator: " "),
          direction: .outgoing,
          mustAnswer: mustAnswer,
          deadline: SystemTime.deadlineText(timeout),
          seconds: Int(timeout / .seconds(1))
        )
      )
    )
    guard mustAnswer else { return .same }
    return await withCheckedContinuation { continuation in
      invitations.addComparison(id, with: verification.peer, named: verification.name, timeout: timeout, continuation)
      runtime.spawn { sharedBoard in
        await sharedBoard.commandRunner.runDueCommands()
        sharedBoard.joiner?.endUnanswerableComparisons()
      }
    }
  }

  func endUnanswerableComparisons() {
    guard runtime.call({ $0.commandRunner.buffer.isAtEndOrFull && !$0.commandRunner.hasDueCommand }) else { return }
    for id in invitations.comparisons {
      reportNoUser()
      invitations.answerComparison(id, .noUser)
    }
  }

  private func reportNoUser() {
    attempt.problem = WordComparison.noUser.problem
    let message = attempt.problem?.message ?? ""
    runtime.emit(.warning(.init(code: SharedBoard.News.Remark.noUser, message: message)))
  }
}
