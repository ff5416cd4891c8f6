import Whiteboard

/// The presence and the wall clocks of the local member and of the others; nothing of it is stored (SYN-30).
final class PresenceTracker {
  private let board: Board
  private let peers: PeerTable
  private let changes: ChangeReporter
  private let outbox: Outbox
  private var own = PresenceState()
  private var clocks: ClockComparison
  /// Until when the set of present members stays as it is, unless something is heard; nil if it must be
  /// determined again.
  private var presentUntil: UInt64?

  init(_ board: Board, _ peers: PeerTable, _ changes: ChangeReporter, _ outbox: Outbox) {
    self.board = board
    self.peers = peers
    self.changes = changes
    self.outbox = outbox
    clocks = ClockComparison(own: board.member)
  }

  // MARK: - The local presence

  /// The local presence, as other members see it.
  var shown: Presence { own.shown }

  /// Changes the local presence.
  func show(_ shown: Presence, _ now: Moment) {
    own.show(shown)
    sendIfDue(now)
  }

  /// Sends the local presence if it is due.
  func sendIfDue(_ now: Moment) {
    guard !peers.isEmpty, let next = own.next(now, among: peers.count) else { return }
    outbox.send(next, to: peers.members)
  }

  /// Sends a newcomer the local presence.
  func send(to member: MemberID, _ now: Moment) { outbox.send(own.next(now), to: [member]) }

  /// When ``sendIfDue(_:)`` or ``refresh(_:)`` has something to do.
  var nextDeadline: UInt64 {
    var earliest = own.nextDeadline(among: peers.count)
    for (member, peer) in peers.entries where board.presentMembers.contains(member) {
      earliest = min(earliest, peer.silenceDeadline)
    }
    return earliest
  }

  // MARK: - Members

  /// A message or datagram of a member arrived.
  func heard(_ member: MemberID, _ now: Moment) {
    peers[member]?.lastHeard = now.uptime
    if !board.presentMembers.contains(member) { membersChanged() }
  }

  /// A member has joined, left or introduced itself.
  func membersChanged() { presentUntil = nil }

  /// A datagram with the presence of a member arrived.
  func receive(
    _ presence: Presence,
    counter: UInt64,
    wall: UInt64?,
    from member: MemberID,
    _ now: Moment
  ) {
    guard let peer = peers[member] else { return }
    if peer.presenceCounter.map({ counter > $0 }) ?? true {
      let isNew = peer.presenceCounter == nil || peer.presence != presence
      peer.presenceCounter = counter
      peer.presence = presence
      if isNew { outbox.append(.presence(member, presence)) }
    }
    if let wall { receiveClock(wall, counter, of: peer, now) }
  }

  private func receiveClock(_ wall: UInt64, _ counter: UInt64, of peer: PeerState, _ now: Moment) {
    // A datagram that arrives late was delayed on the way, so its reading is too old.
    guard peer.presenceCounter == counter, peer.clock.note(wall: wall, at: now.uptime) else {
      return
    }
    var differences: [MemberID: Int64] = [:]
    for (member, peer) in peers.entries { differences[member] = peer.clock.difference(now) }
    // Wait for the reading of a member that just joined, since it may decide the majority. After the
    // timeout, a member without readings no longer holds up the comparison.
    let isEarly = peers.entries.contains {
      differences[$0.key] == nil && now.uptime < $0.value.joinedAt + ClockSamples.timeout
    }
    guard !isEarly else { return }
    for report in clocks.judge(differences) { outbox.append(.clock(report)) }
  }

  /// Updates the set of present members on the board, before and after each input.
  func refresh(_ now: Moment) {
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
    // A selection holds only while its member is present.
    changes.reportSelections()
  }
}

/// The local presence, and when it was sent.
struct PresenceState {
  /// Milliseconds between two datagrams while nothing changes.
  private static let idleInterval: UInt64 = 1000
  /// Milliseconds between two datagrams while the presence changes.
  private static let changeInterval: UInt64 = 33
  /// The longest of each of these intervals, however many members there are.
  private static let (longestIdleInterval, longestChangeInterval): (UInt64, UInt64) = (2000, 250)

  private(set) var shown = Presence()
  private var hasChanged = false
  private var lastSent: UInt64 = 0
  /// The time at which the wall clock was sent last.
  private var lastTimed: UInt64?
  private var counter: UInt64 = 0

  /// Changes the presence; if it is the same, the next datagram is not sent earlier.
  mutating func show(_ new: Presence) {
    guard new != shown else { return }
    shown = new
    hasChanged = true
  }

  /// When the next datagram is due; the interval grows with the number of members, because each of them
  /// sends datagrams too (SYN-30).
  func nextDeadline(among members: Int) -> UInt64 {
    guard lastSent > 0 else { return 0 }
    let (least, most) =
      hasChanged
      ? (Self.changeInterval, Self.longestChangeInterval)
      : (Self.idleInterval, Self.longestIdleInterval)
    return lastSent + min(least * UInt64(max(members, 8)) / 8, most)
  }

  /// Returns the next datagram, whether one is due or not; about once a second it includes the wall
  /// clock.
  mutating func next(_ now: Moment) -> SyncDatagram {
    counter += 1
    guard lastTimed.map({ now.uptime >= $0 + ClockSamples.interval }) ?? true else {
      return .presence(counter: counter, shown)
    }
    lastTimed = now.uptime
    return .presence(counter: counter, shown, wall: now.wall)
  }

  /// Returns the next datagram; nil if none is due.
  mutating func next(_ now: Moment, among members: Int) -> SyncDatagram? {
    guard now.uptime >= nextDeadline(among: members) else { return nil }
    lastSent = max(now.uptime, 1)
    hasChanged = false
    return next(now)
  }
}
