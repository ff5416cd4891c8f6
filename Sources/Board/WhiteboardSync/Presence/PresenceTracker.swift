import Whiteboard

/// The presence and the wall clocks of all members, which are not stored (SYN-30).
final class PresenceTracker {
  private let board: Board
  private let peers: MemberLinks
  private let changes: ChangeReporter
  private let actions: ActionQueue
  private var own = PresenceState()
  private var clocks: ClockComparison
  /// The time until which the set of present members stays the same if nothing arrives; nil if the set must be computed
  /// again.
  private var presentUntil: UInt64?

  init(_ board: Board, _ peers: MemberLinks, _ changes: ChangeReporter, _ actions: ActionQueue) {
    self.board = board
    self.peers = peers
    self.changes = changes
    self.actions = actions
    clocks = ClockComparison(own: board.member)
  }

  // MARK: - The local presence

  var shown: Presence { own.shown }

  func show(_ shown: Presence, _ now: Moment) {
    own.show(shown)
    sendIfDue(now)
  }

  func sendIfDue(_ now: Moment) {
    guard !peers.isEmpty, let next = own.next(now, among: peers.count) else { return }
    actions.queue(next, to: peers.members)
  }

  func send(to member: MemberID, _ now: Moment) { actions.queue(own.next(now), to: [member]) }

  var nextDeadline: UInt64 {
    var earliest = own.nextDeadline(among: peers.count)
    for (member, peer) in peers.entries where board.presentMembers.contains(member) {
      earliest = min(earliest, peer.silenceDeadline)
    }
    if let end = board.nextLeaseEnd { earliest = min(earliest, end) }
    return earliest
  }

  // MARK: - Members

  func heard(_ member: MemberID, _ now: Moment) {
    peers[member]?.lastHeard = now.uptime
    if !board.presentMembers.contains(member) { membersChanged() }
  }

  func membersChanged() { presentUntil = nil }

  func receive(_ presence: Presence, counter: UInt64, wall: UInt64?, from member: MemberID, _ now: Moment) {
    guard let peer = peers[member] else { return }
    if peer.presenceCounter.map({ counter > $0 }) ?? true {
      let isNew = peer.presenceCounter == nil || peer.presence != presence
      peer.presenceCounter = counter
      peer.presence = presence
      if isNew { actions.append(.presence(member, presence)) }
    }
    if let wall { receiveClock(wall, counter, of: peer, now) }
  }

  private func receiveClock(_ wall: UInt64, _ counter: UInt64, of peer: MemberLink, _ now: Moment) {
    // A datagram that arrives out of order was delayed, so its wall-clock time is too old.
    guard peer.presenceCounter == counter, peer.clock.note(wall: wall, at: now.uptime) else { return }
    var differences: [MemberID: Int64] = [:]
    for (member, peer) in peers.entries { differences[member] = peer.clock.difference(now) }
    // Wait for samples of a member that has just joined, because they may change the majority. After the timeout, the
    // comparison continues without them.
    let isEarly = peers.entries.contains {
      differences[$0.key] == nil && now.uptime < $0.value.joinedAt + ClockSamples.timeout
    }
    guard !isEarly else { return }
    for report in clocks.judge(differences) { actions.append(.clock(report)) }
  }

  /// Updates the set of present members on the board, and reports the objects that are no longer held. This method is
  /// called before and after each input.
  func refresh(_ now: Moment) {
    for id in board.removeEndedLeases() { changes.reportSelection(of: id) }
    if let presentUntil, now.uptime < presentUntil { return }
    var present: Set<MemberID> = []
    var incarnations: Set<Incarnation> = []
    var until = UInt64.max
    for (member, peer) in peers.entries {
      guard now.uptime < peer.silenceDeadline else { continue }
      present.insert(member)
      until = min(until, peer.silenceDeadline)
      if let incarnation = peer.link.record?.incarnation { incarnations.insert(incarnation) }
    }
    presentUntil = until
    board.presentIncarnations = incarnations
    guard present != board.presentMembers else { return }
    board.presentMembers = present
    // A selection holds an object only while its member is present.
    changes.reportSelections()
  }
}

struct PresenceState {
  /// The time between two datagrams after nothing has changed for ``idleTime``, in milliseconds.
  private static let idleInterval: UInt64 = 3000
  /// The time after which an unchanged presence is sent less often, in milliseconds.
  private static let idleTime: UInt64 = 10_000
  /// The time between two datagrams while nothing changes, in milliseconds.
  private static let pauseInterval: UInt64 = 1000
  /// The time between two datagrams while the presence changes, in milliseconds.
  private static let changeInterval: UInt64 = 33
  /// Up to these bounds, the intervals grow with the number of members.
  private static let (longestPauseInterval, longestChangeInterval): (UInt64, UInt64) = (2000, 250)

  private(set) var shown = Presence()
  private var hasChanged = false
  private var lastSent: UInt64 = 0
  private var lastChanged: UInt64 = 0
  private var lastTimed: UInt64?
  private var counter: UInt64 = 0

  /// If the presence differs, the next datagram is sent earlier.
  mutating func show(_ new: Presence) {
    guard new != shown else { return }
    shown = new
    hasChanged = true
  }

  /// Returns the time when the next datagram is due. The interval grows with the number of members, because each of
  /// them sends datagrams too (SYN-30).
  func nextDeadline(among members: Int) -> UInt64 {
    guard lastSent > 0 else { return 0 }
    if !hasChanged, lastSent >= lastChanged + Self.idleTime { return lastSent + Self.idleInterval }
    let (least, most) =
      hasChanged ? (Self.changeInterval, Self.longestChangeInterval) : (Self.pauseInterval, Self.longestPauseInterval)
    return lastSent + min(least * UInt64(max(members, 8)) / 8, most)
  }

  /// Returns the next datagram, even if no datagram is due. About once a second, the datagram includes the wall-clock
  /// time.
  mutating func next(_ now: Moment) -> SyncDatagram {
    counter += 1
    guard lastTimed.map({ now.uptime >= $0 + ClockSamples.interval }) ?? true else {
      return .presence(counter: counter, shown)
    }
    lastTimed = now.uptime
    return .presence(counter: counter, shown, wall: now.wall)
  }

  mutating func next(_ now: Moment, among members: Int) -> SyncDatagram? {
    guard now.uptime >= nextDeadline(among: members) else { return nil }
    if hasChanged || lastSent == 0 { lastChanged = now.uptime }
    lastSent = max(now.uptime, 1)
    hasChanged = false
    return next(now)
  }
}
