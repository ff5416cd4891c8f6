import PeerCore
import PeerWire

/// Serves one link on which the peer is the opener: resources and streams, one after the other (BLK-2).
final class BulkAcceptor: BulkFrameSink {
  private enum Current {
    case idle
    case resource(ResourceReceiver)
    case stream(StreamCore)
  }

  private let endpoint: BulkEndpoint
  private let current = Locked(Current.idle)

  init(_ endpoint: BulkEndpoint) { self.endpoint = endpoint }

  func receive(_ frame: BulkFrame, from link: BulkLinkRunner) async throws(LinkViolation) -> Bool {
    switch current.withLock({ $0 }) {
    case .resource(let receiver):
      try await receive(receiver) { () throws(LinkViolation) in try await receiver.receive(frame) }
      return true
    case .stream(let stream): return try await stream.receive(frame, from: link)
    case .idle:
      switch frame.type {
      case .resourceOffer:
        await open(try Control.ResourceOffer.decode(frame), link)
        return true
      case .streamOpen: return await open(try Control.StreamOpen.decode(frame), link)
      case .resourceCancel:
        // The sender canceled a transfer that is not in progress on this link, so there is nothing to do (RES-4).
        _ = try Control.ResourceCancel.decode(frame)
        return true
      default:
        guard link.isLate(frame) else { throw .unexpected(frame.type) }
        return true
      }
    }
  }

  func linkEnded(_ end: BulkEnd) async {
    // Release the references to break a retain cycle, because the link's transfers refer to the link.
    let last = current.withLock { current in
      defer { current = .idle }
      return current
    }
    switch last {
    case .idle: break
    case .resource(let receiver): await receiver.interrupt(end)
    case .stream(let stream): await stream.linkEnded(end)
    }
  }

  private func open(_ offer: Control.ResourceOffer, _ link: BulkLinkRunner) async {
    guard let receiver = await endpoint.receiver(for: offer, on: link) else {
      link.markLate(offer.id)
      let cancel = Control.ResourceCancel(id: offer.id, code: .busy, message: "Too many transfers are in progress.")
      do { try await link.writer.write(cancel.bulkFrame()) } catch {
        // The link ended; the task that reads the link reports its end.
      }
      return
    }
    current.withLock { $0 = .resource(receiver) }
    endpoint.answer(receiver) { [self] in release(receiver) }
  }

  private func release(_ receiver: ResourceReceiver) {
    receiver.link.markLate(receiver.offer.id)
    current.withLock { current in if case .resource(let last) = current, last === receiver { current = .idle } }
  }

  private func receive(_ receiver: ResourceReceiver, _ step: () async throws(LinkViolation) -> Bool)
    async throws(LinkViolation)
  { if try await !step() { release(receiver) } }

  private func open(_ open: Control.StreamOpen, _ link: BulkLinkRunner) async -> Bool {
    guard endpoint.acceptsStream() else {
      link.cut(
        after: Control.StreamReset(id: open.id, code: 1, message: "Too many streams.").bulkFrame(),
        SessionError(.busy, "The peer has too many streams open.")
      )
      return true
    }
    let stream = StreamCore(id: open.id, name: open.name, peer: endpoint.peer, link: link) {
      [current, endpoint] isLinkIdle in
      if isLinkIdle { current.withLock { $0 = .idle } }
      endpoint.streamEnded(isOurs: false)
    }
    current.withLock { $0 = .stream(stream) }
    endpoint.context.events.emit(.streamOpened(PeerStream(stream)))
    return true
  }
}
