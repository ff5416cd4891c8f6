import CommandLines
import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import WhiteboardDocument
import WhiteboardKit

extension Relay {
  /// A relay has no user, so admission `ask` is not allowed. If `code` is `nil`, the relay creates a random code.
  package func createBoard(
    name: String,
    admission: BoardConfiguration.Admission = .code,
    code: JoinCode? = nil,
    isOwned: Bool = false
  ) async throws(WhiteboardError) -> BoardReport {
    guard let name = try? SettingKey<String>.name(name), name.utf8.count <= 128 else {
      throw WhiteboardError(.usage, "the name of a board must have 1 to 128 bytes")
    }
    guard admission != .ask else {
      throw WhiteboardError(.usage, "a relay cannot ask a user; set `admit` to `code`, `known` or `anyone`")
    }
    guard !isEnding else { throw WhiteboardError(.unreachable, "the relay is stopping; try again after its start") }
    guard register.entries.count < limits.maximumBoards else {
      throw WhiteboardError(
        .notAllowed,
        "there are already \(limits.maximumBoards) boards, and max-boards allows no more"
      )
    }
    let (id, salt): (SessionID, [UInt8]?) =
      if isOwned { SessionID.ofBoard(ownedBy: configuration.identity) } else {
        (.ofOpenBoard(hostedBy: configuration.identity.peerID), nil)
      }
    let now = BoardFile.now
    let entry = BoardRegister.Entry(
      board: id.text,
      name: name,
      admission: admission.rawValue,
      code: (admission == .code ? code ?? .random() : nil)?.text,
      salt: salt.map { Data($0) },
      since: now,
      visited: now
    )
    try register.set(entry)
    open(entry)
    await settled(id)
    return report(entry)
  }

  /// Returns the reports in the order in which the relay created or accepted the boards.
  package func reports() -> [BoardReport] { register.entries.map { report($0) } }

  func open(_ entry: BoardRegister.Entry, _ session: Session? = nil, listing: LibraryListing? = nil) {
    // Open no board while the relay shuts down, because no code would close that board.
    guard !isEnding, let id = entry.id, boards[id] == nil, let transport else { return }
    var boardConfiguration = BoardConfiguration(
      part: .keep(board: id, boardName: entry.name),
      displayName: configuration.name,
      identity: configuration.identity,
      dataDirectory: configuration.dataDirectory,
      logger: logger
    )
    boardConfiguration.transport = transport
    boardConfiguration.listing = listing
    if let carriage = entry.carriage, let host = PeerID(text: carriage.host) {
      boardConfiguration.carriage = .init(session, host: host, grant: carriage.grant)
    }
    boardConfiguration.isRelay = true
    boardConfiguration.keepsPhotoFiles = false
    boardConfiguration.files = .refuse
    boardConfiguration.isOwned = entry.salt != nil
    boardConfiguration.salt = entry.salt.map { Array($0) }
    boardConfiguration.peerStore = configuration.peerStore
    boardConfiguration.listen = configuration.listen
    boardConfiguration.interface = configuration.interface
    boardConfiguration.lostAfter = configuration.lostAfter
    boardConfiguration.discovery = configuration.discovery
    boardConfiguration.browserGateway = configuration.browserGateway
    boardConfiguration.servesBrowsers = configuration.browserGateway != nil
    boardConfiguration.guestsInvite = configuration.guestsInvite
    boardConfiguration.admission = BoardConfiguration.Admission(rawValue: entry.admission) ?? .code
    boardConfiguration.code = entry.code.flatMap { try? JoinCode(words: $0) }
    let sink = BoardSink { [weak self] event in await self?.happened(event, on: id) }
    let served = SharedBoard(boardConfiguration, input: nil, sink: sink)
    boards[id] = ServedBoard(name: entry.name, isHosted: entry.carriage == nil, sharedBoard: served)
    spawn { relay in await relay.serve(id, served) }
  }

  private func serve(_ id: SessionID, _ sharedBoard: SharedBoard) async {
    do throws(WhiteboardError) {
      try await sharedBoard.run()
      if let problem = boards[id]?.problem { throw problem }
      boards[id] = nil
    } catch {
      logger.error("Board could not be served.", metadata: ["board": "\(id.short)", "reason": "\(error.message)"])
      boards[id]?.state = .failed(error)
    }
    await transport?.sessionOpened(id)
    boardsChanged()
  }

  private func happened(_ event: SharedBoard.Output, on id: SessionID) async {
    guard var board = boards[id] else { return }
    switch event {
    case .news(.ready(let ready)):
      board.state = .serving
      board.link = ready.link
      spawn { relay in relay.spreadBoards() }
      logger.info("Board opened.", metadata: ["board": "\(id.short)"])
    case .news(.admission(let ready)):
      board.link = ready.link
      if var entry = register[id] {
        (entry.admission, entry.code) = (ready.admit, ready.code)
        do throws(WhiteboardError) { try register.set(entry) } catch { logger.error("\(error.message)") }
      }
    case .news(.note(let note)) where note.code == SharedBoard.News.Remark.webRevoked: board.webLink = nil
    case .news(.web(let web)) where !web.isOn: board.webLink = nil
    case .news(.invited(let invited)): return showBrowserLink(invited, of: id)
    case .change(let change, let details): record(change, details, on: id, &board)
    case .news(.note(let remark)):
      // Log that saving works again, for operators that saw the log line "not-saved".
      logger.log(
        level: remark.code == SharedBoard.News.Remark.savedAgain ? .notice : .info,
        "\(remark.code)",
        metadata: ["board": "\(id.short)", "what": "\(remark.message)"]
      )
    case .news(.warning(let remark)):
      logger.warning("\(remark.code)", metadata: ["board": "\(id.short)", "what": "\(remark.message)"])
    default: break
    }
    boards[id] = board
    boardsChanged()
  }

  /// The peers on a board, by id, without the other relays of the cluster.
  func visitors(of board: ServedBoard) -> [String: UntrustedText] {
    guard !cluster.relays.isEmpty else { return board.people }
    let relays = Set(cluster.relays.keys.map(\.text))
    return board.people.filter { !relays.contains($0.key) }
  }

  private func record(
    _ change: SharedBoard.Change,
    _ details: SharedBoard.ChangeDetails,
    on id: SessionID,
    _ board: inout ServedBoard
  ) {
    if case .saving(let state) = change { board.unsaved = state.problem }
    guard let member = details.member else { return }
    var metadata: Logger.Metadata = ["board": "\(id.short)", "peer": "\(member.short)"]
    if let name = details.name { metadata["name"] = "\(name)" }
    if case .joined = change {
      board.people[member.description] = details.name
      // The host of the board may have returned.
      if !board.isHosted, cluster.connection != nil { spawn { relay in relay.spreadBoards() } }
      metrics.add(.joins)
      logger.notice("Peer joined.", metadata: metadata)
    } else if let departure = details.departure {
      board.people[member.description] = nil
      // A relay that left for good, for example because its operator deleted the board, is asked again.
      board.keepers.remove(PeerID(member))
      board.visited = BoardFile.now
      // The protocol has a fixed set of reasons, so the metric has few label values.
      metrics.add(.departures, of: departure.reason)
      metadata["reason"] = "\(departure.reason)"
      logger.notice("Peer left.", metadata: metadata)
    }
  }

  func showBrowserLink(_ invited: SharedBoard.News.Invited, of id: SessionID) {
    guard invited.code == nil, invited.isForEveryone else { return }
    boards[id]?.webLink = invited.link
  }

  func settled(_ id: SessionID) async {
    openFirst(id)
    while isOpening(id) { await untilBoardsChange() }
  }

  func report(_ entry: BoardRegister.Entry, state told: String? = nil) -> BoardReport {
    let served = entry.id.flatMap { boards[$0] }
    let (state, problem): (String, String?) =
      switch served?.state {
      case .serving: ("serving", served?.unsaved?.sentence)
      case .failed(let error): ("failed", error.message)
      case .opening, nil: ("opening", nil)
      }
    return BoardReport(
      board: entry.board,
      name: UntrustedText(entry.name),
      state: told ?? state,
      problem: problem,
      isPinned: entry.isPinned,
      isOwned: entry.id?.isOfOwnedBoard ?? false,
      admit: entry.admission,
      link: served.flatMap { $0.link.isEmpty ? nil : $0.link },
      webLink: served?.webLink,
      people: served.map { visitors(of: $0).values.sorted() } ?? [],
      since: BoardFile.time(entry.since),
      visited: BoardFile.time(entry.visited)
    )
  }
}

extension Relay {
  /// Throws if the list of boards cannot be saved.
  func pin(_ entry: BoardRegister.Entry, _ isPinned: Bool) throws(WhiteboardError) -> BoardReport {
    var entry = entry
    entry.isPinned = isPinned
    try register.set(entry)
    return report(entry)
  }

  /// Stops serving a board, and deletes its file; if `inCluster` is true, the other relays of the cluster delete it too.
  /// Throws if the list of boards cannot be saved or the file cannot be deleted. The members keep their copies of the
  /// board.
  func delete(_ entry: BoardRegister.Entry, inCluster: Bool = true) async throws(WhiteboardError) {
    guard let id = entry.id else { return }
    if inCluster { try removeInCluster(id, hostedBy: host(of: entry)) } else { try register.remove(id) }
    if let board = boards[id] {
      await board.sharedBoard.requestEnd()
      while boards[id] != nil {
        if case .failed? = boards[id]?.state { boards[id] = nil } else { await untilBoardsChange() }
      }
    }
    try await removeDocument(of: id)
    logger.notice("Board deleted.", metadata: ["board": "\(id.short)"])
  }

  private func removeDocument(of id: SessionID) async throws(WhiteboardError) {
    let library = BoardLibrary(inDataDirectory: configuration.dataDirectory)
    do {
      for summary in try await library.list() where summary.board == id.bytes { try BoardFile.delete(summary.path) }
    } catch let error as WhiteboardError { throw error } catch {
      throw WhiteboardError(.inputOutput, "the file of the board cannot be deleted: \(error)")
    }
  }
}

/// Passes on only the events that the relay needs: joins, leaves, browser links and problems.
struct BoardSink: EventSink {
  let take: @Sendable (SharedBoard.Output) async -> Void

  var contents: EventContents { [] }

  func write(_ events: [SharedBoard.Output]) async throws(OutputError) {
    for event in events {
      switch event {
      case .news(.resourceProgress), .answer: break
      case .change, .news: await take(event)
      }
    }
  }
}
