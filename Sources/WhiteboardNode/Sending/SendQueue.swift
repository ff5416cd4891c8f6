import PeerSession

/// What is still to be sent by one way, beyond what the session's outbox has taken.
///
/// Confined to the node's isolation. One queue a way, so that a peer whose outbox is full holds up only
/// those who are reached by way of it. A message to many of them waits once.
struct SendQueue {
  /// A message, and whom it is for.
  struct Message: Sendable {
    let bytes: [UInt8]
    /// Those of its recipients who are still the processes that they were when it was queued, and which
    /// of all the times that somebody came in they came.
    let joinings: [PeerID: UInt64]
    /// The number of the message, if its recipients must confirm it.
    let number: Int?
  }

  private struct Item {
    let bytes: [UInt8]
    let recipients: [PeerID]
    let number: Int?
  }

  private struct Entry {
    let joining: UInt64
    /// How many messages were queued before.
    let first: Int
  }

  /// Tells it from others that there were for the same way.
  let number: Int

  private var entries: [PeerID: Entry] = [:]
  private var items: [Item] = []
  private var head = 0
  /// How many messages were queued.
  private var queued = 0
  private var waiter: CheckedContinuation<Message?, Never>?
  /// Whether nothing more is sent.
  private(set) var isClosed = false
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

  init(number: Int) { self.number = number }

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
  var isEmpty: Bool { byteCount == 0 && head == items.count }

  // MARK: - Who is reached this way

  /// A peer is reached this way: what is queued from now on may be for it.
  mutating func enter(_ peer: PeerID, joining: UInt64) {
    entries[peer] = Entry(joining: joining, first: queued)
  }

  /// A peer is gone: nothing is for it any more.
  mutating func leave(_ peer: PeerID) { entries[peer] = nil }

  /// Whether nobody else is reached this way.
  func isLast(_ peer: PeerID) -> Bool { entries.keys.allSatisfy { $0 == peer } }

  // MARK: - Messages

  /// Adds a message at the end, or hands it to the sender that waits.
  mutating func append(_ bytes: [UInt8], to recipients: [PeerID], as number: Int? = nil) {
    guard !isClosed else { return }
    // What goes to everyone, as most does, shares one list of them.
    let last = items.last?.recipients
    let item = Item(
      bytes: bytes,
      recipients: last == recipients ? last ?? recipients : recipients,
      number: number
    )
    guard let message = message(item, at: queued) else { return }
    if byteCount == 0 { restart() }
    byteCount += bytes.count
    queued += 1
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: message)
    } else {
      items.append(item)
    }
  }

  /// Hands the next message to the sender, now or when there is one; nil when there is no more.
  mutating func next(_ continuation: CheckedContinuation<Message?, Never>) {
    while head < items.count {
      let item = items[head]
      let message = message(item, at: queued - (items.count - head))
      items[head] = Item(bytes: [], recipients: [], number: nil)
      head += 1
      if head == items.count {
        items.removeAll(keepingCapacity: true)
        head = 0
      }
      if let message {
        continuation.resume(returning: message)
        return
      }
      // All it was for have left.
      byteCount -= item.bytes.count
    }
    if isClosed {
      continuation.resume(returning: nil)
    } else {
      waiter = continuation
    }
  }

  /// The message that was queued as the one of that number; nil where nobody is there any more to hear it.
  private func message(_ item: Item, at number: Int) -> Message? {
    var joinings: [PeerID: UInt64] = [:]
    for peer in item.recipients {
      if let entry = entries[peer], entry.first <= number { joinings[peer] = entry.joining }
    }
    guard !joinings.isEmpty else { return nil }
    return Message(bytes: item.bytes, joinings: joinings, number: item.number)
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
    items = []
    head = 0
    byteCount = 0
    waiter?.resume(returning: nil)
    waiter = nil
  }
}
