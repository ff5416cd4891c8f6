import NIOCore

/// The messages that wait at a relay for one member: route changes, and messages of other members.
///
/// The queue precedes the member's outbox, because messages cannot be removed from an outbox. This
/// type does no I/O.
struct RelayQueue {
  private struct Item {
    var message: [UInt8]
    /// Whether the message may be dropped if too many bytes wait.
    var isData: Bool
  }

  private var items = CircularBuffer<Item>()
  /// The number of bytes in messages of other members.
  private(set) var dataBytes = 0

  /// Whether a single message waits, which may exceed any limit.
  var hasOneMessage: Bool { items.count == 1 }

  /// Whether no message waits.
  var isEmpty: Bool { items.isEmpty }

  /// The next message; it stays until ``removeFirst()``.
  var first: [UInt8]? { items.first?.message }

  /// Adds a control message of the relay.
  mutating func append(control message: [UInt8]) {
    items.append(Item(message: message, isData: false))
  }

  /// Adds a message of another member.
  mutating func append(data message: [UInt8]) {
    items.append(Item(message: message, isData: true))
    dataBytes += message.count
  }

  /// Removes the next message.
  mutating func removeFirst() {
    let item = items.removeFirst()
    if item.isData { dataBytes -= item.message.count }
  }

  /// Drops the messages of other members, and leaves the control messages in order (RLY-12).
  mutating func dropData() {
    items = CircularBuffer(items.filter { !$0.isData })
    dataBytes = 0
  }
}
