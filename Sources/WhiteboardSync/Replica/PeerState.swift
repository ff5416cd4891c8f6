import Whiteboard

/// The state of the link to one joined member.
///
/// It is a class because it is large and changes in place; it belongs to one replica.
final class PeerState {
  /// Milliseconds without progress of an answer after which another member is asked.
  private static let requestTimeout: UInt64 = 5000
  /// Milliseconds after which an answer that is still arriving does not keep other members from being asked.
  private static let slowAnswer: UInt64 = 30_000
  /// Milliseconds between two repairs by one member.
  private static let repairInterval: UInt64 = 5000
  /// Milliseconds after which a member is asked again whose answer had no room here, and between two
  /// reports about that.
  private static let fullTimeout: UInt64 = 60_000
  /// Milliseconds between two answers to one member.
  private static let answerInterval: UInt64 = 1000
  /// Milliseconds of silence after which a member's selections no longer hold.
  static let silenceTimeout: UInt64 = 10_000

  /// The author and the chains of the member on this link.
  let link = LinkChainVerifier()
  var reader = LinkBatchReader()
  /// The messages that wait.
  var inbox = MemberInbox()
  /// Whether the member broke a rule; then further messages on this link are ignored.
  private(set) var isClosed = false
  /// When a message or datagram last arrived.
  var lastHeard: UInt64
  /// The hash of the member's context, as it last reported.
  var contextHash: UInt64?
  /// The context and the local revision at which its sums were equal to the local ones (SYN-44).
  var agreed: (contextHash: UInt64, revision: UInt64)?
  /// The hash of the context whose sums were sent to it last.
  var sumsSentFor: UInt64?

  /// The role that was last reported to users.
  var role: Role?
  /// The incarnation to which a grant was last sent.
  var granted: Incarnation?

  // Requests to the member.
  private(set) var lastRequest: UInt64 = 0
  private(set) var requestInFlight: UInt64?
  /// The buckets of the request in flight, if it is a repair.
  private(set) var requestBuckets: UInt16 = 0
  /// The answer to the request in flight, while its signatures are being verified.
  var unverifiedAnswer: UnverifiedAnswer?
  private var requestActiveAt: UInt64 = 0
  private var requestBegunAt: UInt64 = 0
  /// The buckets that the next request asks for.
  private var repairBuckets: UInt16 = 0
  private var nextRepair: UInt64 = 0
  /// Until when it is not asked, because its last answer had no room here.
  private(set) var askAgain: UInt64 = 0
  /// The last request whose answer was applied.
  private(set) var applied: UInt64 = 0
  /// The last such request that was reported to the member.
  private var reportedApplied: UInt64 = 0
  private var fullReportedAt: UInt64?

  // Requests of the member.
  var pendingRequest: CatchUpRequest?
  /// The request whose answer is being sent.
  var answerInFlight: UInt64?
  /// Whether an answer must wait because too many bytes are queued for the member (SYN-12).
  var isBacklogged = false
  private var answered: UInt64 = 0
  private var lastAnswerAt: UInt64?
  /// The last of its requests whose answer it has applied.
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

  /// When the member has been silent for so long that its selections no longer hold.
  var silenceDeadline: UInt64 { lastHeard + Self.silenceTimeout }

  /// Returns when a report or an answer is due, a request is given up, or an early batch has waited for too long.
  /// - Parameter mayAnswer: Whether requests can be answered now.
  /// - Returns: The earliest of these times; nil if there is none.
  func nextDeadline(mayAnswer: Bool) -> UInt64? {
    var earliest = Earliest()
    earliest.include(reportDue)
    if mayAnswer { earliest.include(answerDue) }
    earliest.include(giveUpDeadline)
    earliest.include(inbox.deadline)
    return earliest.time
  }

  /// Whether messages or an answer wait until signatures are verified.
  var isAwaitingVerification: Bool { inbox.isVerifying || unverifiedAnswer != nil }

  /// Closes the link: drops everything that waits, and ignores further messages.
  func close() {
    isClosed = true
    inbox = MemberInbox()
    endRequest()
    pendingRequest = nil
    reportDue = nil
  }

  /// Returns whether to report now that its changes have no room here: once in each interval.
  func beginFullReport(_ now: UInt64) -> Bool {
    if let fullReportedAt, now < fullReportedAt + Self.fullTimeout { return false }
    fullReportedAt = now
    return true
  }

  // MARK: - Requests to the member

  /// Whether it introduced itself as an author whose answers count (SYN-12).
  var mayBeAsked: Bool { !isClosed && link.role?.mayWrite ?? false }

  /// Whether it was asked, and the answer has arrived or is expected.
  var isAsked: Bool { requestInFlight != nil || applied > 0 }

  /// Its role has changed, so it must be asked again.
  func didChangeRole() {
    endRequest()
    applied = 0
    reportedApplied = 0
  }

  /// Whether its answer to our latest request was applied, or it is a viewer, which does not answer.
  var isCaughtUp: Bool {
    link.role.map { !$0.mayWrite || applied > 0 } ?? false
  }

  /// Begins the next request.
  func beginRequest(_ now: UInt64) -> (number: UInt64, buckets: UInt16) {
    lastRequest += 1
    requestInFlight = lastRequest
    requestBuckets = repairBuckets
    repairBuckets = 0
    requestActiveAt = now
    requestBegunAt = now
    return (lastRequest, requestBuckets)
  }

  /// A part of the answer arrived.
  func noteProgress(_ now: UInt64) { requestActiveAt = now }

  /// Ends the request in flight, because it was answered or given up.
  func endRequest() {
    requestInFlight = nil
    requestBuckets = 0
    unverifiedAnswer = nil
  }

  /// The answer to a request was applied.
  func didApplyAnswer(to request: UInt64) { applied = request }

  /// Stops asking the member for a while, because there was no room for its answer.
  func postponeRequests(_ now: UInt64) { askAgain = now + Self.fullTimeout }

  /// When its answer has taken so long that others are asked as well.
  var slowDeadline: UInt64? { requestInFlight.map { _ in requestBegunAt + Self.slowAnswer } }

  /// Whether its answer has taken so long that others are asked as well.
  func isSlow(_ now: UInt64) -> Bool { slowDeadline.map { now >= $0 } ?? false }

  /// When the request in flight is given up, because its answer makes no progress.
  var giveUpDeadline: UInt64? {
    // An answer that is being verified has arrived.
    guard requestInFlight != nil, unverifiedAnswer == nil else { return nil }
    return requestActiveAt + Self.requestTimeout
  }

  /// Whether it may be asked to repair now: once in each interval (SYN-42).
  func mayRepair(_ now: UInt64) -> Bool { now >= nextRepair }

  /// Makes the next request ask for all cells of these buckets.
  func repair(_ buckets: UInt16, _ now: UInt64) {
    repairBuckets |= buckets
    nextRepair = now + Self.repairInterval
  }

  // MARK: - Requests of the member

  /// The local role has changed, so the member will ask again.
  func didChangeOwnRole() {
    answered = 0
    confirmed = 0
  }

  /// Whether it has applied our answer to its latest request.
  var hasCaughtUp: Bool { answered > 0 && confirmed >= answered && pendingRequest == nil }

  /// When its pending request is answered: one at a time, and at most one in each interval.
  private var answerDue: UInt64? {
    guard pendingRequest != nil, !isBacklogged, !isClosed, answerInFlight == nil else { return nil }
    return lastAnswerAt.map { $0 + Self.answerInterval } ?? 0
  }

  /// Removes and returns the request to answer now, if any.
  func removeDueRequest(_ now: UInt64) -> CatchUpRequest? {
    guard let request = pendingRequest, let answerDue, now >= answerDue else { return nil }
    pendingRequest = nil
    lastAnswerAt = now
    answered = request.number
    return request
  }

  // MARK: - Reports to the member

  /// Schedules a report at `time` or earlier.
  func report(by time: UInt64, withSums: Bool = false) {
    reportDue = min(reportDue ?? time, time)
    if withSums { reportsSums = true }
  }

  /// Whether a report is due.
  func isReportDue(_ now: UInt64) -> Bool { reportDue.map { now >= $0 } ?? false }

  /// Removes the scheduled report, and returns what it contains beside the context hash.
  /// - Parameter evenIfNone: Whether a report is sent even if none is scheduled.
  /// - Returns: Nil if no report is sent.
  func removeReport(evenIfNone: Bool) -> (applied: UInt64, isWithSums: Bool)? {
    guard !isClosed, reportDue != nil || evenIfNone else { return nil }
    defer {
      reportDue = nil
      reportsSums = false
      reportedApplied = applied
    }
    return (applied == reportedApplied ? 0 : applied, reportsSums)
  }
}

/// The earliest of some times.
struct Earliest {
  private(set) var time: UInt64?

  mutating func include(_ other: UInt64?) {
    guard let other else { return }
    time = min(time ?? other, other)
  }
}
