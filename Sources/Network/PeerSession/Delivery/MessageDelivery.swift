import NIOCore
import PeerDiscovery
import PeerWire

/// Sends and receives the reliable messages of a session: MESSAGE and ACK frames (6). Confined to the session's event
/// loop. ``Delivery`` holds the state of each peer. The functions get the session from their caller, because a stored
/// reference would be retained and released for each message.
final class MessageDelivery {
  private var joinCount: UInt64 = 0

  func nextJoinGeneration() -> UInt64 {
    joinCount += 1
    return joinCount
  }

  /// Resumes the delivery state shared with a peer, or creates a new state (RSM-2 to RSM-6).
  func linkOpened(_ entry: PeerEntry, _ opening: SessionCore.Opening, in session: SessionCore)
    throws(AcknowledgementError)
  {
    let incarnation = opening.introduction.incarnation
    if let delivery = entry.delivery, delivery.incarnation == incarnation {
      if let received = opening.received { return try delivery.outbox.resume(received: received) }
      // Reuse an untouched state only if the other side did not give up its state. Otherwise the other side may already
      // have received queued messages (RSM-6).
      if delivery.isUntouched, opening.ended == nil {
        delivery.since = opening.number
        return try delivery.outbox.resume(received: 0)
      }
    }
    if let delivery = entry.delivery {
      let isSame = delivery.incarnation == incarnation
      session.drop(entry, isSame ? DepartureReason(ended: opening.ended) : .restarted)
      // The other side gave up its delivery state too, so it does not need the reason.
      entry.gaveUp = nil
    }
    if entry.gaveUp?.incarnation != incarnation { entry.gaveUp = nil }
    let bound = NIOLoopBound(session, eventLoop: session.eventLoop)
    let peer = entry.id
    entry.delivery = Delivery(
      incarnation: incarnation,
      outbox: Outbox(
        peer: peer,
        joinGeneration: nextJoinGeneration(),
        capacity: session.configuration.outboxCapacity,
        eventLoop: session.eventLoop
      ) { bound.value.relaying.flushSoon(peer) },
      since: opening.number
    )
    session.peerJoined(entry)
    session.relaying.began(entry, incarnation)
  }

  // MARK: Sending

  func flush(_ entry: PeerEntry) {
    guard let link = entry.link, let outbox = entry.delivery?.outbox else { return }
    var wrote = false
    while link.isWritable, let frames = outbox.dequeueUnsent() {
      link.write(frames)
      wrote = true
    }
    guard wrote else { return }
    if entry.acknowledgements.isOwed { writeAcknowledgement(entry, link) }
    link.flush()
  }

  private func writeAcknowledgement(_ entry: PeerEntry, _ link: ControlLink) {
    guard let delivery = entry.delivery, let channel = link.channel else { return }
    var payload: [UInt8] = []
    Acknowledgement.append(delivery.inbox.received, to: &payload)
    var frame = channel.allocator.buffer(capacity: payload.count + 2)
    frame.writeFrame(.ack, payload)
    entry.acknowledgements.sent()
    link.write(frame)
  }

  // MARK: Receiving

  func messageReceived(_ link: ControlLink, _ entry: PeerEntry, _ payload: ByteBuffer, in session: SessionCore) {
    guard let delivery = entry.delivery else { return }
    let part: MessageInbox.Part
    do throws(LinkViolation) { part = try delivery.inbox.receive(payload) } catch {
      return session.fail(link, entry, error.code, error.message)
    }
    switch part.outcome {
    case .incomplete: break
    case .began(let total): session.largeMessageBegan(total, from: entry)
    case .completed(let message, let isRelays, let isSplit):
      if isSplit { session.reading.room.completed(by: entry.id) }
      if isRelays {
        session.relaying.received(message, entry, link)
      } else {
        session.emit(.message(message, from: entry.id), bytes: message.count)
      }
      if isSplit { session.largeMessageEnded(entry, isRelays: isRelays) }
    }
    entry.acknowledgements.received(part.byteCount, atOnce: part.wantsAcknowledgement)
  }

  func acknowledgementReceived(_ link: ControlLink, _ entry: PeerEntry, _ payload: ByteBuffer, in session: SessionCore)
  {
    guard let sequence = try? Acknowledgement.read(payload: payload.readableBytesUInt8Span) else {
      return session.fail(link, entry, .protocolError, "An ACK is malformed.")
    }
    do throws(AcknowledgementError) {
      try entry.delivery?.outbox.acknowledge(sequence)
      session.relaying.drain(entry.id)
    } catch { session.fail(link, entry, .protocolError, "An ACK confirms a message that was never sent.") }
  }

  func readCompleted(_ entry: PeerEntry, in session: SessionCore) {
    func acknowledge() {
      guard let link = entry.link else { return }
      writeAcknowledgement(entry, link)
      link.flush()
    }
    if entry.acknowledgements.readCompleted(on: session.eventLoop, send: acknowledge) { acknowledge() }
  }
}
