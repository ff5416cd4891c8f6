import Whiteboard

/// Who is here and where they point; nothing of it is stored (SYN-30).
extension Replica {
  /// What the others are shown of us.
  public var shownPresence: Presence { presence.shown }

  /// Shows the others where we point and what we look at, from now on.
  public func show(_ shown: Presence, now: Moment) {
    presence.show(shown)
    sendPresence(now)
  }

  func sendPresence(_ now: Moment) {
    guard !peers.isEmpty, let next = presence.next(now.uptime, among: peers.count)
    else { return }
    datagram(next)
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

  func refreshPresence(_ now: Moment) {
    var present: Set<MemberID> = []
    var incarnations: Set<Incarnation> = []
    for (member, peer) in peers {
      guard now.uptime < peer.silenceDeadline else { continue }
      present.insert(member)
      if let incarnation = peer.link.record?.incarnation { incarnations.insert(incarnation) }
    }
    board.presentIncarnations = incarnations
    guard present != board.presentMembers else { return }
    board.presentMembers = present
    // Leases begin and end with their holder's presence.
    for id in board.objectIDs where board.state.record(id)?.selection != nil {
      tellSelection(of: id)
    }
  }
}
