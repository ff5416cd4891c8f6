import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// How a message is delivered.
public enum SendMode: Sendable {
  /// Delivers the message exactly once, in order per sender, even if links break. Sending waits while an outbox is
  /// full.
  case reliable
  /// Delivers the message at most once, in any order. Sending never waits.
  case unreliable
}

/// A group of peers that share one board or another purpose, and the local peer's connections to them.
///
/// Every method may be called from any task. ``events`` reports everything that happens, in a single order.
public final class Session: Sendable {
  let core: NIOLoopBound<SessionCore>
  let eventLoop: any EventLoop
  let published: Locked<SessionSnapshot>
  private let endpoints: Locked<[PeerID: BulkEndpoint]>
  let sender: MessageSender
  private let datagrams = DatagramQueue()
  private let observation = TrafficObservation()

  /// The id of the local peer.
  public let localPeer: PeerID
  /// The incarnation of the local peer in this session.
  public let incarnation: SessionIncarnation
  /// The events of the session, in order, for one consumer.
  ///
  /// The consumer must keep reading (``SessionEvents``).
  public let events: SessionEvents
  /// The membership records to store, one for each change, so that the session continues after a restart (MEM-7).
  ///
  /// The stream supports one consumer. A slow consumer gets only the latest record. The stream ends with the session.
  public let membership: AsyncStream<MembershipRecord>
  /// The new local admission policy after each change of the host's policy, if the local policy follows it (MEM-17).
  /// The stream supports one consumer. A slow consumer gets only the latest policy. The stream ends with the session.
  package let admissionChanges: AsyncStream<AdmissionPolicy>
  /// The executor of the thread that serves the session's links, for latency-sensitive tasks.
  ///
  /// A task with this executor preference (`withTaskExecutorPreference`) reads ``events`` and sends messages without a
  /// thread switch. On a local network, a thread switch takes longer than the transmission of a message. Such a task
  /// must not block or compute for long, because no link is served in the meantime.
  public let executor: any TaskExecutor

  /// Call this initializer on the session's event loop.
  init(_ core: SessionCore) {
    self.core = NIOLoopBound(core, eventLoop: core.eventLoop)
    self.eventLoop = core.eventLoop
    self.published = core.published
    self.sender = MessageSender(published: core.published, confirmations: core.confirmations)
    self.endpoints = core.bulk.endpoints
    self.localPeer = core.localPeer
    self.incarnation = core.incarnation
    self.events = SessionEvents(queue: core.events, observation: observation)
    self.membership = core.directory.records
    self.admissionChanges = core.admission.policyChanges
    self.executor = EventLoopTasks(core.eventLoop)
  }

  /// The session's id.
  ///
  /// If the local peer joined without knowing the id, the host supplied it.
  public var id: SessionID { published.withLock { $0.id } }
  /// The name of the session, as received from the host or the peer that admitted the local peer; empty if the session
  /// has no name.
  public var name: UntrustedText { published.withLock { $0.name } }
  /// The peer that created the session.
  public var hostPeer: PeerID { published.withLock { $0.host } }

  /// The connected peers that may admit newcomers if the host asks its user about newcomers (TCK-6).
  package var admitters: [PeerID] { published.withLock { $0.admitters } }

  /// Returns the peers in the session, in the order of their ids, including reconnecting peers.
  public func connectedPeers() -> [PeerID] { published.withLock { $0.order } }

  /// Returns the peers of ``connectedPeers()`` with their state, in the same order.
  public func peers() -> [PeerStatus] { published.withLock { $0.statuses } }

  /// Reports everything that the application receives from the session or sends through the session, beginning with
  /// this call.
  ///
  /// An event is reported when it is read from ``events``. A message or datagram is reported when ``send(_:to:mode:)``
  /// has accepted it. Stream bytes are reported when they are read or written, for streams that are opened or reported
  /// after this call. There is at most one observer at a time.
  ///
  /// - Parameter observer: The observer; `nil` removes it. The observer is called on any thread, in the order of events
  ///   and in the order of sends, and must return immediately.
  public func observeTraffic(_ observer: (@Sendable (SessionTraffic) -> Void)?) { observation.set(observer) }

  // MARK: Messages

  /// Sends a message of at most 16 MiB, or a datagram of at most 64 KiB.
  ///
  /// A reliable message goes into the outbox of every recipient. Messages arrive in the order of the calls. If an
  /// outbox is full, the call suspends. The call returns when all outboxes have accepted the message, not when the
  /// message is delivered: see ``sendConfirmed(_:to:)``. If the call throws while it waits for one of several peers,
  /// the message may still reach the others.
  ///
  /// For a datagram, the call never suspends. At most 256 datagrams, with at most 1 MiB in total, wait for the
  /// session's event loop. Beyond that, the oldest datagrams are dropped.
  ///
  /// - Parameters:
  ///   - bytes: The message; the session does not interpret it.
  ///   - peers: The recipients; `nil` means every peer in the session.
  ///   - mode: Whether to send a reliable message or a datagram.
  /// - Returns: A receipt that reports whether the message was delivered; it is empty for a datagram.
  /// - Throws: `messageTooLarge`; `notConnected` if a named peer is not in the session or leaves while the call waits;
  ///   `peerLost` if the peer is lost in the meantime; `sessionEnded`; `cancelled` if the task is canceled while it
  ///   waits.
  @discardableResult nonisolated(nonsending) public func send(
    _ bytes: [UInt8],
    to peers: [PeerID]? = nil,
    mode: SendMode = .reliable
  ) async throws(SessionError) -> SendReceipt {
    switch mode {
    case .reliable:
      try check(bytes.count, Limits.message)
      let receipt = try await sender.send(bytes, to: peers)
      observation.report(.message(bytes, to: peers ?? connectedPeers()))
      return receipt
    case .unreliable:
      try sendDatagram(bytes, to: peers)
      return SendReceipt(tracks: [])
    }
  }

  /// Sends a datagram, as ``send(_:to:mode:)`` does.
  package func sendDatagram(_ bytes: [UInt8], to peers: [PeerID]?) throws(SessionError) {
    try check(bytes.count, Limits.datagramMessage)
    try sender.routes(to: peers)
    observation.report(.datagram(bytes, to: peers ?? connectedPeers()))
    if datagrams.append(bytes, peers) {
      execute { [datagrams] in $0.sendDatagrams(datagrams.removeAll()) }
    }
  }

  /// Sends a message to the processes of peers with the given join generations, and returns the receipt for the peers
  /// to which the message was sent. A peer that has joined again is skipped, because the message was meant for its
  /// previous process. A peer that leaves does not affect the other recipients. If no outbox accepts the message,
  /// throws the errors of ``send(_:to:mode:)``; a peer that joined again causes `notConnected`.
  @discardableResult nonisolated(nonsending) package func send(_ bytes: [UInt8], to generations: [PeerID: UInt64])
    async throws(SessionError) -> SendReceipt
  {
    try check(bytes.count, Limits.message)
    let receipt = try await sender.send(bytes, toGenerations: generations)
    observation.report(.message(bytes, to: generations.keys.sorted()))
    return receipt
  }

  /// Sends a message and waits until every peer's process has received it (MSG-4).
  ///
  /// The call does not show whether the applications have read the message.
  ///
  /// - Throws: The errors of ``send(_:to:mode:)``, including while waiting for the acknowledgement. The message may
  ///   arrive even if the call throws. Cancellation does not withdraw the message.
  public func sendConfirmed(_ bytes: [UInt8], to peers: [PeerID]? = nil) async throws(SessionError) {
    try check(bytes.count, Limits.message)
    try await sender.sendConfirmed(bytes, to: peers) {
      observation.report(.message(bytes, to: peers ?? connectedPeers()))
    }
  }

  private func check(_ count: Int, _ limit: Int) throws(SessionError) {
    guard count <= limit else {
      throw SessionError(
        .messageTooLarge,
        "A message of \(count) bytes exceeds the limit of \(limit); send it as a resource instead."
      )
    }
  }

  package var endReason: SessionError? { published.withLock { $0.end } }

  // MARK: Resources and streams

  /// How long the offer of a resource waits for the receiver's application (RES-8).
  public static let offerTimeout = BulkTime.offerLimit

  /// Sends a file to one peer.
  ///
  /// The file arrives complete and verified, or not at all.
  ///
  /// The call returns immediately. At most eight transfers to a peer run at a time; others wait for their turn (RES-6).
  /// Transfers that the peer requested are counted separately, so they do not wait for the others.
  ///
  /// If the peer's application refuses the file, or leaves the offer unanswered for two minutes (RES-8), the transfer
  /// ends with `declined`. If a link breaks, the transfer continues over another link, unless the peer is lost. Both
  /// ``events`` and the transfer report the progress and the end.
  ///
  /// - Parameters:
  ///   - path: A regular file; it must not change while it is sent.
  ///   - name: At most 16 KiB without NUL, passed on unchanged: free text, or a JSON DTO.
  ///   - peer: The recipient.
  ///   - isRequested: Whether the peer's application requested the file.
  /// - Returns: The transfer, which reports its progress and its end.
  /// - Throws: `notConnected` if the peer is not in the session or the session is over; `invalidName`.
  ///   ``ResourceTransfer/result()`` throws the errors of the file.
  public func sendResource(atPath path: String, named name: String, to peer: PeerID, isRequested: Bool = false)
    throws(SessionError) -> ResourceTransfer
  { try endpoint(peer).sendResource(atPath: path, named: name, isRequested: isRequested) }

  /// Opens a byte stream to one peer, over its own connection.
  ///
  /// While the peer is reconnecting, the call waits; cancellation does not shorten the wait.
  ///
  /// - Parameters:
  ///   - name: At most 1 KiB without NUL, passed on unchanged.
  ///   - peer: The peer.
  /// - Returns: The stream, open in both directions.
  /// - Throws: `notConnected` if the peer is not in the session or the session is over; `invalidName`; `busy` if 24
  ///   streams are open (STR-3) or the peer has too many connections; `unreachable`, `timedOut` or `linkLost` if no
  ///   further connection can be opened; `peerLost` if the peer leaves in the meantime.
  public func openStream(named name: String, to peer: PeerID) async throws(SessionError) -> PeerStream {
    let stream = try await endpoint(peer).openStream(named: name)
    observation.report(.openedStream(stream))
    return stream
  }

  /// Cancels a resource transfer, in either direction.
  ///
  /// ``events`` reports the end of the transfer.
  ///
  /// - Throws: `unknown` if no such transfer is in progress.
  public func cancelResource(_ id: TransferID, reason: String = "") throws(SessionError) {
    for endpoint in endpoints.withLock({ Array($0.values) }) where endpoint.cancelResource(id, reason: reason) {
      return
    }
    throw SessionError(.unknown, "No transfer \(id) is in progress.")
  }

  private func endpoint(_ peer: PeerID) throws(SessionError) -> BulkEndpoint {
    guard let endpoint = endpoints.withLock({ $0[peer] }) else { throw SessionError.notInSession(peer) }
    return endpoint
  }

  // MARK: The end

  /// Closes the links to all peers and ends the session.
  ///
  /// ``events`` ends after the remaining events are read.
  ///
  /// Messages that a peer has not acknowledged may be lost; ``sendConfirmed(_:to:)`` waits for the acknowledgement.
  /// Does nothing if the session is over.
  ///
  /// - Parameter untilNextStart: Whether this program serves the session again at its next start. If so, and this
  ///   program is a relay, its peers dial it again (RLY-7).
  public func leave(untilNextStart: Bool = false) async {
    try? await onLoop { $0.leave(untilNextStart ? .shuttingDown : .left) }
  }

  func execute(_ body: @escaping @Sendable (SessionCore) -> Void) {
    let core = core
    eventLoop.execute { body(core.value) }
  }

  func onLoop<Value: Sendable>(_ body: @escaping @Sendable (SessionCore) throws -> Value) async throws(SessionError)
    -> Value
  {
    let core = core
    return try await withSessionErrors { try await self.eventLoop.submit { try body(core.value) }.get() }
  }
}

extension SessionError {
  static func notInSession(_ peer: PeerID) -> SessionError {
    SessionError(.notConnected, "Peer \(peer.short) is not in the session.")
  }
}

extension Session {
  /// Returns the next hop for messages to `peer`: that peer itself, or a relay.
  ///
  /// An application that queues its own messages can queue one copy for all peers with the same next hop
  /// (``send(_:to:mode:)``).
  public func nextHop(to peer: PeerID) -> PeerID { published.withLock { $0.routes[peer]?.relayed?.relay } ?? peer }

  /// Returns the amount of data that the local peer has forwarded as a relay of this session; zero once the session is
  /// over.
  public func relayTally() async -> RelayTally { (try? await onLoop { $0.relaying.tally }) ?? RelayTally() }

  /// Asks a relay to relay this session, and stays connected to it.
  ///
  /// From then on, the session continues while this peer is offline: the relay admits newcomers according to `terms`,
  /// and forwards messages between members that have no direct link. On every new link to the relay, this peer sends
  /// the terms again. Therefore, a relay that lost its state resumes relaying the session. To change the terms, call
  /// this method again.
  ///
  /// - Parameters:
  ///   - addresses: The possible addresses of the relay, best first.
  ///   - relay: The relay's key, if it is known; another key is refused.
  ///   - terms: The properties of the session that the relay must know, including the code.
  /// - Returns: The relay's key.
  /// - Throws: `notHost` if another peer is the host; `notCarried` with the relay's reason, or if the peer is not a
  ///   relay; the errors of ``PeerTransport/join(_:progress:verify:)`` if the relay cannot be reached.
  public func carry(by addresses: [PeerAddress], relay: PeerID? = nil, terms: CarryTerms) async throws(SessionError)
    -> PeerID
  {
    let core = core
    return try await withSessionErrors {
      try await self.eventLoop.flatSubmit { RelayMove(core.value, terms).start(addresses, relay: relay) }.get()
    }
  }
}
