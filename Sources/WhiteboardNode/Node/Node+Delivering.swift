import PeerSession
import WhiteboardSync

/// Application messages, which are answered when their recipients have confirmed them.
extension Node {
  /// Creates the outbox of this node.
  func makeOutbox() -> Outbox {
    let runtime = runtime
    return Outbox(runtime, logger: configuration.logger) { number, receipt in
      runtime.call { $0.accepted(number, receipt) }
    } handleSent: {
      runtime.call { $0.persistence.recordTraffic() }
    }
  }

  /// Queues an application message; later commands run before it is answered.
  func send(
    _ bytes: [UInt8],
    to names: [String],
    answering request: CommandRequest
  ) async throws(CommandError) {
    // Later lines wait too, so that messages to a slow peer are bounded and none is dropped.
    _ = await wait { self.deliveries.hasRoom }
    guard ending == nil else { throw CommandError(.ending, "the program ends") }
    let peers = try recipients(names)
    let message = SyncMessage.application(bytes).encode()
    let number = deliveries.add(request, byteCount: message.count, to: peers)
    performActions()
    outbox.send(message, to: peers, as: number)
  }

  /// Records that the session accepted a message, and asks its recipients to confirm it.
  func accepted(_ number: Int, _ receipt: SendReceipt) {
    guard let session else { return }
    for peer in deliveries.taken(number, receipt) {
      spawn { node in await node.confirmMessages(to: peer, session) }
    }
  }

  private func confirmMessages(to peer: PeerID, _ session: Session) async {
    // Confirmations come in order, so one request covers all messages accepted so far.
    while let (number, receipt) = deliveries.lastTaken(for: peer) {
      do throws(SessionError) {
        try await session.confirmation(of: receipt, by: peer)
      } catch {
        // The peer left, which the next event of the session reports, or the node ended.
        return
      }
      answer(deliveries.confirmed(upTo: number, by: peer))
    }
  }

  /// Ends the deliveries to a peer that left.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - reason: The reason for its departure, in one word.
  ///   - tell: Emits its departure before the answers; receives the number of unconfirmed messages.
  func endDeliveries(to peer: PeerID, reason: String, _ tell: (Int) -> Void = { _ in }) {
    let name = members.name(of: peer)
    let (answers, undelivered) = deliveries.left(peer, name: name, reason: reason)
    tell(undelivered)
    answer(answers)
  }

  /// Waits until all messages are confirmed, or until `limit`, and then ends the remaining
  /// deliveries.
  func finishDeliveries(before limit: ContinuousClock.Instant) async {
    while clock.now < limit, !deliveries.isEmpty {
      try? await clock.sleep(for: .milliseconds(5))
    }
    for peer in deliveries.peers { endDeliveries(to: peer, reason: "ending") }
  }

  private func answer(_ answers: [MessageDeliveries.Answer]) {
    guard !answers.isEmpty else { return }
    for answer in answers {
      let request = answer.request
      if answer.report.undelivered.isEmpty {
        // Messages are not stored, so the answer need not wait for the disk.
        emit(.done(.init(verb: request.command.name.rawValue, request: request.request)))
      } else {
        fail(CommandError(answer.report), answering: request)
      }
    }
    changed()
  }
}

extension CommandError {
  /// Creates the answer to a message that did not reach every recipient.
  init(_ report: DeliveryReport) {
    let missing = report.undelivered.map { "\(EventText.person($0.name, $0.peer)) (\($0.reason))" }
    let count = report.delivered.count
    let others = count == 0 ? "" : "; delivered to \(count) other\(count == 1 ? "" : "s")"
    self.init(
      .undelivered,
      "not delivered to \(missing.joined(separator: ", "))\(others)",
      delivery: report
    )
  }
}
