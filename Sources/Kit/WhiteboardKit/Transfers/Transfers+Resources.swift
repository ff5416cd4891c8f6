import Crypto
import FoundationEssentials
import Logging
import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Transfers {
  // MARK: - The events of resources

  /// Whether the local peer requested the offered resource: an answer (SYN-13) or an asset (SYN-37).
  func isRequested(_ info: ResourceInfo) -> Bool {
    switch ResourceContent(named: info.name.raw) {
    case .answer(let name, _): return wantsAnswer(name, info)
    case .asset(let asset): return wantsAsset(asset, info)
    case .file: return false
    }
  }

  func resourceStarted(_ info: ResourceInfo) {
    let transfer = PendingTransfer(
      kind: .resource(info.id, ResourceContent(named: info.name.raw)),
      name: info.name,
      direction: Direction(info.direction),
      peer: info.peer
    )
    pending[info.id] = transfer
    guard !transfer.isAnswer else { return }
    runtime.emit(
      .resourceStarted(
        .init(
          transfer: info.id.text,
          direction: Direction(info.direction),
          peer: info.peer.text,
          name: info.name,
          size: UInt64(clamping: info.size)
        )
      )
    )
  }

  func resourceProgressed(_ id: TransferID, _ bytes: Int, _ size: Int) {
    guard let transfer = pending[id] else { return }
    if transfer.direction == .incoming, let content = transfer.content {
      contentProgressed(content, from: transfer.peer)
    }
    guard !transfer.isAnswer else { return }
    runtime.emit(
      .resourceProgress(
        .init(
          transfer: id.text,
          direction: transfer.direction,
          peer: transfer.peer.text,
          bytes: UInt64(clamping: bytes),
          size: UInt64(clamping: size)
        )
      )
    )
  }

  private func contentProgressed(_ content: ResourceContent, from peer: PeerID) {
    guard let replica = active?.replica else { return }
    let member = MemberID(peer)
    switch content {
    case .answer(_, let request): replica.answerProgressed(request: request, from: member, now: runtime.now)
    case .asset(let asset): replica.assetProgressed(asset, now: runtime.now)
    case .file: break
    }
  }

  func resourceFinished(_ info: ResourceInfo, _ result: Result<ReceivedResource, SessionError>) {
    let known = pending.removeValue(forKey: info.id)
    // A transfer can end without having started.
    let content = known?.content ?? ResourceContent(named: info.name.raw)
    if info.direction == .incoming, content.isPartOfBoard {
      if case .failure(let error) = result, error.code == .diskFull {
        reportLackOfSpace()
        // The replica asks again, because it received no answer.
        if known == nil { return }
      } else if case .success = result {
        lacksSpace = false
      }
    }
    if case .answer(_, let request) = content {
      if info.direction == .incoming { answerFinished(request: request, from: info.peer, result) }
      return
    }
    acceptedFiles[info.id] = nil
    var event = SharedBoard.News.ResourceFinished(
      transfer: info.id.text,
      direction: Direction(info.direction),
      peer: info.peer.text,
      name: info.name,
      outcome: .delivered
    )
    switch result {
    case .success(let resource):
      event.path = resource.path ?? known.flatMap { _ in sentPaths[info.id] }
      event.size = UInt64(clamping: resource.size)
      event.sha256 = Hexadecimal.encode(resource.sha256)
    case .failure(let error):
      event.outcome = error.code == .transferCancelled || error.code == .cancelled ? .cancelled : .failed
      event.message = UntrustedText(error.message)
    }
    sentPaths[info.id] = nil
    if info.direction == .incoming, case .asset(let asset) = content {
      receiveAsset(asset, from: info.peer, result, event)
    } else {
      if info.direction == .incoming, case .success(let resource) = result {
        fileArrived(resource, from: info, event)
      } else {
        runtime.emit(.resourceFinished(event))
      }
    }
  }

  /// Reports a received file; if the user chose a folder, saves the file there first.
  private func fileArrived(
    _ resource: ReceivedResource,
    from info: ResourceInfo,
    _ event: SharedBoard.News.ResourceFinished
  ) {
    guard let folder = configuration.saveDirectory, let path = resource.path else {
      runtime.emit(.resourceFinished(event))
      runtime.report(.resource(resource, from: members.described(info.peer)))
      return
    }
    runtime.spawn { sharedBoard in
      var (event, resource) = (event, resource)
      do throws(CommandError) {
        resource.path = try await NamedFile.save(path, named: info.name, in: folder)
        event.path = resource.path
      } catch {
        sharedBoard.runtime.emit(.warning(.init(code: SharedBoard.News.Remark.fileNotSaved, message: error.message)))
      }
      sharedBoard.runtime.emit(.resourceFinished(event))
      sharedBoard.runtime.report(.resource(resource, from: sharedBoard.members.described(info.peer)))
    }
  }

  // MARK: - Photos

  private func wantsAsset(_ id: AssetID, _ info: ResourceInfo) -> Bool {
    guard let active, active.replica.isAsking(forAsset: id, from: MemberID(info.peer)) else { return false }
    guard active.replica.hasRoom(forPhoto: id, bytes: info.size) else {
      active.perform(active.replica.leaveOutPhoto(id, now: runtime.now))
      return false
    }
    return true
  }

  /// Stores a requested photo; removes a photo that was not requested or has other contents.
  private func receiveAsset(
    _ id: AssetID,
    from peer: PeerID,
    _ result: Result<ReceivedResource, SessionError>,
    _ event: SharedBoard.News.ResourceFinished
  ) {
    var event = event
    let member = MemberID(peer)
    guard let active, case let references = active.replica.expectedAsset(id, from: member), !references.isEmpty else {
      // The photo arrived before it could be refused.
      if case .success(let resource) = result, let path = resource.path {
        try? FileManager.default.removeItem(atPath: path)
        event.outcome = .failed
        event.path = nil
        event.message = UntrustedText("This photo was not requested.")
      }
      runtime.emit(.resourceFinished(event))
      return
    }
    guard case .success(let resource) = result, let path = resource.path else {
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetFailed(id, from: member, now: runtime.now))
      return
    }
    let expected: Set<AssetReference> =
      AssetID(resource.sha256) == id ? references.filter { $0.byteCount == resource.size } : []
    runtime.spawn { [event] sharedBoard in
      // A photo can be large, so it is not read on the board's actor.
      let format = await FileQueue.run { Self.format(ofPhotoAt: path, among: expected) }
      sharedBoard.transfers.finishAsset(id, from: member, at: path, format, event, bytes: resource.size)
    }
  }

  private static func format(ofPhotoAt path: String, among references: Set<AssetReference>) -> PhotoFormat? {
    guard !references.isEmpty, let bytes = try? FileReading.whole(path, limit: BoardLimits.photoBytes),
      let header = try? PhotoHeader(reading: bytes)
    else { return nil }
    return references.contains { $0.hasHeader(header) } ? header.format : nil
  }

  /// Moves a received photo to the photo directory; removes the photo if `format` is nil.
  private func finishAsset(
    _ id: AssetID,
    from member: MemberID,
    at path: String,
    _ format: PhotoFormat?,
    _ event: SharedBoard.News.ResourceFinished,
    bytes: Int
  ) {
    guard let active else { return }
    var event = event
    // Moving replaces an existing file, which may be damaged.
    if let kept = format.map({ photos.path(id, $0) }), FileReading.move(path, over: kept) {
      event.path = kept
      photos.add(id, at: kept)
      persistence.recordPhoto(id, at: kept)
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetStored(id, bytes: bytes, now: runtime.now))
    } else {
      event.outcome = .failed
      event.path = nil
      event.message = UntrustedText("The received file is not the requested photo.")
      try? FileManager.default.removeItem(atPath: path)
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetFailed(id, from: member, now: runtime.now))
    }
  }

  func sendAsset(_ id: AssetID, _ name: ResourceDTO, to member: MemberID) {
    runtime.spawn { sharedBoard in
      let path = await sharedBoard.photos.open(id)
      if let path { await sharedBoard.transfers.sendAsset(id, name, at: path, to: member) }
      sharedBoard.photos.close(id)
      guard let board = sharedBoard.board else { return }
      if path == nil { board.perform(board.replica.assetUnavailable(id, to: member, now: sharedBoard.now)) }
      board.perform(board.replica.assetSent(id, to: member, now: sharedBoard.now))
    }
  }

  private nonisolated(nonsending) func sendAsset(
    _ id: AssetID,
    _ name: ResourceDTO,
    at path: String,
    to member: MemberID
  ) async {
    defer { checkIsolation(#isolation) }
    guard let session else { return }
    let peer = PeerID(member)
    do throws(SessionError) {
      let transfer = try session.sendResource(atPath: path, named: name.name, to: peer, isRequested: true)
      sentPaths[transfer.id] = path
      _ = try await transfer.result()
    } catch {
      // The session reports the end of the transfer. The member requests the photo again, here or from another peer.
      configuration.logger.debug("A photo was not sent.", metadata: ["peer": "\(peer.short)", "code": "\(error.code)"])
    }
  }
}

extension Direction {
  init(_ direction: ResourceInfo.Direction) { self = direction == .incoming ? .incoming : .outgoing }
}

enum ResourceContent {
  /// A catch-up answer, with its request number (SYN-13).
  case answer(ResourceDTO, request: UInt64)
  /// A photo (SYN-37).
  case asset(AssetID)
  case file

  init(named name: String) {
    guard let name = try? ResourceDTO(name: name) else {
      self = .file
      return
    }
    if name.type == .whiteboard, let request = name.request {
      self = .answer(name, request: request)
    } else if name.type == .imageData, !name.isDeleted, let asset = name.sha256 {
      self = .asset(asset)
    } else {
      self = .file
    }
  }

  var isAnswer: Bool { if case .answer = self { true } else { false } }
  var isPartOfBoard: Bool { if case .file = self { false } else { true } }
}

extension Transfers {
  func wantsAnswer(_ name: ResourceDTO, _ info: ResourceInfo) -> Bool {
    guard name.byteCount == info.size else { return false }
    return active?.replica.expectsAnswer(name, from: MemberID(info.peer)) ?? false
  }

  private func reportLackOfSpace() {
    guard !lacksSpace else { return }
    lacksSpace = true
    runtime.emit(
      .warning(
        .init(
          code: "no-space",
          message: "The disk has too little space, so a part of the board is missing here. Free some space; the rest "
            + "then arrives automatically."
        )
      )
    )
  }

  func answerFinished(request: UInt64, from peer: PeerID, _ result: Result<ReceivedResource, SessionError>) {
    let member = MemberID(peer)
    guard case .success(let resource) = result, let path = resource.path else {
      return answerArrived(nil, request: request, from: member)
    }
    runtime.spawn { sharedBoard in
      // An answer can be large, so it is neither read, nor decoded, nor freed on the board's actor.
      let answer = Locked<ReceivedAnswer?>(nil)
      await FileQueue.run {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let received = (try? FileReading.whole(path, limit: resource.size)).map { ReceivedAnswer($0) }
        answer.withLock { $0 = received }
      }
      sharedBoard.transfers.answerArrived(answer.withLock { $0 }, request: request, from: member)
      await FileQueue.run { answer.withLock { $0 = nil } }
    }
  }

  private func answerArrived(_ answer: ReceivedAnswer?, request: UInt64, from member: MemberID) {
    // After the end, nothing may change the board. Other members have the changes in the answer.
    guard let active, runtime.ending == nil else { return }
    let replica = active.replica
    if let answer {
      active.perform(replica.receivedAnswer(answer, request: request, from: member, now: runtime.now))
    } else {
      active.perform(replica.answerFailed(request: request, from: member, now: runtime.now))
    }
  }

  func sendAnswer(_ answer: OutgoingAnswer, to member: MemberID) {
    let directory = configuration.answersDirectory
    runtime.spawn { sharedBoard in
      // An answer can be large, so it is neither encoded nor written on the board's actor.
      let prepared = await FileQueue.run { () -> (file: AnswerFile, name: String)? in
        guard let (bytes, name) = answer.encoded() else { return nil }
        return AnswerFile(bytes, inDirectory: directory).map { ($0, name.name) }
      }
      sharedBoard.transfers.sendAnswer(prepared, to: answer.request, of: member)
    }
  }

  /// Sends an answer in another job, because the job that encoded the answer holds a copy of the board.
  private func sendAnswer(_ prepared: (file: AnswerFile, name: String)?, to request: UInt64, of member: MemberID) {
    guard let active else { return }
    guard let (file, name) = prepared else {
      return active.perform(active.replica.answerSent(request: request, to: member, now: runtime.now))
    }
    let session = active.session
    runtime.spawn { sharedBoard in
      do throws(SessionError) {
        _ = try await session.sendResource(atPath: file.path, named: name, to: PeerID(member), isRequested: true)
          .result()
      } catch {
        // The member requests the answer again, from this peer or another.
        sharedBoard.configuration.logger.debug(
          "A catch-up answer was not delivered.",
          metadata: ["peer": "\(member.short)", "code": "\(error.code)"]
        )
      }
      withExtendedLifetime(file) {}
      guard let board = sharedBoard.board else { return }
      board.perform(board.replica.answerSent(request: request, to: member, now: sharedBoard.now))
    }
  }

  /// Removes the answers that an earlier process was sending when it was killed.
  func removeOldAnswers() {
    let directory = configuration.answersDirectory
    for file in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
      AnswerFile.removeAbandoned(atPath: "\(directory)/\(file)")
    }
  }
}

/// A private file from which a catch-up answer is sent. The file is locked while the transfer needs it, and then
/// removed. If the process ends early, the system releases the lock, so the next process can remove the file.
final class AnswerFile: Sendable {
  let path: String
  private let descriptor: Int32

  init?(_ bytes: [UInt8], inDirectory directory: String) {
    path = "\(directory)/\(TransferID.random().text)"
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, FileWriting.writeAll(bytes, to: descriptor) == nil else {
      return nil
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    unlink(path)
    close(descriptor)
  }

  static func removeAbandoned(atPath path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }
}
