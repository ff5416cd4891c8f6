import PeerCore
import PeerSession
import WhiteboardKit

extension Relay {
  /// The last line of the answer is `done` or `error`.
  package func answer(_ request: ControlRequest) async -> [ControlLine] {
    do throws(WhiteboardError) { return try await carryOut(request) + [.done] } catch {
      return [.error(code: error.code.rawValue, message: error.message)]
    }
  }

  private func carryOut(_ request: ControlRequest) async throws(WhiteboardError) -> [ControlLine] {
    switch request.command {
    case .status: return [.status(await status())]
    case .boards: return reports().map(ControlLine.board)
    case .create: return [.board(try await create(request))]
    case .pin: return [.board(try pin(try board(request), true))]
    case .unpin: return [.board(try pin(try board(request), false))]
    case .delete:
      let entry = try board(request)
      try await delete(entry)
      return [.board(report(entry, state: "deleted"))]
    case .invite: return [.invitation(try await invite(request))]
    case .revoke:
      try await served(board(request)).revokeBrowsers()
      return []
    case .role: return try await changeRole(request)
    case .kick: return try await kick(request)
    case .peers: return people().map(ControlLine.person)
    case .compact: return try await compact(request).map(ControlLine.board)
    case .cluster: return try await clusterReports().map(ControlLine.clusterRelay)
    case .clusterBoards: return try await clusterBoards().map(ControlLine.clusterBoard)
    case .drain:
      requestEnd()
      return []
    }
  }

  private func create(_ request: ControlRequest) async throws(WhiteboardError) -> BoardReport {
    let admission: BoardConfiguration.Admission
    if let word = request.admit {
      guard let meant = BoardConfiguration.Admission(rawValue: word) else {
        throw WhiteboardError(.usage, "a relay cannot ask a user; set `admit` to `code`, `known` or `anyone`")
      }
      admission = meant
    } else {
      admission = .code
    }
    var code: JoinCode?
    if let words = request.code {
      do throws(JoinCodeError) { code = try JoinCode(words: words) } catch { throw WhiteboardError(.usage, "\(error)") }
    }
    return try await createBoard(
      name: request.name ?? "",
      admission: admission,
      code: code,
      isOwned: request.owned ?? false
    )
  }

  private func compact(_ request: ControlRequest) async throws(WhiteboardError) -> [BoardReport] {
    guard request.days.map({ (0...36_500).contains($0) }) ?? true else {
      throw WhiteboardError(.usage, "the number of days of history must be from 0 to 36500")
    }
    var compacted: [BoardReport] = []
    for entry in request.board == nil ? register.entries : [try board(request)] {
      if let id = entry.id { await settled(id) }
      guard let served = entry.id.flatMap({ boards[$0] }), case .serving = served.state else { continue }
      try await served.sharedBoard.compactDocument(keeping: request.days)
      compacted.append(report(entry))
    }
    return compacted
  }

  private func invite(_ request: ControlRequest) async throws(WhiteboardError) -> InvitationReport {
    let entry = try board(request)
    let sharedBoard = try await served(entry)
    do throws(CommandError) {
      let invited = try await sharedBoard.invite(request.terms ?? InvitationTerms())
      if let id = entry.id, boards[id]?.webLink == nil { showBrowserLink(invited, of: id) }
      return InvitationReport(invited, board: entry.board)
    } catch { throw WhiteboardError(.notAllowed, error.message) }
  }

  private func changeRole(_ request: ControlRequest) async throws(WhiteboardError) -> [ControlLine] {
    let entry = try board(request)
    guard let role = request.role.flatMap(BoardRole.init) else {
      throw WhiteboardError(.usage, "the role must be editor or viewer")
    }
    let sharedBoard = try await served(entry)
    do throws(CommandError) { try await sharedBoard.changeRole(of: request.peer ?? "", to: role) } catch {
      throw WhiteboardError(.no, error.message)
    }
    return []
  }

  private func kick(_ request: ControlRequest) async throws(WhiteboardError) -> [ControlLine] {
    var entry = try board(request)
    let sharedBoard = try await served(entry)
    let invited: SharedBoard.News.Invited?
    do throws(CommandError) {
      invited = try await sharedBoard.kick(
        request.peer ?? "",
        reason: request.reason ?? "",
        withAdmitted: request.withAdmitted ?? false,
        keepsCode: request.keepCode ?? false
      )
    } catch { throw WhiteboardError(.no, error.message) }
    guard let invited else { return [] }
    // Store the code in the register, because the relay opens the board with that code after a restart.
    entry = try board(request)
    entry.code = invited.code
    try register.set(entry)
    if let id = entry.id { boards[id]?.link = invited.link }
    return [.invitation(InvitationReport(invited, board: entry.board))]
  }

  private func served(_ entry: BoardRegister.Entry) async throws(WhiteboardError) -> SharedBoard {
    if let id = entry.id { await settled(id) }
    guard let served = entry.id.flatMap({ boards[$0] }), case .serving = served.state else {
      throw WhiteboardError(.timedOut, "the board is not served now; `whiteboard-relay boards` shows the reason")
    }
    return served.sharedBoard
  }

  private func board(_ request: ControlRequest) throws(WhiteboardError) -> BoardRegister.Entry {
    try register.entry(request.board ?? "")
  }

  /// The addresses of this relay with the port, best first.
  func addresses() async -> [HostPort] {
    let port = transport?.port ?? 0
    var hosts: [String] = []
    if let listen = configuration.listen, !["0.0.0.0", "::"].contains(listen.host) {
      hosts = [listen.host]
    } else if let transport {
      hosts = await transport.addresses()
    }
    return hosts.compactMap { HostPort(host: $0, port: port) }
  }

  /// The number of peers on the boards, each counted once.
  var peopleCount: Int { Set(boards.values.flatMap { visitors(of: $0).keys }).count }

  private func status() async -> RelayReport {
    RelayReport(
      name: configuration.name,
      peer: configuration.identity.peerID.text,
      addresses: await addresses().map(\.description),
      boards: register.entries.count,
      failed: boards.values.count { if case .failed = $0.state { true } else { false } },
      unsaved: boards.values.count { $0.unsaved != nil },
      people: peopleCount,
      uptime: Int((ContinuousClock().now - started) / .seconds(1))
    )
  }

  private func people() -> [PersonReport] {
    register.entries.flatMap { entry in
      (entry.id.flatMap { boards[$0] }.map(visitors) ?? [:]).sorted { $0.key < $1.key }.map {
        PersonReport(board: entry.board, boardName: UntrustedText(entry.name), peer: $0.key, name: $0.value)
      }
    }
  }
}
