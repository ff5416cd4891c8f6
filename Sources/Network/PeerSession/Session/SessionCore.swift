import Logging
import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// The core of a session. The core passes events to the parts that make decisions, and performs their decisions.
/// Confined to its event loop, on which every control link of the session runs. The public ``Session`` switches to that
/// event loop. No method blocks or awaits. ``MemberDirectory`` owns the peers, ``MemberDialler`` dials them,
/// ``SessionAdmission`` admits newcomers, ``MessageDelivery`` serves messages, ``RelaySide`` relays, and
/// ``TransferConnections`` serves resources and streams.
final class SessionCore {
  let transport: TransportCore
  let eventLoop: any EventLoop
  let events: EventQueue
  let published: Locked<SessionSnapshot>
  let incarnation = SessionIncarnation.random()
  let logger: Logger

  /// The name of the session, sent to a dialler in ACCEPT (3.3); empty if the session has no name.
  var name = UntrustedText("") { didSet { published.withLock { [name] in $0.name = name } } }
  private(set) lazy var directory = MemberDirectory(self)
  let dialler: MemberDialler
  let messages = MessageDelivery()
  private(set) lazy var relaying = RelaySide(self)
  let confirmations = Confirmations()
  private(set) lazy var admission = SessionAdmission(self, policy: initialPolicy)
  private let initialPolicy: AdmissionPolicy
  let bulk: TransferConnections
  var reading = ReadingControl()

  private var collected: [SessionEvent] = []
  private var collectedBytes = 0
  var addressWatch = AddressWatch()
  var ticker: (at: NIODeadline, task: Scheduled<Void>)?
  private(set) var hasEnded = false
  /// Whether the user was warned that another process uses the local key (DUP-7).
  var hasReportedOwnCopy = false

  var entries: [PeerID: PeerEntry] { directory.entries }
  var membership: Membership { directory.membership }
  /// The session's id. If a joiner does not know the id, the id is all zeros until the listener admits the joiner.
  var id: SessionID { membership.session }
  var host: PeerID { membership.host }
  /// Whether the local peer has the rights of the host (MEM-15).
  var isHost: Bool { membership.authority == localPeer }
  var configuration: TransportConfiguration { transport.configuration }
  var localPeer: PeerID { transport.localPeer }

  init(transport: TransportCore, id: SessionID, host: PeerID, policy: AdmissionPolicy) {
    self.transport = transport
    self.eventLoop = transport.eventLoop
    self.initialPolicy = policy
    dialler = MemberDialler(lostAfter: TimeAmount(transport.configuration.lostAfter))
    bulk = TransferConnections(inbox: transport.inbox)
    self.published = Locked(SessionSnapshot(id: id, host: host))
    var logger = transport.configuration.logger
    logger[metadataKey: "session"] = "\(id.short)"
    self.logger = logger
    self.events = EventQueue(maximumMessages: Limits.heldMessages, maximumBytes: Limits.message)
    directory.begin(id, host: host)
    let bound = NIOLoopBound(self, eventLoop: eventLoop)
    let loop = eventLoop
    events.onProgress { progress in loop.execute { bound.value.consumerProgressed(progress) } }
  }

  func joined(as id: SessionID, host: PeerID, maximum: Int) {
    guard self.id == .unnamed || self.id == id else { return }
    let wasUnnamed = self.id == .unnamed
    if directory.joined(as: id, host: host) { admission.maximum = min(maximum, Limits.members) }
    if wasUnnamed { transport.add(self) }
    if let stored = directory.storedMembership.take() { directory.restore(stored) }
    admission.hostIfOwn()
    relaying.chooseTopology()
  }

  // MARK: Events

  func emit(_ event: SessionEvent, bytes: Int = 0) {
    collected.append(event)
    collectedBytes += bytes
  }

  /// Passes the collected events to the consumer, and stops reading the links if the consumer is too slow (MSG-5).
  func deliverEvents() {
    guard !collected.isEmpty else { return }
    let mustPause = events.push(&collected, bytes: collectedBytes)
    collectedBytes = 0
    if mustPause && !reading.isApplicationBehind {
      reading.isApplicationBehind = true
      for entry in entries.values { entry.link?.pauseReading() }
    }
  }

  private func consumerProgressed(_ progress: EventQueue.Progress) {
    switch progress {
    case .tookAll:
      reading.isApplicationBehind = false
      for entry in entries.values { updateReading(entry) }
    case .handledMessage(let peer): updateReading(reading.messageHandled(of: peer, now: .now()))
    }
  }

  /// Updates the snapshot that other threads may read, and the time of the next tick.
  func publish() {
    let joined = entries.values.filter(\.isJoined).sorted { $0.id < $1.id }
    let peers = joined.map { entry in
      let route = route(to: entry)
      let status = PeerStatus(
        peer: entry.peer,
        state: entry.state,
        datagramPath: hop(to: entry)?.datagrams?.path ?? .link,
        isDelivered: route?.outbox.isDelivered ?? true
      )
      return (status: status, route: route)
    }
    let authority = membership.authority
    published.withLock { published in
      published.replacePeers(with: peers)
      published.id = id
      published.host = host
      published.admitters = joined.filter { $0.hasRight || $0.id == authority }.map(\.id)
    }
    planTick()
  }

  func hop(to entry: PeerEntry) -> PeerEntry? {
    guard let relayed = entry.relayed else { return entry }
    return entries[relayed.route.relay]
  }

  private func route(to entry: PeerEntry) -> Route? {
    if let outbox = entry.delivery?.outbox { return Route(outbox: outbox, joinGeneration: outbox.joinGeneration) }
    guard let relayed = entry.relayed, let outbox = hop(to: entry)?.delivery?.outbox else { return nil }
    return Route(outbox: outbox, relayed: relayed.route, ledger: relayed.ledger, joinGeneration: relayed.joinGeneration)
  }

  func introduction(for entry: PeerEntry?) -> Control.Introduction {
    Control.Introduction(
      session: id,
      name: UntrustedText(configuration.displayName),
      incarnation: incarnation,
      port: configuration.isDiallable ? transport.port : 0,
      addresses: configuration.isDiallable ? transport.advertisedAddresses() : [],
      role: relaying.role,
      links: entry?.linkNumber ?? 0,
      passes: relaying.passes
    )
  }

  func setState(_ entry: PeerEntry, _ state: PeerState) {
    guard entry.state != state else { return }
    entry.state = state
    emit(.peerStateChanged(entry.id, state))
    relaying.stateChanged(of: entry)
  }

  func peerJoined(_ entry: PeerEntry) {
    entry.state = .connecting
    emit(.peerJoined(entry.peer))
    warnOfName(of: entry.id, entry.member.name)
  }

  func warnOfName(of peer: PeerID, _ name: UntrustedText) {
    // No warning is needed if the local peer, as the host, moved the session to another relay.
    guard !relaying.isReplacement(peer) else { return }
    if let warning = transport.nameWarning(peer, name) { emit(.warning(warning)) }
  }

  // MARK: Reading

  func setReading(_ reads: Bool, from peer: PeerID) {
    guard let entry = entries[peer], entry.delivery != nil else { return }
    if reads {
      reading.start(peer)
      updateReading(reading.messageHandled(of: peer, now: .now()))
    } else {
      reading.stop(peer)
    }
    updateReading(entry)
  }

  func updateReading(_ entry: PeerEntry) {
    if reading.reads(entry.id) {
      if entry.link?.isReadingPaused ?? true { reading.room.resumed(entry.id, now: .now()) }
      entry.link?.resumeReading()
    } else {
      entry.link?.pauseReading()
    }
  }

  private func updateReading(_ peers: [PeerID]) { for peer in peers { entries[peer].map(updateReading) } }

  func largeMessageBegan(_ total: Int, from entry: PeerEntry) {
    reading.room.began(total, from: entry.id, now: .now())
    updateReading(entry)
    planTick()
  }

  /// A message to the local relay is handled immediately. For any other message, the application reports later that it
  /// handled the message.
  func largeMessageEnded(_ entry: PeerEntry, isRelays: Bool) {
    if isRelays { updateReading(reading.room.handled(entry.id, now: .now())) }
    updateReading(entry)
  }

  /// Handles the proof that the host is not the peer that was assumed to be the host (MEM-15).
  func hostReplaced() {
    for entry in entries.values where entry.isSessionRelay && entry.id != host {
      // The former host vouched for the relay, so the relay must prove its role again.
      entry.isSessionRelay = false
    }
    publish()
  }

  // MARK: Departure

  func fail(_ link: ControlLink, _ entry: PeerEntry?, _ code: CloseCode, _ message: String) {
    logger.info("Closed a link.", metadata: ["code": "\(code.rawValue)", "reason": "\(message)"])
    link.close(code, message)
    guard let entry, entry.link === link || entry.link == nil else { return }
    entry.link = nil
    dialler.policy[entry.id].bar(.untilRestart(of: entry.member.incarnation))
    depart(entry, .refused(SessionError(.protocolError, "The peer broke the protocol. \(message)")))
  }

  func depart(_ entry: PeerEntry, _ reason: DepartureReason) {
    guard entry.isJoined else { return }
    drop(entry, reason)
    publish()
    deliverEvents()
  }

  /// The caller must publish the change.
  func drop(_ entry: PeerEntry, _ reason: DepartureReason) {
    entry.apartSince = .now()
    reading.start(entry.id)
    if let relayed = entry.relayed.take() {
      confirmations.failed(entry.id, SessionError(.peerLost, "The peer is no longer in the session."))
      bulk.peerLeft(entry.id)
      // Senders count messages under the same lock, so the count cannot change once the route is removed.
      let undelivered = published.withLock { published in
        published.routes[entry.id] = nil
        return relayed.ledger.unconfirmed
      }
      emit(.peerLeft(entry.id, reason, undelivered: undelivered))
      entry.state = .connecting
    }
    guard let delivery = entry.delivery else { return }
    let undelivered = delivery.outbox.fail(
      SessionError(reason == .lost ? .peerLost : .notConnected, "The peer is no longer in the session: \(reason.word).")
    )
    entry.delivery = nil
    updateReading(reading.room.removed(entry.id, now: .now()))
    // If the reason is `restarted` or `reset`, the other side gave up the delivery state first, so it does not need the
    // reason.
    let isKnownThere = reason == .restarted || reason == .reset
    entry.gaveUp = isKnownThere ? nil : (delivery.incarnation, reason.word)
    dialler.policy[entry.id].departed()
    entry.datagrams?.close()
    entry.datagrams = nil
    bulk.peerLeft(entry.id)
    emit(.peerLeft(entry.id, reason, undelivered: undelivered))
    entry.state = .connecting
    relaying.departed(entry, reason)
  }

  /// The local peer does not dial the peer again, but the peer may return by itself.
  func disconnect(_ peer: PeerID, _ code: CloseCode, _ reason: DepartureReason, message: String) {
    guard let entry = entries[peer] else { return }
    let incarnation = entry.member.incarnation
    dialler.policy[peer].bar(code == .kicked ? .always : .untilRestart(of: incarnation))
    entry.link.take()?.close(code, message)
    relaying.disconnects(entry, code)
    let hasState = entry.delivery != nil
    depart(entry, reason)
    // The peer might not receive CLOSE, so the next handshake repeats the close code (CLS-3).
    if hasState { entry.gaveUp?.code = code.rawValue }
  }

  func leave(_ code: CloseCode) { end(code, SessionError(.sessionEnded, "This peer left the session.")) }

  func end(_ code: CloseCode, _ error: SessionError) {
    guard !hasEnded else { return }
    hasEnded = true
    ticker?.task.cancel()
    dialler.policy.end()
    for entry in entries.values {
      entry.link.take()?.close(code)
      entry.datagrams?.close()
      entry.datagrams = nil
      // Break a reference cycle: the outbox refers to the session.
      entry.delivery.take()?.outbox.fail(error)
      entry.relayed = nil
      bulk.peerLeft(entry.id, error)
    }
    published.withLock { $0.end(error) }
    confirmations.end(error)
    admission.end()
    deliverEvents()
    events.finish()
    directory.finish()
    transport.sessionEnded(self)
  }
}

/// Detects changes of the local addresses, so that the session can send the new addresses to the peers (MEM-4).
struct AddressWatch {
  static let interval = TimeAmount.milliseconds(2_500)

  private var announced: [String]?
  private var nextCheck: NIODeadline?

  /// Returns the current addresses if they differ from the announced addresses; `nil` if they do not differ, or if the
  /// interval has not passed.
  mutating func changed(now: NIODeadline, addresses: () -> [String]) -> [String]? {
    if let nextCheck, now < nextCheck { return nil }
    nextCheck = now + Self.interval
    let addresses = addresses()
    guard addresses != announced else { return nil }
    // The first check sends nothing, because each HELLO already contained the addresses.
    defer { announced = addresses }
    return announced == nil ? nil : addresses
  }
}

/// A snapshot of a session's state, which any thread may read. The session's event loop updates the snapshot.
struct SessionSnapshot: Sendable {
  var routes: [PeerID: Route] = [:]
  var everyone = Routes()
  var paces: [PeerID: RelayPace] = [:]
  var order: [PeerID] = []
  var statuses: [PeerStatus] = []
  var end: SessionError?
  var id: SessionID
  var host: PeerID
  var name = UntrustedText("")
  /// The connected peers that may admit newcomers if the policy is `ask`: the host, and the members that the host gave
  /// this right (TCK-6).
  var admitters: [PeerID] = []

  mutating func replacePeers(with peers: [(status: PeerStatus, route: Route?)]) {
    order = peers.map(\.status.peer.id)
    statuses = peers.map(\.status)
    routes = [:]
    everyone = Routes()
    for (status, route) in peers {
      guard let route else { continue }
      routes[status.peer.id] = route
      everyone.add(status.peer.id, route)
    }
  }

  mutating func end(_ error: SessionError) {
    end = error
    admitters = []
    replacePeers(with: [])
  }
}
