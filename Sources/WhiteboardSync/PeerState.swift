import Crypto
import Whiteboard

/// What a replica keeps of one joined member.
struct PeerState {
  /// Who it is on this board, once it asked for something.
  var incarnation: Incarnation?
  /// When anything of it arrived last.
  var lastHeard: UInt64
  /// The hash of its context, as it last reported.
  var contextHash: UInt64?
  /// Which of our operations it has, as it last reported.
  private(set) var received = DotSet()

  // What we ask of it.
  private(set) var lastRequest: UInt64 = 0
  var requestInFlight: UInt64?
  private(set) var requestActiveAt: UInt64 = 0
  /// Until when it is not asked, because its last answer had no room here.
  var askAgain: UInt64 = 0
  var applied: UInt64 = 0
  private var assembly: Assembly?

  // What it asks of us.
  var pendingRequest: CatchUpRequest?
  /// Whether so much waits to be sent to it that an answer must wait (SYN-12).
  var isBacklogged = false
  private var answered: UInt64 = 0
  private var lastAnswerAt: UInt64?
  var confirmed: UInt64 = 0

  var reportDue: UInt64?
  var presenceCounter: UInt64?
  var cursor: InkPoint?

  private struct Assembly {
    let byteCount: Int
    let checksum: Bytes32
    var parts = 0
    var bytes: [UInt8] = []
  }

  init(now: UInt64) { lastHeard = now }

  /// Whether each has applied the other's answer to its latest request.
  var isCaughtUpBothWays: Bool {
    applied > 0 && answered > 0 && confirmed >= answered && pendingRequest == nil
  }

  mutating func noteReceived(_ ranges: SequenceRanges, of incarnation: Incarnation) {
    guard !ranges.ranges.isEmpty else { return }
    received.formUnion(ranges, of: incarnation)
  }

  /// Has a report sent at `time` or before.
  mutating func report(by time: UInt64) { reportDue = min(reportDue ?? time, time) }

  mutating func beginRequest(_ now: UInt64) -> UInt64 {
    lastRequest += 1
    requestInFlight = lastRequest
    requestActiveAt = now
    assembly = nil
    return lastRequest
  }

  mutating func abandonRequest() {
    requestInFlight = nil
    assembly = nil
  }

  /// The request to answer now, at most one in each interval.
  mutating func takeRequest(_ now: UInt64) -> CatchUpRequest? {
    guard let request = pendingRequest, !isBacklogged,
      lastAnswerAt.map({ now >= $0 + Replica.answerInterval }) ?? true
    else { return nil }
    pendingRequest = nil
    lastAnswerAt = now
    answered = request.number
    return request
  }

  /// Takes one part in.
  /// - Returns: the answer, when this was its last part.
  /// - Throws: `CodecError` where the parts do not fit; the request is then given up.
  mutating func assemble(_ part: AnswerPart, _ now: UInt64) throws(CodecError) -> [UInt8]? {
    requestActiveAt = now
    var answer = assembly ?? Assembly(byteCount: part.byteCount, checksum: part.checksum)
    assembly = nil
    guard answer.byteCount == part.byteCount, answer.checksum == part.checksum,
      answer.parts == part.index
    else {
      requestInFlight = nil
      throw .inconsistent("answer")
    }
    answer.parts += 1
    answer.bytes += part.content
    guard answer.bytes.count == answer.byteCount else {
      assembly = answer
      return nil
    }
    guard AnswerPart.checksum(of: answer.bytes) == answer.checksum else {
      requestInFlight = nil
      throw .checksum
    }
    return answer.bytes
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
  var cursor: InkPoint?
  var hasMoved = false
  var lastSent: UInt64 = 0
  private var counter: UInt64 = 0

  /// The datagram that is due.
  mutating func next(_ now: UInt64) -> SyncDatagram? {
    let interval = hasMoved ? Replica.cursorInterval : Replica.presenceInterval
    guard lastSent == 0 || now >= lastSent + interval else { return nil }
    lastSent = max(now, 1)
    hasMoved = false
    counter += 1
    return .presence(counter: counter, cursor: cursor)
  }
}
