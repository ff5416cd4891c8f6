import FoundationEssentials
import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// The board's file: opened before anybody is told of the board, written while it changes.
extension Node {
  /// Opens the document of a board, made where there is none, and takes in what it holds.
  ///
  /// - Throws: ``NodeError`` where it cannot be opened for writing or read; the file is as it was.
  func openDocument(of session: Session, _ replica: Replica) async throws(NodeError) {
    guard configuration.remembersBoards else { return }
    let board = session.id.bytes
    do throws(DocumentError) {
      let library = BoardLibrary(directory: configuration.boardsDirectory)
      let known = try await library.list().first { $0.board == board }
      let document: BoardDocument
      if let known {
        document = try await BoardDocument.open(at: known.path, mode: .writing, expecting: board)
      } else {
        document = try await BoardDocument.create(
          at: library.path(name: boardName, board: board),
          board: board,
          name: boardName.isEmpty ? "board" : boardName,
          now: BoardFile.now
        )
      }
      self.document = document
      keeper.open()
      try await restore(try await document.load(), to: replica, from: document)
    } catch {
      throw NodeError(error)
    }
  }

  private func restore(
    _ content: DocumentContent,
    to replica: Replica,
    from document: BoardDocument
  ) async throws(DocumentError) {
    for note in content.notes {
      emit(.warning(.init(code: "document-damaged", message: note)))
    }
    try replica.restore(content, of: document, now: now)
    try await restoreAssets(from: document, to: replica)
    for snapshot in replica.board.snapshots { shown[snapshot.id] = snapshot }
    // What was stored is no news.
    _ = replica.board.takeSettingsChange()
    shownSettings = NodeEvent.SettingsDescription(replica.board.settings)
  }

  /// The photos that the document has are at hand as files, as those that came over the network are.
  private func restoreAssets(
    from document: BoardDocument,
    to replica: Replica
  ) async throws(DocumentError) {
    let stored = try await document.assetIDs()
    for snapshot in replica.board.snapshots {
      guard let asset = snapshot.asset, assetPaths[asset.id] == nil else { continue }
      let path = assetPath(asset.id, asset.format)
      if !FileManager.default.fileExists(atPath: path) {
        guard stored.contains(asset.id.bytes) else { continue }
        let bytes = try await document.asset(asset.id.bytes)
        do {
          try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
          throw DocumentError(.inputOutput, "the photo \(path) cannot be written", cause: error)
        }
      }
      assetPaths[asset.id] = path
      replica.assetStored(asset.id, now: now)
    }
  }

  // MARK: - Keeping

  /// Keeps a change, some milliseconds from now with whatever else there is to keep.
  func keep(_ change: StoredChange) {
    keeper.record(DocumentEntry(change, time: BoardFile.now))
    writeDocument()
  }

  /// Keeps the bytes of a photo.
  func keepAsset(_ id: AssetID, at path: String) {
    guard let document else { return }
    spawn { node in
      do throws(DocumentError) {
        try await document.storeAsset(file: path, sha256: id.bytes)
      } catch {
        node.documentFailed(error)
      }
    }
  }

  /// Answers when all that was recorded by now is kept; at once where nothing waits.
  ///
  /// - Parameter tell: gives the answer; the error is why it is not kept.
  func whenKept(_ tell: @escaping (DocumentError?) -> Void) {
    guard !keeper.isIdle else {
      tell(nil)
      return
    }
    keeper.answer(tell)
    tellKept()
  }

  private func tellKept() {
    for answer in keeper.takeAnswers() { answer() }
    changed()
  }

  /// Writes what there is to write, one group after another.
  private func writeDocument() {
    guard let document, !keeper.isWriting, !keeper.isBehind else { return }
    keeper.isWriting = true
    spawn { node in
      await node.write(to: document)
      node.finishedWriting()
    }
  }

  private func finishedWriting() {
    keeper.isWriting = false
    writingWaiter?.resume()
    writingWaiter = nil
    changed()
  }

  private func write(to document: BoardDocument) async {
    while true {
      let (entries, mark) = keeper.take()
      guard !entries.isEmpty else { return }
      do throws(DocumentError) {
        try await document.append(entries)
        keeper.didKeep(upTo: mark)
        tellKept()
      } catch {
        keeper.didFail(error)
        documentFailed(error)
        tellKept()
        return
      }
    }
  }

  /// Has the whole board written now and then, and what was deleted long ago removed.
  func lookAfterDocument() {
    if clock.now >= nextKeyframe {
      nextKeyframe = clock.now + .seconds(keeper.isBehind ? 5 : 1)
      spawn { node in await node.keepKeyframe() }
    }
    if clock.now >= nextPurge {
      nextPurge = clock.now + .seconds(60)
      purge()
    }
  }

  /// Removes what was deleted long ago (SYN-8); one of those who are here does it for all.
  private func purge() {
    guard let replica, replica.members.allSatisfy({ $0 > replica.board.member }) else { return }
    let limit = SystemTime.milliseconds - min(BoardLimits.purgeDelay, SystemTime.milliseconds)
    let ids = replica.board.purgeable(before: limit, excluding: replica.board.objectsInUndo)
    guard !ids.isEmpty else { return }
    // What is not done now is done in a minute.
    _ = try? change { (board) throws(BoardError) in
      for id in ids.prefix(1000) { try board.purge(id) }
    }
  }

  /// What those who wrote something go by: what their lines of chat say, or else who they are.
  private func people(on board: Board) -> [String] {
    var names: [MemberID: String] = [:]
    for line in board.chat { names[line.author] = line.name }
    return Set(board.authors.values).sorted().map { member in
      if member == board.member { return configuration.displayName }
      let present = PeerID(bytes: member.bytes).flatMap { members[$0]?.name }
      return present ?? names[member] ?? String(member.description.prefix(8))
    }
  }

  /// Gives the whole board, as it is in one moment, a name.
  ///
  /// Nothing is appended between what is appended here and the version: rows of the log that come
  /// before a version are taken to be in it.
  func checkpoint(_ name: String) async throws(DocumentError) {
    while keeper.isWriting {
      guard await wait(until: { !$0.keeper.isWriting }) else { break }
    }
    guard let document, let replica, !keeper.isWriting else {
      throw DocumentError(.closed, "the board is closed")
    }
    if keeper.isBehind, let failure = keeper.failure { throw failure }
    keeper.isWriting = true
    defer {
      finishedWriting()
      writeDocument()
    }
    let (entries, mark) = keeper.take()
    let state = replica.snapshotForKeeping()
    let digest = replica.digest.bytes
    let time = BoardFile.now
    do throws(DocumentError) {
      try await document.append(entries)
      keeper.didKeep(upTo: mark)
      tellKept()
    } catch {
      keeper.didFail(error)
      documentFailed(error)
      tellKept()
      throw error
    }
    try await document.checkpoint(name: name, bytes: state, digest: digest, time: time)
  }

  /// Writes the whole board where that is due, or where some of it could not be written before.
  private func keepKeyframe() async {
    guard let document, !keeper.isWriting,
      await document.needsKeyframe(now: BoardFile.now) || keeper.isBehind, !keeper.isWriting
    else { return }
    await writeKeyframe(to: document)
    writeDocument()
  }

  /// Writes the whole board, after what waits to be written.
  private func writeKeyframe(to document: BoardDocument) async {
    guard let replica else { return }
    keeper.isWriting = true
    defer { finishedWriting() }
    let wasBehind = keeper.isBehind
    // All of this moment, before anything else changes the board.
    let (entries, mark) = keeper.take()
    let snapshots = replica.board.snapshots
    let people = people(on: replica.board)
    let background = replica.board.background
    let time = BoardFile.now
    let state = replica.snapshotForKeeping()
    let digest = replica.digest.bytes
    do throws(DocumentError) {
      try await document.append(entries)
      if !wasBehind { keeper.didKeep(upTo: mark) }
      try await document.writeKeyframe(state, digest: digest, time: time)
      keeper.didKeep(upTo: mark)
      keeper.isKeyframeDue = keeper.recorded > mark
      if wasBehind {
        isUnsaved = false
        emit(.note(.init(code: "saved-again", message: "The board is saved again.")))
      }
      try await document.setSummary(
        objects: snapshots.count,
        people: people,
        thumbnail: Thumbnail.svg(of: snapshots, background: background),
        changed: Int64(snapshots.map(\.updatedAt).max() ?? UInt64(time))
      )
    } catch {
      if keeper.kept < mark {
        keeper.didFail(error)
        documentFailed(error)
      } else {
        // All is in the log; there may be room for the whole of it later.
        nextKeyframe = clock.now + .seconds(30)
        configuration.logger.warning("the whole board was not written: \(error.message)")
      }
    }
    tellKept()
  }

  /// Says once what is wrong, until it is mended.
  private func documentFailed(_ error: DocumentError) {
    guard !isUnsaved else { return }
    isUnsaved = true
    emit(.warning(.init(code: "not-saved", message: error.message)))
  }

  /// Writes what is left and closes the document.
  func closeDocument() async {
    guard let document else { return }
    // Nobody begins to write any more; what is being written is waited for.
    self.document = nil
    if keeper.isWriting { await withCheckedContinuation { writingWaiter = $0 } }
    if keeper.isKeyframeDue || keeper.isBehind { await writeKeyframe(to: document) }
    // What was recorded meanwhile.
    if !keeper.isBehind { await write(to: document) }
    keeper.close()
    do throws(DocumentError) {
      try await document.close()
    } catch {
      emit(.warning(.init(code: "not-saved", message: error.message)))
    }
    tellKept()
  }
}

extension DocumentEntry {
  /// A change of a replica as a document keeps it.
  init(_ change: StoredChange, time: Int64) {
    switch change {
    case .author(let record, let incarnation):
      self = .author(record: record, incarnation: incarnation.rawValue)
    case .batch(let batch): self = .batch(bytes: batch.bytes, time: time)
    case .answer(let bytes): self = .answer(bytes: bytes, time: time)
    case .head(let bytes, let incarnation, let sequence):
      self = .head(bytes: bytes, incarnation: incarnation.rawValue, sequence: sequence)
    case .keyframe: preconditionFailure("a keyframe is written as one")
    }
  }
}
