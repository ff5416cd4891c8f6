import NIOCore
import PeerWire

// Forwarding of messages between a relay's members.
extension RelaySide {
  func memberMessageReceived(
    _ message: RelayMessage,
    _ payload: ArraySlice<UInt8>,
    _ entry: PeerEntry,
    _ link: ControlLink
  ) throws {
    let sender = entry.id
    var copies = 1
    switch message {
    case .reach(let peer, let incarnation):
      guard let other = PeerID(bytes: peer), let known = SessionIncarnation(bytes: incarnation) else { return }
      let maximum = isRelaying ? Int.max : Limits.bridgedPairs
      perform(try table.reach(from: sender, to: other, known, maximumRoutes: maximum))
    case .unreach(let peer, let end):
      guard let other = PeerID(bytes: peer) else { return }
      perform(table.unreach(from: sender, to: other, end))
    case .free(let route): try table.free(route, of: sender)
    case .send(let routes):
      let targets = table.targets(of: routes, from: sender)
      copies = max(1, targets.count)
      for target in targets { forward(RelayMessage.from(target.route).encoded(payload), to: target.peer) }
    case .confirm(let routes, let token):
      let targets = table.targets(of: routes, from: sender)
      copies = max(1, targets.count)
      for target in targets { forward(RelayMessage.confirming(target.route, token: token).encoded(), to: target.peer) }
    case .confirmed(let route, let token):
      for target in table.targets(of: RouteSet([route]), from: sender) {
        forward(RelayMessage.confirmation(target.route, token: token).encoded(), to: target.peer)
      }
    default: return
    }
    enforceRate(entry, link, payload.count + RateLimiter.overhead, copies)
  }

  /// Slows down a member that exceeds the rate, and closes the member's link if the member continues (RLY-14).
  private func enforceRate(_ entry: PeerEntry, _ link: ControlLink, _ count: Int, _ copies: Int) {
    tally.copies += copies
    tally.bytes += count * copies
    switch limiter(of: entry.id, { $0.charge(count, copies: copies, now: .uptime) }) {
    case .pass: break
    case .wait(let pause):
      guard !session.reading.isThrottled(entry.id) else { return }
      session.reading.throttle(entry.id)
      link.pauseReading()
      session.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) { [session] in
        session.reading.endThrottle(entry.id)
        session.updateReading(entry)
      }
    case .close:
      session.disconnect(
        entry.id,
        .tooFast,
        .refused(SessionError(closeCode: .tooFast, message: "", isOurs: true)),
        message: "You sent data faster than this relay forwards it."
      )
    }
  }

  func mayPass(_ count: Int, copies: Int, from peer: PeerID) -> Bool {
    limiter(of: peer) { $0.allowsDatagram(count, copies: copies, now: .uptime) }
  }

  private func limiter<Answer>(of peer: PeerID, _ body: (inout RateLimiter) -> Answer) -> Answer {
    var limiter = limiters[peer] ?? RateLimiter(passes ?? RelayRate(), now: .uptime)
    defer { limiters[peer] = limiter }
    return body(&limiter)
  }

  func perform(_ actions: [RouteTable.Action]) {
    for action in actions {
      switch action {
      case .open(let peer, let route, let other):
        guard let member = session.entries[other]?.member else { continue }
        sendControl(RelayMessage.route(route).encoded(member.encoded()), to: peer)
      case .close(let peer, let route, let end): sendControl(RelayMessage.unroute(route, end).encoded(), to: peer)
      case .correct(let peer, let other):
        guard let member = session.entries[other]?.member else { continue }
        session.entries[peer]?.link?.send(.members, Control.Members(members: [member]).encoded())
      }
    }
  }

  private func sendControl(_ message: [UInt8], to peer: PeerID) {
    queues[peer, default: RelayQueue()].append(control: message)
    flushSoon(peer)
  }

  /// Queues a message for a member, or ends the member's routes if too many bytes are queued for the member (RLY-12).
  private func forward(_ message: [UInt8], to peer: PeerID) {
    queues[peer, default: RelayQueue()].append(data: message)
    if let queue = queues[peer], queue.dataBytes > session.configuration.relayLimits.queuedBytes, !queue.hasOneMessage {
      session.logger.info("Routes closed because a member read too slowly.", metadata: ["peer": "\(peer.short)"])
      tally.overruns += 1
      queues[peer]?.dropData()
      perform(table.closeAll(of: peer, .overrun))
    }
    flushSoon(peer)
  }

  // MARK: Writing

  /// Writes the queued messages for a peer, either immediately or together with later messages (RLY-13).
  func flushSoon(_ peer: PeerID) {
    let gathers = session.configuration.gathers
    guard gathers > .zero else {
      drain(peer)
      return session.flush(peer)
    }
    guard queues[peer]?.isEmpty == false || session.entries[peer]?.delivery?.outbox.hasUnsent == true else { return }
    unflushed.insert(peer)
    guard !isGathering else { return }
    isGathering = true
    session.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(gathers)) { [session] in
      session.relaying.flushGathered()
    }
  }

  private func flushGathered() {
    isGathering = false
    let peers = unflushed
    unflushed = []
    for peer in peers {
      drain(peer)
      session.flush(peer)
    }
  }

  func drain(_ peer: PeerID) {
    guard queues[peer] != nil else { return }
    guard let outbox = session.entries[peer]?.delivery?.outbox else {
      queues[peer] = nil
      return
    }
    while let message = queues[peer]?.first {
      let sequence = try? outbox.appendNow(message, acknowledgeAtOnce: false, isRelays: true, hasWaited: true)
      guard sequence != nil else { return }
      queues[peer]?.removeFirst()
    }
    queues[peer] = nil
  }

  /// Disconnects members that have not acknowledged any of the waiting messages for too long (RLY-12).
  func closeStuck(_ now: NIODeadline) {
    let patience = session.configuration.relayLimits.patience
    for entry in session.entries.values where isRelaying || table.hasRoutes(entry.id) {
      guard entry.link != nil, let outbox = entry.delivery?.outbox, !outbox.isDelivered else {
        entry.stuck = nil
        continue
      }
      let acknowledged = outbox.acknowledged
      guard let stuck = entry.stuck, stuck.acknowledged == acknowledged else {
        entry.stuck = (acknowledged, now)
        continue
      }
      guard now - stuck.since >= TimeAmount(patience) else { continue }
      session.disconnect(
        entry.id,
        .tooSlow,
        .refused(SessionError(closeCode: .tooSlow, message: "", isOurs: true)),
        message: "You acknowledged nothing for \(patience.components.seconds) s."
      )
    }
  }
}

/// A relay's queue of messages for one member: route changes, and messages from other members. The queue precedes the
/// member's outbox, because messages cannot be removed from an outbox. This type does no I/O.
struct RelayQueue {
  private struct Item {
    var message: [UInt8]
    var isData: Bool
  }

  private var items = CircularBuffer<Item>()
  private(set) var dataBytes = 0

  /// A single message may exceed any limit.
  var hasOneMessage: Bool { items.count == 1 }

  var isEmpty: Bool { items.isEmpty }

  var first: [UInt8]? { items.first?.message }

  mutating func append(control message: [UInt8]) { items.append(Item(message: message, isData: false)) }

  mutating func append(data message: [UInt8]) {
    items.append(Item(message: message, isData: true))
    dataBytes += message.count
  }

  mutating func removeFirst() {
    let item = items.removeFirst()
    if item.isData { dataBytes -= item.message.count }
  }

  mutating func dropData() {
    items = CircularBuffer(items.filter { !$0.isData })
    dataBytes = 0
  }
}

// Datagrams through a relay. Every hop drops datagrams rather than queuing them (RLY-10).
extension RelaySide {
  func sendDatagram(_ bytes: [UInt8], to peers: [PeerID]) {
    var routes: [PeerID: RouteSet] = [:]
    for peer in peers {
      guard let route = session.entries[peer]?.relayed?.route else { continue }
      routes[route.relay, default: RouteSet()].insert(route.number)
    }
    for (relay, routes) in routes {
      session.entries[relay]?.datagrams?.send(RelayMessage.send(routes).encoded(bytes), isRelays: true)
    }
  }

  /// An invalid datagram is dropped.
  func receivedDatagram(_ bytes: [UInt8], _ sender: PeerID) {
    var offset = 0
    guard let message = try? RelayMessage.read(from: bytes.span, payloadAt: &offset) else { return }
    switch message {
    case .send(let routes) where opensRoutes:
      let targets = table.targets(of: routes, from: sender)
      guard mayPass(bytes.count, copies: max(1, targets.count), from: sender) else { return }
      for target in targets {
        // If too many messages wait for a member, the datagram is dropped.
        guard queues[target.peer]?.dataBytes ?? 0 <= Limits.framePayload else { continue }
        session.entries[target.peer]?.datagrams?.send(
          RelayMessage.from(target.route).encoded(bytes[offset...]),
          isRelays: true
        )
      }
      session.transport.flushDatagrams()
    case .from(let number):
      guard !session.reading.isApplicationBehind, let peer = peer(at: number, of: sender) else { return }
      session.emit(.datagram(Array(bytes[offset...]), from: peer), bytes: bytes.count - offset)
    default: break
    }
  }
}
