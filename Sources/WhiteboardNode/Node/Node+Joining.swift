import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardRendering

extension Node {
  /// Finds the board that is meant and joins it.
  ///
  /// - Throws: ``NodeError`` when it is not found or more than one is meant, ``SessionError`` when
  ///   the host does not let us in.
  func join(
    _ target: JoinTarget,
    patience: Duration,
    _ transport: PeerTransport
  ) async throws -> Session {
    switch target {
    case .link(let link):
      return try await joinDirectly(try request(for: link), transport)
    case .address(let address):
      return try await join(at: PeerAddress(host: address.host, port: address.port), transport)
    case .nearby: return try await joinNearby(nil, patience: patience, transport)
    case .name(let name): return try await joinNearby(name, patience: patience, transport)
    }
  }

  /// Joins the board at an address: one that was joined there before if it is there, else whichever is.
  private func join(
    at address: PeerAddress,
    _ transport: PeerTransport
  ) async throws -> Session {
    var request = JoinRequest(
      session: nil,
      addresses: [address],
      peer: nil,
      trust: .unverified,
      code: configuration.code
    )
    for stored in await storedMembers(at: address) {
      request.session = stored.board
      do {
        return try await joinDirectly(request, transport)
      } catch let error as SessionError where error.code == .noSuchSession {
        continue
      }
    }
    request.session = nil
    return try await joinDirectly(request, transport)
  }

  /// Joins at a given address; if no peer answers there, the error says what to do.
  private func joinDirectly(
    _ request: JoinRequest,
    _ transport: PeerTransport
  ) async throws -> Session {
    do {
      return try await join(request, transport)
    } catch let error as SessionError where error.code == .unreachable {
      let cause =
        silentAddress.map { "\($0) accepted the connection and did not answer as a whiteboard." }
        ?? error.message
      throw NodeError(
        .unreachable,
        cause + " Check the address and that the board is open there; "
          + "`whiteboard-peer nearby` lists the boards on this network."
      )
    }
  }

  private func request(for link: BoardLink) throws -> JoinRequest {
    guard let board = SessionID(text: link.board) else {
      throw NodeError(.usage, LinkError.badBoard.description)
    }
    var code = configuration.code
    if !link.code.isEmpty {
      do {
        code = try JoinCode(words: link.code.joined(separator: "-"))
      } catch {
        throw NodeError(.usage, "the link's code is not one: \(error)")
      }
    }
    let peer = link.peer.flatMap { PeerID(text: $0) }
    if peer == nil {
      emit(
        .warning(
          .init(
            code: "link-without-peer",
            message: "The link does not say whose board it is; a code or compared words must."
          )
        )
      )
    }
    var request = JoinRequest(
      session: board,
      addresses: [PeerAddress(host: link.address.host, port: link.address.port)],
      peer: peer,
      trust: peer == nil ? .unverified : .pinnedByLink,
      code: code
    )
    request.pass = link.pass.flatMap { InvitationPass(text: $0) }
    return request
  }

  // MARK: - Asking

  private func join(
    _ request: JoinRequest,
    _ transport: PeerTransport
  ) async throws -> Session {
    do {
      return try await ask(request, of: "", transport)
    } catch let error as SessionError {
      throw await explained(error, request, "")
    }
  }

  /// Asks a peer for admission: with the stored code if there is no other, and without it if the peer does not ask
  /// for a code.
  ///
  /// - Parameters:
  ///   - request: The request; the stored membership is added to it.
  ///   - hostName: The announced name of the peer; may be empty.
  ///   - isAgain: Whether the same peer is asked again, which is not reported.
  ///   - transport: The local endpoint.
  /// - Returns: The session.
  /// - Throws: ``SessionError`` if the peer does not admit the local peer.
  func ask(
    _ request: JoinRequest,
    of hostName: String,
    isAgain: Bool = false,
    _ transport: PeerTransport
  ) async throws -> Session {
    var request = request
    let stored: StoredMember? =
      if let board = request.session { await storedMember(of: board) } else { nil }
    request.membership = stored?.membership
    if request.code == nil, let code = stored?.code {
      request.code = code
      do {
        return try await attempt(request, of: hostName, isAgain: isAgain, transport)
      } catch let error as SessionError where error.code == .notVerified {
        // The board admits in another way by now.
        request.code = nil
      }
    }
    return try await attempt(request, of: hostName, isAgain: isAgain, transport)
  }

  /// Asks the host once for admission, with what the request proves.
  private func attempt(
    _ request: JoinRequest,
    of hostName: String,
    isAgain: Bool,
    _ transport: PeerTransport
  ) async throws -> Session {
    var request = request
    switch configuration.admission {
    case nil:
      // A peer with the code that admitted the local peer is admitted too.
      if let code = request.code {
        request.admission = .code(code)
        self.code = code
        admission = .code
      } else {
        self.code = nil
        admission = .known
      }
    default:
      // The code that admits the local peer admits others too: all members use one code for a
      // board.
      request.admission = admissionPolicy(default: .known, kept: request.code)
    }
    if !isAgain {
      emit(
        .peerState(
          .init(
            peer: request.peer?.text,
            name: hostName,
            state: .connecting,
            address: request.peer == nil ? request.addresses.first?.description : nil
          )
        )
      )
      retryReason = nil
    }
    let timeout = request.timeout
    (doubt, askedName) = (nil, nil)
    let (steps, stepSource) = AsyncStream<JoinStep>.makeStream()
    let peer = request.peer
    spawn { node in
      for await step in steps { node.tell(step, to: peer, hostName) }
    }
    defer { stepSource.finish() }
    let session = try await transport.join(
      request,
      progress: { stepSource.yield($0) },
      verify: { await self.verify($0, timeout: timeout) }
    )
    await takeName(of: session)
    return session
  }

  /// Reports a step of the attempt.
  private func tell(_ step: JoinStep, to peer: PeerID?, _ hostName: String) {
    guard isJoining, ending == nil else { return }
    var joining = NodeEvent.Joining(
      step: .provingCode,
      peer: peer?.text,
      name: hostName.isEmpty ? nil : hostName,
      boardName: boardName.isEmpty ? nil : boardName
    )
    silentAddress = nil
    switch step {
    case .connecting(let address):
      (joining.step, joining.address) = (.connecting, address.description)
    case .awaitingAnswer(let address):
      (joining.step, joining.address) = (.awaitingAnswer, address.description)
      silentAddress = address.description
    case .provingCode: break
    case .awaitingAcceptance(let name):
      (joining.step, joining.name) = (.awaitingAcceptance, name.raw)
      askedName = name.raw
      questionStart = clock.now
    case .retrying(let error): return tellRetry(error)
    }
    // A host that is dialed again was reported with the reason.
    switch joining.step {
    case .connecting where retryReason != nil, .awaitingAnswer where retryReason != nil: break
    default: emit(.joining(joining))
    }
  }

  /// Reports why the host is dialed again, once for each reason in a row.
  func tellRetry(_ error: SessionError) {
    guard retryReason != error.code else { return }
    retryReason = error.code
    let reason =
      switch error.code {
      case .busy: "The host is busy."
      case .lockedOut: "The host accepts no codes for a minute: too many were wrong."
      case .timedOut: "The host did not answer in time."
      default: TerminalText.cleaned(error.message)
      }
    let message = "\(reason) Trying again."
    emit(.warning(.init(code: "retrying", message: message)))
  }

  /// What it means here that we were not let in, and what to do about it.
  func explained(
    _ error: SessionError,
    _ request: JoinRequest,
    _ hostName: String
  ) async -> any Error {
    if let doubt {
      return doubt
    }
    switch error.code {
    case .kicked:
      var request = request
      if let board = request.session {
        request.membership = await storedMember(of: board)?.membership
      }
      return await localRemoval.explanation(of: error, request, hostName)
    case .wrongCode where request.code == nil:
      // A code that was refused is not offered again by itself (ADM-3).
      if let board = request.session { await forgetCode(of: board) }
      return NodeError(.notAllowed, "The code of this board has changed\(NodeError.codeAdvice)")
    case .timedOut:
      guard let askedName else {
        let place = silentAddress ?? "The peer"
        return NodeError(
          .timedOut,
          "\(place) accepted the connection and did not answer. Try again later; "
            + "`whiteboard-peer doctor` looks for the cause."
        )
      }
      let name = EventText.shortName(askedName, "the host")
      return NodeError(
        .timedOut,
        "\(name) did not accept in time. Ask \(name) to accept, then join again."
      )
    case .withdrawn where request.code == nil && ending == nil:
      return NodeError(.notAllowed, "This board admits by a code\(NodeError.codeAdvice)")
    case .notVerified where request.trust == .unverified:
      let ways = "Join by its link, or choose it by name from `whiteboard-peer nearby`"
      return NodeError(
        .notAllowed,
        request.code == nil
          ? "Nothing proves whose board is at that address: it admits without a code and without "
            + "words to compare. \(ways), or let the board admit by code."
          : "The board at that address did not prove that it knows the code. \(ways)."
      )
    case .full:
      let limit = error.remark.isEmpty ? "" : " \(TerminalText.cleaned(error.remark, limit: 128))"
      return NodeError(
        .notAllowed,
        "This board is full.\(limit) Its host can admit more peers with --max-peers, or move the "
          + "board to a relay with --relay auto."
      )
    case .selfDialled:
      return NodeError(
        .unreachable,
        "You host that board yourself. To join it as another peer, use another --data-dir."
      )
    default:
      return error
    }
  }

  /// Has the person here compare the words on both screens, where their answer counts.
  private func verify(_ verification: Verification, timeout: Duration) async -> Bool {
    guard ending == nil else { return false }
    let mustAnswer = verification.mustBeCompared
    guard
      !mustAnswer || !isBeyondAnswer || commandRunner.buffer.contains(where: \.answersInvitation)
    else {
      nobodyCompares()
      return false
    }
    let id = invitations.nextComparisonID()
    emit(
      .invitation(
        .init(
          id: id,
          peer: verification.peer.text,
          name: verification.name.raw,
          words: verification.words.joined(separator: " "),
          direction: .outgoing,
          mustAnswer: mustAnswer,
          deadline: SystemTime.deadlineText(timeout)
        )
      )
    )
    guard mustAnswer else { return true }
    return await withCheckedContinuation { continuation in
      invitations.addComparison(
        id,
        with: verification.peer,
        named: verification.name.raw,
        continuation
      )
      spawn { node in
        await node.commandRunner.runDueCommands()
        node.giveUpComparing()
      }
      spawn { node in
        try? await node.clock.sleep(for: timeout)
        guard node.invitations.isPending(id) else { return }
        node.doubt = NodeError(.timedOut, "Nobody said in time whether the words are the same.")
        node.invitations.answerComparison(id, isSame: false)
      }
    }
  }

  /// Whether no line can come any more that answers a question.
  private var isBeyondAnswer: Bool { commandRunner.buffer.isAtEndOrFull }

  /// Gives up on words that nobody will compare, since no line that says so can come any more.
  func giveUpComparing() {
    guard isJoining, isBeyondAnswer, !commandRunner.hasDueCommand else { return }
    for id in invitations.comparisons {
      nobodyCompares()
      invitations.answerComparison(id, isSame: false)
    }
  }

  private func nobodyCompares() {
    let message =
      "The host wants words compared, and nobody is here to do it: join on a terminal, or by the "
      + "board's link."
    doubt = NodeError(.notAllowed, message)
    emit(.warning(.init(code: "nobody-to-ask", message: message)))
  }
}

extension JoinTarget {
  /// The name of the target for the user; empty for any board nearby.
  package var words: String {
    switch self {
    case .nearby: ""
    // A whole board id means nothing to a user.
    case .name(let name): SessionID(text: name) == nil ? name : ""
    case .link(let link): link.address.description
    case .address(let address): address.description
    }
  }
}
