import FoundationEssentials
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The board's file, as it is opened, and what comes back from it.
extension Node {
  /// Which board is to be hosted.
  enum MeantBoard {
    /// The one of this name.
    case named(String)
    /// The one of this id, called so where it is made.
    case board(SessionID, name: String)

    /// What it is called where it is made.
    var name: String {
      switch self {
      case .named(let name), .board(_, let name): name
      }
    }

    /// Its id, where that is what is meant.
    var id: SessionID? {
      switch self {
      case .named: nil
      case .board(let id, _): id
      }
    }
  }

  /// Opens the document of the board that is to be hosted, made where there is none, and says which
  /// board that is and with which words people got in.
  ///
  /// - Throws: ``NodeError`` where it cannot be opened for writing; the file is as it was.
  func openHosted(
    _ meant: MeantBoard,
    orMaking new: SessionID
  ) async throws(NodeError) -> (board: SessionID, name: String, code: JoinCode?) {
    do throws(DocumentError) {
      let document: BoardDocument
      if let file = configuration.boardFile {
        document = try await BoardDocument.openForWritingOrReading(at: file)
      } else {
        let library = BoardLibrary(directory: configuration.boardsDirectory)
        document =
          switch meant {
          case .named(let name):
            try await library.open(
              named: name,
              orMaking: new.bytes,
              now: BoardFile.now,
              orReading: true
            )
          case .board(let id, let name):
            try await library.open(
              board: id.bytes,
              name: name,
              now: BoardFile.now,
              orReading: true
            )
          }
      }
      persistence.use(document)
      guard let board = SessionID(bytes: document.board) else {
        throw DocumentError(.damaged, "\(document.path): it is of no board")
      }
      // Words that cannot be read are no reason not to open a board.
      let words = try? await document.code()
      let code = words.flatMap { try? JoinCode(words: $0) }
      return (board, try await document.name(), code)
    } catch {
      throw NodeError(error)
    }
  }

  /// Opens the document of a board, made where there is none, and takes in what it holds.
  ///
  /// - Throws: ``NodeError`` where it cannot be opened for writing or read; the file is as it was.
  func openDocument(of session: Session, _ replica: Replica) async throws(NodeError) {
    guard configuration.remembersBoards else { return }
    do throws(DocumentError) {
      let document: BoardDocument
      if let opened = persistence.document {
        document = opened
        if isHosting(session), document.mode == .writing {
          try await document.setHosted(code: code?.text)
        }
      } else if let file = configuration.recordingFile {
        document = try await BoardDocument.create(
          at: file,
          board: session.id.bytes,
          name: boardName.isEmpty ? "board" : boardName,
          now: BoardFile.now
        )
        persistence.use(document)
      } else {
        document = try await BoardLibrary(directory: configuration.boardsDirectory).open(
          board: session.id.bytes,
          name: boardName.isEmpty ? "board" : boardName,
          now: BoardFile.now,
          orReading: true
        )
        persistence.use(document)
        try await correctName(in: document, of: session)
        await localRemoval.load(from: document)
        if localRemoval.removal != nil, session.connectedPeers().contains(session.hostPeer) {
          // The host admitted this peer, so it is a member again.
          try await localRemoval.clear(in: document)
        }
      }
      persistence.begin()
      for damage in document.damages {
        emit(.warning(.init(code: "document-damaged", message: damage)))
      }
      let content = try await document.load()
      if content.keyframe == nil, content.entries.isEmpty { await tellUnreadable() }
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

  /// Whether the board is hosted here.
  ///
  /// An offline copy of another peer's board remains that peer's board.
  func isHosting(_ session: Session) -> Bool {
    !configuration.isOffline && (configuration.isRelay || session.hostPeer == session.localPeer)
  }

  /// Says that a board that is new here may be in a file that cannot be read: a file that was given
  /// another board name, or another file name, is not known by it.
  private func tellUnreadable() async {
    let library = BoardLibrary(directory: configuration.boardsDirectory)
    let files = (try? await library.unreadable()) ?? []
    guard let first = files.first else { return }
    emit(
      .warning(
        .init(
          code: "unreadable-boards",
          message: "This board is new here, unless it is in a file that cannot be read: \(first)"
            + (files.count == 1 ? "" : " and \(files.count - 1) more")
            + ". `whiteboard-peer boards` says why."
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
}
