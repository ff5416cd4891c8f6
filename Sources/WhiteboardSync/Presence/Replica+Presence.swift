import Whiteboard

/// The presence and the pointers of members; nothing of it is stored (SYN-30).
extension Replica {
  /// The local presence, as other members see it.
  public var shownPresence: Presence { presence.shown }

  /// Shows the others where we point and what we look at, from now on.
  public func show(_ shown: Presence, now: Moment) {
    presence.show(shown)
    sendPresence(now)
  }

  func sendPresence(_ now: Moment) {
    guard !peers.isEmpty, let next = presence.next(now, among: peers.count)
    else { return }
    datagram(next)
  }

  /// Something of a member arrived.
  func heard(_ member: MemberID, _ now: Moment) {
    peers[member]?.lastHeard = now.uptime
    if !board.presentMembers.contains(member) { presentUntil = nil }
  }

  func takePresence(_ counter: UInt64, _ shown: Presence, of member: MemberID) {
    guard let peer = peers[member], peer.presenceCounter.map({ counter > $0 }) ?? true else {
      return
    }
    let isNew = peer.presenceCounter == nil || peer.presence != shown
    peers[member]?.presenceCounter = counter
    peers[member]?.presence = shown
    if isNew { actions.append(.presence(member, shown)) }
  }

  /// Sees who is here, where that may have changed: this is asked before and after each input.
  func refreshPresence(_ now: Moment) {
    if let presentUntil, now.uptime < presentUntil { return }
    var present: Set<MemberID> = []
    var incarnations: Set<Incarnation> = []
    var until = UInt64.max
    for (member, peer) in peers {
      guard now.uptime < peer.silenceDeadline else { continue }
      present.insert(member)
      until = min(until, peer.silenceDeadline)
      if let incarnation = peer.link.record?.incarnation { incarnations.insert(incarnation) }
    }
    presentUntil = until
    board.presentIncarnations = incarnations
    guard present != board.presentMembers else { return }
    board.presentMembers = present
    // Leases begin and end with their holder's presence.
    for id in board.objectIDs where board.state.record(id)?.selection != nil {
      tellSelection(of: id)
    }
  }
}
