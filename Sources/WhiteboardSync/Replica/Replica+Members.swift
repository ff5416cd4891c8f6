import Whiteboard

/// The present members and their display names.
extension Replica {
  /// A member is connected.
  ///
  /// Joining twice is leaving in between.
  public func peerJoined(_ member: MemberID, now: Moment) {
    guard member != board.member else { return }
    if peers[member] != nil { peerLeft(member, now: now) }
    begin(now)
    if peers.isEmpty { nextComparison = now.uptime + Self.comparisonInterval }
    peers[member] = PeerState(now: now.uptime)
    presentUntil = nil
    report(to: member, by: now.uptime + reportDelay)
    introduceOurselves(to: member)
    sendRevocations(to: member, now)
    if let profile { send(.profile(profile), to: member) }
    perform(exchange.memberJoined(member, now: now.uptime))
    actions.append(.sendDatagram(presence.next(now).encode(), to: [member]))
    finish(from: nil, now)
  }

  /// A member is gone for good, whatever the reason.
  public func peerLeft(_ member: MemberID, now: Moment) {
    guard peers.removeValue(forKey: member) != nil else { return }
    presentUntil = nil
    begin(now)
    requestQueue.removeAll { $0 == member }
    sendingAssets[member] = nil
    for stroke in tails.memberLeft(member) {
      guard let ink = board.snapshot(stroke)?.ink else { continue }
      actions.append(
        .preview(StrokePreview(stroke: stroke, member: member, first: ink.count, points: []))
      )
    }
    perform(exchange.memberLeft(member, now: now.uptime))
    // It may have reached only some of us.
    nextComparison = min(nextComparison, now.uptime + Self.departureDelay)
    reportToAll(by: now.uptime + reportDelay)
    sendNextRequest(now)
    finish(from: nil, now)
    // What waited for its batches waits no longer.
    releaseHeld(now)
  }

  /// Signs what was written last; the actions are to be carried out before the session is left.
  public func prepareToLeave(now: Moment) {
    begin(now)
    finish(from: nil, now)
    if heads.isNew(chain) { tellHead(now) }
  }

  /// Tells the members, those to come too, what to call us.
  /// - Throws: `tooLong`.
  public func setProfile(name: String, icon: String, now: Moment) throws(BoardError) {
    guard name.utf8.count <= BoardLimits.nameBytes else { throw .tooLong("name") }
    guard icon.utf8.count <= MemberProfile.iconBytes else { throw .tooLong("icon") }
    let profile = MemberProfile(name: name, icon: icon)
    guard profile != self.profile else { return }
    self.profile = profile
    send(.profile(profile), to: members)
  }
}
