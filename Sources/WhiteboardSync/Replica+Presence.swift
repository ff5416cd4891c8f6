import Whiteboard

/// Who is here and where they point; nothing of it is stored (SYN-30).
extension Replica {
  /// Tells the others where we point, from now on.
  public func moveCursor(to point: Point?, now: Moment) throws(BoardError) {
    presence.cursor = try point.map { (point) throws(BoardError) in try InkPoint(point) }
    presence.hasMoved = true
    sendPresence(now)
  }

  func sendPresence(_ now: Moment) {
    guard !peers.isEmpty, let next = presence.next(now.uptime) else { return }
    datagram(next)
  }

  func show(_ counter: UInt64, _ cursor: InkPoint?, of member: MemberID) {
    guard let peer = peers[member], peer.presenceCounter.map({ counter > $0 }) ?? true else {
      return
    }
    let isNew = peer.presenceCounter == nil || peer.cursor != cursor
    peers[member]?.presenceCounter = counter
    peers[member]?.cursor = cursor
    if isNew { actions.append(.presence(member, cursor: cursor?.point)) }
  }

  func refreshPresence(_ now: Moment) {
    var present: Set<MemberID> = []
    var incarnations: Set<Incarnation> = []
    for (member, peer) in peers {
      guard now.uptime < peer.lastHeard + Self.presencePatience else { continue }
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
