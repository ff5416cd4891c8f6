import Whiteboard

/// Reports of contexts and boards between members, and the comparison of both (SYN-14 to SYN-16, SYN-42).
final class ContextReports {
  /// Milliseconds between comparisons of contexts, and of boards.
  static let interval: UInt64 = 5000
  /// The number of members that receive sums, and of members that are asked, at each comparison.
  private static let membersAtOnce = 8
  /// Milliseconds after a revocation in which boards are expected to differ (AUT-15).
  private static let repairTime: UInt64 = 60_000
  /// Milliseconds after a member left until contexts are compared.
  private static let departureDelay: UInt64 = 1000

  private let board: Board
  private let peers: PeerTable
  private let outbox: Outbox
  private let requests: RequestQueue

  private var contextHash: UInt64?
  /// When all members receive a report.
  private var reportToAllDue: UInt64?
  private var divergenceCheck = DivergenceCheck()
  private var nextComparison: UInt64
  /// The turns of the members to which the replica sends its sums.
  private var receivingSums: Turn
  /// The turns of the members that the replica asks for missing changes.
  private var asked: Turn
  private var activity = Activity()
  /// Whether members with an equal context receive the local sums at once.
  private var isProvingEquality = false
  /// Until when a difference between boards is not reported, because a revocation caused it.
  private var differencesExpectedUntil: UInt64 = 0

  init(
    _ board: Board,
    _ peers: PeerTable,
    _ outbox: Outbox,
    _ requests: RequestQueue,
    now: UInt64
  ) {
    self.board = board
    self.peers = peers
    self.outbox = outbox
    self.requests = requests
    nextComparison = now + Self.interval
    receivingSums = Turn(after: board.member)
    asked = Turn(after: board.member)
  }

  // MARK: - The local context

  /// Notes whether the board has changed.
  func boardMayHaveChanged(_ now: Moment) {
    guard board.state.revision != activity.revision else { return }
    noteRevision(now)
    reportSoonToAll(now)
  }

  /// Notes the state of a board that was restored from a document.
  func boardRestored(_ now: Moment) { noteRevision(now) }

  private func noteRevision(_ now: Moment) {
    activity.changed(board.state.revision, now.uptime)
    contextHash = nil
  }

  /// Whether the board has been changing for some time without a pause.
  func isBusy(_ now: Moment) -> Bool { activity.isBusy(now.uptime) }

  /// The hash of the local context.
  var currentContextHash: UInt64 {
    if let contextHash { return contextHash }
    let hash = Bytes32.sha256(ContextCoding.encode(board.state.context)).bytes
      .prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    contextHash = hash
    return hash
  }

  // MARK: - Comparisons

  /// When ``compareIfDue(_:)`` or ``sendReports(_:)`` has something to do, apart from reports to single members.
  var nextDeadline: UInt64 { min(nextComparison, reportToAllDue ?? nextComparison) }

  /// The first member has joined.
  func firstMemberJoined(_ now: Moment) { nextComparison = now.uptime + Self.interval }

  /// A member has left; its last changes may have reached only some of the others.
  func memberLeft(_ now: Moment) {
    nextComparison = min(nextComparison, now.uptime + Self.departureDelay)
    reportToAll(by: now.uptime + peers.reportDelay)
  }

  /// If a comparison is due, sends the local sums to some members and asks some members with another
  /// context for what they have (SYN-15).
  ///
  /// Other members follow at the next comparison, so that a large room needs no more messages than a
  /// small one.
  /// - Returns: Whether a comparison was due.
  func compareIfDue(_ now: Moment) -> Bool {
    guard !peers.isEmpty, now.uptime >= nextComparison else { return false }
    nextComparison = now.uptime + Self.interval
    divergenceCheck.begin(board.state)
    let members = peers.members
    for member in receivingSums.next(Self.membersAtOnce, of: members) {
      peers[member]?.report(by: now.uptime, withSums: true)
    }
    // While all members write, contexts are rarely equal, although no changes are missing.
    let most = activity.isBusy(now.uptime) ? 1 : Self.membersAtOnce
    requests.append(asked.next(most, of: members.filter { mayBeAsked($0, now) }))
    return true
  }

  private func mayBeAsked(_ member: MemberID, _ now: Moment) -> Bool {
    guard let peer = peers[member], let theirs = peer.contextHash else { return false }
    return theirs != currentContextHash && peer.mayBeAsked && peer.requestInFlight == nil
      && !requests.contains(member) && now.uptime >= peer.askAgain
  }

  /// A revocation arrived, or a member that may not know it: boards differ for a while.
  func expectDifferences(_ now: Moment) { differencesExpectedUntil = now.uptime + Self.repairTime }

  /// A member sent a report.
  func receive(_ report: ReplicaReport, from member: MemberID, _ now: Moment) {
    peers[member]?.contextHash = report.contextHash
    if report.applied > 0 { peers[member]?.confirmed = report.applied }
    guard report.contextHash == currentContextHash else { return }
    guard !report.sums.isEmpty else {
      if isProvingEquality { sendSums(to: member, now) }
      return
    }
    // The member may be waiting for them (SYN-44).
    sendSums(to: member, now)
    let buckets = divergenceCheck.diverged(from: report.sums, board.state)
    peers[member]?.agreed = buckets == 0 ? (report.contextHash, board.state.revision) : nil
    guard buckets != 0, let peer = peers[member], peer.mayRepair(now.uptime) else { return }
    if now.uptime >= differencesExpectedUntil {
      outbox.append(.diverged(member, buckets: buckets))
    }
    peer.repair(buckets, now.uptime)
    guard peer.mayBeAsked else { return }
    requests.insert(member)
  }

  // MARK: - Reports

  /// Schedules a report of new changes to all members.
  func reportSoonToAll(_ now: Moment) {
    reportToAll(by: now.uptime + min(10 * peers.reportDelay, Self.interval))
  }

  /// Schedules a report to all members at `time` or earlier.
  func reportToAll(by time: UInt64) { reportToAllDue = min(reportToAllDue ?? time, time) }

  /// Sends all reports if one of them is due.
  ///
  /// Members that need no individual report receive the same bytes. Reports that are due soon are sent
  /// as well.
  func sendReports(_ now: Moment) {
    let isToAll = reportToAllDue.map { now.uptime >= $0 } ?? false
    guard isToAll || peers.states.contains(where: { $0.isReportDue(now.uptime) }) else { return }
    if isToAll { reportToAllDue = nil }
    var (withoutSums, withSums): ([MemberID], [MemberID]) = ([], [])
    for member in peers.members {
      guard let peer = peers[member] else { continue }
      if isProvingEquality, hasSameContext(as: member) { sendSums(to: member, now) }
      guard let due = peer.removeReport(evenIfNone: isToAll) else { continue }
      // A member with another context has no use for the sums.
      if due.isWithSums, peer.contextHash == currentContextHash {
        peer.sumsSentFor = currentContextHash
      }
      if due.applied > 0 {
        outbox.send(report(applied: due.applied, isWithSums: due.isWithSums), to: member)
      } else if due.isWithSums {
        withSums.append(member)
      } else {
        withoutSums.append(member)
      }
    }
    if !withoutSums.isEmpty { outbox.send(report(), to: withoutSums) }
    if !withSums.isEmpty { outbox.send(report(isWithSums: true), to: withSums) }
  }

  private func report(applied: UInt64 = 0, isWithSums: Bool = false) -> SyncMessage {
    .state(
      ReplicaReport(
        contextHash: currentContextHash,
        applied: applied,
        sums: isWithSums ? divergenceCheck.sums(of: board.state) : []
      )
    )
  }

  /// Sends a member the local sums at once, unless it has received those of this context.
  private func sendSums(to member: MemberID, _ now: Moment) {
    guard let peer = peers[member], peer.sumsSentFor != currentContextHash else { return }
    peer.report(by: now.uptime, withSums: true)
  }

  // MARK: - Equality

  /// Starts or stops sending the local sums at once to each member with the same context (SYN-44).
  func proveEquality(_ isWanted: Bool, _ now: Moment) {
    isProvingEquality = isWanted
    guard isWanted else { return }
    for member in peers.members where peers[member]?.contextHash == currentContextHash {
      sendSums(to: member, now)
    }
  }

  /// Whether a member reported the context and the sums that this replica has now (SYN-44).
  func isEqual(to member: MemberID) -> Bool {
    guard let peer = peers[member], !peer.isClosed, let agreed = peer.agreed else { return false }
    return peer.contextHash == currentContextHash && agreed.contextHash == currentContextHash
      && agreed.revision == board.state.revision
  }

  /// Whether a member reported the context that this replica has now.
  func hasSameContext(as member: MemberID) -> Bool {
    peers[member].map { !$0.isClosed && $0.contextHash == currentContextHash } ?? false
  }
}

/// Whether the board is changing or at rest.
struct Activity {
  private(set) var revision: UInt64 = 0
  private var since: UInt64 = 0
  private var last: UInt64?

  mutating func changed(_ revision: UInt64, _ now: UInt64) {
    self.revision = revision
    if last.map({ now > $0 + 1000 }) ?? true { since = now }
    last = now
  }

  /// Whether the board has been changing for two seconds without a second of rest.
  func isBusy(_ now: UInt64) -> Bool {
    guard let last else { return false }
    return now <= last + 1000 && now >= since + 2000
  }
}
