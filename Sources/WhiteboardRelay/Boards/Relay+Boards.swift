import FoundationEssentials
import Logging
import PeerSession
import WhiteboardDocument
import WhiteboardNode
import WhiteboardRendering

/// The boards of a relay: how they come, who is on them, and how they go.
extension Relay {
  /// Makes a board of this relay's own.
  ///
  /// - Parameters:
  ///   - name: What it is called.
  ///   - admission: Who is let in; a relay has nobody to ask.
  ///   - code: The words that let people in; nil makes some.
  ///   - isOwned: Whether the relay says who writes on it; else whoever is let in does.
  /// - Returns: What there is to tell of it.
  /// - Throws: ``NodeError`` where there are too many, or it cannot be noted.
  package func createBoard(
    name: String,
    admission: NodeConfiguration.Admission = .code,
    code: JoinCode? = nil,
    isOwned: Bool = false
  ) async throws(NodeError) -> BoardReport {
    guard let name = try? SettingKey<String>.name(name), name.utf8.count <= 128 else {
      throw NodeError(.usage, "a board's name has 1 to 128 bytes")
    }
    guard admission != .ask else {
      throw NodeError(.usage, "a relay has nobody to ask: say code, known or anyone")
    }
    guard register.entries.count < limits.maximumBoards else {
      throw NodeError(
        .notAllowed,
        "there are \(limits.maximumBoards) boards already; max-boards allows no more"
      )
    }
    let salt = isOwned ? Node.newSalt() : nil
    let id = Node.board(ofOwner: configuration.identity, salt: salt)
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

  /// What there is to tell of every board, in the order in which they came.
  package func reports() -> [BoardReport] { register.entries.map { report($0) } }

  /// Serves a board of the register.
  ///
  /// - Parameters:
  ///   - entry: Which one.
  ///   - session: Its session, where that is open already.
  func open(_ entry: BoardRegister.Entry, _ session: Session? = nil) {
    guard let id = entry.id, boards[id] == nil, let transport else { return }
    var node = NodeConfiguration(
      part: .keep(board: id, boardName: entry.name),
      displayName: configuration.name,
      identity: configuration.identity,
      dataDirectory: configuration.dataDirectory,
      logger: logger
    )
    node.transport = transport
    if let carriage = entry.carriage, let host = PeerID(text: carriage.host) {
      node.carriage = .init(session, host: host, grant: carriage.grant)
    }
    node.isRelay = true
    node.keepsPhotoFiles = false
    node.files = .refuse
    node.isOwned = entry.salt != nil
    node.salt = entry.salt.map { Array($0) }
    node.peerStore = configuration.peerStore
    node.listen = configuration.listen
    node.interface = configuration.interface
    node.lostAfter = configuration.lostAfter
    node.discovery = configuration.discovery
    node.admission = NodeConfiguration.Admission(rawValue: entry.admission) ?? .code
    node.code = entry.code.flatMap { try? JoinCode(words: $0) }
    let sink = BoardSink { [weak self] event in await self?.happened(event, on: id) }
    let served = Node(node, input: nil, sink: sink)
    boards[id] = ServedBoard(name: entry.name, node: served)
    spawn { relay in await relay.serve(id, served) }
  }

  private func serve(_ id: SessionID, _ node: Node) async {
    do throws(NodeError) {
      try await node.run()
      if let problem = boards[id]?.problem { throw problem }
      boards[id] = nil
    } catch {
      logger.error(
        "a board cannot be served",
        metadata: ["board": "\(id.short)", "reason": "\(error.message)"]
      )
      boards[id]?.state = .failed(error)
    }
    boardsChanged()
  }

  private func happened(_ event: NodeEvent, on id: SessionID) async {
    guard var board = boards[id] else { return }
    switch event {
    case .ready(let ready):
      board.state = .serving
      board.link = ready.link
      logger.info("serving a board", metadata: ["board": "\(id.short)"])
    case .joined(let person):
      board.people[person.peer] = person.name
      metrics.joined()
      logger.notice("joined", metadata: told(id, person.peer, person.name))
    case .left(let person):
      board.people[person.peer] = nil
      board.visited = BoardFile.now
      metrics.left(person.reason)
      var metadata = told(id, person.peer, person.name)
      metadata["reason"] = "\(person.reason)"
      logger.notice("left", metadata: metadata)
    case .note(let remark):
      // A log reader who saw "not saved" also wants to see that saving works again.
      logger.log(
        level: remark.code == NodeEvent.Remark.savedAgain ? .notice : .info,
        "\(remark.code)",
        metadata: ["board": "\(id.short)", "what": "\(remark.message)"]
      )
    case .warning(let remark):
      logger.warning(
        "\(remark.code)",
        metadata: ["board": "\(id.short)", "what": "\(remark.message)"]
      )
    case .saveState(let saving): board.unsaved = saving.shown.problem
    default: break
    }
    boards[id] = board
    boardsChanged()
  }

  private func told(_ id: SessionID, _ peer: String, _ name: String) -> Logger.Metadata {
    [
      "board": "\(id.short)", "peer": "\(peer.prefix(8))",
      "name": "\(TerminalText.cleaned(name))",
    ]
  }

  /// Waits until a board is served or cannot be.
  private func settled(_ id: SessionID) async {
    while case .opening? = boards[id]?.state { await untilBoardsChange() }
  }

  /// What there is to tell of a board.
  ///
  /// - Parameters:
  ///   - entry: Which one.
  ///   - told: What to say of its state, where that is not how it is served.
  /// - Returns: All of it.
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
      name: entry.name,
      state: told ?? state,
      problem: problem,
      isPinned: entry.isPinned,
      isOwned: entry.id?.isOfOwnedBoard ?? false,
      admit: entry.admission,
      link: served.flatMap { $0.link.isEmpty ? nil : $0.link },
      people: served?.people.values.sorted() ?? [],
      since: BoardFile.time(entry.since),
      visited: BoardFile.time(entry.visited)
    )
  }
}

/// What an operator does with boards.
extension Relay {
  /// Has a board stay however long nobody visits it, or no longer than others.
  ///
  /// - Returns: What there is to tell of it.
  /// - Throws: ``NodeError`` where it cannot be noted.
  func pin(
    _ entry: BoardRegister.Entry,
    _ isPinned: Bool
  ) throws(NodeError) -> BoardReport {
    var entry = entry
    entry.isPinned = isPinned
    try register.set(entry)
    return report(entry)
  }

  /// Serves a board no more, and removes what was kept of it; who is on it keeps what it has.
  ///
  /// - Throws: ``NodeError`` where it cannot be noted or removed.
  func delete(_ entry: BoardRegister.Entry) async throws(NodeError) {
    guard let id = entry.id else { return }
    try register.remove(id)
    if let board = boards[id] {
      await board.node.requestEnd()
      while boards[id] != nil {
        if case .failed? = boards[id]?.state {
          boards[id] = nil
        } else {
          await untilBoardsChange()
        }
      }
    }
    try await removeDocument(of: id)
    logger.notice("deleted a board", metadata: ["board": "\(id.short)"])
  }

  private func removeDocument(of id: SessionID) async throws(NodeError) {
    let library = BoardLibrary(directory: configuration.dataDirectory + "/boards")
    do {
      for summary in try await library.list() where summary.board == id.bytes {
        // A board that failed to open can have a log.
        for path in ["-wal", "-shm", "-journal", ""].map({ summary.path + $0 })
        where FileManager.default.fileExists(atPath: path) {
          try FileManager.default.removeItem(atPath: path)
        }
      }
    } catch {
      throw NodeError(.inputOutput, "the file of the board cannot be removed: \(error)")
    }
  }
}
