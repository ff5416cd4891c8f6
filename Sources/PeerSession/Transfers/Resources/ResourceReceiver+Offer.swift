import PeerDiscovery
import PeerWire

// The decision on an offer, made by the application and the inbox (RES-8).
extension ResourceReceiver {
  /// Answers the offer after the application and the inbox have decided.
  ///
  /// The link is read in the meantime, so that the sender can withdraw its offer. `release` makes the link idle; it is
  /// called before CANCEL is sent, because the sender may use the link again after that.
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
        await endpoint.receiverEnded(self, info, nil)
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
      await endpoint.receiverEnded(self, info, isInterrupted ? nil : .failure(error))
      // Tell the sender which limit its file exceeds.
      let isAboutSpace = error.code == .quota || error.code == .diskFull
      if !isInterrupted { await sendCancel(error, message: isAboutSpace ? error.message : "") }
    }
  }

  /// The reason for refusing an offer that the application did not accept.
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

  /// Ends the offer before the application has decided.
  func withdraw(_ result: Result<ReceivedResource, SessionError>?) async {
    phase = .over
    withdrawn.set(.success(()))
    await endpoint.receiverEnded(self, info, result)
  }
}
