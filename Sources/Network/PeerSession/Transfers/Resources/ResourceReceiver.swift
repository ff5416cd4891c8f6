import Crypto
import NIOCore
import NIOPosix
import PeerCore
import PeerWire

/// Receives one offered resource over one link (8.2). A thread pool writes and hashes one batch of bytes while the next
/// batch is gathered, so at most two batches are in memory. A resource is delivered only when it is complete and
/// verified (RES-3). If the link breaks, the stored part stays on the disk, so that the sender can continue (RES-1,
/// RES-5).
actor ResourceReceiver {
  enum Phase {
    /// The offer uses no space in the inbox yet (RES-8).
    case deciding
    case admitting
    case accepted
    case receiving
    /// All bytes arrived, and the file is being moved; it is too late to cancel.
    case delivering
    /// The local side sent CANCEL and is waiting for the sender's CANCEL (RES-4).
    case cancelling
    case over
  }

  private enum Close {
    case failed(SessionError)
    case interrupted
  }

  nonisolated let offer: Control.ResourceOffer
  nonisolated let link: BulkLinkRunner
  /// Whether the application requested the resource (RES-6).
  nonisolated let isRequested: Bool
  nonisolated let ended = Outcome<Void>()
  nonisolated let peer: PeerID
  nonisolated let inbox: ResourceInbox
  nonisolated let endpoint: BulkEndpoint
  /// The reason for a local cancellation, sent to the sender; set before this actor handles the cancellation.
  nonisolated let cancelReason = Locked<String?>(nil)
  nonisolated let withdrawn = Outcome<Void>()
  nonisolated let answered = Outcome<Void>()
  private nonisolated let isWriting = Locked(false)

  var phase = Phase.deciding
  var isInterrupted = false
  var admission: ResourceInbox.Admission?
  private var received = 0
  private var writes = WriteBatches()
  private var batch: EventLoopFuture<SHA256>?
  private var throttle = ProgressThrottle()
  var info: ResourceInfo
  var pace: TransferPace

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

  func receive(_ frame: BulkFrame) async throws(LinkViolation) -> Bool {
    pace.frameReceived(now: endpoint.context.time.now())
    if phase == .deciding || phase == .admitting {
      guard frame.type == .resourceCancel else { throw .unexpected(frame.type) }
      let cancel = try Control.ResourceCancel.decode(frame)
      try check(cancel.id)
      if phase == .deciding {
        withdraw(.failure(SessionError(cancel)))
        return false
      }
      // The local side may still be sending ACCEPT or CANCEL when this frame arrives.
      _ = try? await answered.value()
      guard phase == .accepted else { return false }
      return await cancelled(cancel)
    }
    if let reason = cancelReason.withLock({ $0 }) { await cancel(reason: reason) }
    switch frame.type {
    case .resourceStart:
      let start = try Control.ResourceStart.decode(frame)
      try check(start.id)
      return try await startReceived(at: start.offset)
    case .chunk:
      guard frame.count > 0 else { throw .protocolError("A chunk is empty.") }
      return try await chunkReceived(frame)
    case .resourceEnd:
      let end = try Control.ResourceEnd.decode(frame)
      try check(end.id)
      return try await endReceived(end.sha256)
    case .resourceCancel:
      let cancel = try Control.ResourceCancel.decode(frame)
      try check(cancel.id)
      return await cancelled(cancel)
    default: throw .unexpected(frame.type)
    }
  }

  /// Breaks the link if the transfer stalls, and ends a transfer that is too slow (RES-7).
  func checkPace(now: Duration) {
    guard phase == .accepted || phase == .receiving else { return }
    let isWriting = isWriting.withLock { $0 }
    switch pace.check(now: now, bytes: received, isReceiverBusy: isWriting) {
    case .sufficient: break
    case .silent: link.abandon()
    case .slow: endpoint.end(self)
    }
  }

  func failForSlowness() async {
    await fail(
      SessionError(.timedOut, "The sender sent less than 16 KiB in 60 s."),
      as: .cancelled,
      message: "Less than 16 KiB arrived in 60 s."
    )
  }

  /// Prevents the delivery of the resource until ``cancel(reason:)`` runs.
  nonisolated func willCancel(reason: String) { cancelReason.withLock { $0 = $0 ?? reason } }

  func cancel(reason: String = "") async {
    willCancel(reason: reason)
    if phase == .deciding { withdrawn.set(.success(())) }
    guard phase == .accepted || phase == .receiving else { return }
    await fail(SessionError(.transferCancelled, "The local peer canceled the transfer."), message: reason)
  }

  /// Stores the received part, because the link ended or the sender continues over another link.
  func interrupt(_ end: BulkEnd) async {
    switch phase {
    case .accepted, .receiving:
      phase = .over
      await close(.interrupted)
    case .deciding: withdraw(nil)
    case .admitting:
      isInterrupted = true
      willCancel(reason: "")
    case .delivering, .cancelling, .over: break
    }
  }

  // MARK: Frames

  private func check(_ id: TransferID) throws(LinkViolation) {
    guard id == offer.id else { throw .protocolError("A frame names another transfer.") }
  }

  private func startReceived(at offset: Int) async throws(LinkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .accepted, let admission else { throw .unexpected(.resourceStart) }
    guard offset == admission.offset || offset == 0 else {
      throw .protocolError("The transfer starts neither at 0 nor at the accepted offset.")
    }
    guard admission.delivered == nil || offset == admission.offset else {
      await fail(SessionError(.declined, "A different file was already delivered with that id."))
      return true
    }
    phase = .receiving
    received = offset
    let isResumed = offset > 0 || admission.delivered != nil
    writes = WriteBatches(at: offset, after: isResumed ? admission.hash : SHA256())
    if let file = admission.file, offset < admission.offset {
      do { try await endpoint.context.work { () throws(SessionError) in try file.truncate(to: offset) } } catch {
        await fail(error)
        return true
      }
    }
    info.resumedFrom = offset
    pace.restart(now: endpoint.context.time.now(), bytes: offset)
    if admission.delivered == nil { endpoint.receiverStarted(info) }
    return true
  }

  private func chunkReceived(_ frame: BulkFrame) async throws(LinkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .receiving, let admission else { throw .unexpected(.chunk) }
    guard admission.delivered == nil, frame.count <= offer.size - received else {
      await fail(SessionError(.hashMismatch, "More bytes arrived than were offered."), as: .sizeMismatch)
      return true
    }
    received += frame.count
    writes.append(frame.pieces, byteCount: frame.count)
    if throttle.reports(received, now: endpoint.context.time.now()) { reportProgress() }
    if writes.isBatchFull { await submit() }
    return true
  }

  private func endReceived(_ sha256: String) async throws(LinkViolation) -> Bool {
    if phase == .cancelling { return true }
    guard phase == .receiving, let admission else { throw .unexpected(.resourceEnd) }
    guard received == offer.size else {
      await fail(SessionError(.hashMismatch, "Fewer bytes arrived than were offered."), as: .sizeMismatch)
      return true
    }
    await submit()
    await settle()
    guard phase == .receiving else { return phase != .over }
    guard writes.hash.text == sha256 else {
      await fail(SessionError(.hashMismatch, "The received bytes differ from the sent bytes."))
      return true
    }
    phase = .delivering
    do {
      if let file = admission.file {
        let resource = try await inbox.deliver(offer, from: peer, file, hash: writes.hash)
        if throttle.reportsEnd(received) { reportProgress() }
        endpoint.receiverEnded(self, info, .success(resource))
      } else {
        endpoint.receiverEnded(self, info, nil)
      }
    } catch {
      phase = .receiving
      await fail(error)
      return true
    }
    phase = .over
    do { try await link.writer.write(Control.ResourceDone(id: offer.id).bulkFrame()) } catch {
      // The sender will offer the resource again over another link, and receive the answer there.
    }
    return false
  }

  private func cancelled(_ cancel: Control.ResourceCancel) async -> Bool {
    switch phase {
    case .cancelling: phase = .over
    case .receiving:
      phase = .over
      await close(.failed(SessionError(cancel)))
      await sendCancel(SessionError(cancel))
    default:
      // START did not arrive, so the sender expects no answer.
      phase = .over
      await close(.failed(SessionError(cancel)))
    }
    return false
  }

  // MARK: Writing

  private func submit() async {
    await settle()
    guard phase == .receiving, batch == nil, let file = admission?.file, let next = writes.nextBatch() else { return }
    isWriting.withLock { $0 = true }
    let batch = endpoint.context.threads.runIfActive(eventLoop: link.writer.channel.eventLoop) {
      preferOtherThreads()
      return try file.write(next.pieces, at: next.offset, after: next.hash)
    }
    batch.whenComplete { [isWriting] _ in isWriting.withLock { $0 = false } }
    self.batch = batch
  }

  private func settle() async {
    guard let batch else { return }
    do {
      let hash = try await batch.get()
      guard self.batch === batch else { return }
      self.batch = nil
      writes.hash = hash
    } catch {
      guard self.batch === batch else { return }
      self.batch = nil
      await fail(error as? SessionError ?? SessionError(.system, "The file could not be written to the disk."))
    }
  }

  private func reportProgress() {
    endpoint.context.events.emit(.resourceProgress(offer.id, bytes: received, of: offer.size))
  }

  // MARK: Ending

  private func fail(_ error: SessionError, as code: Control.ResourceCode? = nil, message words: String = "") async {
    guard phase == .accepted || phase == .receiving else { return }
    phase = .cancelling
    // Send CANCEL first so that the sender stops, because the disk may be slow.
    await sendCancel(error, as: code, message: words)
    await close(.failed(error))
  }

  func sendCancel(_ error: SessionError, as code: Control.ResourceCode? = nil, message words: String = "") async {
    let cancel = Control.ResourceCancel(id: offer.id, code: code ?? error.resourceCode, message: words)
    do { try await link.writer.write(cancel.bulkFrame()) } catch {
      // The link ended; the task that reads the link reports its end.
    }
  }

  private func close(_ close: Close) async {
    guard let admission else { return }
    self.admission = nil
    var isIntact = true
    if let batch {
      self.batch = nil
      do { writes.hash = try await batch.get() } catch { isIntact = false }
    }
    switch close {
    case .failed(let error):
      if admission.file != nil { await inbox.discard(offer.id) }
      endpoint.receiverEnded(self, info, .failure(error))
    case .interrupted:
      if let file = admission.file {
        // Discard the file after a failed write. The sender then starts again, and receives the disk error.
        if isIntact { await storePartial(file, admission) } else { await inbox.discard(offer.id) }
      }
      endpoint.receiverEnded(self, info, nil)
    }
  }

  private func storePartial(_ file: StagingFile, _ admission: ResourceInbox.Admission) async {
    guard received > 0 else {
      return await inbox.storePartial(offer.id, written: admission.offset, hash: admission.hash)
    }
    let last = writes.nextBatch() ?? writes.emptyBatch
    do {
      // Canceling the link's task does not cancel the write, so that the sender need not send these bytes again.
      let hash = try await endpoint.context.threads.runIfActive(eventLoop: link.writer.channel.eventLoop) {
        try file.write(last.pieces, at: last.offset, after: last.hash)
      }.get()
      await inbox.storePartial(offer.id, written: writes.submittedBytes, hash: hash)
    } catch { await inbox.discard(offer.id) }
  }
}

struct ProgressThrottle {
  static let interval = Duration.milliseconds(100)

  private var last: Duration?
  private var reported: Int?

  mutating func reports(_ bytes: Int, now: Duration) -> Bool {
    if let last, now - last < Self.interval { return false }
    last = now
    reported = bytes
    return true
  }

  /// Returns whether to report that all bytes arrived; `false` if the last report already included all bytes.
  mutating func reportsEnd(_ total: Int) -> Bool {
    defer { reported = total }
    return reported != total
  }
}
