import Whiteboard

/// What a replica keeps of one joined member.
///
/// It is one replica's, which changes it in place: there is much of it.
final class PeerState {
  /// Who writes on its side of the link, and where the chain stands.
  let link = LinkChainVerifier()
  var reader = LinkBatchReader()
  /// What waits for another member's batches (BRD-39).
  var held: HeldMessages?
  /// Whether it broke a rule: nothing more of this link counts.
  private(set) var isClosed = false
  /// When anything of it arrived last.
  var lastHeard: UInt64
  /// The hash of its context, as it last reported.
  var contextHash: UInt64?
  /// The context and the revision here at which its sums were the same as ours (SYN-44).
  var agreed: (contextHash: UInt64, revision: UInt64)?
  /// The hash of the context whose sums were sent to it last.
  var sumsSentFor: UInt64?

  /// What users were told that it may do.
  var role: Role?
  /// The incarnation that was told last what its member may do.
  var granted: Incarnation?

  // What we ask of it.
  private(set) var lastRequest: UInt64 = 0
  private(set) var requestInFlight: UInt64?
  /// The buckets of the request in flight, where it is to repair.
  private(set) var requestBuckets: UInt16 = 0
  private(set) var requestActiveAt: UInt64 = 0
  private var requestBegunAt: UInt64 = 0
  /// The buckets that the next request asks for.
  private var repairBuckets: UInt16 = 0
  private var nextRepair: UInt64 = 0
  /// Until when it is not asked, because its last answer had no room here.
  var askAgain: UInt64 = 0
  var applied: UInt64 = 0
  /// What it was told of that.
  private var toldApplied: UInt64 = 0
  private var toldFullAt: UInt64?

  // What it asks of us.
  var pendingRequest: CatchUpRequest?
  /// The request whose answer is on its way.
  var answerInFlight: UInt64?
  /// Whether so much waits to be sent to it that an answer must wait (SYN-12).
  var isBacklogged = false
  private var answered: UInt64 = 0
  private var lastAnswerAt: UInt64?
  var confirmed: UInt64 = 0

  private var reportDue: UInt64?
  private var reportsSums = false
  var presenceCounter: UInt64?
  var presence = Presence()
  /// The readings of its wall clock.
  var clock = ClockSamples()
  let joinedAt: UInt64

  init(now: UInt64) {
    lastHeard = now
    joinedAt = now
  }

  /// Whether it said who it is and vouches for what it answers (SYN-12).
  var mayBeAsked: Bool { !isClosed && link.role?.mayWrite ?? false }

  /// Whether it was asked for what it has, and the answer came or is on its way.
  var isAsked: Bool { requestInFlight != nil || applied > 0 }

  /// Its role is another: what it was asked before is to be asked again.
  func didChangeRole() {
    endRequest()
    applied = 0
    toldApplied = 0
  }

  /// Our role is another: it asks again what it asked before.
  func didChangeOwnRole() {
    answered = 0
    confirmed = 0
  }

  /// Whether its answer to our latest request was applied, where it is one who answers.
  var isCaughtUp: Bool {
    link.role.map { !$0.mayWrite || applied > 0 } ?? false
  }

  /// Whether it has applied our answer to its latest request.
  var hasCaughtUp: Bool { answered > 0 && confirmed >= answered && pendingRequest == nil }

  /// Has a report sent at `time` or before.
  func report(by time: UInt64, withSums: Bool = false) {
    reportDue = min(reportDue ?? time, time)
    if withSums { reportsSums = true }
  }

  /// Whether a report is due.
  func isReportDue(_ now: UInt64) -> Bool { reportDue.map { now >= $0 } ?? false }

  /// What the report to be sent says beside what all reports say; nil where none is to be sent.
  func takeReport(evenIfNone: Bool) -> (applied: UInt64, isWithSums: Bool)? {
    guard !isClosed, reportDue != nil || evenIfNone else { return nil }
    defer {
      reportDue = nil
      reportsSums = false
      toldApplied = applied
    }
    return (applied == toldApplied ? 0 : applied, reportsSums)
  }

  func beginRequest(_ now: UInt64) -> (number: UInt64, buckets: UInt16) {
    lastRequest += 1
    requestInFlight = lastRequest
    requestBuckets = repairBuckets
    repairBuckets = 0
    requestActiveAt = now
    requestBegunAt = now
    return (lastRequest, requestBuckets)
  }

  /// The request was answered, or given up.
  func endRequest() {
    requestInFlight = nil
    requestBuckets = 0
  }

  /// When its answer takes so long that others are asked meanwhile.
  var slowDeadline: UInt64? { requestInFlight.map { _ in requestBegunAt + Replica.slowAnswer } }

  /// Whether its answer takes so long that others are asked meanwhile.
  func isSlow(_ now: UInt64) -> Bool { slowDeadline.map { now >= $0 } ?? false }

  /// When nothing of its answer has come for so long that it is given up.
  var giveUpDeadline: UInt64? {
    requestInFlight.map { _ in requestActiveAt + Replica.requestPatience }
  }

  /// When it has been silent for so long that its selections no longer hold.
  var silenceDeadline: UInt64 { lastHeard + Replica.presencePatience }

  /// When something of it is due next: a report, an answer of ours, or to give up one of its.
  var nextDeadline: UInt64? {
    var earliest = Earliest()
    earliest.take(reportDue)
    earliest.take(answerDue)
    earliest.take(giveUpDeadline)
    earliest.take(held?.deadline)
    return earliest.time
  }

  /// When its pending request is answered: one at a time, and at most one in each interval.
  private var answerDue: UInt64? {
    guard pendingRequest != nil, !isBacklogged, !isClosed, answerInFlight == nil else { return nil }
    return lastAnswerAt.map { $0 + Replica.answerInterval } ?? 0
  }

  /// Whether it may be asked to repair now: once in each interval (SYN-42).
  func mayRepair(_ now: UInt64) -> Bool { now >= nextRepair }

  /// Has the next request ask for all cells of these buckets.
  func repair(_ buckets: UInt16, _ now: UInt64) {
    repairBuckets |= buckets
    nextRepair = now + Replica.repairInterval
  }

  func noteProgress(_ now: UInt64) { requestActiveAt = now }

  /// The request to answer next.
  func takeRequest(_ now: UInt64) -> CatchUpRequest? {
    guard let request = pendingRequest, let answerDue, now >= answerDue else { return nil }
    pendingRequest = nil
    lastAnswerAt = now
    answered = request.number
    return request
  }

  /// Whether to say now that what it made has no room here: once in each interval.
  func mayTellFull(_ now: UInt64) -> Bool {
    if let toldFullAt, now < toldFullAt + Replica.fullPatience { return false }
    toldFullAt = now
    return true
  }

  /// Has nothing more to do with this link.
  func close() {
    isClosed = true
    held = nil
    endRequest()
    pendingRequest = nil
    reportDue = nil
  }
}

/// Whether the board rests.
struct Activity {
  private(set) var revision: UInt64 = 0
  private var since: UInt64 = 0
  private var last: UInt64?

  mutating func changed(_ revision: UInt64, _ now: UInt64) {
    self.revision = revision
    if last.map({ now > $0 + 1000 }) ?? true { since = now }
    last = now
  }

  /// Whether it has been changing for two seconds without a second of rest.
  func isBusy(_ now: UInt64) -> Bool {
    guard let last else { return false }
    return now <= last + 1000 && now >= since + 2000
  }
}

/// What we tell of ourselves.
struct PresenceState {
  private(set) var shown = Presence()
  private var hasChanged = false
  private var lastSent: UInt64 = 0
  /// The time at which the wall clock was sent last.
  private var lastTimed: UInt64?
  private var counter: UInt64 = 0

  /// Has the others shown this; what they are shown already is no reason to hurry.
  mutating func show(_ new: Presence) {
    guard new != shown else { return }
    shown = new
    hasChanged = true
  }

  /// When the next datagram is due among so many others: the more there are, the more seldom, for each of
  /// them sends some too (SYN-30).
  func nextDeadline(among members: Int) -> UInt64 {
    guard lastSent > 0 else { return 0 }
    let (least, most) =
      hasChanged
      ? (Replica.cursorInterval, Replica.slowCursorInterval)
      : (Replica.presenceInterval, Replica.slowPresenceInterval)
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

  /// The datagram that is due.
  mutating func next(_ now: Moment, among members: Int) -> SyncDatagram? {
    guard now.uptime >= nextDeadline(among: members) else { return nil }
    lastSent = max(now.uptime, 1)
    hasChanged = false
    return next(now)
  }
}
