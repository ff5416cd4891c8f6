import PeerCore
import PeerDiscovery
import PeerWire

final class ResourceReplies: BulkFrameSink {
  enum Reply: Sendable {
    case accepted(Control.ResourceAccept)
    case done
    case cancelled(Control.ResourceCancel)
    case ended(BulkEnd)
    case interrupted
  }

  /// The sender's last message, which determines the allowed answers.
  enum Phase: Sendable {
    case offered
    case started
    case finished
    /// The local side sent CANCEL. A message that the receiver sent before it received CANCEL is accepted as an answer.
    case cancelled
    case over
  }

  private struct State {
    var phase = Phase.offered
    var replies: [Reply] = []
    var waiter: Waiter<Reply>?
  }

  private let id: TransferID
  private let size: Int
  private let state = Locked(State())

  init(id: TransferID, size: Int) {
    self.id = id
    self.size = size
  }

  func advance(to phase: Phase) { state.withLock { $0.phase = phase } }

  func poll() -> Reply? { state.withLock { $0.replies.isEmpty ? nil : $0.replies.removeFirst() } }

  func next() async -> Reply {
    await state.wait(ifCanceled: .interrupted) { state, waiter in
      if !state.replies.isEmpty { return state.replies.removeFirst() }
      state.waiter = waiter
      return nil
    } remove: {
      $0.waiter.remove($1)
    }
  }

  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(LinkViolation) -> Bool {
    let reply: Reply
    switch frame.type {
    case .resourceAccept:
      let accept = try Control.ResourceAccept.decode(frame)
      guard accept.id == id else { return try late(frame, link) }
      guard accept.offset <= size else {
        throw .protocolError("The receiver asks for an offset beyond the end of the file.")
      }
      reply = .accepted(accept)
    case .resourceDone:
      guard try Control.ResourceDone.decode(frame).id == id else { return try late(frame, link) }
      reply = .done
    case .resourceCancel:
      let cancel = try Control.ResourceCancel.decode(frame)
      guard cancel.id == id else { return try late(frame, link) }
      reply = .cancelled(cancel)
    default: throw .unexpected(frame.type)
    }
    let isExpected = state.withLock { state in
      switch (state.phase, reply) {
      case (.offered, .accepted), (.cancelled, .accepted): return true
      case (.finished, .done), (.cancelled, .done): break
      case (.offered, .cancelled), (.started, .cancelled), (.finished, .cancelled), (.cancelled, .cancelled): break
      default: return false
      }
      state.phase = .over
      return true
    }
    guard isExpected else { throw .unexpected(frame.type) }
    put(reply)
    return true
  }

  func linkEnded(_ end: BulkEnd) async { put(.ended(end)) }

  private func late(_ frame: BulkFrame, _ link: BulkLinkRunner) throws(LinkViolation) -> Bool {
    guard link.isLate(frame) else { throw .protocolError("A \(frame.type.name) frame names another transfer.") }
    return true
  }

  private func put(_ reply: Reply) {
    let waiter = state.withLock { state in
      if state.waiter == nil { state.replies.append(reply) }
      return state.waiter.take()
    }
    waiter?.resume(reply)
  }
}

// The decision on an offer, made by the application and the inbox (RES-8).
extension ResourceReceiver {
  /// Answers the offer after the application and the inbox have decided. The link is read in the meantime, so that the
  /// sender can withdraw its offer. `release` makes the link idle. This method calls `release` before it sends CANCEL,
  /// because the sender may use the link again after CANCEL.
  func answer(_ release: @Sendable () -> Void) async {
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
      let claim = ResourceInbox.Claim(peer: peer, session: endpoint.session, isRequested: isRequested)
      let admission = try await inbox.admit(offer, claim) { cancelReason.withLock { $0 != nil } }
      self.admission = admission
      if isInterrupted {
        phase = .over
        await inbox.storePartial(offer.id, written: admission.offset, hash: admission.hash)
        endpoint.receiverEnded(self, info, nil)
        return
      }
      if cancelReason.withLock({ $0 != nil }) {
        if admission.file != nil { await inbox.discard(offer.id) }
        throw SessionError(.transferCancelled, "The local peer canceled the transfer.")
      }
      phase = .accepted
      pace.restart(now: endpoint.context.time.now(), bytes: admission.offset)
      let accept = Control.ResourceAccept(
        id: offer.id,
        offset: admission.offset,
        prefix: admission.offset > 0 ? admission.hash.text : nil
      )
      do { try await link.writer.write(accept.bulkFrame()) } catch {
        // The link ended; the task that reads the link reports its end.
      }
    } catch {
      // If the offer ended in the meantime, its end was already reported.
      guard phase == .deciding || phase == .admitting else { return }
      phase = .over
      if !isInterrupted { release() }
      endpoint.receiverEnded(self, info, isInterrupted ? nil : .failure(error))
      // Tell the sender which limit its file exceeds.
      let isAboutSpace = error.code == .quota || error.code == .diskFull
      if !isInterrupted { await sendCancel(error, message: isAboutSpace ? error.message : "") }
    }
  }

  private var refusal: SessionError {
    cancelReason.withLock { $0 != nil }
      ? SessionError(.transferCancelled, "The local peer canceled the transfer.")
      : SessionError(.declined, "This peer did not accept the resource.")
  }

  /// Asks the application about the offer, until the offer's time limit expires (RES-8).
  private func isWanted() async -> Bool {
    if isRequested { return true }
    let (events, time, info, withdrawn) = (endpoint.context.events, endpoint.context.time, info, withdrawn)
    return await withTaskGroup(of: Bool.self) { group in
      group.addTask { await events.wants(info) }
      group.addTask {
        // The sleep is canceled when the application has decided.
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

  func withdraw(_ result: Result<ReceivedResource, SessionError>?) {
    phase = .over
    withdrawn.set(.success(()))
    endpoint.receiverEnded(self, info, result)
  }
}
