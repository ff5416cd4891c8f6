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
      self.document = document
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
      if let opened = self.document {
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
        self.document = document
      } else {
        document = try await BoardLibrary(directory: configuration.boardsDirectory).open(
          board: session.id.bytes,
          name: boardName.isEmpty ? "board" : boardName,
          now: BoardFile.now,
          orReading: true
        )
        self.document = document
        try await correctName(in: document, of: session)
        removal = await storedRemoval(in: document)
        if removal != nil, session.connectedPeers().contains(session.hostPeer) {
          // The host admitted this peer, so it is a member again.
          removal = nil
          try await document.setRemoval(nil)
        }
      }
      keeper.open()
      keeper.obstacle = document.obstacle
      if keeper.obstacle != nil { planKeyframe() }
      for damage in document.damages {
        emit(.warning(.init(code: "document-damaged", message: damage)))
      }
      let content = try await document.load()
      if content.keyframe == nil, content.entries.isEmpty { await tellUnreadable() }
      compareClock(with: content, for: replica)
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
    await restorePhotos(from: document, to: replica)
    for snapshot in replica.board.snapshots {
      shown[snapshot.id] = snapshot
      if isHidden(snapshot.id, on: replica.board) { continue }
      runtime.sink.show(
        .shown(snapshot, replica.board.gameView(snapshot.id, for: replica.board.member))
      )
    }
    // What was stored is no news.
    _ = replica.board.takeSettingsChange()
    shownSettings = NodeEvent.SettingsDescription(replica.board.settings)
    await storeTitle()
  }

  /// Makes the photos of the document available, in files if they are kept, and stores in the document those
  /// that it lacks or whose row is damaged.
  private func restorePhotos(from document: BoardDocument, to replica: Replica) async {
    // Where that cannot be told, each of them is looked for.
    let stored = try? await document.assetIDs()
    // Those of deleted objects too: a deletion can be undone.
    for (_, record) in replica.board.state.records {
      guard let asset = record.asset, assetPaths[asset.id] == nil else { continue }
      let path = assetPath(asset.id, asset.format)
      let isStored = stored?.contains(asset.id.bytes) ?? true
      if isStored, !configuration.keepsPhotoFiles, document.damages.isEmpty {
        // It is checked when it is read. A file can be left from a program that was killed.
        try? FileManager.default.removeItem(atPath: path)
        runtime.sink.show(.photo(asset.id))
        replica.assetStored(asset.id, bytes: asset.byteCount, now: now)
        continue
      }
      if isWhole(asset, path) {
        // A row that is there may be damaged; it is then written again.
        if !isStored || !document.damages.isEmpty {
          await storePhoto(asset, at: path, in: document)
        }
      } else if isStored {
        guard await takeOut(asset, to: path, from: document) == nil else { continue }
      } else {
        forgetFile(asset, path)
        // Others are asked for it.
        continue
      }
      photoIsHere(asset.id, at: path)
      replica.assetStored(asset.id, bytes: asset.byteCount, now: now)
      dropFile(of: asset.id)
    }
  }

  /// Whether a file is the photo: the disk may have damaged it, and others would be sent that.
  private func isWhole(_ asset: AssetReference, _ path: String) -> Bool {
    FileReading.size(path) == asset.byteCount && isPhoto(path, asset.id)
  }

  /// Removes a file that is not the photo any more, where there is one.
  private func forgetFile(_ asset: AssetReference, _ path: String) {
    guard FileReading.size(path) != nil else { return }
    try? FileManager.default.removeItem(atPath: path)
    photoLost(asset.id, DocumentError(.damaged, "\(path) is not what it was"))
  }

  /// Puts a photo whose file is here into the document.
  private func storePhoto(
    _ asset: AssetReference,
    at path: String,
    in document: BoardDocument
  ) async {
    do throws(DocumentError) {
      try await document.storeAsset(file: path, sha256: asset.id.bytes)
    } catch {
      // Tried again with whatever is written next.
      keepPhoto(asset.id, at: path)
    }
  }

  /// Writes a photo of the document to a file, and forgets the photo if it is damaged.
  ///
  /// - Returns: Why there is no file.
  func takeOut(
    _ asset: AssetReference,
    to path: String,
    from document: BoardDocument
  ) async -> DocumentError? {
    do throws(DocumentError) {
      let bytes = try await document.asset(asset.id.bytes)
      do {
        try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
      } catch {
        throw DocumentError(.inputOutput, "\(path) cannot be written", cause: error)
      }
      return nil
    } catch {
      if error.code == .damaged {
        // What others send takes its place.
        try? await document.removeAsset(asset.id.bytes)
      }
      photoLost(asset.id, error)
      return error
    }
  }

  private func photoLost(_ id: AssetID, _ error: DocumentError) {
    emit(
      .warning(
        .init(
          code: "photo-lost",
          message: "The photo \(id) cannot be read from the disk and is requested from others: "
            + error.message
        )
      )
    )
  }
}
