import Whiteboard

/// Timed work and its deadlines.
extension Replica {
  /// Does what is due: heads, reports, comparisons, answers, strokes, presence, timeouts.
  ///
  /// Before ``nextDeadline`` it does nothing.
  public func tick(now: Moment) {
    begin(now)
    for id in strokes.keys.sorted() { advanceStroke(id, now) }
    if !peers.isEmpty, now.uptime >= nextComparison { compare(now) }
    for member in members {
      giveUpRequest(to: member, now)
      answerPendingRequest(of: member, now)
    }
    sendNextRequest(now)
    if let change = untold.next(now.uptime) { tell(change.change, from: change.member, now) }
    perform(exchange.tick(now.uptime))
    sendPresence(now)
    finish(from: nil, now)
    releaseHeld(now)
    sendHead(now)
    sendReports(now)
  }

  /// When ``tick(now:)`` has something to do next, as ``Moment/uptime``; nil if nothing is due before
  /// something else happens.
  ///
  /// Any input can make it earlier, and so can what tells of assets, answers and backlogs.
  /// - Complexity: O(members).
  public var nextDeadline: UInt64? {
    var earliest = Earliest()
    earliest.take(untold.nextDeadline)
    earliest.take(exchange.nextDeadline)
    earliest.take(heads.nextDeadline(chain, headInterval))
    earliest.take(nextRequestDeadline)
    // An edit was begun under a new incarnation, and refused.
    if board.incarnation != chain.incarnation { earliest.take(0) }
    for stroke in strokes.values { earliest.take(stroke.nextDeadline) }
    guard !peers.isEmpty else { return earliest.time }
    earliest.take(nextComparison)
    earliest.take(reportToAllDue)
    earliest.take(presence.nextDeadline(among: peers.count))
    for (member, peer) in peers {
      earliest.take(peer.nextDeadline)
      if board.presentMembers.contains(member) { earliest.take(peer.silenceDeadline) }
    }
    return earliest.time
  }

  /// When the next member in the queue is asked, where one waits there.
  private var nextRequestDeadline: UInt64? {
    guard requestQueue.contains(where: { peers[$0]?.requestInFlight == nil }) else { return nil }
    return peers.values.compactMap(\.slowDeadline).max() ?? 0
  }
}

/// The earliest of some times.
struct Earliest {
  private(set) var time: UInt64?

  mutating func take(_ other: UInt64?) {
    guard let other else { return }
    time = min(time ?? other, other)
  }
}
