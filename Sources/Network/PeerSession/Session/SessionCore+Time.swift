import NIOCore
import PeerDiscovery
import PeerWire

// The time-dependent work of a session: liveness, dials and address changes.
extension SessionCore {
  /// Schedules ``tick(_:)`` for the time when the next work is due. Nothing is scheduled while there are no peers and
  /// no dials are planned.
  func planTick() {
    // No tick can be due earlier than a tick that is due at the earliest time.
    guard !hasEnded, ticker.map({ $0.at > Self.tickTime(.now()) }) ?? true, let due = nextDue else { return }
    if let ticker {
      guard due < ticker.at else { return }
      ticker.task.cancel()
    }
    ticker = (due, eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in tick(.now()) })
  }

  private var nextDue: NIODeadline? {
    var due = [reading.room.nextDue, directory.announcementsDue].compactMap(\.self).min()
    for entry in entries.values { if let other = nextDue(entry) { due = min(due ?? other, other) } }
    return due.map(Self.tickTime)
  }

  private static let tenth: UInt64 = 100_000_000
  /// The timers of different processes on one computer do not fire together, because each would wait for the others.
  private static let phase = UInt64.random(in: 0..<tenth)

  /// Returns the time of the tick for work that is due at a time, rounded up to 0.1 s so that the timers of all sessions
  /// in a process fire together.
  private static func tickTime(_ due: NIODeadline) -> NIODeadline {
    // Work that is due but cannot start yet, such as another dial, is retried later.
    let next = max(due, .now() + .milliseconds(20)).uptimeNanoseconds + tenth - 1 - phase
    return .uptimeNanoseconds(next / tenth * tenth + phase)
  }

  private func nextDue(_ entry: PeerEntry) -> NIODeadline? {
    guard let link = entry.link else {
      return [dialler.policy.nextDue(for: entry.id), relaying.nextDue(entry)].compactMap(\.self).min()
    }
    let silenceLimit: TimeAmount = entry.state == .connected ? .seconds(2) : .seconds(6)
    return [
      link.pingDue, entry.datagrams?.nextDue, link.isReadingPaused ? nil : link.lastHeard + silenceLimit,
      // Without this deadline, the session would not notice that the program was suspended.
      .now() + .seconds(1),
    ].compactMap(\.self).min()
  }

  private func announceAddresses(_ now: NIODeadline) {
    guard configuration.isDiallable, entries.values.contains(where: { $0.link != nil }),
      let addresses = addressWatch.changed(now: now, addresses: transport.advertisedAddresses)
    else { return }
    let message = Control.Addresses(port: transport.port, addresses: addresses).encoded()
    for entry in entries.values { entry.link?.send(.addresses, message) }
  }

  func tick(_ now: NIODeadline) {
    // A suspended process cannot receive data. After it resumes, it first reads the data that waits in its sockets.
    // This data may include a CLOSE. Only then does the process treat a peer as silent (LIV-2). The process is assumed
    // to have been suspended if this timer is at least 0.5 s late.
    let delay = ticker.map { now - $0.at } ?? .zero
    let wasStopped = delay >= .milliseconds(500)
    ticker = nil
    relaying.tick(now)
    directory.announceIfDue(now)
    announceAddresses(now)
    // Exclude the time in suspension from the timeouts of peers, because no peer could be dialed (LIV-4).
    if wasStopped { dialler.policy.excuse(delay) }
    for entry in entries.values {
      if let link = entry.link {
        checkLiveness(of: entry, link, now, wasStopped: wasStopped)
      } else if dialler.policy.isOverdue(entry.id, now: now) {
        depart(entry, .lost)
        dialler.policy[entry.id].lost(now: now, jitter: dialler.jitter())
      }
    }
    disconnectSlowSenders(now, wasStopped: wasStopped)
    dialler.dialDue(now, in: self)
    deliverEvents()
    planTick()
  }

  private func checkLiveness(of entry: PeerEntry, _ link: ControlLink, _ now: NIODeadline, wasStopped: Bool) {
    if wasStopped { link.excuseSilence(until: now) }
    let silence = link.isReadingPaused ? TimeAmount.zero : now - link.lastHeard
    if silence >= .seconds(6) {
      link.abort()
      entry.link = nil
      linkBroken(entry)
    } else if silence >= .seconds(2) && entry.state == .connected {
      setState(entry, .suspect)
      publish()
    }
    link.pingIfDue(now)
    entry.datagrams?.tick(now)
  }

  /// Disconnects each peer that sends a large message too slowly while other large messages wait for room (MSG-5).
  private func disconnectSlowSenders(_ now: NIODeadline, wasStopped: Bool) {
    for peer in reading.room.overdue(now) {
      if wasStopped || entries[peer]?.link?.isReadingPaused ?? false {
        reading.room.resumed(peer, now: now)
        continue
      }
      let error = SessionError(closeCode: .tooSlow, message: "", isOurs: true)
      disconnect(peer, .tooSlow, .refused(error), message: "A large message took too long while other messages waited.")
    }
  }
}

// Decisions about delivery state when a peer dials again, or both peers dial at the same time (3.4, 3.5).
extension SessionCore {
  /// Returns whether the dialler wants to resume a delivery state that the local peer still has (RSM-2). A guest can
  /// resume only from a browser (WEB-34).
  func canResume(_ hello: Control.DiallerHello, from peer: PeerID, fromBrowser: Bool) -> Bool {
    guard let entry = entries[peer], let delivery = entry.delivery, !membership.isRemoved(peer),
      (entry.guestKey != nil) == fromBrowser
    else { return false }
    return hello.resumes(deliveryOf: delivery.incarnation, since: delivery.since, at: incarnation)
  }

  /// Returns whether the dialler sent HELLO before it knew about a link that the local peer had opened (DUP-1). The
  /// delivery state in that HELLO is outdated, even if that link has broken again.
  func isDuplicate(_ hello: Control.DiallerHello, from peer: PeerID) -> Bool {
    guard let delivery = entries[peer]?.delivery, delivery.incarnation == hello.introduction.incarnation else {
      return false
    }
    return hello.introduction.links < delivery.lastDialled
  }

  /// Returns whether the delivery state in the local HELLO was outdated when ACCEPT arrived. If so, the link must be
  /// closed and the peer dialed again (DUP-5).
  func isOutdated(
    _ hello: Control.DiallerHello,
    _ accept: Control.Accept,
    _ theirs: Control.Introduction,
    of peer: PeerID
  ) -> Bool {
    guard let entry = entries[peer] else { return hello.resume != nil && accept.resume != nil }
    if entry.link == nil, entry.linkNumber > hello.introduction.links { return true }
    let meant = hello.resume.flatMap { $0.incarnation == theirs.incarnation ? $0.since : nil }
    let present = entry.delivery.flatMap { $0.incarnation == theirs.incarnation ? $0 : nil }
    if meant == present?.since { return false }
    return accept.resume != nil || present?.isUntouched == false
  }

  /// Returns whether the local dial must give way to a link that the peer dialed in the meantime (DUP-2).
  func mustYield(to peer: PeerID, _ theirs: Control.Introduction) -> Bool {
    guard let entry = entries[peer], let link = entry.link, link.side == .listener,
      entry.delivery?.incarnation == theirs.incarnation
    else { return false }
    return peer < localPeer
  }
}
