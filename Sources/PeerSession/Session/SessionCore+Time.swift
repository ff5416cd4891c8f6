import NIOCore
import PeerWire

// The work of a session that depends on time: liveness, dials and address changes.
extension SessionCore {
  /// Schedules ``tick(_:)`` for the time when work is due next.
  ///
  /// Nothing is scheduled while there are no peers and no dials are planned.
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

  /// When work is due next, rounded up to a tenth of a second so that all sessions of a process
  /// wake it together.
  private var nextDue: NIODeadline? {
    let dues = entries.values.compactMap(nextDue) + [reading.nextDue].compactMap(\.self)
    guard let due = dues.min() else { return nil }
    let tenth: UInt64 = 100_000_000
    // Work that is due but not possible yet, such as another dial, is tried again later.
    let next = max(due, .now() + .milliseconds(20)).uptimeNanoseconds + tenth - 1
    return .uptimeNanoseconds(next / tenth * tenth)
  }

  private func nextDue(_ entry: PeerEntry) -> NIODeadline? {
    guard let link = entry.link else {
      return [dialler.policy.nextDue(for: entry.id), relaying.nextDue(entry)]
        .compactMap(\.self).min()
    }
    let silenceLimit: TimeAmount = entry.state == .connected ? .seconds(2) : .seconds(6)
    return [
      link.lastSent + .seconds(1), entry.datagrams?.nextDue,
      link.isReadingPaused ? nil : link.lastHeard + silenceLimit,
      // Without this deadline, the session would not notice that the program was stopped.
      .now() + .milliseconds(500),
    ].compactMap(\.self).min()
  }

  /// Sends the local addresses to all peers after they changed, as on another network (MEM-4).
  private func announceAddresses(_ now: NIODeadline) {
    guard configuration.isDiallable, entries.values.contains(where: { $0.link != nil }),
      let addresses = addressWatch.changed(now: now, addresses: transport.advertisedAddresses)
    else { return }
    let message = Control.Addresses(port: transport.port, addresses: addresses).encoded()
    for entry in entries.values { entry.link?.send(.addresses, message) }
  }

  /// Does the work that is due: liveness, reconnection and dials.
  func tick(_ now: NIODeadline) {
    // A process that was stopped could not receive. It reads the data that waits in its sockets,
    // perhaps a goodbye, before it treats a peer as silent (LIV-2). A process counts as stopped
    // after about one second, half of which is the session's own timer.
    let delay = ticker.map { now - $0.at } ?? .zero
    let wasStopped = delay >= .milliseconds(500)
    ticker = nil
    relaying.tick(now)
    announceAddresses(now)
    // The time of the stop does not count against a peer, because the peer could not be dialed
    // (LIV-4).
    if wasStopped { dialler.policy.excuse(delay) }
    for entry in entries.values {
      if let link = entry.link {
        checkLiveness(of: entry, link, now, wasStopped: wasStopped)
      } else if dialler.policy.isOverdue(entry.id, now: now) {
        depart(entry, .lost)
        dialler.policy.lost(entry.id, now: now, jitter: dialler.jitter())
      }
    }
    disconnectSlowSenders(now, wasStopped: wasStopped)
    dialler.dialDue(now)
    deliverEvents()
    planTick()
  }

  private func checkLiveness(
    of entry: PeerEntry,
    _ link: ControlLink,
    _ now: NIODeadline,
    wasStopped: Bool
  ) {
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
    if now - link.lastSent >= .seconds(1) {
      link.send(.ping, Array(repeating: 0, count: 8))
    }
    entry.datagrams?.tick(now)
  }

  /// Disconnects the peers whose large messages keep others waiting for too long (MSG-5).
  private func disconnectSlowSenders(_ now: NIODeadline, wasStopped: Bool) {
    for peer in reading.overdue(now) {
      if wasStopped || entries[peer]?.link?.isReadingPaused ?? false {
        reading.resumed(peer, now: now)
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
  }
}
