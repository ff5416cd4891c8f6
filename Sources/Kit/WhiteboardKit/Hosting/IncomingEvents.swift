import NIOCore
import PeerSession

/// A queue of session events that are not handled yet. The events of each member keep their order, and the members take
/// turns. A member that causes more work than its share delays only its own events. This type performs no I/O; all
/// times must come from the same clock.
struct IncomingEvents {
  /// The processor time that a member may use, in seconds per second.
  static let share = 0.25
  /// The maximum credit of a member, in seconds of processor time.
  static let burst = 1.0
  /// The number of queued events at which the board stops reading from the session.
  static let events = 4096
  /// The number of a member's queued messages at which the board stops reading from the member's link.
  static let messages = 256
  /// The number of a member's queued bytes at which the board stops reading from the member's link.
  static let bytes = 1 << 20
  /// The number of a member's queued bytes above which the board disconnects the member. The limit allows for bytes
  /// that were read from the link before reading stopped.
  static let mostBytes = 48 << 20
  /// The number of bytes that are added to the length of each queued message, for its overhead.
  private static let overhead = 64

  enum Verdict: Equatable {
    case pass
    case stopReading(PeerID)
    /// Too many events of this member are queued although reading should have stopped.
    case disconnect(PeerID)
  }

  enum Step {
    case handle(SessionEvent, of: PeerID?)
    /// No member with queued events has processor time left before this time.
    case wait(until: Duration)
    case none
  }

  private struct Queue {
    var events = CircularBuffer<SessionEvent>()
    var messages = 0
    var bytes = 0
    var isStopped = false
    /// The events of a leaving member are handled even without credit.
    var isLeaving = false
    /// The unused processor time of the member, in seconds; negative if the member used too much.
    var credit = IncomingEvents.burst
    var filledAt: Duration

    mutating func fill(_ now: Duration) {
      let elapsed = max(.zero, now - filledAt) / .seconds(1)
      filledAt = now
      credit = min(IncomingEvents.burst, credit + elapsed * IncomingEvents.share)
    }
  }

  /// The events that concern no member, or cannot wait.
  private var urgent = CircularBuffer<SessionEvent>()
  private var queues: [PeerID: Queue] = [:]
  /// The members with queued events, in the order of their turns.
  private var turns = CircularBuffer<PeerID>()

  private var count = 0

  var ignoresShares = false

  var isEmpty: Bool { count == 0 }

  var hasRoom: Bool { count < Self.events }

  /// Drops a datagram if its member has used up its processor time, or has too many queued events. Returns the action
  /// for the member's link.
  mutating func append(_ event: SessionEvent, now: Duration) -> Verdict {
    guard let peer = event.member else {
      urgent.append(event)
      count += 1
      return .pass
    }
    var queue = queues[peer] ?? Queue(filledAt: now)
    queue.fill(now)
    var verdict = Verdict.pass
    switch event {
    case .message(let bytes, from: _):
      queue.messages += 1
      queue.bytes += bytes.count + Self.overhead
      if queue.bytes > Self.mostBytes {
        verdict = .disconnect(peer)
      } else if queue.messages >= Self.messages || queue.bytes >= Self.bytes, !queue.isStopped {
        queue.isStopped = true
        verdict = .stopReading(peer)
      }
    case .datagram where queue.credit < 0 || queue.events.count >= Self.messages: return .pass
    case .peerLeft(_, let reason, undelivered: _):
      queue.isLeaving = true
      if reason.dropsMessages {
        count -= queue.messages
        queue.events = CircularBuffer(queue.events.filter { !$0.isMessage })
        queue.messages = 0
        queue.bytes = 0
      }
    default: break
    }
    // A member with queued events is already in the list of turns.
    if !turns.contains(peer) { turns.append(peer) }
    queue.events.append(event)
    count += 1
    queues[peer] = queue
    return verdict
  }

  mutating func nextStep(now: Duration) -> Step {
    if let event = urgent.popFirst() {
      count -= 1
      return .handle(event, of: nil)
    }
    var earliest: Duration?
    for _ in 0..<turns.count {
      guard let peer = turns.popFirst(), var queue = queues[peer] else { continue }
      queue.fill(now)
      guard queue.credit >= 0 || queue.isLeaving || ignoresShares, let event = queue.events.popFirst() else {
        queues[peer] = queue
        turns.append(peer)
        let due = now + .seconds(-queue.credit / Self.share) + .milliseconds(1)
        earliest = min(earliest ?? due, due)
        continue
      }
      count -= 1
      if case .message(let bytes, from: _) = event {
        queue.messages -= 1
        queue.bytes -= bytes.count + Self.overhead
      }
      if case .peerLeft = event { queue.isLeaving = queue.events.contains(where: \.isDeparture) }
      if !queue.events.isEmpty { turns.append(peer) }
      queues[peer] = queue
      return .handle(event, of: peer)
    }
    return earliest.map { .wait(until: $0) } ?? .none
  }

  /// Call this method after handling an event. If the result is true, the queue is at most half full, and reading from
  /// the member's link must resume.
  mutating func resume(_ peer: PeerID) -> Bool {
    guard let queue = queues[peer], queue.isStopped, queue.messages <= Self.messages / 2, queue.bytes <= Self.bytes / 2
    else { return false }
    queues[peer]?.isStopped = false
    return true
  }

  /// `work` is the processor time of a handled event, in seconds.
  mutating func charge(_ work: Double, to peer: PeerID, now: Duration) {
    queues[peer]?.fill(now)
    queues[peer]?.credit -= work
    // The debt is limited, so that one expensive message does not block the member for long.
    if let credit = queues[peer]?.credit { queues[peer]?.credit = max(credit, -4 * Self.burst) }
  }

  mutating func trim(now: Duration) {
    for (peer, var queue) in queues where queue.events.isEmpty {
      queue.fill(now)
      if queue.credit >= Self.burst { queues[peer] = nil }
    }
  }
}

extension SessionEvent {
  /// Whether the sender sent the event without a request from the local peer.
  var isUnasked: Bool {
    switch self {
    case .message, .datagram: true
    default: false
    }
  }

  fileprivate var member: PeerID? {
    switch self {
    case .peerJoined(let peer): peer.id
    case .peerStateChanged(let peer, _), .peerLeft(let peer, _, undelivered: _), .message(_, from: let peer),
      .datagram(_, from: let peer), .datagramPath(let peer, _):
      peer
    case .resourceStarted(let info), .resourceFinished(let info, _): info.peer
    case .streamOpened(let stream): stream.peer
    case .invitation, .invitationEnded, .resourceProgress, .warning: nil
    }
  }

  fileprivate var isMessage: Bool { if case .message = self { true } else { false } }

  fileprivate var isDeparture: Bool { if case .peerLeft = self { true } else { false } }
}

extension DepartureReason {
  /// The earlier messages of a removed or refused member are discarded.
  fileprivate var dropsMessages: Bool {
    switch self {
    case .kicked, .refused: true
    default: false
    }
  }
}
