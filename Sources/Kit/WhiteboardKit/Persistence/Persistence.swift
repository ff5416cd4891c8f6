import Logging
import PeerCore
import PeerSession
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Records a board in its file, and holds answers until their changes are on disk. Owns the open document and its
/// queue. Changes are written in groups, concurrently with other work of the board. Confined to the actor of its board.
final class Persistence {
  struct Environment {
    let authorNames: () -> [String]
    /// The join code of the board; nil if another peer hosts the board.
    let hostedCode: () -> HostedCode?
    let photoStored: (AssetID) -> Void
  }

  struct HostedCode { let code: JoinCode? }

  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let environment: Environment
  var replica: Replica?

  var document: BoardDocument?
  var queue = PersistenceQueue()
  /// The display names in the document, by peer id.
  private(set) var names: [String: UntrustedText] = [:]
  /// The traffic that is not stored yet; nil if traffic is not recorded.
  private var traffic: TrafficLog?
  var unstoredMembership: MembershipRecord?
  private var lastCode: JoinCode?
  var idleWaiter: CheckedContinuation<Void, Never>?
  /// The time of the next keyframe check; nil if nothing was recorded since the last check.
  var nextKeyframe: ContinuousClock.Instant?
  var nextPresenceCheck: ContinuousClock.Instant
  var reportedState: SaveState?
  var reportedProblem: SaveProblem?
  /// Whether the user was warned that exiting the program loses work, and nothing was saved since then.
  var wasAskedBeforeEnding = false

  static let presenceInterval = Duration.seconds(5)

  init(_ runtime: BoardRuntime, _ configuration: BoardConfiguration, _ environment: Environment) {
    self.runtime = runtime
    self.configuration = configuration
    self.environment = environment
    nextKeyframe = runtime.start
    nextPresenceCheck = runtime.start + Self.presenceInterval
  }

  // MARK: - The document

  func use(_ document: BoardDocument) { self.document = document }

  func begin() {
    guard let document else { return }
    queue.open()
    queue.obstacle = document.obstacle
    if queue.obstacle != nil { scheduleKeyframe() }
  }

  // MARK: - Recording

  /// Records a change, which is then written within milliseconds, together with other changes.
  func record(_ change: StoredChange) {
    queue.record(DocumentEntry(change, time: BoardFile.now))
    scheduleKeyframe()
    write()
  }

  /// The photo is stored before all later entries.
  func recordPhoto(_ id: AssetID, at path: String, isAwaited: Bool = false) {
    queue.record(PersistenceQueue.Photo(sha256: id.bytes, path: path), isAwaited: isAwaited)
    scheduleKeyframe()
    write()
  }

  func recordName(_ name: UntrustedText, of member: String) {
    guard !name.isEmpty, names.updateValue(name, forKey: member) != name else { return }
    queue.record(.name(name.raw, of: member))
    write()
  }

  nonisolated(nonsending) func loadNames() async {
    defer { checkIsolation(#isolation) }
    // Without the names, lists show ids until the members are connected again.
    guard let stored = try? await document?.memberNames() else { return }
    names.merge(stored.mapValues { UntrustedText($0) }) { current, _ in current }
  }

  func recordTraffic(of session: Session, as name: String) {
    guard let scope = configuration.recordedTraffic else { return }
    let log = TrafficLog(scope)
    log.begin(as: configuration.identity.peerID, named: name)
    session.observeTraffic { log.take($0) }
    traffic = log
  }

  func recordTraffic() {
    guard let entries = traffic?.takeAll(), !entries.isEmpty else { return }
    for entry in entries { queue.record(.traffic(entry)) }
    write()
  }

  /// Sends an answer when everything recorded so far is stored. An answer that is not about changes waits only to keep
  /// its position in the queue. `answer` receives the error if the changes are not stored.
  func whenStored(isAboutChanges: Bool = true, _ answer: @escaping (DocumentError?) -> Void) {
    guard !queue.isIdle else { return answer(nil) }
    queue.answer(isAboutChanges: isAboutChanges, answer)
    sendAnswers()
  }

  func sendAnswers() {
    for answer in queue.takeAnswers() { answer() }
    reportState()
    runtime.changed()
  }

  nonisolated(nonsending) func room() async {
    defer { checkIsolation(#isolation) }
    _ = await runtime.wait { self.queue.hasRoom }
  }

  // MARK: - Writing

  /// Does nothing if a write is in progress, or the document needs a keyframe.
  func write() {
    reportState()
    guard let document, !queue.isBehind else { return }
    if !queue.photos.isEmpty, !queue.isStoringPhotos {
      queue.isStoringPhotos = true
      runtime.spawn { sharedBoard in await sharedBoard.persistence.storePhotos(in: document) }
    }
    guard !queue.isWriting else { return }
    queue.isWriting = true
    runtime.spawn { sharedBoard in
      await sharedBoard.persistence.write(to: document)
      sharedBoard.persistence.finishedWriting()
    }
  }

  func finishedWriting() {
    queue.isWriting = false
    notifyWaiters()
  }

  func notifyWaiters() {
    reportState()
    idleWaiter?.resume()
    idleWaiter = nil
    runtime.changed()
  }

  nonisolated(nonsending) func write(to document: BoardDocument) async {
    while !queue.isBehind, queue.recorded > queue.stored {
      let work = queue.take()
      do throws(DocumentError) {
        try await document.append(work.entries)
        queue.didStore(upTo: work.mark)
        sendAnswers()
      } catch {
        failed(error, work)
        return
      }
    }
  }

  /// Entries do not wait for photos, because a photo can be large.
  nonisolated(nonsending) func storePhotos(in document: BoardDocument) async {
    queue.isStoringPhotos = true
    while case let photos = queue.takePhotos(), !photos.isEmpty {
      for photo in photos {
        do throws(DocumentError) {
          try await document.storeAsset(file: photo.path, sha256: photo.sha256)
          queue.didStore(photo)
          if let id = AssetID(photo.sha256) { environment.photoStored(id) }
        } catch { notStored(photo, error) }
        sendAnswers()
      }
    }
    queue.isStoringPhotos = false
    notifyWaiters()
  }

  private func notStored(_ photo: PersistenceQueue.Photo, _ error: DocumentError) {
    let isNew: Bool
    if [.notFound, .damaged, .tooLarge].contains(error.code) {
      // The file is missing or has other contents, so a retry would not help.
      queue.didLose(photo, error)
      isNew = true
    } else {
      isNew = queue.didMiss(photo, error)
    }
    if isNew { runtime.emit(.warning(.init(code: "photo-not-saved", message: error.message))) }
  }

  func failed(_ error: DocumentError, _ work: PersistenceQueue.Work) {
    queue.didFail(error, work, now: BoardFile.now)
    sendAnswers()
  }

  nonisolated(nonsending) func storeAll() async throws(DocumentError) {
    let mark = queue.recorded
    write()
    _ = await runtime.wait {
      self.queue.stored >= mark && !self.queue.hasPendingPhotos || self.queue.isBehind || self.queue.isClosed
    }
    guard queue.stored >= mark else { throw queue.failure ?? DocumentError(.closed, "the board is closed") }
  }

  // MARK: - Membership

  /// If storing fails, the problem is reported, and the next write tries again. Until then, a restarted program needs
  /// the code or a member's ticket to join.
  nonisolated(nonsending) func storeMembership(_ record: MembershipRecord, code: JoinCode?) async {
    defer { checkIsolation(#isolation) }
    guard let document else { return }
    lastCode = code
    await storeMembership(record, in: document)
  }

  nonisolated(nonsending) func storeMembership(_ record: MembershipRecord, in document: BoardDocument) async {
    unstoredMembership = record
    do throws(DocumentError) {
      try await document.setMembership(record.json, code: lastCode?.text)
      // A newer record may have arrived in the meantime.
      guard unstoredMembership == record else { return }
      unstoredMembership = nil
      queue.membershipFailure = nil
    } catch {
      queue.membershipFailure = error
      scheduleKeyframe()
      configuration.logger.warning("Membership was not stored.", metadata: ["reason": "\(error.message)"])
    }
    reportState()
  }
}

extension DocumentEntry {
  init(_ change: StoredChange, time: Int64) {
    switch change {
    case .author(let record, let incarnation): self = .author(record: record, incarnation: incarnation.rawValue)
    case .batch(let batch): self = .batch(bytes: batch.bytes, time: time)
    case .answer(let bytes): self = .answer(bytes: bytes, time: time)
    case .head(let bytes, let incarnation, let sequence):
      self = .head(bytes: bytes, incarnation: incarnation.rawValue, sequence: sequence)
    case .keyframe: preconditionFailure("only the document writes keyframes")
    }
  }
}

extension Persistence {
  /// Throws ``CommandError`` with the code `refused` if the board is not stored.
  var openDocument: BoardDocument {
    get throws(CommandError) {
      guard let document else { throw CommandError(.refused, "this board is not stored on disk") }
      return document
    }
  }

  /// Saves unsaved work immediately, and reports the save state; throws ``CommandError`` with the code `notSaved` if
  /// some work is still not saved.
  nonisolated(nonsending) func save(request: RequestMark?) async throws(CommandError) {
    await saveNow()
    runtime.answer(.saving(state), to: request)
    if let problem = state.problem { throw CommandError(.notSaved, problem.sentence) }
  }

  /// Writes the board to another file, even if the board's own file cannot be written.
  nonisolated(nonsending) func saveCopy(to path: String, photos: PhotoFiles) async throws(CommandError) {
    let document = try openDocument
    do throws(DocumentError) { try await saveCopy(to: path, of: document, photos) } catch { throw CommandError(error) }
  }

  private nonisolated(nonsending) func saveCopy(to path: String, of document: BoardDocument, _ photos: PhotoFiles)
    async throws(DocumentError)
  {
    defer { checkIsolation(#isolation) }
    let isWhole = (try? await storeAll()) != nil && queue.loss == nil
    if isWhole { return try await document.save(as: path) }
    guard let replica else { throw DocumentError(.closed, "the board is closed") }
    var files: [[UInt8]: String] = [:]
    let assets = Set(replica.board.state.records.compactMap { $0.value.asset }).filter {
      replica.board.assets.contains($0.id)
    }
    defer { for asset in assets { photos.close(asset.id) } }
    for asset in assets {
      // A photo that cannot be read is treated as missing in the copy.
      files[asset.id.bytes] = await photos.open(asset.id) ?? photos.path(asset.id, asset.format)
    }
    // The state is collected now, before the board changes.
    let mark = queue.recorded
    let rescue = BoardRescue(
      bytes: replica.snapshotForKeeping(),
      digest: replica.digest.bytes,
      time: BoardFile.now,
      lostSince: queue.behindSince,
      photos: files
    )
    let (hasHistory, missing) = try await document.rescue(to: path, rescue)
    if !hasHistory { warnOfIncompleteCopy("The copy has no history: the file of the board cannot be read.") }
    if missing > 0 {
      warnOfIncompleteCopy("The copy lacks \(EventText.count(missing, "photo")): the files cannot be read.")
    } else {
      queue.didCopy(upTo: mark, to: path)
      reportState()
    }
  }

  private func warnOfIncompleteCopy(_ message: String) {
    runtime.emit(.warning(.init(code: "copy-incomplete", message: message)))
  }
}
