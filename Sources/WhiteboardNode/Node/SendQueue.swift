/// What one peer is still to be sent, beyond what its session's outbox has taken.
///
/// Confined to the node's isolation. One queue a peer, so that a peer whose outbox is full holds up
/// nobody else's messages.
struct SendQueue {
  /// Which of all the times it is that somebody came into the session: what waits is for the process
  /// that the peer was then.
  let joining: UInt64

  private var messages: [[UInt8]] = []
  private var head = 0
  private var waiter: CheckedContinuation<[UInt8]?, Never>?
  private var isClosed = false
  /// How many bytes wait, those on their way into the outbox included.
  private(set) var byteCount = 0

  /// When much was last taken, or something began to wait.
  private var movedAt = ContinuousClock.now
  /// How many bytes were taken since.
  private var moved = 0

  /// How many bytes wait before local verbs wait too.
  static let patience = 16 * 1024 * 1024
  /// How long a peer that takes nothing makes them wait.
  static let standstill = Duration.seconds(5)
  /// How long one that is there may take nothing, before it is disconnected as too slow (MSG-5).
  static let tooSlow = Duration.seconds(30)
  /// How many bytes it has to take meanwhile: one that takes a few now and then stands still too.
  static let pace = 256 * 1024
  /// How many bytes may wait, whatever the pace, before it is disconnected as too slow.
  static let limit = 128 * 1024 * 1024

  init(joining: UInt64) { self.joining = joining }

  /// How much waits, as far as others go by it.
  enum Load: Int, Comparable {
    case light
    /// More than local verbs add to.
    case heavy
    /// More than is kept.
    case excessive

    static func < (one: Load, other: Load) -> Bool { one.rawValue < other.rawValue }
  }

  /// How much waits.
  var load: Load {
    byteCount >= SendQueue.limit ? .excessive : byteCount >= SendQueue.patience ? .heavy : .light
  }

  /// Whether it takes what it is sent too slowly to be waited for any longer.
  var isTooSlow: Bool { load == .excessive || isStalled(for: SendQueue.tooSlow) }

  /// Whether much waits and little of it was taken for a while.
  func isStalled(for duration: Duration) -> Bool {
    load > .light && ContinuousClock.now - movedAt >= duration
  }

  /// When it stands still next, or is too slow, unless more of it is taken.
  func nextDeadline(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard load > .light else { return nil }
    return [SendQueue.standstill, SendQueue.tooSlow].lazy.map { movedAt + $0 }.first { $0 > now }
  }

  /// Whether nothing waits.
  var isEmpty: Bool { byteCount == 0 && head == messages.count }

  /// Adds a message at the end, or hands it to the sender that waits.
  mutating func append(_ message: [UInt8]) {
    guard !isClosed else { return }
    if byteCount == 0 { restart() }
    byteCount += message.count
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: message)
    } else {
      messages.append(message)
    }
  }

  /// Hands the next message to the sender, now or when there is one; nil when there is no more.
  mutating func next(_ continuation: CheckedContinuation<[UInt8]?, Never>) {
    if head < messages.count {
      let message = messages[head]
      messages[head] = []
      head += 1
      if head == messages.count {
        messages.removeAll(keepingCapacity: true)
        head = 0
      }
      continuation.resume(returning: message)
    } else if isClosed {
      continuation.resume(returning: nil)
    } else {
      waiter = continuation
    }
  }

  /// A message has been taken by the outbox.
  mutating func sent(_ count: Int) {
    moved += count
    if moved >= SendQueue.pace { restart() }
    if !isClosed { byteCount -= count }
  }

  private mutating func restart() {
    movedAt = .now
    moved = 0
  }

  /// Nothing more is sent.
  mutating func close() {
    isClosed = true
    messages = []
    head = 0
    byteCount = 0
    waiter?.resume(returning: nil)
    waiter = nil
  }
}
