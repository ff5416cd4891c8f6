import Crypto
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import PeerDiscovery
import PeerWire

/// Takes one offered resource over one link (8.2).
///
/// Bytes are written and hashed on a thread pool, one batch under way while the next is gathered, so
/// at most two batches are held. Nothing is delivered before it is whole and verified (RES-3). When
/// the link breaks, what there is stays on the disk for the sender to go on with (RES-1, RES-5).
actor ResourceReceiver {
  /// Bytes gathered for one write.
  private static let batchSize = 8 * Limits.framePayload

  private enum Phase {
    /// The application decides; the offer holds no room in the inbox (RES-8).
    case deciding
    /// The inbox looks at the offer.
    case admitting
    /// ACCEPT is out.
    case accepted
    /// START was there.
    case receiving
    /// All is there and being put in place; too late to cancel.
    case delivering
    /// The local CANCEL was sent, and that of the sender is awaited (RES-4).
    case cancelling
    case over
  }

  /// How a transfer on this link ended.
  private enum Close {
    case failed(SessionError)
    case interrupted
  }

  nonisolated let offer: Control.ResourceOffer
  nonisolated let link: BulkLinkRunner
  /// Whether the application requested the resource (RES-6).
  nonisolated let isRequested: Bool
  /// Set once nothing of the transfer touches the inbox any more.
  nonisolated let ended = Outcome<Void>()
  private nonisolated let peer: PeerID
  private nonisolated let inbox: ResourceInbox
  private nonisolated let endpoint: BulkEndpoint
  /// Why our side ends the transfer, for the sender; set before this actor gets to it.
  private nonisolated let cancelReason = NIOLockedValueBox<String?>(nil)
  /// Set if the offer ends before the application has decided.
  private nonisolated let withdrawn = Outcome<Void>()
  /// Set once ACCEPT or CANCEL was sent.
  private nonisolated let answered = Outcome<Void>()
  /// Whether a batch is being written.
  private nonisolated let isWriting = NIOLockedValueBox(false)

  private var phase = Phase.deciding
  private var isInterrupted = false
  private var admission: ResourceInbox.Admission?
  private var received = 0
  private var written = 0
  private var hash = SHA256()
  private var pending: [ByteBuffer] = []
  private var pendingBytes = 0
  private var batch: EventLoopFuture<SHA256>?
  private var throttle = ProgressThrottle()
  /// The bytes of the last report.
  private var reported: Int?
  private var info: ResourceInfo
  private var pace: TransferPace

  init(
    _ offer: Control.ResourceOffer,
    _ info: ResourceInfo,
    on link: BulkLinkRunner,
    inbox: ResourceInbox,
    endpoint: BulkEndpoint,
    isRequested: Bool
  ) {
    self.offer = offer
    self.info = info
    peer = info.peer
    self.link = link
    self.inbox = inbox
    self.endpoint = endpoint
    self.isRequested = isRequested
    pace = TransferPace(now: endpoint.context.time.now())
  }

  /// Answers the offer once the application and the inbox have decided.
  ///
  /// The link is read meanwhile, so that the sender can withdraw its offer.
  ///
  /// - Parameter release: Makes the link idle; called before a CANCEL goes out, since the sender may
  ///   use the link again when it has that.
  func begin(_ release: @Sendable () -> Void) async {
    defer { answered.set(.success(())) }
    do throws(SessionError) {
      if try await !inbox.hasDelivered(offer, from: peer) {
        let isWanted = await isWanted()
        guard phase == .deciding else { return }
        guard isWanted else {
          if endpoint.hasAccepted(offer.id) { await inbox.discard(offer.id) }
          guard phase == .deciding else { return }
          throw refusal
        }
        endpoint.receiverAccepted(info)
      }
      guard phase == .deciding else { return }
      phase = .admitting
      let cancelReason = cancelReason
      let claim = ResourceInbox.Claim(
        peer: peer,
        session: endpoint.session,
        isRequested: isRequested
      )
      let admission = try await inbox.admit(offer, claim) {
        cancelReason.withLockedValue { $0 != nil }
      }
      self.admission = admission
      if isInterrupted {
        phase = .over
        await inbox.keep(offer.id, written: admission.offset, hash: admission.hash)
        await endpoint.receiverEnded(self, info, nil)
        return
      }
      if cancelReason.withLockedValue({ $0 != nil }) {
        if admission.file != nil { await inbox.discard(offer.id) }
        throw SessionError(.transferCancelled, "The transfer was cancelled here.")
      }
      phase = .accepted
      pace.restart(now: endpoint.context.time.now(), bytes: admission.offset)
      let accept = Control.ResourceAccept(
        id: offer.id,
        offset: admission.offset,
        prefix: admission.offset > 0 ? admission.hash.text : nil
      )
      do {
        try await link.writer.write(accept.bulkFrame())
      } catch {
        // The link is gone, which its reader learns in a moment.
      }
    } catch {
      // The offer ended meanwhile, and that was reported.
      guard phase == .deciding || phase == .admitting else { return }
      phase = .over
      if !isInterrupted { release() }
      await endpoint.receiverEnded(self, info, isInterrupted ? nil : .failure(error))
      // The sender learns which limit its file exceeds.
      let isAboutSpace = error.code == .quota || error.code == .diskFull
      if !isInterrupted { await tell(error, saying: isAboutSpace ? error.message : "") }
    }
  }

  /// Why an offer is refused that the application did not accept.
  private var refusal: SessionError {
    cancelReason.withLockedValue { $0 != nil }
      ? SessionError(.transferCancelled, "The transfer was cancelled here.")
      : SessionError(.declined, "The resource was not accepted here.")
  }

  /// Asks the application, for as long as an offer waits (RES-8).
  private func isWanted() async -> Bool {
    if isRequested { return true }
    let (events, time, info, withdrawn) = (
      endpoint.context.events, endpoint.context.time, info, withdrawn
    )
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await events.wants(info) }
      group.addTask {
        // Cancelled when the application has decided.
        try? await time.sleep(BulkTime.offerLimit)
        return false
      }
      group.addTask {
        _ = try? await withdrawn.value()
        return false
      }
      let isWanted = await group.next() ?? false
      group.cancelAll()
      return isWanted
    }
  }

  /// Takes a frame of the transfer.
  ///
  /// - Returns: Whether the transfer goes on.
  func receive(_ frame: BulkFrame) async throws(BulkViolation) -> Bool {
    pace.heard(now: endpoint.context.time.now())
    if phase == .deciding || phase == .admitting {
      guard frame.type == .resourceCancel else { throw .unexpected(frame.type) }
      let cancel = try Control.ResourceCancel.decode(frame)
      try check(cancel.id)
      if phase == .deciding {
        await withdraw(.failure(SessionError(cancel)))
        return false
      }
      // Our ACCEPT or CANCEL is on its way, and crosses this one.
      _ = try? await answered.value()
      guard phase == .accepted else { return false }
      return await cancelled(cancel)
    }
    if let reason = cancelReason.withLockedValue({ $0 }) { await cancel(reason: reason) }
    switch frame.type {
    case .resourceStart:
      let start = try Control.ResourceStart.decode(frame)
      try check(start.id)
      return try await begin(at: start.offset)
    case .chunk:
      guard frame.count > 0 else { throw .protocolError("A chunk is empty.") }
      return try await take(frame)
    case .resourceEnd:
      let end = try Control.ResourceEnd.decode(frame)
      try check(end.id)
      return try await finish(end.sha256)
    case .resourceCancel:
      let cancel = try Control.ResourceCancel.decode(frame)
      try check(cancel.id)
      return await cancelled(cancel)
    default:
      throw .unexpected(frame.type)
    }
  }

  /// Breaks the link of a transfer that stands still, and ends one that is too slow (RES-7).
  func checkPace(now: Duration) {
    guard phase == .accepted || phase == .receiving else { return }
    let isWriting = isWriting.withLockedValue { $0 }
    switch pace.check(now: now, bytes: received, isReceiverBusy: isWriting) {
    case .sufficient: break
    case .silent: link.abandon()
    case .slow: endpoint.end(self)
    }
  }

  /// Ends a transfer that is too slow.
  func failForSlowness() async {
    await fail(
      SessionError(.timedOut, "The sender sent less than 16 KiB in 60 s."),
      as: .cancelled,
      saying: "Less than 16 KiB arrived in 60 s."
    )
  }

  /// Sees to it that nothing is delivered before ``cancel(reason:)`` is done.
  nonisolated func willCancel(reason: String) {
    cancelReason.withLockedValue { $0 = $0 ?? reason }
  }

  /// Ends the transfer because our side wants to.
  ///
  /// `reason` is told to the sender.
  func cancel(reason: String = "") async {
    willCancel(reason: reason)
    if phase == .deciding { withdrawn.set(.success(())) }
    guard phase == .accepted || phase == .receiving else { return }
    await fail(
      SessionError(.transferCancelled, "The transfer was cancelled here."),
      saying: reason
    )
  }

  /// Keeps what there is, since the link is gone or the sender goes on over another.
  func interrupt(_ end: BulkEnd) async {
    switch phase {
    case .accepted, .receiving:
      phase = .over
      await close(.interrupted)
    case .deciding:
      await withdraw(nil)
    case .admitting:
      isInterrupted = true
      willCancel(reason: "")
    case .delivering, .cancelling, .over:
      break
    }
  }

  /// Ends the offer before the application has decided.
  private func withdraw(_ result: Result<ReceivedResource, SessionError>?) async {
    phase = .over
    withdrawn.set(.success(()))
    await endpoint.receiverEnded(self, info, result)
  }

  // MARK: Frames

  private func check(_ id: TransferID) throws(BulkViolation) {
    guard id == offer.id else { throw .protocolError("A frame names another transfer.") }
  }

  private func begin(at offset: Int) async throws(BulkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .accepted, let admission else { throw .unexpected(.resourceStart) }
    guard offset == admission.offset || offset == 0 else {
      throw .protocolError("The transfer starts at neither of the two places allowed.")
    }
    guard admission.delivered == nil || offset == admission.offset else {
      await fail(SessionError(.declined, "Another file was delivered under that id."))
      return true
    }
    phase = .receiving
    received = offset
    written = offset
    hash = offset > 0 || admission.delivered != nil ? admission.hash : SHA256()
    if let file = admission.file, offset < admission.offset {
      do {
        try await endpoint.context.work { () throws(SessionError) in
          try file.truncate(to: offset)
        }
      } catch {
        await fail(error)
        return true
      }
    }
    info.resumedFrom = offset
    pace.restart(now: endpoint.context.time.now(), bytes: offset)
    if admission.delivered == nil { await endpoint.receiverStarted(info) }
    return true
  }

  private func take(_ frame: BulkFrame) async throws(BulkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .receiving, let admission else { throw .unexpected(.chunk) }
    guard admission.delivered == nil, frame.count <= offer.size - received else {
      await fail(
        SessionError(.hashMismatch, "More bytes came than were offered."),
        as: .sizeMismatch
      )
      return true
    }
    received += frame.count
    pending += frame.pieces
    pendingBytes += frame.count
    report()
    if pendingBytes >= Self.batchSize { await submit() }
    return true
  }

  private func finish(_ sha256: String) async throws(BulkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .receiving, let admission else { throw .unexpected(.resourceEnd) }
    guard received == offer.size else {
      await fail(
        SessionError(.hashMismatch, "Fewer bytes came than were offered."),
        as: .sizeMismatch
      )
      return true
    }
    await submit()
    await settle()
    guard phase == .receiving else { return phase != .over }
    guard hash.text == sha256 else {
      await fail(SessionError(.hashMismatch, "What arrived is not what was sent."))
      return true
    }
    phase = .delivering
    do {
      if let file = admission.file {
        let resource = try await inbox.deliver(offer, from: peer, file, hash: hash)
        if reported != received { emitProgress() }
        await endpoint.receiverEnded(self, info, .success(resource))
      } else {
        await endpoint.receiverEnded(self, info, nil)
      }
    } catch {
      phase = .receiving
      await fail(error)
      return true
    }
    phase = .over
    do {
      try await link.writer.write(Control.ResourceDone(id: offer.id).bulkFrame())
    } catch {
      // The sender asks again over another link, and is told then.
    }
    return false
  }

  private func cancelled(_ cancel: Control.ResourceCancel) async -> Bool {
    switch phase {
    case .cancelling:
      phase = .over
    case .receiving:
      phase = .over
      await close(.failed(SessionError(cancel)))
      await tell(SessionError(cancel))
    default:
      // No START was there: no answer is due.
      phase = .over
      await close(.failed(SessionError(cancel)))
    }
    return false
  }

  // MARK: Writing

  /// Hands what was gathered to the thread pool, once the batch before is done.
  private func submit() async {
    await settle()
    guard phase == .receiving, batch == nil, !pending.isEmpty, let file = admission?.file else {
      return
    }
    let (pieces, offset, hash) = (pending, written, hash)
    written += pendingBytes
    pending = []
    pendingBytes = 0
    isWriting.withLockedValue { $0 = true }
    let batch = endpoint.context.threads.runIfActive(eventLoop: link.writer.channel.eventLoop) {
      try file.write(pieces, at: offset, after: hash)
    }
    batch.whenComplete { [isWriting] _ in isWriting.withLockedValue { $0 = false } }
    self.batch = batch
  }

  /// Waits for the batch under way.
  private func settle() async {
    guard let batch else { return }
    do {
      let hash = try await batch.get()
      guard self.batch === batch else { return }
      self.batch = nil
      self.hash = hash
    } catch {
      guard self.batch === batch else { return }
      self.batch = nil
      await fail(error as? SessionError ?? SessionError(.system, "The disk could not be written."))
    }
  }

  private func report() {
    if throttle.allows(endpoint.context.time.now()) { emitProgress() }
  }

  private func emitProgress() {
    reported = received
    endpoint.context.events.resourceProgress(offer.id, bytes: received, of: offer.size)
  }

  // MARK: Ending

  /// Ends the transfer from our side and tells the sender.
  private func fail(
    _ error: SessionError,
    as code: Control.ResourceCode? = nil,
    saying words: String = ""
  ) async {
    guard phase == .accepted || phase == .receiving else { return }
    phase = .cancelling
    // Told first, so that the sender stops; the disk may take its time.
    await tell(error, as: code, saying: words)
    await close(.failed(error))
  }

  private func tell(
    _ error: SessionError,
    as code: Control.ResourceCode? = nil,
    saying words: String = ""
  ) async {
    let cancel = Control.ResourceCancel(
      id: offer.id,
      code: code ?? error.resourceCode,
      message: words
    )
    do {
      try await link.writer.write(cancel.bulkFrame())
    } catch {
      // The link is gone, which its reader learns in a moment.
    }
  }

  /// Lets go of the file and reports.
  private func close(_ close: Close) async {
    guard let admission else { return }
    self.admission = nil
    let last = pending
    pending = []
    pendingBytes = 0
    var isIntact = true
    if let batch {
      self.batch = nil
      do {
        hash = try await batch.get()
      } catch {
        isIntact = false
      }
    }
    switch close {
    case .failed(let error):
      if admission.file != nil { await inbox.discard(offer.id) }
      await endpoint.receiverEnded(self, info, .failure(error))
    case .interrupted:
      if let file = admission.file {
        // After a failed write the sender begins anew, and hears of the disk then.
        if isIntact { await keep(file, last, admission) } else { await inbox.discard(offer.id) }
      }
      await endpoint.receiverEnded(self, info, nil)
    }
  }

  private func keep(
    _ file: StagingFile,
    _ last: [ByteBuffer],
    _ admission: ResourceInbox.Admission
  ) async {
    let hasStarted = received > 0 || written > 0
    guard hasStarted else {
      return await inbox.keep(offer.id, written: admission.offset, hash: admission.hash)
    }
    let (offset, before) = (written, hash)
    do {
      // Not cancelled with the link's task: these bytes came, and save the sender sending them.
      let hash = try await endpoint.context.threads.runIfActive(
        eventLoop: link.writer.channel.eventLoop
      ) { try file.write(last, at: offset, after: before) }.get()
      let count = last.reduce(0) { $0 + $1.readableBytes }
      await inbox.keep(offer.id, written: offset + count, hash: hash)
    } catch {
      await inbox.discard(offer.id)
    }
  }
}
