import PeerCore
import PeerSession

extension Joiner {
  /// Returns an error that tells the user what to do; returns the same error if the error needs no explanation.
  nonisolated(nonsending) func explain(_ error: SessionError, _ request: JoinRequest, of peer: AskedPeer) async
    -> any Error
  {
    if let problem = attempt.problem { return problem }
    // Release the local copy, because an explanation can change it.
    reservation = nil
    switch error.code {
    case .kicked:
      var request = request
      if let board = request.session { request.membership = await copies.member(of: board)?.membership }
      return await localRemoval.explanation(of: error, request, peer.hostName)
    case .wrongCode where request.code == nil:
      // A stored code that was refused is not used again (ADM-3).
      if let board = request.session { await copies.removeCode(of: board) }
      return WhiteboardError(.notAllowed, "The code of this board has changed\(WhiteboardError.codeAdvice)")
    case .timedOut: return timeout
    case .unreachable:
      guard let askedName = attempt.askedName else { return error }
      let name = EventText.shortName(askedName, "the host")
      return WhiteboardError(.unreachable, "The connection with \(name) broke before \(name) admitted you. Join again.")
    case .withdrawn where runtime.ending != nil: return error
    default: return WhiteboardError(refusing: request, error) ?? error
    }
  }

  private var timeout: WhiteboardError {
    guard let askedName = attempt.askedName else {
      let event =
        attempt.silentAddress.map { "\($0) accepted the connection, but did not answer." }
        ?? "The peer did not answer in time."
      return WhiteboardError(
        .timedOut,
        "\(event) Try again later. To find the cause, run `whiteboard-peer doctor` on that computer."
      )
    }
    let name = EventText.shortName(askedName, "the host")
    if attempt.endedUnconfirmed {
      return WhiteboardError(
        .timedOut,
        "You did not confirm the verification words in time. To ask \(name) again, join again."
      )
    }
    return WhiteboardError(.timedOut, "\(name) did not accept in time. Ask \(name) to accept, then join again.")
  }

  /// Describes why no peer answered at the address in a link, and why announced peers refused.
  func failure(_ error: SessionError, _ refusals: [(peer: PeerID, error: SessionError)], hasCode: Bool)
    -> WhiteboardError
  {
    let words = refusals.map { self.words($0.error, by: $0.peer) }
    var message = "\(error.message) Nearby, \(words.joined(separator: "; "))."
    if !hasCode, refusals.contains(where: { $0.error.code == .withdrawn }) {
      message += " Join with a code\(WhiteboardError.codeAdvice)"
    }
    let codes = refusals.map { WhiteboardError($0.error).code }
    return WhiteboardError(codes.contains(.notAllowed) ? .notAllowed : .unreachable, message)
  }

  // MARK: - After a search

  nonisolated(nonsending) func failure(of search: JoinSearch, _ name: String?, _ timeout: Duration) async -> any Error {
    let refusals = search.refusals
    guard let first = refusals.first else { return notFound(name, timeout) }
    // All members report the same limit.
    let isFull = refusals.allSatisfy { $0.error.code == .full }
    let sure = refusals.first {
      refusals.count == 1 || isFull || $0.candidate.rank == .knownPeer && [.kicked, .wrongCode].contains($0.error.code)
    }
    if let sure, sure.error.code != .unreachable || attempt.askedName != nil {
      if refusals.count > 1 { attempt.problem = nil }
      return await explain(sure.error, request(for: sure.candidate), of: sure.candidate.askedPeer)
    }
    if refusals.allSatisfy({ $0.error.code == .unreachable }), refusals.count == 1 {
      return WhiteboardError(
        .unreachable,
        first.error.message + " The board is announced there. To find the cause, run "
          + "`whiteboard-peer doctor` on that computer."
      )
    }
    let codes = refusals.map { WhiteboardError($0.error).code }
    var message =
      "No peer admitted you to \(first.candidate.boardName.quoted()): " + refusals.map(\.words).joined(separator: "; ")
      + "."
    if configuration.code == nil, refusals.contains(where: { $0.error.code == .withdrawn }) {
      message += " Join with a code\(WhiteboardError.codeAdvice)"
    }
    return WhiteboardError(codes.contains(.notAllowed) ? .notAllowed : codes[0], message)
  }

  private func notFound(_ name: String?, _ timeout: Duration) -> WhiteboardError {
    let boards = discovery.nearby.boards
    let seconds = Int(timeout / .seconds(1))
    let wanted = name.map { "no board called \(UntrustedText($0).quoted())" } ?? "no board"
    var message = "\(wanted) was found nearby in \(seconds) s"
    if let own = discovery.ownBoard, boards.isEmpty, name.map({ $0 == own.raw }) ?? true {
      message += " but this peer's own, \(own.quoted()); to join it as another peer, " + "use a different --data-dir"
    } else if let problem = discovery.problem {
      message += ". \(problem.description)"
    } else if name != nil, !boards.isEmpty {
      message += "; there is \(boards.prefix(16).map(\.label).joined(separator: ", "))"
    } else {
      message += "; join by link or HOST:PORT, or see: whiteboard-peer doctor"
    }
    return WhiteboardError(.timedOut, message)
  }
}

extension WhiteboardError {
  /// Several boards match, and the user must choose one. `place` is where they are, and `labels` names each of them with
  /// an id prefix in brackets.
  init(choosing labels: [String], _ place: String) {
    self.init(
      .usage,
      "\(labels.count) boards are \(place): \(labels.prefix(16).joined(separator: ", ")). Give the name of one, or the "
        + "start of the id in brackets"
    )
  }

  /// Creates an error that tells the user why a request to join was refused, and what to do; returns nil if the message
  /// of `error` says enough.
  package init?(refusing request: JoinRequest, _ error: SessionError) {
    switch error.code {
    case .withdrawn where request.code == nil:
      self.init(.notAllowed, "This board requires a join code\(WhiteboardError.codeAdvice)")
    case .notVerified where request.trust == .unverified && error.message != SessionError.codeNotAskedAdvice:
      let advice = "Join by its link, or choose it by name from `whiteboard-peer nearby`"
      self.init(
        .notAllowed,
        request.code == nil
          ? "The host at that address cannot prove its identity, because the board admits peers without a code "
            + "or verification words. \(advice), or ask the host to use --admit code."
          : "The board at that address did not prove that it knows the code. \(advice)."
      )
    case .full:
      let limit = error.remark.isEmpty ? "" : " \(UntrustedText(error.remark).escaped(limit: 128))"
      self.init(
        .notAllowed,
        "This board is full.\(limit) Its host can admit more peers with --max-peers, or move the "
          + "board to a relay with --relay auto."
      )
    case .selfDialled:
      self.init(
        .unreachable,
        "You host that board yourself. To join it as another peer, use a different --data-dir."
      )
    default: return nil
    }
  }
}

extension WordComparison {
  /// The error that tells the user why this answer ended the attempt to join (ADM-8); nil if the answer did not end it.
  package var problem: WhiteboardError? {
    switch self {
    case .same, .stopped: nil
    case .different: WhiteboardError(.notAllowed, "The words are not the same on both screens.")
    case .noUser:
      WhiteboardError(
        .notAllowed,
        "You must compare words with the host of this board. Run the command on a terminal, without a pipe, or use the "
          + "board's link."
      )
    }
  }
}
