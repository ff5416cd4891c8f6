import NIOCore

/// A relay's queue of messages for one member: route changes, and messages from other members.
///
/// The queue precedes the member's outbox, because messages cannot be removed from an outbox. This type does no I/O.
struct RelayQueue {
  private struct Item {
    var message: [UInt8]
    /// Whether the message may be dropped if too many bytes are queued.
    var isData: Bool
  }

  private var items = CircularBuffer<Item>()
  /// The number of queued bytes in messages from other members.
  private(set) var dataBytes = 0

  /// Whether the queue contains exactly one message.
  ///
  /// A single message may exceed any limit.
  var hasOneMessage: Bool { items.count == 1 }

  /// Whether the queue is empty.
  var isEmpty: Bool { items.isEmpty }

  /// The next message; it stays until ``removeFirst()``.
  var first: [UInt8]? { items.first?.message }

  /// Adds a control message from the relay.
  mutating func append(control message: [UInt8]) { items.append(Item(message: message, isData: false)) }

  /// Adds a message from another member.
  mutating func append(data message: [UInt8]) {
    items.append(Item(message: message, isData: true))
    dataBytes += message.count
  }

  /// Removes the next message.
  mutating func removeFirst() {
    let item = items.removeFirst()
    if item.isData { dataBytes -= item.message.count }
  }

  /// Drops the messages from other members, and keeps the control messages in order (RLY-12).
  mutating func dropData() {
    items = CircularBuffer(items.filter { !$0.isData })
    dataBytes = 0
  }
}
