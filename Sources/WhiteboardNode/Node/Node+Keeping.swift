import Logging
import PeerSession
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// What changes the board on its way to the file, and who waits for it to be there.
extension Node {
  /// Keeps a change, some milliseconds from now with whatever else there is to keep.
  func keep(_ change: StoredChange) {
    keeper.record(DocumentEntry(change, time: BoardFile.now))
    planKeyframe()
    writeDocument()
  }

  /// Keeps the bytes of a photo, before whatever is recorded after.
  ///
  /// - Parameters:
  ///   - id: The photo.
  ///   - path: Its file.
  ///   - isAwaited: Whether the next answer tells that it is kept.
  func keepPhoto(_ id: AssetID, at path: String, isAwaited: Bool = false) {
    let photo = PersistenceQueue.Photo(sha256: id.bytes, path: path)
    keeper.record(photo, isAwaited: isAwaited)
    planKeyframe()
    writeDocument()
  }

  /// Answers when everything recorded so far is stored, or at once if all is stored.
  ///
  /// - Parameters:
  ///   - isAboutChanges: Whether the answer confirms that changes are stored; other answers only
  ///     keep their place in the queue.
  ///   - tell: Sends the answer; receives the error if the changes are not stored.
  func whenKept(
    isAboutChanges: Bool = true,
    _ tell: @escaping (DocumentError?) -> Void
  ) {
    guard !keeper.isIdle else {
      tell(nil)
      return
    }
    keeper.answer(isAboutChanges: isAboutChanges, tell)
    tellKept()
  }

  private func tellKept() {
    for answer in keeper.takeAnswers() { answer() }
    tellSaveState()
    changed()
  }

  /// Waits until so little waits to be kept that more may be made.
  func roomToKeep() async {
    _ = await wait { self.keeper.hasRoom }
  }

  /// Writes what there is to write, one group after another.
  func writeDocument() {
    tellSaveState()
    guard let document, !keeper.isWriting, !keeper.isBehind else { return }
    keeper.isWriting = true
    spawn { node in
      await node.write(to: document)
      node.finishedWriting()
    }
  }

  func finishedWriting() {
    keeper.isWriting = false
    tellSaveState()
    writingWaiter?.resume()
    writingWaiter = nil
    changed()
  }

  private func write(to document: BoardDocument) async {
    while true {
      let work = keeper.take()
      guard !work.isEmpty else { return }
      do throws(DocumentError) {
        try await store(work, in: document)
        keeper.didKeep(upTo: work.mark)
        tellKept()
      } catch {
        failed(error, work)
        return
      }
    }
  }

  /// Stores photos, and then the entries that show them.
  ///
  /// One photo that cannot be stored keeps nothing else from it: its entries lead to a photo that
  /// others may have, and everything else is what it is.
  private func store(
    _ work: PersistenceQueue.Work,
    in document: BoardDocument
  ) async throws(DocumentError) {
    for photo in work.photos {
      do throws(DocumentError) {
        try await document.storeAsset(file: photo.path, sha256: photo.sha256)
        keeper.didStore(photo)
        if let id = AssetID(photo.sha256) { dropFile(of: id) }
      } catch {
        notStored(photo, error)
      }
    }
    try await document.append(work.entries)
  }

  private func notStored(_ photo: PersistenceQueue.Photo, _ error: DocumentError) {
    let isNew: Bool
    if [.notFound, .damaged, .tooLarge].contains(error.code) {
      // The file is gone or another: trying again would not help.
      keeper.didLose(photo, error)
      isNew = true
    } else {
      isNew = keeper.didMiss(photo, error)
    }
    if isNew { emit(.warning(.init(code: "photo-not-saved", message: error.message))) }
  }

  func failed(_ error: DocumentError, _ work: PersistenceQueue.Work) {
    keeper.didFail(error, work, now: BoardFile.now)
    tellKept()
  }

  /// Waits until all that was recorded by now is kept.
  ///
  /// - Throws: Why it is not.
  func keepAll() async throws(DocumentError) {
    let mark = keeper.recorded
    writeDocument()
    _ = await wait { self.keeper.kept >= mark || self.keeper.isBehind || self.keeper.isClosed }
    guard keeper.kept >= mark else {
      throw keeper.failure ?? DocumentError(.closed, "the board is closed")
    }
  }

  /// Starts the periodic work: keyframes, checks that the file exists, and purges of old deletions.
  func lookAfterDocument() {
    if let due = nextKeyframe, clock.now >= due {
      nextKeyframe = document.map { _ in clock.now + .seconds(keeper.loss == nil ? 1 : 5) }
      spawn { node in await node.keepKeyframe() }
    }
    if clock.now >= nextPresenceCheck {
      nextPresenceCheck = clock.now + Self.presenceInterval
      spawn { node in await node.checkPresence() }
    }
    if clock.now >= nextPurge {
      nextPurge = clock.now + .seconds(60)
      purge()
    }
  }

  /// Plans the next keyframe check after something was recorded.
  func planKeyframe() {
    guard nextKeyframe == nil, document != nil else { return }
    let due = clock.now + .seconds(1)
    nextKeyframe = due
    runtime.wake(by: due)
  }

  /// Stops the keyframe checks until something is recorded, if no work is left.
  private func restDocument(_ document: BoardDocument) async {
    guard await !document.hasEntriesSinceKeyframe else { return }
    if !keeper.isBehind, keeper.loss == nil, keeper.told == keeper.recorded {
      nextKeyframe = nil
    }
  }

  /// Removes what was deleted long ago (SYN-8); one of those who are here does it for all.
  private func purge() {
    guard configuration.recordingFile == nil, let replica else { return }
    let ids = deletionAges.purgeable(
      on: replica.board,
      at: now.uptime,
      excluding: replica.board.objectsInUndo
    )
    // A viewer leaves this to other members.
    guard replica.members.allSatisfy({ $0 > replica.board.member }) else { return }
    guard !ids.isEmpty else { return }
    // What is not done now is done in a minute.
    _ = try? change { (board) throws(BoardError) in
      for id in ids.prefix(1000) { try board.purge(id) }
    }
  }

  /// The display names of the members that wrote something; the start of the id if none is known.
  private func people(on board: Board) -> [String] {
    var names: [MemberID: String] = [:]
    for line in board.chat { names[line.author] = line.name }
    return Set(board.authors.values).sorted().map { member in
      if member == board.member { return ownName }
      let present = PeerID(bytes: member.bytes).flatMap { members[$0]?.name }
      return present ?? keptNames[member.description] ?? names[member] ?? member.shortText
    }
  }

  /// Gives the whole board, as it is in one moment, a name.
  ///
  /// Nothing is appended between what is appended here and the version: rows of the log that come
  /// before a version are taken to be in it.
  func checkpoint(_ name: String) async throws(DocumentError) {
    while keeper.isWriting {
      guard await wait(until: { !self.keeper.isWriting }) else { break }
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
    let work = keeper.take()
    let state = replica.snapshotForKeeping()
    let digest = replica.digest.bytes
    let time = BoardFile.now
    do throws(DocumentError) {
      try await store(work, in: document)
      keeper.didKeep(upTo: work.mark)
      tellKept()
    } catch {
      failed(error, work)
      throw error
    }
    try await document.checkpoint(name: name, bytes: state, digest: digest, time: time)
  }

  /// Writes the whole board if a keyframe is due, or if an earlier write failed.
  func keepKeyframe() async {
    guard let document, !keeper.isWriting, !keeper.isPaused else { return }
    if keeper.obstacle != nil { return await reopen(document) }
    if let record = unstoredMembership { await storeMembership(record, in: document) }
    let isDue = await document.needsKeyframe(now: BoardFile.now)
    // Whoever closes the document writes what there is by himself.
    guard !keeper.isWriting, self.document != nil else { return }
    keeper.retryPhotos()
    if keeper.failure?.code == .removed { return await putBack(document) }
    guard isDue || keeper.isBehind else {
      if !keeper.photos.isEmpty { writeDocument() }
      await tellLibrary(document)
      await restDocument(document)
      return
    }
    await writeKeyframe(to: document)
    writeDocument()
  }

  /// Stores what lists of boards show, where something changed; they are looked at meanwhile.
  private func tellLibrary(_ document: BoardDocument) async {
    guard let replica, keeper.told != keeper.recorded else { return }
    keeper.told = keeper.recorded
    do throws(DocumentError) {
      try await document.setCounts(
        objects: shown.count,
        people: people(on: replica.board),
        changed: BoardFile.now
      )
    } catch {
      configuration.logger.debug("the library was not told of the board: \(error.message)")
    }
  }

  /// Writes the whole board, after what waits to be written.
  func writeKeyframe(to document: BoardDocument) async {
    guard let replica else { return }
    keeper.isWriting = true
    defer { finishedWriting() }
    let wasBehind = keeper.isBehind
    // All of this moment, before anything else changes the board.
    let work = keeper.take()
    let lostSince = keeper.behindSince
    let snapshots = replica.board.snapshots
    let people = people(on: replica.board)
    let background = replica.board.background
    let time = BoardFile.now
    let state = replica.snapshotForKeeping()
    let digest = replica.digest.bytes
    do throws(DocumentError) {
      try await store(work, in: document)
      if !wasBehind { keeper.didKeep(upTo: work.mark) }
      try await document.writeKeyframe(state, digest: digest, time: time, lostSince: lostSince)
      keeper.didKeep(upTo: work.mark)
      keeper.isKeyframeDue = keeper.recorded > work.mark
      keeper.told = work.mark
      tellKept()
      try await document.setSummary(
        objects: snapshots.count,
        people: people,
        thumbnail: Thumbnail.svg(of: snapshots, background: background),
        // The clock of an author may be ahead. Without a limit, the board would stay first in every
        // list.
        changed: min(snapshots.map { Int64(clamping: $0.updatedAt) }.max() ?? time, time)
      )
      try await document.dropHistory(now: time)
    } catch {
      if keeper.kept < work.mark {
        failed(error, work)
      } else {
        // All is in the log; there may be room for the whole of it later.
        nextKeyframe = clock.now + .seconds(30)
        configuration.logger.warning("the whole board was not written: \(error.message)")
      }
    }
    tellKept()
  }

  /// Not all of the board was saved: no other end is worse, unless it was a failure of its own.
  private func endUnsaved(_ problem: SaveProblem) {
    if case .failed(let failure) = ending, failure.code != .no { return }
    guard ending != nil else { return }
    runtime.replaceEnding(.failed(NodeError(problem)))
  }

  /// Writes what is left and closes the document.
  func closeDocument() async {
    keepTraffic()
    // Wait for the write in progress. No new write starts after that.
    while keeper.isWriting { await withCheckedContinuation { writingWaiter = $0 } }
    guard var document else { return }
    self.document = nil
    if keeper.failure?.code == .removed, let there = try? await document.reinstate() {
      document = there
    }
    if keeper.hasUnsavedWork, let there = try? await document.reopen() {
      document = there
      keeper.obstacle = nil
    }
    keeper.retryPhotos()
    if !keeper.isPaused, keeper.isKeyframeDue || keeper.isBehind {
      await writeKeyframe(to: document)
    }
    if let record = unstoredMembership { await storeMembership(record, in: document) }
    // Write the entries that were recorded in the meantime.
    if !keeper.isBehind {
      keeper.isWriting = true
      await write(to: document)
      finishedWriting()
    }
    // If the file was removed, earlier entries are lost too.
    do throws(DocumentError) { try await document.checkPresence() } catch {
      if !keeper.isBehind { failed(error, keeper.take()) }
    }
    keeper.close()
    if let problem = keeper.state.problem, problem.hasUnsavedWork { endUnsaved(problem) }
    do throws(DocumentError) {
      let isRecording = configuration.recordingFile != nil && !keeper.isBehind
      try await document.close(recordedUntil: isRecording ? BoardFile.now : nil)
    } catch {
      // Acknowledged entries are in the log beside the file. The next opening reads them from
      // there.
      configuration.logger.warning("Document was not closed cleanly: \(error.message)")
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
