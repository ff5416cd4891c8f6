import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension Persistence {
  // MARK: - Timed work

  var nextDeadline: ContinuousClock.Instant? {
    guard document != nil else { return nil }
    return nextKeyframe.map { min($0, nextPresenceCheck) } ?? nextPresenceCheck
  }

  func runTimedWork() {
    let now = runtime.clock.now
    if let due = nextKeyframe, now >= due {
      nextKeyframe = document.map { _ in now + .seconds(queue.loss == nil ? 1 : 5) }
      runtime.spawn { sharedBoard in await sharedBoard.persistence.checkKeyframe() }
    }
    if now >= nextPresenceCheck {
      nextPresenceCheck = now + Self.presenceInterval
      runtime.spawn { sharedBoard in await sharedBoard.persistence.checkPresence() }
    }
  }

  func scheduleKeyframe() {
    guard nextKeyframe == nil, document != nil else { return }
    let due = runtime.clock.now + .seconds(1)
    nextKeyframe = due
    runtime.wake(by: due)
  }

  /// Writes the whole board if a keyframe is due or an earlier write failed.
  nonisolated(nonsending) func checkKeyframe() async {
    defer { checkIsolation(#isolation) }
    guard let document, !queue.isBusy, !queue.isPaused else { return }
    if queue.obstacle != nil { return await reopen(document) }
    if let record = unstoredMembership { await storeMembership(record, in: document) }
    let isDue = await document.keyframeDue.map { BoardFile.now >= $0 } ?? false
    // If the document was closed in the meantime, closing it wrote everything.
    guard !queue.isBusy, self.document != nil else { return }
    queue.retryPhotos()
    if queue.failure?.code == .removed { return await recreateFile(of: document) }
    guard isDue || queue.isBehind else {
      if !queue.photos.isEmpty { write() }
      await updateLibrary(document)
      await stopKeyframeChecks(document)
      return
    }
    await writeKeyframe(to: document)
    write()
  }

  /// Stops the keyframe checks if no work is left. The next recorded change starts them again.
  private nonisolated(nonsending) func stopKeyframeChecks(_ document: BoardDocument) async {
    defer { checkIsolation(#isolation) }
    guard await document.keyframeDue == nil else { return }
    if !queue.isBehind, queue.loss == nil, queue.counted == queue.recorded { nextKeyframe = nil }
  }

  /// Stores the counts of objects and members, which board lists show.
  private nonisolated(nonsending) func updateLibrary(_ document: BoardDocument) async {
    defer { checkIsolation(#isolation) }
    guard let replica, queue.counted != queue.recorded else { return }
    queue.counted = queue.recorded
    do throws(DocumentError) {
      try await document.setCounts(
        objects: replica.board.state.shownCount,
        people: environment.authorNames(),
        changed: BoardFile.now
      )
    } catch {
      configuration.logger.debug(
        "The numbers of objects and members were not stored.",
        metadata: ["reason": "\(error.message)"]
      )
    }
  }

  // MARK: - Keyframes and versions

  /// Stores the current board as a named version. Entries that are recorded later can be written at the same time.
  nonisolated(nonsending) func checkpoint(_ name: String) async throws(DocumentError) {
    defer { checkIsolation(#isolation) }
    while queue.isBusy { guard await runtime.wait(until: { !self.queue.isBusy }) else { break } }
    guard let document, let replica, !queue.isBusy else { throw DocumentError(.closed, "the board is closed") }
    if queue.isBehind, let failure = queue.failure { throw failure }
    let copy = beginBoard(replica)
    defer { finishedBoard() }
    let position = try await storeEntries(of: copy, in: document)
    if replica.hasRetirements { try await document.markRetirements() }
    let (state, digest) = await FileQueue.run { (copy.board.keyframe, copy.board.digest.bytes) }
    try await document.checkpoint(name: name, bytes: state, digest: digest, time: copy.time, at: position)
  }

  /// Writes the whole board after the entries that are not written yet. Encoding and storing a large board takes
  /// seconds. If the document is complete, later entries can be written at the same time.
  nonisolated(nonsending) func writeKeyframe(to document: BoardDocument) async {
    guard let replica else { return }
    let lostSince = queue.behindSince
    let wasBehind = queue.isBehind
    let people = environment.authorNames()
    let copy = beginBoard(replica)
    let work = copy.work
    defer {
      if wasBehind { finishedWriting() }
      finishedBoard()
    }
    do throws(DocumentError) {
      var position: LogPosition?
      if wasBehind {
        try await document.append(work.entries)
      } else {
        position = try await storeEntries(of: copy, in: document)
      }
      if replica.hasRetirements { try await document.markRetirements() }
      let (state, digest) = await FileQueue.runInBackground { (copy.board.keyframe, copy.board.digest.bytes) }
      try await document.writeKeyframe(state, digest: digest, time: copy.time, lostSince: lostSince, at: position)
      if wasBehind { queue.didStore(upTo: work.mark) }
      queue.isKeyframeDue = queue.recorded > work.mark
      queue.counted = work.mark
      sendAnswers()
      let summary = await FileQueue.runInBackground { BoardSummary(of: copy.board.state, now: copy.time) }
      try await document.setSummary(
        objects: summary.objects,
        people: people,
        thumbnail: summary.thumbnail,
        changed: summary.changed
      )
      try await document.dropHistory(now: copy.time)
    } catch {
      if queue.stored < work.mark {
        if wasBehind { failed(error, work) }
      } else {
        // All changes are already in the log. The keyframe is retried, because the disk may have space for it later.
        nextKeyframe = runtime.clock.now + .seconds(30)
        configuration.logger.warning("A keyframe was not written.", metadata: ["reason": "\(error.message)"])
      }
    }
    sendAnswers()
  }

  /// A copy of the board at one moment, with the entries that must be stored before the copy.
  private struct BoardCopy: Sendable {
    let board: ReplicaCopy
    let work: PersistenceQueue.Work
    let time: Int64
  }

  /// Copies the board and takes the entries; the caller must write both.
  private func beginBoard(_ replica: Replica) -> BoardCopy {
    queue.isWriting = true
    queue.isWritingBoard = true
    return BoardCopy(board: replica.copyForKeeping(), work: queue.take(), time: BoardFile.now)
  }

  /// Stores the entries that precede the keyframe of the board, and then allows later entries to be written. Returns
  /// the keyframe's position in the log.
  private nonisolated(nonsending) func storeEntries(of copy: BoardCopy, in document: BoardDocument)
    async throws(DocumentError) -> LogPosition
  {
    defer {
      checkIsolation(#isolation)
      finishedWriting()
      write()
    }
    do throws(DocumentError) {
      try await document.append(copy.work.entries)
      let position = await document.position
      queue.didStore(upTo: copy.work.mark)
      sendAnswers()
      return position
    } catch {
      failed(error, copy.work)
      throw error
    }
  }

  private func finishedBoard() {
    queue.isWritingBoard = false
    notifyWaiters()
  }

  // MARK: - Removed and locked files

  /// Checks that the file still exists, without writing to the file.
  nonisolated(nonsending) func checkPresence() async {
    defer { checkIsolation(#isolation) }
    guard let document, !queue.isWriting, !queue.isBehind else { return }
    do throws(DocumentError) { try await document.checkPresence() } catch {
      guard !queue.isWriting, !queue.isBehind, self.document != nil else { return }
      failed(error, queue.take())
      scheduleKeyframe()
    }
  }

  /// Recreates a removed file, and writes the whole board. If the directory is missing, the attempt is repeated later.
  private nonisolated(nonsending) func recreateFile(of document: BoardDocument) async {
    queue.isWriting = true
    do throws(DocumentError) {
      let new = try await document.reinstate()
      self.document = new
      // Other directories may be missing too. If they cannot be created, the code that uses them reports the error.
      try? configuration.createDirectories()
      await writeKeyframe(to: new)
    } catch {
      finishedWriting()
      if queue.failure != error { failed(error, queue.take()) }
    }
    write()
  }

  private nonisolated(nonsending) func reopen(_ document: BoardDocument) async {
    queue.isWriting = true
    do throws(DocumentError) {
      let new = try await document.reopen()
      self.document = new
      if let hosted = environment.hostedCode() { try await new.setHosted(code: hosted.code?.text) }
      queue.obstacle = nil
      if queue.isBehind { await writeKeyframe(to: new) } else { finishedWriting() }
    } catch {
      queue.obstacle = error
      finishedWriting()
      if queue.isBehind, queue.failure != error { failed(error, queue.take()) }
    }
    write()
  }

  // MARK: - Closing

  nonisolated(nonsending) func close() async {
    recordTraffic()
    // Wait for the current write; no new write starts after it.
    while queue.isBusy || queue.isStoringPhotos { await withCheckedContinuation { idleWaiter = $0 } }
    guard var document else { return }
    self.document = nil
    if queue.failure?.code == .removed, let new = try? await document.reinstate() { document = new }
    if queue.hasUnsavedWork, let new = try? await document.reopen() {
      document = new
      queue.obstacle = nil
    }
    queue.retryPhotos()
    await storePhotos(in: document)
    if !queue.isPaused, queue.isKeyframeDue || queue.isBehind { await writeKeyframe(to: document) }
    if let record = unstoredMembership { await storeMembership(record, in: document) }
    // Write the entries that were recorded in the meantime.
    if !queue.isBehind {
      queue.isWriting = true
      await write(to: document)
      finishedWriting()
    }
    // If the file was removed, the earlier entries are lost too.
    do throws(DocumentError) { try await document.checkPresence() } catch {
      if !queue.isBehind { failed(error, queue.take()) }
    }
    queue.close()
    if let problem = queue.state.problem, problem.hasUnsavedWork { endUnsaved(problem) }
    do throws(DocumentError) {
      let isRecording = configuration.recordingFile != nil && !queue.isBehind
      try await document.close(recordedUntil: isRecording ? BoardFile.now : nil)
    } catch {
      // Acknowledged entries are in the WAL file, and are read when the document is next opened.
      configuration.logger.warning("Document was not closed cleanly.", metadata: ["reason": "\(error.message)"])
    }
    sendAnswers()
  }

  /// Closes the board with the error that work was not saved. Does nothing if the board is already closing with another
  /// error.
  private func endUnsaved(_ problem: SaveProblem) {
    if case .failed(let failure) = runtime.ending, failure.code != .no { return }
    runtime.replaceEnding(.failed(WhiteboardError(problem)))
  }
}
