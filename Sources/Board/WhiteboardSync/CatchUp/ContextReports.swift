import PeerCore
import Whiteboard

/// Exchanges reports of contexts and bucket sums with members, and compares them (SYN-14 to SYN-16, SYN-42).
final class ContextReports {
  /// The time between two comparisons of contexts and bucket sums, in milliseconds.
  static let interval: UInt64 = 5000
  /// The maximum number of members that receive bucket sums, and that are asked for changes, in one comparison.
  private static let membersAtOnce = 8
  /// The time after a revocation during which boards are expected to differ, in milliseconds (AUT-15).
  private static let repairTime: UInt64 = 60_000
  private static let departureDelay: UInt64 = 1000

  private let board: Board
  private let peers: MemberLinks
  private let actions: ActionQueue
  private let requests: RequestQueue

  private var contextHash: UInt64?
  private var contextOrder: [Int] = []
  /// The number of times that the context was encoded and hashed. Both operations take a long time for a board with
  /// many incarnations.
  private(set) var hashedContexts = 0
  private var reportToAllDue: UInt64?
  var divergenceCheck = DivergenceCheck()
  /// The time when computing the local bucket sums must continue; nil if they are not being computed.
  private var sumsDue: UInt64?
  private var awaitingSums: Set<MemberID> = []
  /// The time before which a large board sends no bucket sums.
  private var nextSums: UInt64 = 0
  /// The earliest time at which the sums are computed again although the board has not changed; 0 for a small board.
  private var nextFaultCheck: UInt64 = 0
  private var nextComparison: UInt64
  private var receivingSums: Turn
  private var asked: Turn
  private var activity = Activity()
  /// Whether members with an equal context immediately receive the local bucket sums.
  private var isProvingEquality = false
  /// The time until which differences between boards are not reported, because a revocation caused them.
  private var differencesExpectedUntil: UInt64 = 0

  init(_ board: Board, _ peers: MemberLinks, _ actions: ActionQueue, _ requests: RequestQueue, now: UInt64) {
    self.board = board
    self.peers = peers
    self.actions = actions
    self.requests = requests
    nextComparison = now + Self.interval
    receivingSums = Turn(after: board.member)
    asked = Turn(after: board.member)
  }

  // MARK: - The local context

  func boardMayHaveChanged(_ now: Moment) {
    guard board.state.revision != activity.revision else { return }
    noteRevision(now)
    reportSoonToAll(now)
  }

  func boardRestored(_ now: Moment) { noteRevision(now) }

  private func noteRevision(_ now: Moment) {
    activity.changed(board.state.revision, now.uptime)
    contextHash = nil
    // Sums of an earlier state are useless.
    sumsDue = nil
    awaitingSums = []
  }

  /// Returns whether the board has been changing for some time without a pause.
  func isBusy(_ now: Moment) -> Bool { activity.isBusy(now.uptime) }

  var currentContextHash: UInt64 {
    if let contextHash { return contextHash }
    hashedContexts += 1
    let encoded = ContextCoding.encode(board.state.context, reusing: &contextOrder)
    let hash = Bytes32.sha256(encoded).bytes.prefix(8).reduce(UInt64(0)) {
      $0 << 8 | UInt64($1)
    }
    contextHash = hash
    return hash
  }

  // MARK: - Comparisons

  var nextDeadline: UInt64 { min(nextComparison, reportToAllDue ?? nextComparison, sumsDue ?? nextComparison) }

  func firstMemberJoined(_ now: Moment) { nextComparison = now.uptime + Self.interval }

  /// Schedules a comparison after a member has left, because its last changes may have reached only some members.
  func memberLeft(_ now: Moment) {
    nextComparison = min(nextComparison, now.uptime + Self.departureDelay)
    reportToAll(by: now.uptime + peers.reportDelay)
  }

  /// Compares boards with some members if a comparison is due (SYN-15). Returns whether a comparison was due. Some
  /// members receive the local bucket sums. Some members with a different context are asked for missing changes. Both
  /// numbers are limited, so that a large board needs no more messages than a small board. Other members follow at the
  /// next comparison.
  func compareIfDue(_ now: Moment) -> Bool {
    guard !peers.isEmpty, now.uptime >= nextComparison else { return false }
    nextComparison = now.uptime + Self.interval
    let members = peers.members
    if maySendSums(now) {
      if now.uptime >= nextFaultCheck {
        divergenceCheck.begin()
        let isLarge = board.state.cellCount > divergenceCheck.step
        nextFaultCheck = isLarge ? now.uptime + UInt64(board.state.cellCount) : 0
      }
      for member in receivingSums.next(Self.membersAtOnce, of: members) {
        peers[member]?.report(by: now.uptime, withSums: true)
      }
    }
    // If all members write, contexts are rarely equal even though no changes are missing.
    let most = activity.isBusy(now.uptime) ? 1 : Self.membersAtOnce
    requests.append(asked.next(most, of: members.filter { mayBeAsked($0, now) }))
    return true
  }

  /// Returns whether the sums are sent at this comparison. The sums of a large board are sent only after a pause, whose
  /// length grows with the board (SYN-42).
  private func maySendSums(_ now: Moment) -> Bool {
    let cells = board.state.cellCount
    guard cells > divergenceCheck.step else { return true }
    guard now.uptime >= nextSums, activity.isQuiet(now.uptime) else { return false }
    nextSums = now.uptime + max(Self.interval, UInt64(cells) / 10)
    return true
  }

  private func mayBeAsked(_ member: MemberID, _ now: Moment) -> Bool {
    guard let peer = peers[member], let theirs = peer.contextHash else { return false }
    return peer.mayBeAsked && peer.requestInFlight == nil && !requests.contains(member) && now.uptime >= peer.askAgain
      && theirs != currentContextHash
  }

  /// Expects boards to differ for a while, because a revocation arrived, or a new member may lack a revocation.
  func expectDifferences(_ now: Moment) { differencesExpectedUntil = now.uptime + Self.repairTime }

  func receive(_ report: ReplicaReport, from member: MemberID, _ now: Moment) {
    peers[member]?.contextHash = report.contextHash
    if report.applied > 0 { peers[member]?.confirmed = report.applied }
    peers[member]?.newSums = report.sums
    // Hash the local context only if the report can have an effect.
    guard !report.sums.isEmpty || isProvingEquality, report.contextHash == currentContextHash else { return }
    guard !report.sums.isEmpty else { return sendSums(to: member, now) }
    // The member may be waiting for the local bucket sums (SYN-44).
    sendSums(to: member, now)
    if let sums = localSums(now) { compare(sums, with: member, now) }
  }

  private func compare(_ sums: [UInt64], with member: MemberID, _ now: Moment) {
    guard let peer = peers[member], !peer.newSums.isEmpty, peer.contextHash == currentContextHash else { return }
    let buckets = DivergenceCheck.buckets(sums, unlike: peer.newSums)
    peer.newSums = []
    peer.agreed = buckets == 0 ? (currentContextHash, board.state.revision) : nil
    guard buckets != 0, peer.mayRepair(now.uptime) else { return }
    if now.uptime >= differencesExpectedUntil { actions.append(.diverged(member, buckets: buckets)) }
    peer.repair(buckets, now.uptime)
    guard peer.mayBeAsked else { return }
    requests.insert(member)
  }

  /// Returns the local bucket sums; nil if the board is so large that ``continueSums(_:)`` must complete them.
  private func localSums(_ now: Moment) -> [UInt64]? {
    let sums = divergenceCheck.sums(of: board.state)
    sumsDue = sums == nil ? now.uptime + 1 : nil
    return sums
  }

  func continueSums(_ now: Moment) {
    guard let sumsDue, now.uptime >= sumsDue, let sums = localSums(now) else { return }
    for member in peers.members { compare(sums, with: member, now) }
    for member in awaitingSums { peers[member]?.report(by: now.uptime, withSums: true) }
    awaitingSums = []
  }

  // MARK: - Reports

  func reportSoonToAll(_ now: Moment) { reportToAll(by: now.uptime + min(10 * peers.reportDelay, Self.interval)) }

  func reportToAll(by time: UInt64) { reportToAllDue = min(reportToAllDue ?? time, time) }

  /// Sends all scheduled reports if one of them is due. Members that need no individual report receive the same bytes.
  /// Reports that are due soon are sent at the same time.
  func sendReports(_ now: Moment) {
    let isToAll = reportToAllDue.map { now.uptime >= $0 } ?? false
    guard isToAll || peers.states.contains(where: { $0.isReportDue(now.uptime) }) else { return }
    if isToAll { reportToAllDue = nil }
    var (withoutSums, withSums): ([MemberID], [MemberID]) = ([], [])
    var areSumsKnown: Bool?
    for member in peers.members {
      guard let peer = peers[member] else { continue }
      if isProvingEquality, hasSameContext(as: member) { sendSums(to: member, now) }
      guard var due = peer.removeReport(evenIfNone: isToAll) else { continue }
      if due.isWithSums {
        let isKnown = areSumsKnown ?? (localSums(now) != nil)
        areSumsKnown = isKnown
        due.isWithSums = isKnown
        if !isKnown { awaitingSums.insert(member) }
      }
      // Bucket sums are useful only to members with the same context.
      if due.isWithSums, peer.contextHash == currentContextHash { peer.sumsSentFor = currentContextHash }
      if due.applied > 0 {
        actions.queue(report(applied: due.applied, isWithSums: due.isWithSums), to: member)
      } else if due.isWithSums {
        withSums.append(member)
      } else {
        withoutSums.append(member)
      }
    }
    if !withoutSums.isEmpty { actions.queue(report(), to: withoutSums) }
    if !withSums.isEmpty { actions.queue(report(isWithSums: true), to: withSums) }
  }

  private func report(applied: UInt64 = 0, isWithSums: Bool = false) -> SyncMessage {
    .state(
      ReplicaReport(
        contextHash: currentContextHash,
        applied: applied,
        sums: isWithSums ? divergenceCheck.sums(of: board.state) ?? [] : []
      )
    )
  }

  private func sendSums(to member: MemberID, _ now: Moment) {
    guard let peer = peers[member], peer.sumsSentFor != currentContextHash, !awaitingSums.contains(member) else {
      return
    }
    peer.report(by: now.uptime, withSums: true)
  }

  // MARK: - Equality

  func proveEquality(_ isWanted: Bool, _ now: Moment) {
    isProvingEquality = isWanted
    guard isWanted else { return }
    for member in peers.members where peers[member]?.contextHash == currentContextHash { sendSums(to: member, now) }
  }

  func isEqual(to member: MemberID) -> Bool {
    guard let peer = peers[member], !peer.isClosed, let agreed = peer.agreed else { return false }
    return agreed.revision == board.state.revision && peer.contextHash == currentContextHash
      && agreed.contextHash == currentContextHash
  }

  func hasSameContext(as member: MemberID) -> Bool {
    guard let peer = peers[member], !peer.isClosed, let theirs = peer.contextHash else { return false }
    return theirs == currentContextHash
  }
}

struct Activity {
  private(set) var revision: UInt64 = 0
  private var since: UInt64 = 0
  private var last: UInt64?

  mutating func changed(_ revision: UInt64, _ now: UInt64) {
    self.revision = revision
    if last.map({ now > $0 + 1000 }) ?? true { since = now }
    last = now
  }

  func isQuiet(_ now: UInt64) -> Bool { last.map { now > $0 + 1000 } ?? true }

  func isBusy(_ now: UInt64) -> Bool {
    guard let last else { return false }
    return now <= last + 1000 && now >= since + 2000
  }
}

/// Detects whether replicas with equal contexts have different boards (SYN-42).
struct DivergenceCheck {
  /// A board with more cells is called large.
  var step = 50_000
  /// The maximum number of cells of a large board that are added at once, which takes about 5 ms.
  private static let part = 10_000
  private var known: (revision: UInt64, sums: [UInt64])?
  private var partial: BucketSums.Partial?

  /// Discards the cached sums, because a memory fault can change cells without changing the revision.
  mutating func begin() { known = nil }

  /// Returns the sums of the buckets; nil if the board is large and more calls are needed to complete the sums.
  mutating func sums(of state: BoardState) -> [UInt64]? {
    if let known, known.revision == state.revision { return known.sums }
    var partial = partial.flatMap { $0.revision == state.revision ? $0 : nil } ?? BucketSums.Partial(of: state)
    self.partial = nil
    if partial.add(state.cellCount > step ? min(step, Self.part) : step, of: state) {
      known = (state.revision, partial.sums)
      return partial.sums
    }
    self.partial = partial
    return nil
  }

  /// Returns a set of bits: one bit for each bucket whose sums differ.
  static func buckets(_ sums: [UInt64], unlike others: [UInt64]) -> UInt16 {
    var buckets: UInt16 = 0
    for (bucket, (mine, theirs)) in zip(sums, others).enumerated() where mine != theirs {
      buckets |= 1 << UInt16(bucket)
    }
    return buckets
  }
}
