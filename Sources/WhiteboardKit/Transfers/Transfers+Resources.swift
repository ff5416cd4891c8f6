import Crypto
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardExport
import WhiteboardRendering
import WhiteboardSync

extension Transfers {
  // MARK: - The events of resources

  /// Returns whether the local peer requested the offered resource: an answer (SYN-13) or an asset
  /// (SYN-37).
  func isRequested(_ info: ResourceInfo) -> Bool {
    if let answer = Transfers.answer(named: info.name.raw) { return wantsAnswer(answer.name, info) }
    guard let asset = asset(named: info.name.raw), let member = MemberID(info.peer.bytes) else {
      return false
    }
    guard let active, active.replica.isAsking(forAsset: asset, from: member) else { return false }
    guard active.replica.hasRoom(forPhoto: asset, bytes: info.size) else {
      active.perform(active.replica.leaveOutPhoto(asset, now: runtime.now))
      return false
    }
    return true
  }

  func resourceStarted(_ info: ResourceInfo) {
    // A catch-up answer is not reported to the user.
    if let answer = Transfers.answer(named: info.name.raw) {
      if info.direction == .incoming { answers[info.id] = (info.peer, answer.request) }
      return
    }
    pending[info.id.text] = PendingTransfer(
      kind: .resource(info.id),
      name: info.name.raw,
      direction: Direction(info.direction),
      peer: info.peer
    )
    runtime.emit(
      .resourceStarted(
        .init(
          transfer: info.id.text,
          direction: Direction(info.direction),
          peer: info.peer.text,
          name: info.name.raw,
          size: UInt64(clamping: info.size)
        )
      )
    )
  }

  func resourceProgressed(_ id: TransferID, _ bytes: Int, _ size: Int) {
    if let answer = answers[id], let member = MemberID(answer.peer.bytes) {
      active?.replica.answerProgressed(request: answer.request, from: member, now: runtime.now)
    }
    guard let transfer = pending[id.text] else { return }
    if transfer.direction == .incoming, let asset = asset(named: transfer.name) {
      active?.replica.assetProgressed(asset, now: runtime.now)
    }
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

  func resourceFinished(
    _ info: ResourceInfo,
    _ result: Result<ReceivedResource, SessionError>
  ) {
    if let answer = Transfers.answer(named: info.name.raw) {
      answers[info.id] = nil
      if info.direction == .incoming {
        answerFinished(request: answer.request, from: info.peer, result)
      }
      return
    }
    acceptedFiles[info.id] = nil
    let known = pending.removeValue(forKey: info.id.text)
    var event = BoardEvent.ResourceFinished(
      transfer: info.id.text,
      direction: Direction(info.direction),
      peer: info.peer.text,
      name: info.name.raw,
      outcome: .delivered
    )
    switch result {
    case .success(let resource):
      event.path = resource.path ?? known.flatMap { _ in sentPaths[info.id.text] }
      event.size = UInt64(clamping: resource.size)
      event.sha256 = resource.sha256
    case .failure(let error):
      event.outcome =
        error.code == .transferCancelled || error.code == .cancelled ? .cancelled : .failed
      event.message = error.message
    }
    sentPaths[info.id.text] = nil
    if info.direction == .incoming, let asset = asset(named: info.name.raw) {
      takeAsset(asset, from: info.peer, result, event)
    } else {
      runtime.emit(.resourceFinished(event))
      if info.direction == .incoming, case .success(let resource) = result {
        publisher.publish(.resource(resource, from: publisher.member(info.peer)))
      }
    }
  }

  // MARK: - Photos

  /// Returns the asset that a resource with this name contains; nil if it is another kind of
  /// resource.
  func asset(named name: String) -> AssetID? {
    guard let name = try? ResourceDTO(name: name), name.type == .imageData, !name.isDeleted else {
      return nil
    }
    return name.sha256
  }

  /// Stores a requested photo; removes a photo that was not requested or has other contents.
  private func takeAsset(
    _ id: AssetID,
    from peer: PeerID,
    _ result: Result<ReceivedResource, SessionError>,
    _ event: BoardEvent.ResourceFinished
  ) {
    var event = event
    guard let active, let member = MemberID(peer.bytes),
      case let references = active.replica.expectedAsset(id, from: member), !references.isEmpty
    else {
      // The photo had arrived before it could be refused.
      if case .success(let resource) = result, let path = resource.path {
        try? FileManager.default.removeItem(atPath: path)
        event.outcome = .failed
        event.path = nil
        event.message = "This photo was not requested."
      }
      runtime.emit(.resourceFinished(event))
      return
    }
    guard case .success(let resource) = result, let path = resource.path else {
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetFailed(id, from: member, now: runtime.now))
      return
    }
    if resource.sha256 == id.description,
      let kept = keepAsset(references.filter { $0.byteCount == resource.size }, from: path)
    {
      event.path = kept
      photos.add(id, at: kept)
      persistence.recordPhoto(id, at: kept)
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetStored(id, bytes: resource.size, now: runtime.now))
    } else {
      event.outcome = .failed
      event.path = nil
      event.message = "The photo is not what its name says."
      try? FileManager.default.removeItem(atPath: path)
      runtime.emit(.resourceFinished(event))
      active.perform(active.replica.assetFailed(id, from: member, now: runtime.now))
    }
  }

  /// Moves a received photo to the photo directory if its header matches an object of the board;
  /// returns its path.
  private func keepAsset(_ references: Set<AssetReference>, from path: String) -> String? {
    guard !references.isEmpty,
      let bytes = try? FileReading.whole(path, limit: BoardLimits.photoBytes),
      let header = try? PhotoHeader(reading: bytes),
      let reference = references.first(where: { $0.hasHeader(header) })
    else { return nil }
    let kept = photos.path(reference.id, header.format)
    // Replaces an existing file, which may be damaged.
    return FileReading.move(path, over: kept) ? kept : nil
  }

  /// Sends a photo to the member that requested it.
  func sendAsset(_ id: AssetID, _ name: ResourceDTO, to member: MemberID) {
    runtime.spawn { node in
      let path = await node.photos.open(id)
      if let path { await node.transfers.sendAsset(id, name, at: path, to: member) }
      node.photos.close(id)
      guard let board = node.board else { return }
      if path == nil {
        board.perform(board.replica.assetUnavailable(id, to: member, now: node.now))
      }
      board.perform(board.replica.assetSent(id, to: member, now: node.now))
    }
  }

  private nonisolated(nonsending) func sendAsset(
    _ id: AssetID,
    _ name: ResourceDTO,
    at path: String,
    to member: MemberID
  ) async {
    guard let session, let peer = PeerID(bytes: member.bytes) else { return }
    do throws(SessionError) {
      let transfer = try session.sendResource(
        atPath: path,
        named: name.name,
        to: peer,
        isRequested: true
      )
      sentPaths[transfer.id.text] = path
      _ = try await transfer.result()
    } catch {
      // The session reports the end of the transfer. The member requests the photo again, here or
      // from another peer.
      configuration.logger.debug(
        "A photo was not sent.",
        metadata: ["peer": "\(peer.short)", "code": "\(error.code)"]
      )
    }
  }
}

extension Direction {
  /// Creates the direction of an event from the direction of a transfer.
  init(_ direction: ResourceInfo.Direction) {
    self = direction == .incoming ? .incoming : .outgoing
  }
}
