import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The board's file: opening it, and restoring the board from it.
extension SharedBoard {
  /// Opens the file of a board, unless it is already open, and restores the board from it.
  ///
  /// - Throws: ``WhiteboardError`` if the file cannot be opened for writing or cannot be read; the file is then
  ///   unchanged.
  func openDocument(of board: BoardSession, _ replica: Replica) async throws(WhiteboardError) {
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
      if document.hasForeignFacts {
        emit(.warning(.init(code: "foreign-file", message: BoardFile.foreignFactsText(document.path))))
      }
      for damage in document.damages { emit(.warning(.init(code: "document-damaged", message: damage))) }
      let content = try await document.load()
      if content.keyframe == nil, content.entries.isEmpty { await warnOfUnreadableFiles() }
      if let warning = BoardEvent.Remark(clockBehind: content, of: replica.board.member, now: BoardFile.now) {
        emit(.warning(warning))
      }
      try await restore(content, to: replica, from: document)
    } catch { throw WhiteboardError(error) }
  }

  /// Opens the local copy of a joined board; creates the copy or the recording if it does not exist.
  private func openCopy(of board: BoardSession) async throws(DocumentError) -> BoardDocument {
    let session = board.session
    let name = board.name.isEmpty ? "board" : board.name
    if let file = configuration.recordingFile {
      let document = try await BoardDocument.create(
        at: file,
        board: session.id.bytes,
        name: name,
        now: BoardFile.now,
        seal: configuration.library.seal(forFile: file)
      )
      persistence.use(document)
      return document
    }
    let document = try await configuration.library.open(
      board: session.id.bytes,
      name: name,
      now: BoardFile.now,
      orReading: true,
      holding: board.reservation
    )
    board.reservation = nil
    persistence.use(document)
    try await board.storeName(in: document)
    await localRemoval.load(from: document)
    if localRemoval.removal != nil, session.connectedPeers().contains(session.hostPeer) {
      // The host admitted the local peer, so a stored removal no longer applies.
      try await localRemoval.clear(in: document)
    }
    return document
  }

  /// Warns the user about unreadable files when a new board was created.
  ///
  /// The board may already exist in an unreadable file, because such a file cannot be found by its name or id.
  private func warnOfUnreadableFiles() async {
    let files = (try? await configuration.library.unreadable()) ?? []
    guard let first = files.first else { return }
    emit(
      .warning(
        .init(
          code: "unreadable-boards",
          message: "The board gets a new file. It may already be saved in a file that cannot be read: \(first)"
            + (files.count == 1 ? "" : " and \(files.count - 1) more")
            + ". To see the reason, run: whiteboard-peer boards"
        )
      )
    )
  }

  private func restore(_ content: DocumentContent, to replica: Replica, from document: BoardDocument)
    async throws(DocumentError)
  {
    for note in content.notes + (try content.restore(to: replica, from: document, now: now)) {
      emit(.warning(.init(code: "document-damaged", message: note)))
    }
    await photos.restore(from: document, to: replica)
  }
}
