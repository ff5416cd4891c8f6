import PeerCore
import PeerSession
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// Sends and receives catch-up answers, photos, and files of users. Confined to the actor of its board.
final class Transfers {
  struct PendingTransfer {
    enum Kind {
      case resource(TransferID, ResourceContent)
      case stream(PeerStream)
    }

    let kind: Kind
    let name: UntrustedText
    let direction: Direction
    let peer: PeerID

    var content: ResourceContent? { if case .resource(_, let content) = kind { content } else { nil } }

    /// Whether this is a catch-up answer, which is not reported to the user.
    var isAnswer: Bool { content?.isAnswer ?? false }
  }

  struct FileOffer {
    let info: ResourceInfo
    let number: Int
    let offeredAt: ContinuousClock.Instant
    let decision: CheckedContinuation<Bool, Never>
  }

  let runtime: BoardRuntime
  let configuration: BoardConfiguration
  let members: Members
  let persistence: Persistence
  let photos: PhotoFiles
  private(set) weak var active: ActiveBoard?

  var session: Session? { active?.session }

  var pending: [TransferID: PendingTransfer] = [:]
  var sentPaths: [TransferID: String] = [:]
  var offers: [TransferID: FileOffer] = [:]
  var lastOffer = 0
  /// The senders of accepted files that have not arrived.
  var acceptedFiles: [TransferID: PeerID] = [:]
  /// Whether the disk had too little space for the last part of the board that a member offered.
  var lacksSpace = false

  init(
    _ runtime: BoardRuntime,
    _ configuration: BoardConfiguration,
    members: Members,
    persistence: Persistence,
    photos: PhotoFiles
  ) {
    self.runtime = runtime
    self.configuration = configuration
    self.members = members
    self.persistence = persistence
    self.photos = photos
  }

  func begin(on active: ActiveBoard) { self.active = active }

  /// Finds the unfinished transfer that an argument of `cancel` names, but never a catch-up answer.
  func transfer(_ word: String) throws(CommandError) -> PendingTransfer {
    var resolver = ReferenceResolver<PendingTransfer>()
    for (id, transfer) in pending where !transfer.isAnswer {
      resolver.add(id: id.text, names: [transfer.name], value: transfer)
    }
    return try resolver.find(word, what: "transfer", missing: .noSuchTransfer)
  }

  /// Cancels the incoming or outgoing transfer that `word` names. Throws if no transfer or more than one transfer
  /// matches, or the transfer has ended.
  func cancel(_ word: String, reason: String) throws(CommandError) {
    switch try transfer(word).kind {
    case .resource(let id, _):
      do throws(SessionError) { try session?.cancelResource(id, reason: reason) } catch {
        throw CommandError(.noSuchTransfer, "the transfer has already ended")
      }
    case .stream(let stream): stream.reset(code: 0)
    }
  }
}

extension Transfers {
  // MARK: - Sending files

  nonisolated(nonsending) func sendResource(_ file: String, named name: String, to peers: [PeerID])
    async throws(CommandError) -> [String]
  {
    guard let session else { throw CommandError(.notConnected, "no other member is connected") }
    try FileReading.check(file)
    var started: [ResourceTransfer] = []
    for peer in peers {
      do throws(SessionError) {
        let transfer = try session.sendResource(atPath: file, named: name, to: peer)
        sentPaths[transfer.id] = file
        // Until the other user decides, `cancel` withdraws the file.
        pending[transfer.id] = PendingTransfer(
          kind: .resource(transfer.id, .file),
          name: UntrustedText(name),
          direction: .outgoing,
          peer: peer
        )
        started.append(transfer)
      } catch { throw CommandError(error) }
    }
    var failure: CommandError?
    for transfer in started {
      do throws(SessionError) { _ = try await transfer.result() } catch { failure = failure ?? CommandError(error) }
    }
    if let failure { throw failure }
    return started.map(\.id.text)
  }

  /// Sends files, and the files in folders, one after the other; returns when each peer has received them. If a file
  /// cannot be sent, the other files are still sent; throws ``CommandError`` about the first failure.
  nonisolated(nonsending) func sendFiles(_ paths: [String], to peers: [PeerID]) async throws(CommandError) -> [String] {
    defer { checkIsolation(#isolation) }
    let files = try await NamedFile.files(at: paths)
    var transfers: [String] = []
    var failures: [CommandError] = []
    for file in files {
      do throws(CommandError) { transfers += try await sendResource(file.path, named: file.name, to: peers) } catch {
        failures.append(error)
      }
    }
    guard let first = failures.first else { return transfers }
    guard files.count > 1 else { throw first }
    throw CommandError(
      first.code,
      "\(failures.count) of \(files.count) files were not sent. The first error: \(first.message)"
    )
  }

  /// Sends a file to each peer through a separate stream; returns when each peer has read the file.
  nonisolated(nonsending) func sendStream(_ file: String, named name: String, to peers: [PeerID])
    async throws(CommandError) -> [String]
  {
    guard let session else { throw CommandError(.notConnected, "no other member is connected") }
    try FileReading.check(file)
    var ids: [String] = []
    for peer in peers { ids.append(try await sendStream(file, named: name, to: peer, session)) }
    return ids
  }

  private nonisolated(nonsending) func sendStream(
    _ file: String,
    named name: String,
    to peer: PeerID,
    _ session: Session
  ) async throws(CommandError) -> String {
    let stream: PeerStream
    do throws(SessionError) { stream = try await session.openStream(named: name, to: peer) } catch {
      throw CommandError(error)
    }
    let id = stream.id.text
    let shownName = UntrustedText(name)
    pending[stream.id] = PendingTransfer(kind: .stream(stream), name: shownName, direction: .outgoing, peer: peer)
    runtime.emit(.streamOpened(.init(stream: id, direction: .outgoing, peer: peer.text, name: shownName)))
    var size: UInt64 = 0
    var failure: CommandError?
    do {
      let reading = try FileReading(file)
      while let chunk = try await reading.next(upTo: 64 * 1024) {
        try await stream.write(chunk)
        size += UInt64(chunk.count)
      }
      try await stream.finish()
      // The peer closes its direction of the stream after it has read all of the file.
      for try await _ in stream.inbound {}
    } catch let error as SessionError { failure = CommandError(error) } catch let error as CommandError {
      stream.reset(code: 0)
      failure = error
    } catch { failure = CommandError(.internal, "the stream failed") }
    pending[stream.id] = nil
    runtime.emit(
      .streamClosed(
        .init(
          stream: id,
          direction: .outgoing,
          peer: peer.text,
          name: shownName,
          outcome: failure.map { $0.code == .cancelled ? .cancelled : .failed } ?? .delivered,
          size: size,
          message: failure.map { UntrustedText($0.message) }
        )
      )
    )
    if let failure { throw failure }
    return id
  }

  /// Reports the bytes of a stream, and reads no faster than the sink accepts the events.
  nonisolated(nonsending) func readStream(_ stream: PeerStream) async {
    let id = stream.id.text
    let peer = stream.peer.text
    let name = stream.name
    pending[stream.id] = PendingTransfer(kind: .stream(stream), name: name, direction: .incoming, peer: stream.peer)
    runtime.emit(.streamOpened(.init(stream: id, direction: .incoming, peer: peer, name: name)))
    var offset: UInt64 = 0
    var end = SharedBoard.News.StreamClosed(
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
        while runtime.sink.contents.contains(.data), !rest.isEmpty {
          let piece = Array(rest.prefix(SharedBoard.News.StreamData.maximumLength))
          rest = rest.dropFirst(piece.count)
          runtime.emit(.streamData(.init(stream: id, peer: peer, offset: offset, bytes: piece)))
          offset += UInt64(piece.count)
        }
        await runtime.room()
      }
      try await stream.finish()
    } catch {
      end.outcome = error.code == .reset || error.code == .cancelled ? .cancelled : .failed
      end.message = UntrustedText(error.message)
    }
    end.size = offset
    pending[stream.id] = nil
    runtime.emit(.streamClosed(end))
  }
}

extension Transfers {
  private enum OfferEnd {
    case declined, over
  }

  /// The maximum number of accepted files to remember until they arrive. The user is not asked about these files again
  /// if a transfer resumes.
  private static let acceptedLimit = 256

  /// Decides whether to accept a resource that the local peer did not request (SYN-13, SYN-37, RES-8). Refuses catch-up
  /// answers and photos. Any other resource is a file for the user. If the configuration requires it, asks the user and
  /// waits for the answer until the task is canceled.
  nonisolated(nonsending) func wants(_ info: ResourceInfo) async -> Bool {
    defer { checkIsolation(#isolation) }
    guard case .file = ResourceContent(named: info.name.raw) else { return false }
    if acceptedFiles[info.id] == info.peer { return true }
    if configuration.fileSenders == .trusted, !(await isTrusted(info.peer)) {
      runtime.emit(.note(.init(code: SharedBoard.News.Remark.fileRefused, message: distrust(of: info))))
      return false
    }
    switch configuration.files {
    case .accept: return true
    case .refuse:
      runtime.emit(.note(.init(code: SharedBoard.News.Remark.fileRefused, message: refusal(of: info))))
      return false
    case .ask:
      guard await ask(about: info) else { return false }
      if acceptedFiles.count >= Self.acceptedLimit { acceptedFiles = [:] }
      acceptedFiles[info.id] = info.peer
      return true
    }
  }

  private func refusal(of info: ResourceInfo) -> String {
    "\(attempt(of: info)) It was refused. To accept files of members, start this program with --accept-files."
  }

  private func distrust(of info: ResourceInfo) -> String {
    "\(attempt(of: info)) It was refused, because you accept files only from people whom you trust. To trust "
      + "the sender: whiteboard-peer peers trust --always \(info.peer.text)"
  }

  private func attempt(of info: ResourceInfo) -> String {
    let sender = members.label(of: info.peer)
    return "\(sender) wanted to send \(info.name.quoted(limit: 80)) (\(ByteCount.text(info.size)))."
  }

  private nonisolated(nonsending) func isTrusted(_ peer: PeerID) async -> Bool {
    await configuration.peerStore?.isTrusted(peer) ?? false
  }

  private nonisolated(nonsending) func ask(about info: ResourceInfo) async -> Bool {
    defer { checkIsolation(#isolation) }
    lastOffer += 1
    let number = lastOffer
    let sharedBoard = runtime.sharedBoard
    return await withCancellation {
      await withCheckedContinuation { decision in
        guard runtime.ending == nil, !Task.isCancelled else { return decision.resume(returning: false) }
        endOffer(info.id, .over)
        offers[info.id] = FileOffer(info: info, number: number, offeredAt: runtime.clock.now, decision: decision)
        runtime.emit(
          .resourceOffered(
            .init(
              transfer: info.id.text,
              peer: info.peer.text,
              sender: members.name(of: info.peer),
              name: info.name,
              size: UInt64(clamping: info.size),
              deadline: SystemTime.deadlineText(Session.offerTimeout)
            )
          )
        )
        runtime.spawn { sharedBoard in await sharedBoard.commandRunner.runDueCommands() }
      }
    } onCancel: {
      // Ending the offer resumes the canceled call.
      Task { await sharedBoard.offerEnded(info.id, number) }
    }
  }

  func offerEnded(_ id: TransferID, _ number: Int) {
    guard offers[id]?.number == number else { return }
    endOffer(id, .over)
  }

  private func endOffer(_ id: TransferID, _ end: OfferEnd) {
    guard let offer = offers.removeValue(forKey: id) else { return }
    let isLate = runtime.clock.now - offer.offeredAt >= Session.offerTimeout
    let message =
      switch end {
      case .declined: "You declined the file."
      case .over where isLate: "The file was not accepted in time."
      case .over: "The sender no longer offers the file."
      }
    runtime.emit(
      .resourceFinished(
        .init(
          transfer: id.text,
          direction: .incoming,
          peer: offer.info.peer.text,
          name: offer.info.name,
          outcome: .cancelled,
          message: UntrustedText(message)
        )
      )
    )
    offer.decision.resume(returning: false)
  }

  func endFileOffers() { for id in offers.keys.sorted(by: { $0.text < $1.text }) { endOffer(id, .over) } }

  func offer(_ word: String) -> TransferID? {
    if word == "last", offers.count == 1 { return offers.keys.first }
    var book = ReferenceResolver<TransferID>()
    for (id, offer) in offers {
      let peer = offer.info.peer
      let names = [offer.info.name, members.name(of: peer), UntrustedText(peer.text)]
      book.add(id: id.text, names: names, value: id)
    }
    return try? book.find(word, what: "file", missing: .noSuchTransfer)
  }

  /// Answers the offer of a file. Throws if `isAlways` is true, because `always` is valid for peers but not for files.
  func answerOffer(_ id: TransferID, isAccepted: Bool, isAlways: Bool = false) throws(CommandError) {
    guard !isAlways else {
      throw CommandError(.badArgument, "`always` works only for a peer that asks to join this board")
    }
    guard isAccepted else { return endOffer(id, .declined) }
    offers.removeValue(forKey: id)?.decision.resume(returning: true)
  }

  /// Throws `noSuchTransfer` if `word` can only mean a file whose offer has ended.
  func checkNotEnded(_ word: String) throws(CommandError) {
    guard TransferID(text: word) != nil else { return }
    throw CommandError(.noSuchTransfer, "the file is no longer offered, so there is nothing left to answer")
  }
}
