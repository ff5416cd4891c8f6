import Whiteboard

/// The state of the link to one joined member; a class, because the state is large and is changed in place.
final class MemberLink {
  /// The time in milliseconds after which another member is asked if an answer makes no progress.
  private static let requestTimeout: UInt64 = 5000
  /// The time after which other members are asked even though an answer is still arriving, in milliseconds.
  private static let slowAnswer: UInt64 = 30_000
  /// The minimum time between two repairs by one member, in milliseconds.
  private static let repairInterval: UInt64 = 5000
  /// The time after which a member is asked again if there was no room for its answer, in milliseconds. The value is
  /// also the minimum time between two reports that there is no room.
  private static let fullTimeout: UInt64 = 60_000
  /// The minimum time between two answers to one member, in milliseconds.
  private static let answerInterval: UInt64 = 1000
  /// The time of silence after which a member's selections no longer hold objects, in milliseconds.
  static let silenceTimeout: UInt64 = 10_000

  let link = LinkChainVerifier()
  var reader = LinkBatchReader()
  var inbox = MemberInbox()
  /// Whether the member violated the protocol, so that further messages on this link are ignored.
  private(set) var isClosed = false
  var lastHeard: UInt64
  /// The context hash in the member's last report.
  var contextHash: UInt64?
  /// The context hash and the local revision for which the bucket sums of both replicas were last equal (SYN-44).
  var agreed: (contextHash: UInt64, revision: UInt64)?
  /// The bucket sums in the member's last report, until they are compared.
  var newSums: [UInt64] = []
  /// The hash of the context for which bucket sums were last sent to the member.
  var sumsSentFor: UInt64?

  /// The role that was last reported to users.
  var role: Role?
  /// The incarnation of the member to which a grant was last sent.
  var granted: Incarnation?

  // State of requests to the member.
  private(set) var lastRequest: UInt64 = 0
  private(set) var requestInFlight: UInt64?
  private(set) var requestBuckets: UInt16 = 0
  var unverifiedAnswer: UnverifiedAnswer?
  private var requestActiveAt: UInt64 = 0
  private var requestBegunAt: UInt64 = 0
  /// The buckets that the next request asks for.
  private var repairBuckets: UInt16 = 0
  private var nextRepair: UInt64 = 0
  private(set) var askAgain: UInt64 = 0
  /// Whether a retirement arrived after the last request, so the answer may still name the retired incarnations.
  private(set) var mayNameRetired = false
  /// The number of the latest request to the member whose answer was applied.
  private(set) var applied: UInt64 = 0
  private var reportedApplied: UInt64 = 0
  private var fullReportedAt: UInt64?

  // State of requests from the member.
  var pendingRequest: CatchUpRequest?
  /// The number of the request whose answer is being sent.
  var answerInFlight: UInt64?
  /// Whether an answer must wait because too many bytes are queued for the member (SYN-12).
  var isBacklogged = false
  private var answered: UInt64 = 0
  private var lastAnswerAt: UInt64?
  /// The request number of the latest answer that the member has applied.
  var confirmed: UInt64 = 0

  private var reportDue: UInt64?
  private var reportsSums = false
  var presenceCounter: UInt64?
  var presence = Presence()
  /// Whether the member shows previews of strokes, as its last profile states (SYN-49).
  var showsPreviews = true
  var clock = ClockSamples()
  let joinedAt: UInt64

  init(now: UInt64) {
    lastHeard = now
    joinedAt = now
  }

  var silenceDeadline: UInt64 { lastHeard + Self.silenceTimeout }

  func nextDeadline(mayAnswer: Bool) -> UInt64? {
    var earliest = Earliest()
    earliest.include(reportDue)
    if mayAnswer { earliest.include(answerDue) }
    earliest.include(giveUpDeadline)
    earliest.include(inbox.deadline)
    return earliest.time
  }

  var isAwaitingVerification: Bool { inbox.isVerifying || unverifiedAnswer != nil }

  func close() {
    isClosed = true
    inbox = MemberInbox()
    endRequest()
    pendingRequest = nil
    reportDue = nil
  }

  /// Returns true at most once in each ``fullTimeout``.
  func beginFullReport(_ now: UInt64) -> Bool {
    if let fullReportedAt, now < fullReportedAt + Self.fullTimeout { return false }
    fullReportedAt = now
    return true
  }

  // MARK: - Requests to the member

  /// Whether the member introduced itself as an author whose answers are accepted (SYN-12).
  var mayBeAsked: Bool { !isClosed && link.role?.mayWrite ?? false }

  /// Whether the member was asked, and the answer has arrived or is expected.
  var isAsked: Bool { requestInFlight != nil || applied > 0 }

  /// Resets the requests after the member's role has changed, so that the member is asked again.
  func didChangeRole() {
    endRequest()
    applied = 0
    reportedApplied = 0
  }

  /// Whether an answer of the member was applied, or the member is a viewer, which does not answer.
  var isCaughtUp: Bool { link.role.map { !$0.mayWrite || applied > 0 } ?? false }

  func beginRequest(_ now: UInt64) -> (number: UInt64, buckets: UInt16) {
    lastRequest += 1
    requestInFlight = lastRequest
    requestBuckets = repairBuckets
    repairBuckets = 0
    requestActiveAt = now
    requestBegunAt = now
    mayNameRetired = false
    return (lastRequest, requestBuckets)
  }

  func noteProgress(_ now: UInt64) { requestActiveAt = now }

  func endRequest() {
    requestInFlight = nil
    requestBuckets = 0
    unverifiedAnswer = nil
  }

  func didApplyAnswer(to request: UInt64) { applied = request }

  /// Stops asking the member for a while, because there was no room for its answer, or because the member skips
  /// retirements (AUT-17).
  func postponeRequests(_ now: UInt64) { askAgain = now + Self.fullTimeout }

  func retirementArrived() { mayNameRetired = true }

  var slowDeadline: UInt64? { requestInFlight.map { _ in requestBegunAt + Self.slowAnswer } }

  func isSlow(_ now: UInt64) -> Bool { slowDeadline.map { now >= $0 } ?? false }

  var giveUpDeadline: UInt64? {
    // An answer that is being verified has already arrived.
    guard requestInFlight != nil, unverifiedAnswer == nil else { return nil }
    return requestActiveAt + Self.requestTimeout
  }

  /// Returns whether the member may be asked for a repair now, at most once in each interval (SYN-42).
  func mayRepair(_ now: UInt64) -> Bool { now >= nextRepair }

  func repair(_ buckets: UInt16, _ now: UInt64) {
    repairBuckets |= buckets
    nextRepair = now + Self.repairInterval
  }

  // MARK: - Requests of the member

  func didChangeOwnRole() {
    answered = 0
    confirmed = 0
  }

  /// Whether the member has applied the local answer to its latest request.
  var hasCaughtUp: Bool { answered > 0 && confirmed >= answered && pendingRequest == nil }

  /// One answer is sent at a time, and at most one in each interval.
  private var answerDue: UInt64? {
    guard pendingRequest != nil, !isBacklogged, !isClosed, answerInFlight == nil else { return nil }
    return lastAnswerAt.map { $0 + Self.answerInterval } ?? 0
  }

  func removeDueRequest(_ now: UInt64) -> CatchUpRequest? {
    guard let request = pendingRequest, let answerDue, now >= answerDue else { return nil }
    pendingRequest = nil
    lastAnswerAt = now
    answered = request.number
    return request
  }

  // MARK: - Reports to the member

  func report(by time: UInt64, withSums: Bool = false) {
    reportDue = min(reportDue ?? time, time)
    if withSums { reportsSums = true }
  }

  func isReportDue(_ now: UInt64) -> Bool { reportDue.map { now >= $0 } ?? false }

  /// Removes the scheduled report, and returns its content without the context hash. If no report is scheduled, returns
  /// nil, unless `evenIfNone` is true.
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

struct Earliest {
  private(set) var time: UInt64?

  mutating func include(_ other: UInt64?) {
    guard let other else { return }
    time = min(time ?? other, other)
  }
}

final class MemberLinks {
  private var peers: [MemberID: MemberLink] = [:]

  subscript(member: MemberID) -> MemberLink? { peers[member] }

  var isEmpty: Bool { peers.isEmpty }

  var count: Int { peers.count }

  /// The joined members, in ascending order.
  var members: [MemberID] { peers.keys.sorted() }

  /// The joined members that show previews of strokes, in ascending order.
  var viewers: [MemberID] { members.filter { peers[$0]?.showsPreviews ?? false } }

  var states: some Collection<MemberLink> { peers.values }

  /// The links and their members, in no particular order.
  var entries: some Sequence<(key: MemberID, value: MemberLink)> { peers }

  func insert(_ member: MemberID, now: UInt64) { peers[member] = MemberLink(now: now) }

  func remove(_ member: MemberID) -> Bool { peers.removeValue(forKey: member) != nil }

  /// The time after which the author of a change receives a report about the change, in milliseconds. The time grows
  /// with the number of members, because every member sends reports (SYN-14).
  var reportDelay: UInt64 { min(50 * UInt64(max(count, 8)) / 8, 1000) }

  /// The time between two signed heads, in milliseconds. The time grows with the number of members, because every
  /// member verifies each head (AUT-7).
  var headInterval: UInt64 { 1000 * UInt64(max(count, 8)) / 8 }
}

/// A queue of one member's messages that wait because the first of them cannot be handled yet. The first message waits
/// while its signatures are being verified. A message that purges an object also waits for the batches of the object's
/// author (BRD-39). Later messages wait behind it, so that messages are handled in order of arrival.
struct MemberInbox {
  private enum First {
    case unverified([UInt8], VerificationState)
    /// A batch that purges an object too early, and the time when it arrived. The batch is already part of the link's
    /// chain.
    case early(EncodedBatch, since: UInt64)
  }

  static let earlyTimeout: UInt64 = 5000
  static let earlyByteLimit = 4 << 20
  /// The number of waiting bytes at which no more messages are accepted while signatures are being verified.
  static let byteLimit = 16 << 20
  /// The number of bytes that are counted for each message in addition to its size.
  private static let overhead = 64

  private var first: First?
  private var others: [[UInt8]] = []
  /// The index of the next message in `others`; the messages before it were removed.
  private var start = 0
  private var byteCount = 0

  /// Whether the first message waits; new messages must then wait behind it.
  var isWaiting: Bool { first != nil }

  var isVerifying: Bool { if case .unverified = first { true } else { false } }

  var earlyBatch: EncodedBatch? { if case .early(let batch, _) = first { batch } else { nil } }

  var deadline: UInt64? {
    guard case .early(_, let since) = first else { return nil }
    return since + Self.earlyTimeout
  }

  func isOverdue(_ now: UInt64) -> Bool { byteCount >= Self.earlyByteLimit || deadline.map { now >= $0 } ?? false }

  // MARK: - Adding

  mutating func wait(_ message: [UInt8], for verification: VerificationState) {
    first = .unverified(message, verification)
  }

  mutating func wait(_ batch: EncodedBatch, since: UInt64) { first = .early(batch, since: since) }

  /// Returns whether there was room. Below the limit, one message of any size is accepted.
  mutating func append(_ message: [UInt8]) -> Bool {
    guard byteCount < Self.byteLimit || !isVerifying else { return false }
    byteCount += message.count + Self.overhead
    others.append(message)
    return true
  }

  // MARK: - Removing

  /// Records the result of a check for the first message. When all results are known, removes the message and returns
  /// it.
  mutating func didVerify(_ id: VerificationID, isValid: Bool) -> (message: [UInt8], verification: VerificationState)? {
    guard case .unverified(let message, var verification) = first else { return nil }
    // Clear the property, so that `verification` has one reference and is not copied.
    first = nil
    guard verification.didVerify(id, isValid: isValid), !verification.isPending else {
      first = .unverified(message, verification)
      return nil
    }
    return (message, verification)
  }

  mutating func removeEarlyBatch() { if case .early = first { first = nil } }

  mutating func removeNext() -> [UInt8]? {
    guard first == nil, start < others.count else { return nil }
    let message = others[start]
    others[start] = []
    start += 1
    byteCount -= message.count + Self.overhead
    if start == others.count { (others, start) = ([], 0) }
    return message
  }
}
