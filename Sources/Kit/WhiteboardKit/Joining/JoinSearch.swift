import PeerCore
import PeerDiscovery
import PeerSession

/// Decides which announced peers to ask for a board, in which order, and when to give up (DSC-27). The type performs no
/// I/O, and uses no clock and no random numbers. The type receives the announced peers and the result of each attempt,
/// and returns the next step.
struct JoinSearch: Sendable {
  struct Candidate: Sendable, Equatable {
    struct ID: Hashable, Sendable {
      let peer: PeerID
      let board: SessionID
    }

    let id: ID
    let boardName: UntrustedText
    let hostName: UntrustedText
    let addresses: [PeerAddress]
    /// The candidate with the highest rank is asked first.
    let rank: BrowserPreference.Rank
  }

  /// The boards that a search tries if several boards match the user's request.
  enum Boards: Sendable {
    /// Any board that matches; if several boards match, the user must choose.
    case one
    /// The known boards that match, or any board that matches if none of them is known. If several boards remain, the
    /// user must choose.
    case known
    /// All matching boards, one after the other. Only members of the intended board can prove that they know the code.
    case all
  }

  enum Step: Equatable, Sendable {
    case ask(Candidate)
    case wait(until: Duration)
    case choose([SessionID])
    case giveUp
  }

  struct Refusal: Sendable {
    let candidate: Candidate
    let error: SessionError
  }

  /// The maximum number of attempts with new peers or new addresses.
  static let maximumCandidates = 32
  /// The maximum time for a peer to admit or refuse, without the time that a user needs to answer.
  static let answerTimeout = Duration.seconds(3)
  /// The time to wait for further peers after all announced peers have refused. The time is short, because the user may
  /// have to enter a code, and because announcements of other peers usually arrive within a second.
  static let grace = Duration.seconds(2)

  private enum Outcome {
    case pending(JoinRetry, due: Duration, SessionError)
    case refused(SessionError)

    var error: SessionError {
      switch self {
      case .pending(_, _, let error), .refused(let error): error
      }
    }
  }

  private let boards: Boards
  private let redialLimit: Duration
  private var deadline: Duration
  /// The announced candidates, in order of appearance.
  private var shown: [Candidate] = []
  private var asked: [Candidate] = []
  private var outcomes: [Candidate.ID: Outcome] = [:]
  private var starts: [Candidate.ID: Duration] = [:]
  private var attempts = 0
  /// The time of the last refusal by an announced peer itself, rather than by another peer at its address.
  private var lastRefusal: Duration?

  init(_ boards: Boards, redialLimit: Duration, deadline: Duration) {
    self.boards = boards
    self.redialLimit = redialLimit
    self.deadline = deadline
  }

  var refusals: [Refusal] {
    asked.compactMap { candidate in outcomes[candidate.id].map { Refusal(candidate: candidate, error: $0.error) } }
  }

  mutating func show(_ candidates: [Candidate]) { shown = candidates }

  var hasNext: Bool { !new.isEmpty }

  mutating func next(now: Duration) -> Step {
    let meant = Self.boards(new)
    let isChoice = meant.count > 1 && boards != .all
    if !isChoice, let best = best(of: new) {
      asked.removeAll { $0.id == best.id }
      asked.append(best)
      attempts += 1
      starts[best.id] = now
      outcomes[best.id] = nil
      return .ask(best)
    }
    let waits = asked.compactMap { candidate -> (Candidate, due: Duration)? in
      guard case .pending(_, let due, _)? = outcomes[candidate.id] else { return nil }
      // Discovery may know a newer address.
      return (shown.first { $0.id == candidate.id } ?? candidate, due)
    }
    if let next = waits.min(by: { $0.due < $1.due }) { return next.due <= now ? .ask(next.0) : .wait(until: next.due) }
    if isChoice { return .choose(meant) }
    let end = lastRefusal.map { min($0 + Self.grace, deadline) } ?? deadline
    return now < end ? .wait(until: end) : .giveUp
  }

  /// Returns whether the candidate will be asked again. `time` is the time that a user on either side took to answer a
  /// question; this time does not count toward the limits. `jitter` is a fraction of the maximum jitter, from 0 to 1.
  @discardableResult mutating func refused(
    by id: Candidate.ID,
    _ error: SessionError,
    afterAskingFor time: Duration = .zero,
    now: Duration,
    jitter: Double
  ) -> Bool {
    deadline += time
    var retry: JoinRetry
    if case .pending(let earlier, _, _)? = outcomes[id] {
      retry = earlier
    } else {
      retry = JoinRetry(limit: redialLimit, start: starts[id] ?? now)
    }
    guard let wait = retry.wait(after: error, now: now, jitter: jitter) else {
      outcomes[id] = .refused(error)
      if error.code != .wrongPeer { lastRefusal = now }
      return false
    }
    outcomes[id] = .pending(retry, due: now + wait, error)
    return true
  }

  /// The announced candidates that were not asked yet at their current addresses. If only known boards may be tried,
  /// and at least one board is known, candidates of unknown boards are excluded.
  private var new: [Candidate] {
    guard attempts < Self.maximumCandidates else { return [] }
    // Members are not asked if the host itself declined. Any peer can announce a board and decline, so the id of the
    // board must name the host (MEM-14).
    let declined = outcomes.filter { id, outcome in
      guard case .refused(let error) = outcome else { return false }
      return error.code == .declined && id.board.names(id.peer)
    }
    let closed = Set(declined.keys.map(\.board))
    let new = shown.filter { !closed.contains($0.id.board) && (starts[$0.id] == nil || hasMoved($0)) }
    let known = Set((shown + asked).filter { $0.rank != .unknown }.map(\.id.board))
    return boards == .known && !known.isEmpty ? new.filter { known.contains($0.id.board) } : new
  }

  /// Whether a peer with a different key answered at the candidate's addresses, and the candidate now has new
  /// addresses.
  private func hasMoved(_ candidate: Candidate) -> Bool {
    guard case .refused(let error)? = outcomes[candidate.id], error.code == .wrongPeer,
      let former = asked.first(where: { $0.id == candidate.id })
    else { return false }
    return !Set(candidate.addresses).isSubset(of: former.addresses)
  }

  private static func boards(_ candidates: [Candidate]) -> [SessionID] {
    candidates.reduce(into: []) { boards, candidate in
      if !boards.contains(candidate.id.board) { boards.append(candidate.id.board) }
    }
  }

  /// Returns the candidate with the highest rank. Among equal ranks, prefers the fewest attempts at the address, and
  /// then the earliest appearance.
  private func best(of candidates: [Candidate]) -> Candidate? {
    let places = asked.map { $0.addresses.first?.host }
    let ordered = candidates.enumerated().map { index, candidate in
      (candidate.rank, places.count { $0 == candidate.addresses.first?.host }, index, candidate)
    }
    return ordered.min { ($1.0, $0.1, $0.2) < ($0.0, $1.1, $1.2) }?.3
  }
}

extension JoinSearch.Refusal {
  /// Text for the user, such as `Ada (st4ksrqd) asks for a code`.
  var words: String { Self.words(error, by: candidate.id.peer, candidate.hostName, at: candidate.addresses.first) }

  static func words(_ error: SessionError, by peer: PeerID, _ name: UntrustedText, at address: PeerAddress?) -> String {
    "\(EventText.person(name, peer.text)) \(predicate(error, address))"
  }

  private static func predicate(_ error: SessionError, _ address: PeerAddress?) -> String {
    switch error.code {
    case .withdrawn: "asks for a code"
    case .wrongCode: "refused the code"
    case .lockedOut: "accepts no codes for a minute"
    case .notVerified where error.message == SessionError.codeNotAskedAdvice: "answers requests itself, without a code"
    case .notVerified: "did not prove that it is the right peer"
    case .notKnown: "admits only peers that it knows"
    case .declined: "declined"
    case .kicked: "reports that you were removed from the board"
    case .full: "reports that the board is full"
    case .busy where error.message == SessionError.justDeclinedAdvice:
      "just declined a request from this address, and answers no other one for a minute"
    case .busy: "is busy"
    case .unreachable, .timedOut: "did not answer"
    case .noSuchSession: "does not have the board"
    case .wrongPeer: "is no longer at \(address?.description ?? "its address")"
    case .selfDialled: "is this peer itself"
    default: "failed: \(UntrustedText(error.message).escaped(limit: 128))"
    }
  }
}
