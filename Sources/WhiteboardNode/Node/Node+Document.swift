import FoundationEssentials
import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The board's file: opening it, restoring the board from it, and timed work on it.
extension Node {
  /// Opens the file of a board, unless it is open already, and restores its contents.
  ///
  /// - Throws: ``NodeError`` if the file cannot be opened for writing or read; it is unchanged then.
  func openDocument(of board: BoardSession, _ replica: Replica) async throws(NodeError) {
    guard configuration.remembersBoards else { return }
    do throws(DocumentError) {
      let document: BoardDocument
      if let opened = persistence.document {
        document = opened
        if configuration.isHosting(board.session), document.mode == .writing {
          try await document.setHosted(code: board.code?.text)
        }
      } else {
        document = try await openCopy(of: board)
      }
      persistence.begin()
      for damage in document.damages {
        emit(.warning(.init(code: "document-damaged", message: damage)))
      }
      let content = try await document.load()
      if content.keyframe == nil, content.entries.isEmpty { await warnOfUnreadableFiles() }
      if let warning = NodeEvent.Remark(
        clockBehind: content,
        of: replica.board.member,
        now: BoardFile.now
      ) {
        emit(.warning(warning))
      }
      try await restore(content, to: replica, from: document)
    } catch {
      throw NodeError(error)
    }
  }

  /// Opens the copy of a joined board, or creates it or the recording.
  private func openCopy(of board: BoardSession) async throws(DocumentError) -> BoardDocument {
    let session = board.session
    let name = board.name.isEmpty ? "board" : board.name
    if let file = configuration.recordingFile {
      let document = try await BoardDocument.create(
        at: file,
        board: session.id.bytes,
        name: name,
        now: BoardFile.now
      )
      persistence.use(document)
      return document
    }
    let document = try await BoardLibrary(directory: configuration.boardsDirectory).open(
      board: session.id.bytes,
      name: name,
      now: BoardFile.now,
      orReading: true
    )
    persistence.use(document)
    try await board.storeName(in: document)
    await localRemoval.load(from: document)
    if localRemoval.removal != nil, session.connectedPeers().contains(session.hostPeer) {
      // The host admitted this peer, so it is a member again.
      try await localRemoval.clear(in: document)
    }
    return document
  }

  /// Warns that a new board may exist in a file that cannot be read, because only such a file can contain a board
  /// that is not found by its name or id.
  private func warnOfUnreadableFiles() async {
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    let files = (try? await library.unreadable()) ?? []
    guard let first = files.first else { return }
    emit(
      .warning(
        .init(
          code: "unreadable-boards",
          message: "This board is new here, unless it is in a file that cannot be read: \(first)"
            + (files.count == 1 ? "" : " and \(files.count - 1) more")
            + ". To see the reason, run: whiteboard-peer boards"
        )
      )
    )
  }

  private func restore(
    _ content: DocumentContent,
    to replica: Replica,
    from document: BoardDocument
  ) async throws(DocumentError) {
    for note in content.notes + (try replica.restore(content, of: document, now: now)) {
      emit(.warning(.init(code: "document-damaged", message: note)))
    }
    await photos.restore(from: document, to: replica)
  }

  /// Stores the title of the board, by which lists and commands also know it.
  func storeTitle() async {
    guard let document = persistence.document, let board, configuration.recordingFile == nil
    else { return }
    do throws(DocumentError) {
      try await board.boardSession.storeTitle(board.reports.settings.title ?? "", in: document)
    } catch {
      configuration.logger.warning(
        "The title was not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
  }

  // MARK: - Timed work

  /// Starts the timed work on the board's file, and purges old deletions.
  func maintainDocument() {
    persistence.runTimedWork()
    guard clock.now >= nextPurge else { return }
    nextPurge = clock.now + .seconds(60)
    purgeOldDeletions()
  }

  /// Removes objects for good that were deleted long ago (SYN-8); one of the connected members does it for all.
  private func purgeOldDeletions() {
    guard configuration.recordingFile == nil, let replica = board?.replica else { return }
    let ids = deletionAges.purgeable(
      on: replica.board,
      at: now.uptime,
      excluding: replica.board.objectsInUndo
    )
    // A viewer leaves this to other members.
    guard replica.members.allSatisfy({ $0 > replica.board.member }) else { return }
    guard !ids.isEmpty else { return }
    // The rest follows a minute later.
    _ = try? change { (board) throws(BoardError) in
      for id in ids.prefix(1000) { try board.purge(id) }
    }
  }

  /// The display names of the members that wrote something; an id prefix if no name is known.
  var authorNames: [String] {
    guard let board = board?.replica.board else { return [] }
    var names: [MemberID: String] = [:]
    for line in board.chat { names[line.author] = line.name }
    return Set(board.authors.values).sorted().map { member in
      members.name(of: member) ?? persistence.names[member.description] ?? names[member]
        ?? member.shortText
    }
  }
}
