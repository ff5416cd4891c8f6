import Logging
import NIOConcurrencyHelpers
import NIOCore
import PeerDiscovery
import PeerWire

/// One session: who is in it and the links to them.
///
/// Confined to its event loop, on which every control link of the session lives; the public
/// ``Session`` hops here. Nothing in it blocks or awaits.
final class SessionCore {
  /// What others may ask of the session from any thread, kept up to date by the event loop.
  struct Published: Sendable {
    var ways: [PeerID: Way] = [:]
    /// The same for a message to everyone, in `order`.
    var everyone = Routes()
    /// How fast we send by relays.
    var paces: [PeerID: RelayPace] = [:]
    var order: [PeerID] = []
    var statuses: [PeerStatus] = []
    var end: SessionError?
    var id: SessionID
    var host: PeerID
    var name = UntrustedText("")
  }

  let transport: TransportCore
  let eventLoop: any EventLoop
  let events: EventQueue
  let published: NIOLockedValueBox<Published>
  let incarnation = SessionIncarnation.random()
  let logger: Logger

  /// The members of the session, and the local proof of membership.
  var membership: Membership
  var policy: AdmissionPolicy
  /// The name of the session, which a dialler receives in ACCEPT (3.3); empty if it has none.
  var name = UntrustedText("") {
    didSet { published.withLockedValue { [name] in $0.name = name } }
  }
  var codeKey: CodeKey?
  /// Additional codes that admit peers until they expire.
  var invitationCodes: [InvitationCode] = []
  var maximum: Int
  var entries: [PeerID: PeerEntry] = [:]
  /// The source of ``Session/membership``.
  let records: AsyncStream<MembershipRecord>
  let recordSource: AsyncStream<MembershipRecord>.Continuation
  /// How many times somebody came in.
  private var joinings: UInt64 = 0
  var bulk: TransferConnections?
  let confirmations = Confirmations()
  private(set) lazy var relaying = RelaySide(self)

  /// What we last said of our addresses.
  private var toldAddresses: [String]?
  /// When we look again whether they have changed.
  private var nextLook: NIODeadline?
  private var collected: [SessionEvent] = []
  private var collectedBytes = 0
  /// Whether the application is so far behind that nothing is read for it (MSG-5).
  private(set) var isPaused = false
  /// The memory for large messages.
  private var room = MessageRoom()
  private var ticker: (at: NIODeadline, task: Scheduled<Void>)?
  private(set) var hasEnded = false

  /// All zero until the host's HELLO names it, for a joiner that did not know it.
  var id: SessionID { membership.session }
  var host: PeerID { membership.host }
  var configuration: TransportConfiguration { transport.configuration }
  var localPeer: PeerID { transport.localPeer }

  init(transport: TransportCore, id: SessionID, host: PeerID, policy: AdmissionPolicy) {
    self.transport = transport
    self.eventLoop = transport.eventLoop
    self.membership = Membership(local: transport.localPeer, session: id, host: host)
    (records, recordSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.policy = policy
    self.maximum = transport.configuration.maximumPeers
    self.published = NIOLockedValueBox(Published(id: id, host: host))
    var logger = transport.configuration.logger
    logger[metadataKey: "session"] = "\(id.short)"
    self.logger = logger
    let relay = ProgressRelay()
    self.events = EventQueue(
      maximumMessages: Limits.heldMessages,
      maximumBytes: Limits.message
    ) { relay.fire($0) }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let loop = eventLoop
    relay.set { progress in loop.execute { bound.value.consumer(progress) } }
  }

  // MARK: Events

  func emit(_ event: SessionEvent, bytes: Int = 0) {
    collected.append(event)
    collectedBytes += bytes
  }

  /// Gives the collected events to the consumer; stops reading when it is far behind (MSG-5).
  func deliverEvents() {
    guard !collected.isEmpty else { return }
    let mustPause = events.push(&collected, bytes: collectedBytes)
    collectedBytes = 0
    if mustPause && !isPaused {
      isPaused = true
      for entry in entries.values { entry.link?.pauseReading() }
    }
  }

  private func consumer(_ progress: EventQueue.Progress) {
    switch progress {
    case .tookAll:
      isPaused = false
      for entry in entries.values { updateReading(entry) }
    case .handledMessage(let peer):
      // If the application stopped the peer, the message waits in a queue of its own.
      if entries[peer]?.isStopped == false { messageHandled(of: peer) }
    }
  }

  /// Stops or resumes reading one peer, as the application asks (MSG-5).
  func setReading(_ reads: Bool, from peer: PeerID) {
    guard let entry = entries[peer], entry.delivery != nil else { return }
    entry.isStopped = !reads
    if reads { messageHandled(of: peer) }
    updateReading(entry)
  }

  private func messageHandled(of peer: PeerID) {
    for peer in room.handled(peer, now: .now()) { entries[peer].map(updateReading) }
  }

  /// Reads the link of a peer, unless something speaks against it (MSG-5, RLY-14).
  func updateReading(_ entry: PeerEntry) {
    if isPaused || entry.isThrottled || entry.isStopped || room.stops(entry.id) {
      entry.link?.pauseReading()
    } else {
      if entry.link?.isReadingPaused ?? true { room.resumed(entry.id, now: .now()) }
      entry.link?.resumeReading()
    }
  }

  func publish() {
    let joined = entries.values.filter(\.isJoined).sorted { $0.id < $1.id }
    published.withLockedValue { published in
      published.order = joined.map(\.id)
      published.ways = [:]
      published.everyone = Routes()
      for entry in joined {
        guard let way = way(to: entry) else { continue }
        published.ways[entry.id] = way
        published.everyone.add(entry.id, way)
      }
      published.statuses = joined.map { entry in
        PeerStatus(
          peer: entry.peer,
          state: entry.state,
          datagramPath: hop(to: entry)?.datagrams?.path ?? .link,
          isDelivered: way(to: entry)?.outbox.isDelivered ?? true
        )
      }
      published.id = id
      published.host = host
    }
    planTick()
  }

  /// The peer whose link leads to one of the session: itself, or the relay that carries us to it.
  func hop(to entry: PeerEntry) -> PeerEntry? {
    guard let relayed = entry.relayed else { return entry }
    return entries[relayed.route.relay]
  }

  /// How messages get to a peer of the session.
  private func way(to entry: PeerEntry) -> Way? {
    if let outbox = entry.delivery?.outbox {
      return Way(outbox: outbox, joining: outbox.joining)
    }
    guard let relayed = entry.relayed, let outbox = hop(to: entry)?.delivery?.outbox else {
      return nil
    }
    return Way(
      outbox: outbox,
      route: relayed.route,
      ledger: relayed.ledger,
      joining: relayed.joining
    )
  }

  // MARK: What we say of ourselves

  func introduction(for entry: PeerEntry?) -> Control.Introduction {
    Control.Introduction(
      session: id,
      name: UntrustedText(configuration.displayName),
      incarnation: incarnation,
      port: configuration.isDiallable ? transport.port : 0,
      addresses: configuration.isDiallable ? transport.advertisedAddresses() : [],
      role: configuration.isRelay ? .relay : .member,
      links: entry?.linkNumber ?? 0,
      passes: configuration.isRelay ? configuration.relayLimits.rate : nil
    )
  }

  /// Everyone in the session, for ACCEPT (3.3).
  func members(besides other: PeerID) -> [Control.Member] {
    entries.values.filter { $0.isJoined && $0.id != other }.sorted { $0.id < $1.id }.map { entry in
      var member = entry.member
      // Where we reach it comes first: it may not know its own address as others see it.
      let seen = entry.observed.first { $0.port == member.port && isIPLiteral($0.host) }
      if let seen {
        member.addresses.removeAll { $0 == seen.host }
        member.addresses.insert(seen.host, at: 0)
        member.addresses = Array(member.addresses.prefix(Limits.addresses))
      }
      return member
    }
  }

  /// How many peers there are, ourselves counted.
  var peerCount: Int { entries.values.count(where: \.isJoined) + 1 }

  // MARK: Opening a link

  /// What both sides agreed when a link opens.
  struct Opening {
    var peer: PeerID
    var introduction: Control.Introduction
    /// The number of this link: 1 more than the greater `links`.
    var number: Int
    /// What the other side still holds of our messages; `nil` begins anew (RSM-2, RSM-3).
    var received: UInt64?
    /// The reason why the peer gave up the shared delivery state, if it sent one (CLS-3, RSM-6).
    var ended: String?
    /// On what ground it was let in, where that was decided now.
    var admission: PeerAdmission?
    /// The ticket with which the peer proved its membership.
    var ticket: Ticket?
  }

  /// Takes a link into the session: from here on it carries messages.
  func open(_ link: ControlLink, _ opening: Opening) {
    let entry = entry(for: opening.peer, opening.introduction)
    entry.member = Control.Member(peer: opening.peer, opening.introduction)
    entry.admission = opening.admission ?? entry.admission
    entry.shownTicket = opening.ticket
    entry.isVouched = true
    if let remote = link.remote {
      // Where we reached it works, whatever it says its port is; where it came from does not.
      switch link.side {
      case .dialler: entry.remember(remote)
      case .listener where opening.introduction.port > 0:
        entry.remember(PeerAddress(host: remote.host, port: opening.introduction.port))
      case .listener: break
      }
    }
    relaying.linkOpens(entry)
    let previous = entry.link
    let crossed =
      previous != nil && previous?.side != link.side && entry.linkNumber == opening.number

    entry.link = link
    link.entry = entry
    entry.linkNumber = max(entry.linkNumber, opening.number)
    entry.passes = opening.introduction.passes ?? RelayRate()
    entry.dialledLast = link.side == .dialler
    entry.brokenAt = nil
    entry.plan.linkOpened()
    entry.unacknowledgedParts = 0
    entry.unacknowledgedBytes = 0
    previous?.close(crossed ? .duplicateLink : .replaced)

    let joinedBefore = entry.delivery?.outbox.joining
    do throws(AcknowledgementError) {
      try takeUpDelivery(entry, opening)
    } catch {
      entry.link = nil
      return fail(link, entry, .protocolError, "The peer acknowledges more than was sent.")
    }
    if link.side == .dialler { entry.delivery?.lastDialled = opening.number }
    link.frameLimit = Limits.framePayload
    updateReading(entry)
    setState(entry, .connected)
    startDatagrams(entry, link)
    bulk?.linkOpened(entry, link)
    relaying.linkOpened(entry, link)
    met(entry)
    entry.knownRemovals = []
    spreadRemovals(to: entry)
    if entry.delivery?.outbox.joining != joinedBefore { spreadWord(of: entry, link) }
    publish()
    deliverEvents()
    flush(entry)
  }

  private func takeUpDelivery(
    _ entry: PeerEntry,
    _ opening: Opening
  ) throws(AcknowledgementError) {
    let incarnation = opening.introduction.incarnation
    if let delivery = entry.delivery, delivery.incarnation == incarnation {
      if let received = opening.received {
        return try delivery.outbox.resume(received: received)
      }
      // If the other side gave up its state, it may already have received queued messages (RSM-6).
      if delivery.isUntouched, opening.ended == nil {
        delivery.since = opening.number
        return try delivery.outbox.resume(received: 0)
      }
    }
    if let delivery = entry.delivery {
      let isSame = delivery.incarnation == incarnation
      drop(entry, isSame ? DepartureReason(ended: opening.ended) : .restarted)
    }
    if entry.gaveUp?.incarnation != incarnation { entry.gaveUp = nil }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let peer = entry.id
    entry.delivery = Delivery(
      incarnation: incarnation,
      outbox: Outbox(
        peer: peer,
        joining: nextJoining(),
        capacity: configuration.outboxCapacity,
        eventLoop: eventLoop
      ) {
        bound.value.relaying.flushSoon(peer)
      },
      since: opening.number
    )
    entry.state = .connecting
    emit(.peerJoined(entry.peer))
    if let warning = transport.nameWarning(entry.id, entry.member.name) { emit(.warning(warning)) }
    relaying.began(entry, incarnation)
  }

  /// The number of the next time that somebody comes in.
  func nextJoining() -> UInt64 {
    joinings += 1
    return joinings
  }

  func entry(for peer: PeerID, _ introduction: Control.Introduction) -> PeerEntry {
    if let entry = entries[peer] { return entry }
    let entry = PeerEntry(id: peer, member: Control.Member(peer: peer, introduction))
    entries[peer] = entry
    return entry
  }

  func setState(_ entry: PeerEntry, _ state: PeerState) {
    guard entry.state != state else { return }
    entry.state = state
    emit(.peerStateChanged(entry.id, state))
    relaying.stateChanged(of: entry)
  }

  // MARK: Sending

  func flush(_ peer: PeerID) {
    if let entry = entries[peer] { flush(entry) }
  }

  /// Writes what is owed while the link takes it.
  func flush(_ entry: PeerEntry) {
    guard let link = entry.link, let outbox = entry.delivery?.outbox else { return }
    var wrote = false
    while link.isWritable, let frames = outbox.takeUnsent() {
      link.write(frames)
      wrote = true
    }
    guard wrote else { return }
    if entry.owesAcknowledgement { writeAcknowledgement(entry, link) }
    link.flush()
  }

  private func writeAcknowledgement(_ entry: PeerEntry, _ link: ControlLink) {
    guard let delivery = entry.delivery, let channel = link.channel else { return }
    var payload: [UInt8] = []
    Acknowledgement.append(delivery.assembler.received, to: &payload)
    var frame = channel.allocator.buffer(capacity: payload.count + 2)
    frame.writeFrame(.ack, payload)
    entry.unacknowledgedParts = 0
    entry.unacknowledgedBytes = 0
    link.write(frame)
  }

  // MARK: Departure

  /// Ends a link whose other end broke a rule, and the peer with it.
  func fail(_ link: ControlLink, _ entry: PeerEntry?, _ code: CloseCode, _ message: String) {
    logger.info(
      "closing a link",
      metadata: ["code": "\(code.rawValue)", "reason": "\(message)"]
    )
    link.close(code, message)
    guard let entry, entry.link === link || entry.link == nil else { return }
    entry.link = nil
    entry.plan.bar(.untilRestart(of: entry.member.incarnation))
    depart(
      entry,
      .refused(SessionError(.protocolError, "The peer broke the protocol. \(message)"))
    )
  }

  /// Takes a peer out of the session, telling the application.
  func depart(_ entry: PeerEntry, _ reason: DepartureReason) {
    guard entry.isJoined else { return }
    drop(entry, reason)
    publish()
    deliverEvents()
  }

  /// Ends a peer's being in the session; the caller publishes.
  func drop(_ entry: PeerEntry, _ reason: DepartureReason) {
    entry.apartSince = .now()
    entry.isStopped = false
    if let relayed = entry.relayed.take() {
      confirmations.failed(entry.id, SessionError(.peerLost, "The peer is out of the session."))
      bulk?.peerLeft(entry.id)
      // Senders count under this lock, so no sender counts a message after this.
      let undelivered = published.withLockedValue { published in
        published.ways[entry.id] = nil
        return relayed.ledger.unconfirmed
      }
      emit(.peerLeft(entry.id, reason, undelivered: undelivered))
      entry.state = .connecting
    }
    guard let delivery = entry.delivery else { return }
    let undelivered = delivery.outbox.fail(
      SessionError(
        reason == .lost ? .peerLost : .notConnected,
        "The peer is out of the session: \(reason.word)."
      )
    )
    entry.delivery = nil
    for peer in room.removed(entry.id, now: .now()) { entries[peer].map(updateReading) }
    // In these two cases the other side gave up first, so it needs no report.
    let isKnownThere = reason == .restarted || reason == .reset
    entry.gaveUp = isKnownThere ? nil : (delivery.incarnation, reason.word)
    entry.brokenAt = nil
    entry.datagrams?.close()
    entry.datagrams = nil
    bulk?.peerLeft(entry.id)
    emit(.peerLeft(entry.id, reason, undelivered: undelivered))
    entry.state = .connecting
    relaying.departed(entry, reason)
  }

  /// Disconnects one peer, which may return by itself but is not dialled again.
  func disconnect(_ peer: PeerID, _ code: CloseCode, _ reason: DepartureReason, message: String) {
    guard let entry = entries[peer] else { return }
    entry.plan.bar(code == .kicked ? .always : .untilRestart(of: entry.member.incarnation))
    entry.link.take()?.close(code, message)
    relaying.disconnects(entry, code)
    let hasState = entry.delivery != nil
    depart(entry, reason)
    // The peer may not receive CLOSE, so the next handshake repeats the code (CLS-3).
    if hasState { entry.gaveUp?.code = code.rawValue }
  }

  /// Says goodbye to all and ends the session.
  func leave(_ code: CloseCode) {
    end(
      code,
      SessionError(.sessionEnded, "The session was left.")
    )
  }

  /// Ends the session: `error` is what later calls get.
  func end(_ code: CloseCode, _ error: SessionError) {
    guard !hasEnded else { return }
    hasEnded = true
    ticker?.task.cancel()
    for entry in entries.values {
      entry.plan.bar(.always)
      entry.link.take()?.close(code)
      entry.datagrams?.close()
      entry.datagrams = nil
      entry.delivery?.outbox.fail(error)
      entry.relayed = nil
      bulk?.peerLeft(entry.id, error)
    }
    published.withLockedValue {
      $0.end = error
      $0.ways = [:]
      $0.everyone = Routes()
      $0.order = []
      $0.statuses = []
    }
    confirmations.end(error)
    endAdmissions(error)
    deliverEvents()
    events.finish()
    recordSource.finish()
    transport.sessionEnded(self)
  }

  // MARK: Handshakes under way

  /// Requests of strangers that a person must answer.
  var invitations: [InvitationID: ListenerHandshake] = [:]
  /// The places of the handshakes that wait for a person, or soon will (HEL-5).
  var invitationQueue = InvitationQueue<ObjectIdentifier>()
  /// Our own dials between TLS and ACCEPT.
  var handshakes: [ObjectIdentifier: DiallerHandshake] = [:]
  /// Whether the host's word on the session was taken.
  var hasJoined = false
  /// The stored membership of a session that is being joined.
  var storedMembership: MembershipRecord?
}

/// Lets an event queue call a session that does not exist yet when the queue is made.
private final class ProgressRelay: Sendable {
  typealias Action = @Sendable (EventQueue.Progress) -> Void
  private let action = NIOLockedValueBox<Action?>(nil)
  func set(_ action: @escaping Action) { self.action.withLockedValue { $0 = action } }
  func fire(_ progress: EventQueue.Progress) { action.withLockedValue { $0 }?(progress) }
}

// MARK: - Frames of an open link

extension SessionCore: LinkDelegate {
  func linkSecured(_ link: ControlLink) {}

  func link(_ link: ControlLink, received type: FrameType, _ payload: ByteBuffer) {
    guard let entry = link.entry, entry.link === link else { return }
    switch type {
    case .message: receiveMessage(link, entry, payload)
    case .ack: receiveAcknowledgement(link, entry, payload)
    case .ping:
      guard payload.readableBytes == 8 else {
        return fail(link, entry, .protocolError, "A PING has 8 bytes.")
      }
      // Who asks and does not read the answers would fill our memory with them.
      if link.isWritable { link.send(.pong, Array(payload.readableBytesView)) }
    case .pong:
      guard payload.readableBytes == 8 else {
        return fail(link, entry, .protocolError, "A PONG has 8 bytes.")
      }
    case .datagram:
      guard payload.readableBytes <= Limits.datagramMessage else {
        return fail(link, entry, .tooLarge, "A datagram is longer than the limit.")
      }
      emit(
        .datagram(Array(payload.readableBytesView), from: entry.id),
        bytes: payload.readableBytes
      )
    case .relayDatagram: relaying.receivedDatagram(Array(payload.readableBytesView), entry.id)
    case .members, .kick, .addresses, .bulkRequest, .relayGrant:
      do throws(ControlMessageError) {
        try receiveControl(link, entry, type, Array(payload.readableBytesView))
      } catch {
        fail(link, entry, .protocolError, CloseMessage.invalid(type, error))
      }
    default:
      fail(link, entry, .protocolError, CloseMessage.unexpected(type))
    }
  }

  private func receiveMessage(_ link: ControlLink, _ entry: PeerEntry, _ payload: ByteBuffer) {
    guard let delivery = entry.delivery else { return }
    var offset = 0
    let part: MessagePart
    do throws(MessagePart.DecodingError) {
      part = try MessagePart.read(from: payload.readableBytesUInt8Span, at: &offset)
    } catch {
      let code: CloseCode = if case .tooLarge = error { .tooLarge } else { .protocolError }
      return fail(link, entry, code, CloseMessage.invalid(error))
    }
    let count = payload.readableBytes - offset
    let outcome: MessageAssembler.Outcome
    do throws(MessageAssembler.AssemblyError) {
      outcome = try delivery.assembler.receive(part, byteCount: count)
    } catch {
      return fail(link, entry, .protocolError, CloseMessage.invalid(error))
    }
    let bytes = payload.readableBytesView.dropFirst(offset)
    switch outcome {
    case .duplicate: break
    case .whole:
      let message = payload.withUnsafeReadableBytes { source in
        [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
          UnsafeMutableRawBufferPointer(target).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: source[offset...])
          )
          initialized = count
        }
      }
      deliver(message, isRelays: part.isRelays, entry, link)
    case .begin(let total):
      delivery.isPartialRelays = part.isRelays
      delivery.partial = Array(bytes)
      room.began(total, from: entry.id, now: .now())
      updateReading(entry)
      planTick()
    case .append:
      // Here, since the link is read again only when there is room for the message (MSG-5).
      delivery.partial.reserveCapacity(delivery.assembler.total)
      delivery.partial.append(contentsOf: bytes)
    case .finish:
      delivery.partial.append(contentsOf: bytes)
      let message = delivery.partial
      delivery.partial = []
      room.completed(by: entry.id)
      deliver(message, isRelays: delivery.isPartialRelays, entry, link)
      // The relay has handled its messages, which may be those of other members.
      if delivery.isPartialRelays { messageHandled(of: entry.id) }
      updateReading(entry)
    }
    entry.unacknowledgedParts += 1
    entry.unacknowledgedBytes += count
    if part.wantsAcknowledgement { entry.unacknowledgedParts += 256 }
  }

  private func deliver(
    _ message: [UInt8],
    isRelays: Bool,
    _ entry: PeerEntry,
    _ link: ControlLink
  ) {
    if isRelays {
      relaying.received(message, entry, link)
    } else {
      emit(.message(message, from: entry.id), bytes: message.count)
    }
  }

  private func receiveAcknowledgement(
    _ link: ControlLink,
    _ entry: PeerEntry,
    _ payload: ByteBuffer
  ) {
    guard let sequence = try? Acknowledgement.read(payload: payload.readableBytesUInt8Span) else {
      return fail(link, entry, .protocolError, "An ACK is malformed.")
    }
    do throws(AcknowledgementError) {
      try entry.delivery?.outbox.acknowledge(sequence)
      relaying.drain(entry.id)
    } catch {
      fail(link, entry, .protocolError, "An ACK is for a message that was not sent.")
    }
  }

  func linkReadComplete(_ link: ControlLink) {
    guard let entry = link.entry, entry.link === link else { return deliverEvents() }
    if entry.unacknowledgedParts >= 256 || entry.unacknowledgedBytes >= 262_144 {
      writeAcknowledgement(entry, link)
      link.flush()
    } else if entry.owesAcknowledgement && !entry.isAcknowledgementScheduled {
      entry.isAcknowledgementScheduled = true
      let bound = NIOLoopBound((self, entry), eventLoop: eventLoop)
      eventLoop.scheduleTask(in: .milliseconds(20)) {
        let (core, entry) = bound.value
        entry.isAcknowledgementScheduled = false
        guard entry.owesAcknowledgement, let link = entry.link else { return }
        core.writeAcknowledgement(entry, link)
        link.flush()
      }
    }
    if entry.state == .suspect {
      setState(entry, .connected)
      publish()
    }
    deliverEvents()
  }

  func linkWritable(_ link: ControlLink) {
    guard let entry = link.entry, entry.link === link else { return }
    if entry.owesRemovals { spreadRemovals(to: entry) }
    flush(entry)
  }

  func linkEnded(_ link: ControlLink, _ reason: LinkEnd) {
    guard let entry = link.entry, entry.link === link else { return }
    let peer = entry.id
    entry.link = nil
    guard !hasEnded else { return }
    switch reason {
    case .closed(.shuttingDown, _) where entry.isSessionRelay:
      // A relay is begun again (RLY-7): it is dialled like one that was only heard of.
      depart(entry, .shuttingDown)
      planDial(entry, after: .seconds(1))
    case .closed(let code, let message) where code == .tooSlow || code == .tooFast:
      // It keeps nothing of us, and takes us in again (CLS-2).
      depart(entry, DepartureReason(code, message: message))
      planDial(entry, after: .seconds(5))
    case .closed(.timedOut, _) where link.isAdmittedByPerson:
      // The person's answer crossed the dialler's CLOSE: the dialler never learned of it (3.2).
      entry.plan.bar(.untilRestart(of: entry.member.incarnation))
      let error = SessionError(.withdrawn, "The peer stopped waiting before it was admitted.")
      depart(entry, .refused(error))
    case .closed(let code, let message):
      guard entry.plan.closed(code.redial, by: entry.member.incarnation) else {
        return linkBroken(entry)
      }
      let speaksForHost = peer == host || entry.isSessionRelay
      // Another member only repeats that the host removed us: it refuses us, and the session goes on.
      let departure =
        code == .kicked && !speaksForHost
        ? .refused(SessionError(closeCode: code, message: message))
        : DepartureReason(code, message: message)
      depart(entry, departure)
      if code == .kicked && speaksForHost {
        end(.left, SessionError(closeCode: .kicked, message: message))
      }
    case .closedByUs, .broken:
      linkBroken(entry)
    }
  }

  /// Opens a new link with a peer in place of the present one; no message is lost (3.4).
  func renewLink(_ entry: PeerEntry) {
    entry.link.take()?.abort()
    entry.dialledLast = true
    linkBroken(entry)
  }

  /// Keeps what is owed and begins to dial again (LIV-3).
  private func linkBroken(_ entry: PeerEntry) {
    guard entry.isJoined else { return }
    let now = NIODeadline.now()
    entry.brokenAt = entry.brokenAt ?? now
    entry.apartSince = now
    entry.plan.linkBroke(dialledLast: entry.dialledLast, now: now)
    entry.datagrams?.close()
    entry.datagrams = nil
    setState(entry, .reconnecting)
    publish()
    deliverEvents()
    dialIfDue(entry, now)
  }

  // MARK: Control payloads

  private func receiveControl(
    _ link: ControlLink,
    _ entry: PeerEntry,
    _ type: FrameType,
    _ payload: [UInt8]
  ) throws(ControlMessageError) {
    switch type {
    case .members:
      let members = try Control.Members.decode(payload)
      learn(members.members, from: entry.id)
      if let ticket = members.ticket { received(ticket) }
    case .kick:
      received(try Control.Kick.decode(payload), entry, link)
    case .addresses:
      let addresses = try Control.Addresses.decode(payload)
      entry.member.port = addresses.port
      entry.member.addresses = addresses.addresses
      met(entry)
      if relaying.isRelaying { announce(entry.id) }
    case .relayGrant:
      relaying.grantReceived(try RelayGrant.decode(payload), entry, link)
    case .bulkRequest:
      let request = try Control.BulkRequest.decode(payload)
      guard link.side == .dialler else {
        return fail(link, entry, .protocolError, "A BULK-REQUEST comes from the side that dials.")
      }
      bulk?.linksRequested(request, entry, link)
    default: break
    }
  }

  /// Adds members others told of, to be dialled after a while if they do not dial us (MEM-1, MEM-2).
  ///
  /// - Parameters:
  ///   - members: The members.
  ///   - source: The peer that named them; nil for the program itself.
  ///   - delay: How long to wait for their own dials.
  func learn(
    _ members: [Control.Member],
    from source: PeerID? = nil,
    dialAfter delay: TimeAmount = .seconds(3)
  ) {
    // If members may not admit, naming a peer does not admit it either (TCK-5).
    let isVouching =
      switch policy.admitters {
      case .members: true
      case .host: source.map(membership.maySpeakForHost) ?? true
      }
    for member in members where member.peer != localPeer && !membership.isRemoved(member.peer) {
      if let entry = entries[member.peer] {
        if isVouching { entry.isVouched = true }
        if let relayed = entry.relayed { heard(member, entry, relayed) }
        guard !entry.isJoined else { continue }
        entry.member = member
      } else if makeRoomForMember() {
        let entry = PeerEntry(id: member.peer, member: member)
        entry.isVouched = isVouching
        entry.namedBy = source
        entries[member.peer] = entry
      }
      entries[member.peer]?.plan.heard(of: member.incarnation, dialAt: .now() + delay)
    }
    planTick()
  }

  /// Dials a peer behind a relay where it is now, for it may be reached there (RLY-6).
  private func heard(_ member: Control.Member, _ entry: PeerEntry, _ relayed: RelayedWay) {
    guard member.incarnation == relayed.incarnation,
      member.port != entry.member.port || member.addresses != entry.member.addresses
    else { return }
    entry.member.port = member.port
    entry.member.addresses = member.addresses
    planDial(entry, after: .zero)
  }

  /// Whether one more member can be kept; one that is out of the session makes room (MEM-1).
  func makeRoomForMember() -> Bool {
    if entries.count < Limits.members { return true }
    let gone = entries.values.filter { entry in
      entry.id != host && !membership.relays.contains(entry.id)
        && !entry.isJoined && !entry.plan.isDialling && entry.link == nil
        && (entry.plan.next == nil || entry.plan.isBarred || entry.plan.isLost)
    }
    // A peer that this peer never met makes room first.
    guard let gone = gone.first(where: { !membership.contains($0.id) }) ?? gone.first else {
      return false
    }
    entries[gone.id] = nil
    return true
  }

  // MARK: Time

  /// Has ``tick(_:)`` called when something is due next; not at all while nobody is here and nobody is
  /// to be dialled.
  func planTick() {
    guard !hasEnded, let due = nextDue else { return }
    if let ticker {
      guard due < ticker.at else { return }
      ticker.task.cancel()
    }
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let task = eventLoop.scheduleTask(deadline: due) { bound.value.tick(.now()) }
    ticker = (due, task)
  }

  /// When something is due next, to a tenth of a second: all sessions of a process wake it together.
  private var nextDue: NIODeadline? {
    guard let due = (entries.values.compactMap(nextDue) + [room.nextDue].compactMap(\.self)).min()
    else { return nil }
    let tenth: UInt64 = 100_000_000
    // What is due and cannot be done yet, as one more dial, is tried again after a while.
    let next = max(due, .now() + .milliseconds(20)).uptimeNanoseconds + tenth - 1
    return .uptimeNanoseconds(next / tenth * tenth)
  }

  private func nextDue(_ entry: PeerEntry) -> NIODeadline? {
    guard let link = entry.link else {
      let isWaiting = !entry.plan.isDialling && !entry.plan.isBarred
      return [
        isWaiting ? entry.plan.next : nil, relaying.nextDue(entry),
        entry.brokenAt.map { $0 + TimeAmount(configuration.lostAfter) },
      ].compactMap(\.self).min()
    }
    let patience: TimeAmount = entry.state == .connected ? .seconds(2) : .seconds(6)
    return [
      link.lastSent + .seconds(1), entry.datagrams?.nextDue,
      link.isReadingPaused ? nil : link.lastHeard + patience,
      // Else it is not noticed that we stood still.
      .now() + .milliseconds(500),
    ].compactMap(\.self).min()
  }

  /// Tells everyone where we are once that has changed, as by another network (MEM-4).
  private func tellAddresses(_ now: NIODeadline) {
    guard configuration.isDiallable, nextLook.map({ now >= $0 }) ?? true,
      entries.values.contains(where: { $0.link != nil })
    else { return }
    nextLook = now + .milliseconds(2_500)
    let addresses = transport.advertisedAddresses()
    guard addresses != toldAddresses else { return }
    defer { toldAddresses = addresses }
    // Whoever got a HELLO before the first look has heard of these.
    guard toldAddresses != nil else { return }
    let told = Control.Addresses(port: transport.port, addresses: addresses).encoded()
    for entry in entries.values { entry.link?.send(.addresses, told) }
  }

  /// Looks after liveness and reconnection.
  func tick(_ now: NIODeadline) {
    // A process that was stopped could not receive. It reads the data that waits in its sockets,
    // perhaps a goodbye, before it treats a peer as silent (LIV-2). Half of the second that counts
    // as a stop is its own sleep.
    let delay = ticker.map { now - $0.at } ?? .zero
    let stoodStill = delay >= .milliseconds(500)
    ticker = nil
    relaying.tick(now)
    tellAddresses(now)
    for entry in entries.values {
      // The time of the stop does not count against the peer either, since it could not be dialled
      // (LIV-4).
      if stoodStill, let brokenAt = entry.brokenAt { entry.brokenAt = brokenAt + delay }
      if let link = entry.link {
        if stoodStill { link.excuseSilence(until: now) }
        let silence = link.isReadingPaused ? TimeAmount.zero : now - link.lastHeard
        if silence >= .seconds(6) {
          link.abort()
          entry.link = nil
          linkBroken(entry)
        } else if silence >= .seconds(2) && entry.state == .connected {
          setState(entry, .suspect)
          publish()
        }
        if now - link.lastSent >= .seconds(1) {
          link.send(.ping, Array(repeating: 0, count: 8))
        }
        entry.datagrams?.tick(now)
      } else if let brokenAt = entry.brokenAt, now - brokenAt >= TimeAmount(configuration.lostAfter)
      {
        depart(entry, .lost)
        entry.plan.lost(now: now, jitter: jitter())
      }
      if !entry.plan.isLost || entry.plan.announced != nil { dialIfDue(entry, now) }
    }
    for peer in room.overdue(now) {
      if stoodStill || entries[peer]?.link?.isReadingPaused ?? false {
        room.resumed(peer, now: now)
        continue
      }
      let error = SessionError(closeCode: .tooSlow, message: "", isOurs: true)
      disconnect(
        peer,
        .tooSlow,
        .refused(error),
        message: "A large message took too long while other messages waited."
      )
    }
    dialLost(now)
    deliverEvents()
    planTick()
  }

  private func isDue(_ entry: PeerEntry, _ now: NIODeadline) -> Bool {
    guard !hasEnded, entry.link == nil, !entry.plan.isDialling, !entry.plan.isBarred,
      !membership.isRemoved(entry.id), let due = entry.plan.next
    else { return false }
    return now >= due
  }

  private func dialIfDue(_ entry: PeerEntry, _ now: NIODeadline) {
    guard isDue(entry, now), !relaying.sparesDial(entry) else { return }
    // A member that we only heard of may not exist: few of those are dialled at a time (MEM-6).
    if isStranger(entry) {
      let strangers = entries.values.count { $0.plan.isDialling && isStranger($0) }
      guard strangers < Limits.dialsToStrangers else { return }
    }
    dial(entry)
  }

  private func isStranger(_ entry: PeerEntry) -> Bool {
    entry.delivery == nil && !entry.plan.isLost && !membership.contains(entry.id)
  }

  /// Dials the lost peer whose turn it is: one at a time, for most of them are gone (LIV-4).
  private func dialLost(_ now: NIODeadline) {
    let lost = entries.values.filter { $0.plan.isLost && $0.plan.announced == nil }
    guard !lost.contains(where: \.plan.isDialling) else { return }
    let next = lost.filter { isDue($0, now) }.min {
      ($0.plan.next ?? .distantFuture) < ($1.plan.next ?? .distantFuture)
    }
    if let next { dial(next) }
  }

  /// Plans the next attempt after a failed one (LIV-3, LIV-4).
  func dialFailed(_ entry: PeerEntry, _ error: SessionError, redial: CloseCode.Redial) {
    guard !hasEnded else { return }
    entry.plan.ended()
    guard entry.link == nil else { return }
    if error.code == .wrongCode { entry.hasRefusedCode = true }
    // The address belongs to a peer of another network, or the peer accepts only relayed
    // connections. Either way the peer may still be online (RLY-6).
    let isBehindRelay =
      relaying.hasRelays && entry.delivery == nil && error.code != .kicked
      && (entry.relayed != nil || error.code == .wrongPeer)
    let outcome = entry.plan.failed(
      isBehindRelay ? .later : redial,
      .init(
        incarnation: entry.member.incarnation,
        isAwaited: entry.isJoined,
        isKept: membership.contains(entry.id) || relaying.hasRelays || entry.member.role == .relay,
        isRare: isBehindRelay || error.code == .full
      ),
      now: .now(),
      jitter: jitter()
    )
    switch outcome {
    case .planned: planTick()
    case .barred: refused(entry, error)
    case .forgotten: entries[entry.id] = nil
    }
  }

  /// Reports that a dialled peer refused the local peer.
  private func refused(_ entry: PeerEntry, _ error: SessionError) {
    if entry.plan.isLost {
      // Its departure was reported when it was given up.
      emit(
        .warning(
          SessionWarning(
            code: error.code.rawValue,
            message: "\(entry.member.name) was lost before and now refuses the connection:"
              + " \(error.message)",
            peer: entry.id
          )
        )
      )
      deliverEvents()
    } else {
      depart(entry, .refused(error))
    }
    if error.code == .kicked && entry.id == host { end(.left, error) }
  }

  /// Plans to dial a peer after the given wait.
  func planDial(_ entry: PeerEntry, after wait: TimeAmount) {
    entry.plan.plan(after: wait, now: .now(), jitter: jitter())
    planTick()
  }

  /// The fraction of the jitter of LIV-3 for the next dial.
  func jitter() -> Double { .random(in: 0...1) }
}

extension DepartureReason {
  /// Creates a reason from the `ended` text of the other side (CLS-3, RSM-6).
  init(ended: String?) {
    switch ended.flatMap(CloseCode.init(rawValue:)) {
    case .tooSlow: self = DepartureReason(.tooSlow, message: "")
    case .tooFast: self = DepartureReason(.tooFast, message: "")
    default: self = .reset
    }
  }

  init(_ code: CloseCode, message: String) {
    switch code {
    case .left: self = .left
    case .shuttingDown: self = .shuttingDown
    case .kicked: self = .kicked(reason: UntrustedText(message))
    case .disconnected: self = .disconnected
    default: self = .refused(SessionError(closeCode: code, message: message))
    }
  }
}
