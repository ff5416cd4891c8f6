import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// The relaying part of a session (11). In a member, this part manages the relayed peers. In a relay, this part manages
/// the members that the relay connects. Confined to the session's event loop. ``RelayedPeers`` and ``RouteTable`` make
/// the decisions.
final class RelaySide {
  unowned let session: SessionCore
  /// The host's grant, which makes the local peer a relay of the session (RLY-1).
  var grant: RelayGrant? {
    didSet {
      let local = session.localPeer
      if grant != nil { session.directory.update { $0.vouched(for: local) } }
    }
  }
  /// The terms for each relay of a session that the local peer hosts, indexed by the relay's key (RLY-2).
  var carriers: [PeerID: CarryTerms] = [:]
  /// The relays that this relay recommends to the host (RLY-22).
  private var recommended: [Control.RecommendedRelay] = []
  /// The recommended relays that the host is asking.
  private var asked: Set<PeerID> = []

  private var relayed = RelayedPeers()
  var star = Star()
  /// The topology that a member named whose statement is not stored (RLY-18).
  var heardTopology: SessionTopology?
  var hasReportedLargeMesh = false
  /// The members whose links a route can replace, and the time since which it can (RLY-21).
  var replacedLinks: [PeerID: NIODeadline] = [:]

  // The local peer's state as a relay.
  var table = RouteTable()
  var queues: [PeerID: RelayQueue] = [:]
  var limiters: [PeerID: RateLimiter] = [:]
  var tally = RelayTally()
  var unflushed: Set<PeerID> = []
  var isGathering = false

  private var hasReportedBridge = false

  init(_ session: SessionCore) { self.session = session }

  /// Whether the local peer relays for its members, because browsers cannot be dialed (WEB-7), or because the local peer
  /// hosts a star (RLY-19). This value never becomes false again, because members may have asked for routes.
  private var isHub = false

  var callsItselfRelay: Bool { session.configuration.isRelay || isHub }

  var role: Control.Role { callsItselfRelay ? .relay : .member }

  var isRelaying: Bool { callsItselfRelay && (session.host == session.localPeer || grant != nil) }

  /// Whether the local peer opens routes between its members, as a relay or as a bridge (RLY-15).
  var opensRoutes: Bool { isRelaying || session.configuration.isBridge }

  /// The rate at which the local peer forwards the data of one member; `nil` if the local peer opens no routes.
  var passes: RelayRate? {
    if callsItselfRelay { return session.configuration.relayLimits.rate }
    return session.configuration.isBridge ? session.configuration.bridgeRate : nil
  }

  /// Makes the host a relay between its members, so that the members can reach each other and the browsers that join the
  /// session (RLY-19, WEB-7).
  func becomeHub() {
    guard !isHub else { return }
    let wasRelaying = isRelaying
    isHub = true
    guard !wasRelaying else { return }
    becameRelay()
    // The members learn of the role on a new link.
    for entry in session.entries.values where entry.link != nil { session.renewLink(entry) }
  }

  private func becameRelay() {
    limiters = [:]
    guard !session.configuration.isBridge else { return }
    for entry in session.entries.values { if let delivery = entry.delivery { began(entry, delivery.incarnation) } }
  }

  var hasRelays: Bool { relayed.hasRelays }

  // MARK: Events of the session

  /// Ends the relayed route to a peer because a direct link to it opens (RLY-8).
  func linkOpens(_ entry: PeerEntry) {
    unwant(entry.id, .rerouted)
    guard let former = entry.relayed?.incarnation else { return }
    session.drop(entry, former == entry.member.incarnation ? .rerouted : .restarted)
  }

  func began(_ entry: PeerEntry, _ incarnation: SessionIncarnation) {
    queues[entry.id] = nil
    guard opensRoutes else { return }
    perform(table.joined(entry.id, incarnation))
  }

  func linkOpened(_ entry: PeerEntry, _ link: ControlLink) {
    if let grant, session.configuration.isRelay { link.send(.relayGrant, grant.encoded()) }
    if isRelaying {
      // The members behind a relay and all other members must know each other (RLY-3).
      session.directory.announce(entry.id)
      guard link.side == .dialler else { return offersRoutes(entry) }
      for members in Control.Members.split(session.directory.members(besides: entry.id)) {
        link.send(.members, members.encoded())
      }
    }
    offersRoutes(entry)
  }

  /// Handles a peer that may open routes: a host that is also a relay (RLY-1), or a bridge.
  func offersRoutes(_ entry: PeerEntry) {
    if entry.id == session.membership.authority, entry.member.role == .relay {
      if !entry.isSessionRelay { gained(entry) }
    } else if entry.offersRoutes, !entry.opensRoutes, !session.configuration.isRelay {
      entry.isBridge = true
      relayed.gained(entry.id, as: entry.id == session.host ? .host : .bridge)
      setPace(of: entry)
    }
  }

  /// Returns whether one more peer may be in the session through a relay or bridge. Without this limit, a member could
  /// fill the session with peers that no other member reports (RLY-16).
  private func hasRoom(behind relay: PeerID) -> Bool {
    session.membership.maySpeakForHost(relay) || session.directory.peerCount < session.admission.maximum
  }

  private func setPace(of entry: PeerEntry) {
    let pace = session.configuration.isPaced ? RelayPace(entry.passes, now: .uptime) : nil
    session.published.withLock { $0.paces[entry.id] = pace }
  }

  func grantReceived(_ grant: RelayGrant, _ entry: PeerEntry, _ link: ControlLink) {
    guard !entry.isSessionRelay else { return }
    session.directory.notice([PeerID(spki: grant.key)])
    guard grant.isValid(session: session.id, host: session.host, relay: entry.id) else {
      return session.fail(link, entry, .protocolError, "The signature of the relay grant is not valid.")
    }
    guard entry.member.role == .relay else { return }
    gained(entry)
  }

  private func gained(_ entry: PeerEntry) {
    entry.isSessionRelay = true
    entry.isBridge = false
    relayed.gained(entry.id)
    setPace(of: entry)
    session.directory.update { $0.vouched(for: entry.id) }
  }

  func departed(_ entry: PeerEntry, _ reason: DepartureReason) {
    queues[entry.id] = nil
    limiters[entry.id] = nil
    perform(table.left(entry.id, RouteEnd(reason)))
    guard entry.opensRoutes else { return }
    entry.isSessionRelay = false
    entry.isBridge = false
    session.published.withLock { $0.paces[entry.id] = nil }
    // If the relay is lost, the peers behind it are lost too. Otherwise, their departure is reported as a reset.
    for peer in relayed.lost(entry.id) { settle(peer, reason == .lost ? .lost : .reset) }
  }

  func disconnects(_ entry: PeerEntry, _ code: CloseCode) { unwant(entry.id, RouteEnd(code)) }

  func stateChanged(of relay: PeerEntry) {
    guard relay.opensRoutes else { return }
    for entry in session.entries.values where entry.relayed?.route.relay == relay.id {
      session.setState(entry, relay.state)
    }
  }

  /// Requests a route to each peer that has neither a link nor a route, if the request is due (RLY-6).
  func tick(_ now: NIODeadline) {
    closeStuck(now)
    updateStar(now)
    for entry in session.entries.values where needsRoute(entry, now) {
      if let due = relayDue(entry), now >= due { send(relayed.want(entry.id, entry.member.incarnation)) }
      if entry.link == nil, let due = bridgeDue(entry), now >= due {
        entry.bridgeAsked = now
        send(relayed.wantBridge(entry.id, entry.member.incarnation))
      }
    }
    closeReplacedLinks(now)
  }

  func hasRoute(to peer: PeerID) -> Bool { relayed.route(to: peer) != nil }

  /// When to request a route to a peer without a link, or to treat a hub as out of reach; `nil` if no route is needed,
  /// or every relay and bridge was already asked.
  func nextDue(_ entry: PeerEntry) -> NIODeadline? {
    let lostAt = entry.isSessionRelay && !star.lostHubs.contains(entry.id) ? entry.apartSince + Star.wait : nil
    guard needsRoute(entry, .now()) else { return lostAt }
    return [relayDue(entry), bridgeDue(entry), lostAt].compactMap(\.self).min()
  }

  private func needsRoute(_ entry: PeerEntry, _ now: NIODeadline) -> Bool {
    (entry.link == nil ? lacksHub(entry) : replacesLink(of: entry, now))
      && !session.dialler.policy[entry.id].isBarred && !session.membership.isRemoved(entry.id)
  }

  /// Whether there is no route to a peer, or only one through a hub that is out of reach.
  private func lacksHub(_ entry: PeerEntry) -> Bool {
    entry.relayed.map { star.lostHubs.contains($0.route.relay) } ?? true
  }

  private func relayDue(_ entry: PeerEntry) -> NIODeadline? {
    guard !relayed.isAsked(entry.id, entry.member.incarnation) else { return nil }
    // A peer without an address, such as a browser, cannot be dialed, so do not wait for a link.
    let isImmediate = (star.isActive || entry.addresses.isEmpty) && !entry.wasOverrun
    return isImmediate ? .distantPast : entry.apartSince + .seconds(2)
  }

  /// Returns when to ask the next bridge for a route to a peer (RLY-15).
  private func bridgeDue(_ entry: PeerEntry) -> NIODeadline? {
    // A bridge is asked only about a process that a member reported to be online.
    guard entry.relayed == nil, entry.isVouched, !entry.member.isGuest, entry.member.incarnation != .unknown,
      let bridge = relayed.nextBridge(to: entry.id, entry.member.incarnation), hasRoom(behind: bridge)
    else { return nil }
    // Wait, because a link may still open: if a newcomer cannot dial a member, the member dials the newcomer after 3 s
    // (MEM-2). A broken link usually returns soon, but a route would end its delivery state (RLY-8). If the session has
    // relays, they answer first.
    let wait = TimeAmount.seconds((entry.delivery == nil ? 4 : 5) + (hasRelays ? 1 : 0))
    // A peer without an address cannot be dialed, so do not wait for a link.
    let isImmediate = entry.addresses.isEmpty && entry.delivery == nil && !entry.wasOverrun
    let first = isImmediate ? .distantPast : entry.apartSince + wait
    return entry.bridgeAsked.map { max(first, $0 + .seconds(1)) } ?? first
  }

  // MARK: Messages of relays

  /// Handles a message with flag 8, which is between a member and a relay.
  func received(_ bytes: [UInt8], _ entry: PeerEntry, _ link: ControlLink) {
    var offset = 0
    let message: RelayMessage
    do throws(RelayMessage.DecodingError) {
      message = try RelayMessage.read(from: bytes.span, payloadAt: &offset)
    } catch { return session.fail(link, entry, .protocolError, CloseMessage.invalid(error)) }
    guard message.isRelays ? entry.opensRoutes : opensRoutes else {
      return session.fail(link, entry, .protocolError, "A relay message arrived, but this peer is not a relay.")
    }
    do {
      if message.isRelays {
        try relayMessageReceived(message, bytes[offset...], entry)
      } else {
        try memberMessageReceived(message, bytes[offset...], entry, link)
      }
    } catch let error as ControlMessageError {
      session.fail(link, entry, .protocolError, CloseMessage.invalid(.members, error))
    } catch { session.fail(link, entry, .protocolError, CloseMessage.invalidRoute(error)) }
  }

  private func relayMessageReceived(_ message: RelayMessage, _ payload: ArraySlice<UInt8>, _ relay: PeerEntry) throws {
    switch message {
    case .route(let number):
      var member = try Control.Member.decode(Array(payload)).usable(from: relay.link?.remote)
      if !session.membership.maySpeakForHost(relay.id) {
        member.isGuest = session.entries[member.peer]?.member.isGuest ?? false
      }
      try relayed.opened(number, of: relay.id, to: member.peer, member.incarnation, local: session.localPeer)
      guard relayed.peer(at: number, of: relay.id) != nil else { return }
      guard let entry = session.entries[member.peer] else { return unwant(member.peer, .rerouted) }
      entry.member = member
      settle(member.peer, .rerouted)
    case .unroute(let number, let end):
      let peer = try relayed.closed(number, of: relay.id)
      // Senders must stop using the number before it is released (RLY-5). `settle` publishes the end of the route to
      // the senders.
      if let peer { settle(peer, end) }
      send([RelayedPeers.Action(relay: relay.id, message: .free(number))])
    case .from(let number):
      guard let peer = peer(at: number, of: relay.id) else { return }
      session.emit(.message(Array(payload), from: peer), bytes: payload.count)
    case .confirming(let number, let token):
      guard peer(at: number, of: relay.id) != nil else { return }
      send([RelayedPeers.Action(relay: relay.id, message: .confirmed(number, token: token))])
    case .confirmation(let number, let token):
      guard let peer = peer(at: number, of: relay.id) else { return }
      // A sender holds this lock while it queues a CONFIRM and counts it. Take the lock, because the answer may arrive
      // between these two steps.
      let ledger = session.entries[peer]?.relayed?.ledger
      session.published.withLock { _ in ledger?.confirmed(token) }
      session.confirmations.confirmed(token, by: peer)
    default: break
    }
  }

  func peer(at number: UInt8, of relay: PeerID) -> PeerID? {
    guard let peer = relayed.peer(at: number, of: relay),
      session.entries[peer]?.relayed?.route == RelayRoute(relay: relay, number: number)
    else { return nil }
    return peer
  }

  /// Updates a relayed peer's presence to match the available routes (RLY-8).
  func settle(_ peer: PeerID, _ end: RouteEnd) {
    guard let entry = session.entries[peer], entry.link == nil else { return }
    let route = relayed.route(to: peer, outOfReach: star.lostHubs)
    guard route != entry.relayed?.route else { return }
    if route != nil, let former = entry.relayed?.route.relay, star.lostHubs.contains(former),
      let action = relayed.unwant(peer, .rerouted, through: former)
    {
      send([action])
    }
    if let route, !entry.isJoined, !hasRoom(behind: route.relay) { return unwant(peer, .rerouted) }
    if route != nil {
      if let former = entry.delivery?.incarnation ?? entry.relayed?.incarnation {
        session.drop(entry, former == entry.member.incarnation ? .rerouted : .restarted)
      }
    } else if entry.relayed != nil {
      session.drop(entry, DepartureReason(end))
      entry.wasOverrun = end == .overrun
      if end.isFinal {
        session.dialler.policy[peer].bar(.untilRestart(of: entry.member.incarnation))
      } else {
        session.dialler.plan(entry, after: .zero, in: session)
      }
    }
    if let route {
      entry.relayed = RelayedPresence(
        route: route,
        incarnation: entry.member.incarnation,
        joinGeneration: session.messages.nextJoinGeneration()
      )
      session.dialler.policy[peer].departed()
      // Any other member could otherwise bring in peers that no member admitted (RLY-16).
      if session.membership.maySpeakForHost(route.relay) { session.directory.met(entry) }
      session.emit(.peerJoined(entry.peer))
      session.bulk.routeOpened(peer, in: session)
      session.setState(entry, session.entries[route.relay]?.state ?? .connected)
      session.dialler.policy[peer].relayed(now: .now(), jitter: session.dialler.jitter())
      session.planTick()
    }
    session.publish()
    session.deliverEvents()
  }

  func unwant(_ peer: PeerID, _ end: RouteEnd) { send(relayed.unwant(peer, end)) }

  /// Reports once that peers are reached only through a bridge, and how to reach them directly.
  func couldNotDial(_ entry: PeerEntry) {
    guard !hasReportedBridge, !star.isActive, let relay = entry.relayed?.route.relay,
      let bridge = session.entries[relay],
      !session.configuration.isRelay, bridge.isBridge || relay == session.host, !entry.addresses.isEmpty
    else { return }
    hasReportedBridge = true
    let (name, through) = (entry.member.name.displayed, bridge.member.name.displayed)
    session.emit(
      .warning(
        SessionWarning(
          code: SessionWarning.reachedThroughMember,
          message: "This computer and \(name) cannot connect directly, so \(through) forwards"
            + " all data. Open TCP and UDP port \(session.transport.port) in this computer's"
            + " firewall, or port \(entry.member.port) in \(name)'s, or use a relay.",
          peer: entry.id
        )
      )
    )
    session.deliverEvents()
  }

  private func send(_ actions: [RelayedPeers.Action]) {
    for action in actions {
      guard let entry = session.entries[action.relay], let outbox = entry.delivery?.outbox,
        !outbox.appendControl(action.message.encoded())
      else { continue }
      session.disconnect(
        action.relay,
        .tooSlow,
        .refused(SessionError(.busy, "The relay does not read its messages.")),
        message: ""
      )
    }
  }
}

// MARK: - How a session moves to a relay (RLY-2)

extension RelaySide {
  func isReplacement(_ peer: PeerID) -> Bool { carriers[peer] != nil && carriers.keys.contains { $0 != peer } }

  func carried(_ policy: AdmissionPolicy, _ grant: RelayGrant) {
    session.admission.followPolicy(policy)
    let wasRelaying = isRelaying
    self.grant = grant
    guard !wasRelaying else { return }
    becameRelay()
    for entry in session.entries.values { if let link = entry.link { linkOpened(entry, link) } }
  }

  func recommend(_ relays: [Control.RecommendedRelay]) {
    recommended = Array(relays.prefix(Control.RecommendedRelay.maximum))
    if let entry = session.entries[session.host] { session.admission.sendTerms(to: entry) }
  }

  func recommendations(for peer: PeerID) -> [Control.RecommendedRelay]? {
    guard !recommended.isEmpty, isRelaying, peer == session.host else { return nil }
    return recommended
  }

  /// Asks the relays that a relay of the hosted session recommends to relay the session too (RLY-22).
  func received(_ relays: [Control.RecommendedRelay], from relay: PeerID, at remote: PeerAddress?) {
    guard let terms = carriers[relay] else { return }
    for other in relays where carriers[other.peer] == nil && !asked.contains(other.peer) {
      let addresses = usableAddresses(other.addresses, from: remote).map { PeerAddress(host: $0, port: other.port) }
      guard other.peer != session.localPeer, !addresses.isEmpty,
        carriers.count + asked.count <= Control.RecommendedRelay.maximum
      else { continue }
      asked.insert(other.peer)
      // If the relay refuses or cannot be reached, the next recommendation causes another attempt.
      RelayMove(session, terms).start(addresses, relay: other.peer).assumeIsolated().whenComplete { [self] _ in
        asked.remove(other.peer)
      }
    }
  }

  func codeReplaced(with code: JoinCode) {
    for (relay, terms) in carriers {
      guard case .code = terms.admission else { continue }
      carriers[relay]?.admission = .code(code)
      // A new link carries the new code to the relay (RLY-2).
      if let entry = session.entries[relay], entry.link != nil { session.renewLink(entry) }
    }
  }
}

extension RouteEnd {
  /// Whether the peer must not be dialed or requested again until it restarts.
  var isFinal: Bool {
    switch self {
    case .left, .shuttingDown, .disconnected, .kicked, .protocolError: true
    case .rerouted, .overrun, .lost, .restarted, .tooSlow, .reset: false
    }
  }

  init(_ code: CloseCode) {
    switch code {
    case .left: self = .left
    case .shuttingDown: self = .shuttingDown
    case .disconnected: self = .disconnected
    case .kicked: self = .kicked
    case .protocolError: self = .protocolError
    case .tooSlow: self = .tooSlow
    default: self = .reset
    }
  }

  init(_ reason: DepartureReason) {
    switch reason {
    case .left: self = .left
    case .shuttingDown: self = .shuttingDown
    case .kicked: self = .kicked
    case .restarted: self = .restarted
    case .rerouted: self = .rerouted
    case .overrun: self = .overrun
    case .lost: self = .lost
    case .disconnected, .reset, .refused: self = .reset
    }
  }
}

extension DepartureReason {
  init(_ end: RouteEnd) {
    switch end {
    case .rerouted: self = .rerouted
    case .overrun: self = .overrun
    case .left: self = .left
    case .shuttingDown: self = .shuttingDown
    case .disconnected: self = .disconnected
    case .kicked: self = .kicked(reason: UntrustedText(""))
    case .lost: self = .lost
    case .reset: self = .reset
    case .restarted: self = .restarted
    case .protocolError:
      self = .refused(SessionError(.protocolError, "The peer reports that this program broke the protocol."))
    case .tooSlow: self = .refused(SessionError(closeCode: .tooSlow, message: ""))
    }
  }
}
