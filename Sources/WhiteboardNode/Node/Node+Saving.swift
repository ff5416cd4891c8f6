import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Saving at the user's request, and ending without losing work.
extension Node {
  /// Saves unsaved work immediately, and reports the save state.
  ///
  /// - Throws: `not-saved` if some of the work is still not on disk.
  func save(_ request: CommandRequest) async throws(CommandError) {
    await persistence.saveNow()
    emit(.saveState(.init(persistence.state, request: request.request)))
    if let problem = persistence.state.problem {
      throw CommandError(.notSaved, problem.sentence)
    }
  }

  /// Writes the whole board to another file, even if it cannot be saved in its own file.
  ///
  /// - Throws: The reason why there is no copy.
  func saveCopy(to path: String) async throws(CommandError) {
    let document = try openDocument()
    do throws(DocumentError) {
      try await saveCopy(to: path, of: document)
    } catch {
      throw CommandError(error)
    }
  }

  private func saveCopy(
    to path: String,
    of document: BoardDocument
  ) async throws(DocumentError) {
    let isWhole = (try? await persistence.storeAll()) != nil && persistence.queue.loss == nil
    if isWhole { return try await document.save(as: path) }
    guard let replica else { throw DocumentError(.closed, "the board is closed") }
    var files: [[UInt8]: String] = [:]
    let assets = Set(replica.board.state.records.compactMap { $0.value.asset })
      .filter { replica.board.assets.contains($0.id) }
    defer { for asset in assets { self.photos.close(asset.id) } }
    for asset in assets {
      // A photo that cannot be read counts as missing in the copy.
      files[asset.id.bytes] =
        await self.photos.open(asset.id) ?? self.photos.path(asset.id, asset.format)
    }
    // Collect the state of this moment before the board changes.
    let mark = persistence.queue.recorded
    let rescue = BoardRescue(
      bytes: replica.snapshotForKeeping(),
      digest: replica.digest.bytes,
      time: BoardFile.now,
      lostSince: persistence.queue.behindSince,
      photos: files
    )
    let (hasHistory, missing) = try await document.rescue(to: path, rescue)
    if !hasHistory { warnOfCopy("The copy has no history: the file of the board cannot be read.") }
    if missing > 0 {
      warnOfCopy("The copy lacks \(EventText.count(missing, "photo")): the files cannot be read.")
    } else {
      persistence.queue.didCopy(upTo: mark, to: path)
      persistence.reportState()
    }
  }

  private func warnOfCopy(_ message: String) {
    emit(.warning(.init(code: "copy-incomplete", message: message)))
  }

  // MARK: - Ending

  /// Ends the node at the user's request; if that would lose work, the first request only warns.
  ///
  /// - Returns: Whether the node ends.
  package func requestEndUnlessUnsaved() async -> Bool {
    if ending == nil, !persistence.wasAskedBeforeEnding, await persistence.wouldLoseWork() {
      persistence.wasAskedBeforeEnding = true
      emit(.warning(.init(code: "quit-unsaved", message: persistence.unsavedAdvice)))
      return false
    }
    requestEnd()
    return true
  }

  /// Checks that `quit` loses no work.
  ///
  /// - Throws: `not-saved` if it would.
  func checkQuit() async throws(CommandError) {
    guard await persistence.wouldLoseWork() else { return }
    isQuitRefused = true
    throw CommandError(.notSaved, persistence.unsavedAdvice)
  }
}
