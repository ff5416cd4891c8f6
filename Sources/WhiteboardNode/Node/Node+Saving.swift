import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Reporting whether the work is on disk, and saving it when it is not.
extension Node {
  /// The interval between two checks that the file is still at its path.
  static let presenceInterval = Duration.seconds(5)

  /// Reports the save state if it changed.
  ///
  /// The screen gets every change. Other outputs get the beginning, change and end of a problem.
  func tellSaveState() {
    let state = keeper.state
    guard state != shownSaveState else { return }
    shownSaveState = state
    runtime.sink.show(.saving(state))
    switch state {
    case .notSaved(let problem):
      guard problem.sentence != toldProblem?.sentence else { return }
      let isNew = problem.cause != toldProblem?.cause
      toldProblem = problem
      emit(.saveState(.init(state)))
      if isNew {
        emit(.warning(.init(code: NodeEvent.Remark.notSaved, message: problem.message)))
      }
    case .saved:
      wasAskedBeforeEnding = false
      guard toldProblem != nil else { return }
      toldProblem = nil
      emit(.saveState(.init(state)))
      emit(
        .note(
          .init(code: NodeEvent.Remark.savedAgain, message: "Everything is on disk again.")
        )
      )
    case .saving, .off: break
    }
  }

  /// Saves unsaved work immediately, and reports the save state.
  ///
  /// - Throws: `not-saved` if some of the work is still not on disk.
  func save(_ request: CommandRequest) async throws(CommandError) {
    await saveNow()
    emit(.saveState(.init(keeper.state, request: request.request)))
    if let problem = keeper.state.problem { throw CommandError(.notSaved, problem.sentence) }
  }

  /// Tries once to save everything.
  func saveNow() async {
    _ = await wait { !self.keeper.isWriting }
    if keeper.loss != nil { await keepKeyframe() }
    writeDocument()
    _ = await wait {
      !self.keeper.isWriting
        && (self.keeper.isBehind || self.keeper.isClosed || self.keeper.state != .saving)
    }
  }

  /// Writes the whole board to another file, even if it cannot be saved in its own file.
  ///
  /// - Throws: The reason why there is no copy.
  func saveCopy(to path: String, of document: BoardDocument) async throws(DocumentError) {
    let isWhole = (try? await keepAll()) != nil && keeper.loss == nil
    if isWhole { return try await document.save(as: path) }
    guard let replica else { throw DocumentError(.closed, "the board is closed") }
    var photos: [[UInt8]: String] = [:]
    let assets = Set(replica.board.state.records.compactMap { $0.value.asset })
      .filter { replica.board.assets.contains($0.id) }
    defer { for asset in assets { closePhoto(asset.id) } }
    for asset in assets {
      // A photo that cannot be read counts as missing in the copy.
      photos[asset.id.bytes] = await openPhoto(asset.id) ?? assetPath(asset.id, asset.format)
    }
    // Collect the state of this moment before the board changes.
    let mark = keeper.recorded
    let rescue = BoardRescue(
      bytes: replica.snapshotForKeeping(),
      digest: replica.digest.bytes,
      time: BoardFile.now,
      lostSince: keeper.behindSince,
      photos: photos
    )
    let (hasHistory, missing) = try await document.rescue(to: path, rescue)
    if !hasHistory { warnOfCopy("The copy has no history: the file of the board cannot be read.") }
    if missing > 0 {
      warnOfCopy("The copy lacks \(EventText.count(missing, "photo")): the files cannot be read.")
    } else {
      keeper.didCopy(upTo: mark, to: path)
      tellSaveState()
    }
  }

  private func warnOfCopy(_ message: String) {
    emit(.warning(.init(code: "copy-incomplete", message: message)))
  }

  // MARK: - Removed files

  /// Checks that the file is still at its path, without writing to it.
  func checkPresence() async {
    guard let document, !keeper.isWriting, !keeper.isBehind else { return }
    do throws(DocumentError) {
      try await document.checkPresence()
    } catch {
      guard !keeper.isWriting, !keeper.isBehind, self.document != nil else { return }
      failed(error, keeper.take())
      planKeyframe()
    }
  }

  /// Restores the file and writes the whole board; if its directory is missing, this is retried
  /// later.
  func putBack(_ document: BoardDocument) async {
    keeper.isWriting = true
    do throws(DocumentError) {
      let there = try await document.reinstate()
      self.document = there
      // Other directories may be missing as well. If they cannot be created, their users report it.
      try? makeDirectories()
      await writeKeyframe(to: there)
    } catch {
      finishedWriting()
      if keeper.failure != error { failed(error, keeper.take()) }
    }
    writeDocument()
  }

  /// Opens a document for writing that could be opened only for reading, and writes the board if it
  /// changed.
  func reopen(_ document: BoardDocument) async {
    keeper.isWriting = true
    do throws(DocumentError) {
      let there = try await document.reopen()
      self.document = there
      if let session, isHosting(session) { try await there.setHosted(code: code?.text) }
      keeper.obstacle = nil
      if keeper.isBehind { await writeKeyframe(to: there) } else { finishedWriting() }
    } catch {
      keeper.obstacle = error
      finishedWriting()
      if keeper.isBehind, keeper.failure != error { failed(error, keeper.take()) }
    }
    writeDocument()
  }

  // MARK: - Ending

  /// Ends the node at the user's request; if that would lose work, the first request only warns.
  ///
  /// - Returns: Whether the node ends.
  package func requestEndUnlessUnsaved() async -> Bool {
    if ending == nil, !wasAskedBeforeEnding {
      if keeper.state == .saving || keeper.state.wouldLoseWork { await saveNow() }
      if keeper.state.wouldLoseWork {
        wasAskedBeforeEnding = true
        emit(.warning(.init(code: "quit-unsaved", message: unsavedAdvice)))
        return false
      }
    }
    requestEnd()
    return true
  }

  /// Checks that `quit` loses no work.
  ///
  /// - Throws: `not-saved` if it would.
  func checkQuit() async throws(CommandError) {
    if keeper.state == .saving || keeper.state.wouldLoseWork { await saveNow() }
    guard keeper.state.wouldLoseWork else { return }
    isQuitRefused = true
    throw CommandError(.notSaved, unsavedAdvice)
  }

  private var unsavedAdvice: String {
    "\(keeper.state.words): quitting now loses the last changes. `save` tries again, "
      + "`save-as FILE` saves a copy elsewhere, `quit anyway` or Ctrl+C again quits."
  }
}
