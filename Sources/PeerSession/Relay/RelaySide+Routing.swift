import NIOCore
import PeerWire

// What a relay does for the members that it carries to each other.
extension RelaySide {
  /// Takes a member's message.
  func pass(
    _ message: RelayMessage,
    _ payload: ArraySlice<UInt8>,
    _ entry: PeerEntry,
    _ link: ControlLink
  ) throws {
    let sender = entry.id
    var copies = 1
    switch message {
    case .reach(let peer, let incarnation):
      guard let other = PeerID(bytes: peer), let known = SessionIncarnation(bytes: incarnation)
      else { return }
      perform(try table.reach(from: sender, to: other, known))
    case .unreach(let peer, let end):
      guard let other = PeerID(bytes: peer) else { return }
      perform(table.unreach(from: sender, to: other, end))
    case .free(let route): try table.free(route, of: sender)
    case .send(let routes):
      let targets = table.targets(of: routes, from: sender)
      copies = max(1, targets.count)
      for target in targets {
        pass(RelayMessage.from(target.route).encoded(payload), to: target.peer)
      }
    case .confirm(let routes, let token):
      let targets = table.targets(of: routes, from: sender)
      copies = max(1, targets.count)
      for target in targets {
        pass(RelayMessage.confirming(target.route, token: token).encoded(), to: target.peer)
      }
    case .confirmed(let route, let token):
      for target in table.targets(of: RouteSet([route]), from: sender) {
        pass(RelayMessage.confirmation(target.route, token: token).encoded(), to: target.peer)
      }
    default: return
    }
    hold(entry, link, payload.count + RateLimiter.overhead, copies)
  }

  /// Slows down who sends more than we pass on, and closes who goes on (RLY-14).
  private func hold(_ entry: PeerEntry, _ link: ControlLink, _ count: Int, _ copies: Int) {
    tally.copies += copies
    tally.bytes += count * copies
    switch gate(of: entry.id, { $0.take(count, copies: copies, now: .uptime) }) {
    case .pass: break
    case .wait(let pause):
      guard !session.reading.isThrottled(entry.id) else { return }
      session.reading.throttle(entry.id)
      link.pauseReading()
      let bound = NIOLoopBound((session, entry), eventLoop: session.eventLoop)
      session.eventLoop.scheduleTask(in: TimeAmount(pause)) {
        let (session, entry) = bound.value
        session.reading.endThrottle(entry.id)
        session.updateReading(entry)
      }
    case .close:
      session.disconnect(
        entry.id,
        .tooFast,
        .refused(SessionError(closeCode: .tooFast, message: "", isOurs: true)),
        message: "You sent more than this relay passes on."
      )
    }
  }

  /// Whether a datagram of a member to so many others may pass.
  func mayPass(_ count: Int, copies: Int, from peer: PeerID) -> Bool {
    gate(of: peer) { $0.takeDatagram(count, copies: copies, now: .uptime) }
  }

  private func gate<Answer>(of peer: PeerID, _ body: (inout RateLimiter) -> Answer) -> Answer {
    var gate =
      gates[peer] ?? RateLimiter(session.configuration.relayLimits.rate, now: .uptime)
    defer { gates[peer] = gate }
    return body(&gate)
  }

  /// Says to members what the table decided.
  func perform(_ actions: [RouteTable.Action]) {
    for action in actions {
      switch action {
      case .open(let peer, let route, let other):
        guard let member = session.entries[other]?.member else { continue }
        tell(peer, RelayMessage.route(route).encoded(member.encoded()))
      case .close(let peer, let route, let end):
        tell(peer, RelayMessage.unroute(route, end).encoded())
      case .correct(let peer, let other):
        guard let member = session.entries[other]?.member else { continue }
        session.entries[peer]?.link?
          .send(.members, Control.Members(members: [member]).encoded())
      }
    }
  }

  private func tell(_ peer: PeerID, _ message: [UInt8]) {
    queues[peer, default: RelayQueue()].append(control: message)
    flushSoon(peer)
  }

  /// Queues what one member sent another, or ends the routes of who has too much waiting (RLY-12).
  private func pass(_ message: [UInt8], to peer: PeerID) {
    queues[peer, default: RelayQueue()].append(data: message)
    if let queue = queues[peer], queue.dataBytes > session.configuration.relayLimits.queuedBytes,
      !queue.hasOneMessage
    {
      session.logger.info("a reader is overrun", metadata: ["peer": "\(peer.short)"])
      tally.overruns += 1
      queues[peer]?.dropData()
      perform(table.closeAll(of: peer, .overrun))
    }
    flushSoon(peer)
  }

  // MARK: Writing

  /// Writes what waits for a peer: at once, or with all that comes in the next moment (RLY-13).
  func flushSoon(_ peer: PeerID) {
    let gathers = session.configuration.gathers
    guard gathers > .zero else {
      drain(peer)
      return session.flush(peer)
    }
    guard
      queues[peer]?.isEmpty == false
        || session.entries[peer]?.delivery?.outbox.hasUnsent == true
    else { return }
    unflushed.insert(peer)
    guard !isGathering else { return }
    isGathering = true
    let bound = NIOLoopBound(self, eventLoop: session.eventLoop)
    session.eventLoop.scheduleTask(in: TimeAmount(gathers)) { bound.value.flushGathered() }
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

  /// Moves what waits for a member into its outbox, as far as there is room.
  func drain(_ peer: PeerID) {
    guard queues[peer] != nil else { return }
    guard let outbox = session.entries[peer]?.delivery?.outbox else {
      queues[peer] = nil
      return
    }
    while let message = queues[peer]?.first {
      let sequence = try? outbox.appendNow(
        message,
        acknowledgeAtOnce: false,
        isRelays: true,
        hasWaited: true
      )
      guard sequence != nil else { return }
      queues[peer]?.removeFirst()
    }
    queues[peer] = nil
  }

  /// Closes readers who are owed something and have acknowledged nothing for too long (RLY-12).
  func closeStuck(_ now: NIODeadline) {
    guard isRelaying else { return }
    let patience = session.configuration.relayLimits.patience
    for entry in session.entries.values {
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
