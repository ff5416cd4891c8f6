import PeerSession

/// The messages of one route that the session's outbox has not accepted yet. A message to several members of the route
/// is queued once. Confined to the board's actor.
struct SendQueue {
  struct Message: Sendable {
    let bytes: [UInt8]
    /// The recipients with their join generations, without the recipients that joined again after the message was
    /// queued.
    let joinings: [PeerID: UInt64]
    /// The number of the message; nil if the recipients need not confirm it.
    let number: Int?
  }

  private struct Item {
    let bytes: [UInt8]
    let recipients: [PeerID]
    let number: Int?
  }

  private struct Entry {
    let joining: UInt64
    /// The number of messages that were queued before the member joined.
    let first: Int
  }

  /// A number that distinguishes this queue from earlier queues of the same route.
  let number: Int

  private var entries: [PeerID: Entry] = [:]
  private var items: [Item] = []
  private var head = 0
  private var queued = 0
  private var waiter: CheckedContinuation<Message?, Never>?
  private(set) var isClosed = false
  /// The number of queued bytes, including the bytes that are being passed to the outbox.
  private(set) var byteCount = 0

  /// The time at which the outbox last accepted ``pace`` bytes, or the first message was queued.
  private var movedAt = ContinuousClock.now
  /// The number of bytes that the outbox accepted since ``movedAt``.
  private var moved = 0

  /// The number of queued bytes at which local commands start to wait.
  static let patience = 16 * 1024 * 1024
  /// The maximum time for which a peer that accepts nothing delays local commands.
  static let standstill = Duration.seconds(5)
  /// The time after which a connected peer that accepts data too slowly is disconnected (MSG-5).
  static let tooSlow = Duration.seconds(30)
  /// The number of bytes that a peer must accept within a time limit; otherwise, the peer is considered stalled.
  static let pace = 256 * 1024
  /// The number of queued bytes at which the peer is disconnected, however fast it accepts data.
  static let limit = 128 * 1024 * 1024

  init(number: Int) { self.number = number }

  enum Load: Int, Comparable {
    case light, heavy, excessive

    static func < (one: Load, other: Load) -> Bool { one.rawValue < other.rawValue }
  }

  var load: Load { byteCount >= SendQueue.limit ? .excessive : byteCount >= SendQueue.patience ? .heavy : .light }

  var isTooSlow: Bool { load == .excessive || isStalled(for: SendQueue.tooSlow) }

  func isStalled(for duration: Duration) -> Bool { load > .light && ContinuousClock.now - movedAt >= duration }

  /// The time at which the queue will be stalled or its peer too slow; nil if few bytes are queued.
  func nextDeadline(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard load > .light else { return nil }
    return [SendQueue.standstill, SendQueue.tooSlow].lazy.map { movedAt + $0 }.first { $0 > now }
  }

  var isEmpty: Bool { byteCount == 0 && head == items.count }

  // MARK: - Members on this route

  /// Adds a member, which can receive the messages that are queued from now on.
  mutating func enter(_ peer: PeerID, joining: UInt64) { entries[peer] = Entry(joining: joining, first: queued) }

  mutating func leave(_ peer: PeerID) { entries[peer] = nil }

  func isLast(_ peer: PeerID) -> Bool { entries.keys.allSatisfy { $0 == peer } }

  // MARK: - Messages

  mutating func append(_ bytes: [UInt8], to recipients: [PeerID], as number: Int? = nil) {
    guard !isClosed else { return }
    // Most messages go to all members, so consecutive messages share one list of recipients.
    let last = items.last?.recipients
    let item = Item(bytes: bytes, recipients: last == recipients ? last ?? recipients : recipients, number: number)
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

  /// Passes the next message to the sender, or nil if the queue is closed.
  mutating func dequeue(_ continuation: CheckedContinuation<Message?, Never>) {
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
      // All recipients of the message have left.
      byteCount -= item.bytes.count
    }
    if isClosed { continuation.resume(returning: nil) } else { waiter = continuation }
  }

  private func message(_ item: Item, at number: Int) -> Message? {
    var joinings: [PeerID: UInt64] = [:]
    for peer in item.recipients {
      if let entry = entries[peer], entry.first <= number { joinings[peer] = entry.joining }
    }
    guard !joinings.isEmpty else { return nil }
    return Message(bytes: item.bytes, joinings: joinings, number: item.number)
  }

  mutating func sent(_ count: Int) {
    moved += count
    if moved >= SendQueue.pace { restart() }
    if !isClosed { byteCount -= count }
  }

  private mutating func restart() {
    movedAt = .now
    moved = 0
  }

  mutating func close() {
    isClosed = true
    items = []
    head = 0
    byteCount = 0
    waiter?.resume(returning: nil)
    waiter = nil
  }
}
