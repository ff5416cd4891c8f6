import Crypto
import FoundationEssentials
import Logging
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardExport
import WhiteboardRendering
import WhiteboardSync

extension Node {
  // MARK: - Resources as they go

  /// Returns whether this node requested what a peer offers: an answer (SYN-13) or an asset (SYN-37).
  package func isRequested(_ info: ResourceInfo) -> Bool {
    if let answer = Self.answer(named: info.name.raw) { return wantsAnswer(answer.name, info) }
    guard let asset = asset(named: info.name.raw), let member = MemberID(info.peer.bytes) else {
      return false
    }
    guard let replica, replica.isAsking(forAsset: asset, from: member) else { return false }
    guard replica.hasRoom(forPhoto: asset, bytes: info.size) else {
      replica.leaveOutPhoto(asset, now: now)
      performActions()
      return false
    }
    return true
  }

  func resourceStarted(_ info: ResourceInfo) {
    // Catching up is no transfer of a person's.
    if let answer = Self.answer(named: info.name.raw) {
      if info.direction == .incoming { answers[info.id] = (info.peer, answer.request) }
      return
    }
    transfers[info.id.text] = PendingTransfer(
      kind: .resource(info.id),
      name: info.name.raw,
      direction: Direction(info.direction),
      peer: info.peer
    )
    emit(
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
      replica?.answerProgressed(request: answer.request, from: member, now: now)
    }
    guard let transfer = transfers[id.text] else { return }
    if transfer.direction == .incoming, let asset = asset(named: transfer.name) {
      replica?.assetProgressed(asset, now: now)
    }
    emit(
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
    if let answer = Self.answer(named: info.name.raw) {
      answers[info.id] = nil
      if info.direction == .incoming {
        answerFinished(request: answer.request, from: info.peer, result)
      }
      return
    }
    acceptedFiles[info.id] = nil
    let known = transfers.removeValue(forKey: info.id.text)
    var event = NodeEvent.ResourceFinished(
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
      emit(.resourceFinished(event))
    }
  }

  // MARK: - Photos

  /// The asset that a resource's name says it is, where it says so.
  func asset(named name: String) -> AssetID? {
    guard let name = try? ResourceDTO(name: name), name.type == .imageData, !name.isDeleted else {
      return nil
    }
    return name.sha256
  }

  /// Keeps a photo that was asked for; one that was not, or is not what it should be, goes.
  private func takeAsset(
    _ id: AssetID,
    from peer: PeerID,
    _ result: Result<ReceivedResource, SessionError>,
    _ event: NodeEvent.ResourceFinished
  ) {
    var event = event
    guard let replica, let member = MemberID(peer.bytes),
      case let references = replica.expectedAsset(id, from: member), !references.isEmpty
    else {
      // It was whole before it could be refused.
      if case .success(let resource) = result, let path = resource.path {
        try? FileManager.default.removeItem(atPath: path)
        event.outcome = .failed
        event.path = nil
        event.message = "Nobody asked for this photo."
      }
      emit(.resourceFinished(event))
      return
    }
    guard case .success(let resource) = result, let path = resource.path else {
      replica.assetFailed(id, from: member, now: now)
      emit(.resourceFinished(event))
      performActions()
      return
    }
    if resource.sha256 == id.description,
      let kept = keepAsset(references.filter { $0.byteCount == resource.size }, from: path)
    {
      event.path = kept
      photos.add(id, at: kept)
      persistence.recordPhoto(id, at: kept)
      emit(.resourceFinished(event))
      replica.assetStored(id, bytes: resource.size, now: now)
    } else {
      event.outcome = .failed
      event.path = nil
      event.message = "The photo is not what its name says."
      try? FileManager.default.removeItem(atPath: path)
      emit(.resourceFinished(event))
      replica.assetFailed(id, from: member, now: now)
    }
    performActions()
  }

  /// Moves a received photo to where photos are, if its header is what an object of the board states.
  private func keepAsset(_ references: Set<AssetReference>, from path: String) -> String? {
    guard !references.isEmpty,
      let bytes = try? FileReading.whole(path, limit: BoardLimits.photoBytes),
      let header = try? PhotoHeader(reading: bytes),
      let reference = references.first(where: { $0.hasHeader(header) })
    else { return nil }
    let kept = photos.path(reference.id, header.format)
    // Over one that is there: it may be damaged, and this one is known to be whole.
    return FileReading.move(path, over: kept) ? kept : nil
  }

  /// Reads a photo from a file of ours and keeps it where photos are.
  /// - Returns: What the board knows of it, and the size that it has there, upright.
  func importPhoto(_ file: String) async throws(CommandError) -> (AssetReference, Size) {
    let bytes = try await Self.readPhoto(file, configuration.photos)
    let reference: AssetReference
    do throws(PhotoError) {
      let header = try PhotoHeader(ofWhole: bytes)
      guard let id = AssetID(Array(SHA256.hash(data: bytes))) else { throw .malformed }
      reference = try AssetReference(id: id, byteCount: bytes.count, header: header)
    } catch {
      let shown = TerminalText.quoted(file, limit: 256)
      switch error {
      case .unknownFormat:
        throw CommandError(.notAPhoto, "\(shown) is neither JPEG nor PNG")
      case .malformed:
        throw CommandError(.notAPhoto, "\(shown) is a damaged JPEG or PNG")
      case .truncated:
        throw CommandError(.notAPhoto, "\(shown) breaks off before the end of its picture")
      case .tooManyPixels:
        throw CommandError(
          .tooBig,
          "\(shown) has too many pixels; at most \(BoardLimits.photoPixels) fit"
        )
      case .tooManyBytes:
        throw CommandError(
          .tooBig,
          "\(shown) has no bytes, or more than \(BoardLimits.photoBytes)"
        )
      }
    }
    try storePhoto(bytes, reference)
    replica?.assetStored(reference.id, now: now)
    return (reference, reference.size(PhotoHeader.orientation(of: bytes)))
  }

  /// Reads a photo without blocking the node; converts WebP if the program can.
  private static func readPhoto(
    _ file: String,
    _ converter: (any PhotoConverter)?
  ) async throws(CommandError) -> [UInt8] {
    let bytes = try FileReading.whole(file, limit: BoardLimits.photoBytes)
    guard let converter, PhotoHeader.isWebP(bytes) else { return bytes }
    do throws(PhotoConversionError) {
      return try converter.photo(ofWebP: bytes)
    } catch {
      throw CommandError(
        .notAPhoto,
        "\(TerminalText.quoted(file, limit: 256)): \(TerminalText.cleaned(error.message))"
      )
    }
  }

  /// Keeps the bytes of a photo where photos are, for what the next answer tells of.
  func storePhoto(_ bytes: [UInt8], _ reference: AssetReference) throws(CommandError) {
    do throws(BoardError) { try replica?.requireRoom(for: reference) } catch {
      throw CommandError(error) { members.label(of: $0) }
    }
    let path = photos.path(reference.id, reference.format)
    // Also where a file is there: it may be damaged.
    do throws(OutputFile.WriteError) {
      try OutputFile.write(bytes, to: path, isReplacing: true)
    } catch {
      throw CommandError(.fileUnwritable, "the photo is not on the board: \(error.message)")
    }
    photos.add(reference.id, at: path)
    persistence.recordPhoto(reference.id, at: path, isAwaited: true)
  }

  /// Sends a photo to a member who asked for it.
  func sendAsset(_ id: AssetID, _ name: ResourceDTO, to member: MemberID) {
    spawn { node in
      if let path = await node.photos.open(id) {
        await node.sendAsset(id, name, at: path, to: member)
      } else {
        node.replica?.assetUnavailable(id, to: member, now: node.now)
      }
      node.photos.close(id)
      node.replica?.assetSent(id, to: member, now: node.now)
      node.performActions()
    }
  }

  private func sendAsset(
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
      // Told by the session as the end of the transfer; the member asks again, or elsewhere.
      configuration.logger.debug(
        "a photo was not sent",
        metadata: ["peer": "\(peer.short)", "code": "\(error.code)"]
      )
    }
  }

  // MARK: - Sending files

  /// Sends a file to some peers and waits until each has it.
  func sendResource(
    _ file: String,
    named name: String,
    to peers: [PeerID]
  ) async throws(CommandError) -> [String] {
    guard let session else { throw CommandError(.notConnected, "nobody is connected") }
    try FileReading.check(file)
    var started: [ResourceTransfer] = []
    for peer in peers {
      do throws(SessionError) {
        let transfer = try session.sendResource(atPath: file, named: name, to: peer)
        sentPaths[transfer.id.text] = file
        // `cancel` takes the file back while the other user decides.
        transfers[transfer.id.text] = PendingTransfer(
          kind: .resource(transfer.id),
          name: name,
          direction: .outgoing,
          peer: peer
        )
        started.append(transfer)
      } catch {
        throw CommandError(error)
      }
    }
    var failure: CommandError?
    for transfer in started {
      do throws(SessionError) {
        _ = try await transfer.result()
      } catch {
        failure = failure ?? CommandError(error)
      }
    }
    if let failure {
      throw failure
    }
    return started.map(\.id.text)
  }

  /// Sends a file through a stream to each of some peers, and waits until each has read it.
  func sendStream(
    _ file: String,
    named name: String,
    to peers: [PeerID]
  ) async throws(CommandError) -> [String] {
    guard let session else { throw CommandError(.notConnected, "nobody is connected") }
    try FileReading.check(file)
    var ids: [String] = []
    for peer in peers {
      ids.append(try await sendStream(file, named: name, to: peer, session))
    }
    return ids
  }

  private func sendStream(
    _ file: String,
    named name: String,
    to peer: PeerID,
    _ session: Session
  ) async throws(CommandError) -> String {
    let stream: PeerStream
    do throws(SessionError) {
      stream = try await session.openStream(named: name, to: peer)
    } catch {
      throw CommandError(error)
    }
    let id = stream.id.text
    transfers[id] = PendingTransfer(
      kind: .stream(stream),
      name: name,
      direction: .outgoing,
      peer: peer
    )
    emit(
      .streamOpened(.init(stream: id, direction: .outgoing, peer: peer.text, name: name))
    )
    var size: UInt64 = 0
    var failure: CommandError?
    do {
      let reading = try FileReading(file)
      while let chunk = try await reading.next(upTo: 64 * 1024) {
        try await stream.write(chunk)
        size += UInt64(chunk.count)
      }
      try await stream.finish()
      // The other side ends its direction when it has read ours to the end.
      for try await _ in stream.inbound {}
    } catch let error as SessionError {
      failure = CommandError(error)
    } catch let error as CommandError {
      stream.reset(code: 0)
      failure = error
    } catch {
      failure = CommandError(.internal, "the stream failed")
    }
    transfers[id] = nil
    emit(
      .streamClosed(
        .init(
          stream: id,
          direction: .outgoing,
          peer: peer.text,
          name: name,
          outcome: failure.map { $0.code == .cancelled ? .cancelled : .failed } ?? .delivered,
          size: size,
          message: failure?.message
        )
      )
    )
    if let failure {
      throw failure
    }
    return id
  }

  /// Tells what comes through a stream that a peer opened; it comes as fast as it is told.
  func readStream(_ stream: PeerStream) async {
    let id = stream.id.text
    let peer = stream.peer.text
    let name = stream.name.raw
    transfers[id] = PendingTransfer(
      kind: .stream(stream),
      name: name,
      direction: .incoming,
      peer: stream.peer
    )
    emit(.streamOpened(.init(stream: id, direction: .incoming, peer: peer, name: name)))
    var offset: UInt64 = 0
    var end = NodeEvent.StreamClosed(
      stream: id,
      direction: .incoming,
      peer: peer,
      name: name,
      outcome: .delivered,
      size: 0
    )
    do throws(SessionError) {
      for try await bytes in stream.inbound {
        var rest = bytes[...]
        while !rest.isEmpty {
          let piece = Array(rest.prefix(NodeEvent.StreamData.maximumLength))
          rest = rest.dropFirst(piece.count)
          emit(
            .streamData(
              .init(stream: id, peer: peer, offset: offset, base64: Base64Text(piece))
            )
          )
          offset += UInt64(piece.count)
        }
        await runtime.room()
      }
      try await stream.finish()
    } catch {
      end.outcome =
        error.code == .reset || error.code == .cancelled ? .cancelled : .failed
      end.message = error.message
    }
    end.size = offset
    transfers[id] = nil
    emit(.streamClosed(end))
  }
}

extension Direction {
  /// The same, as the session says it.
  init(_ direction: ResourceInfo.Direction) {
    self = direction == .incoming ? .incoming : .outgoing
  }
}
