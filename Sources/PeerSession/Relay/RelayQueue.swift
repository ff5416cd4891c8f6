import NIOCore

/// What waits at a relay for one member: routes told and taken back, and what others sent it.
///
/// It stands before the member's outbox, from which nothing can be taken back; a value without I/O.
struct RelayQueue {
  private struct Item {
    var message: [UInt8]
    /// Whether it may be dropped when too much waits.
    var isData: Bool
  }

  private var items = CircularBuffer<Item>()
  /// Bytes of what others sent it.
  private(set) var dataBytes = 0

  /// Whether what waits is one message, which may be longer than any bound.
  var hasOneMessage: Bool { items.count == 1 }

  /// Whether nothing waits.
  var isEmpty: Bool { items.isEmpty }

  /// The next message, which stays until ``removeFirst()``.
  var first: [UInt8]? { items.first?.message }

  /// Adds the relay's own word.
  mutating func append(control message: [UInt8]) {
    items.append(Item(message: message, isData: false))
  }

  /// Adds what another sent.
  mutating func append(data message: [UInt8]) {
    items.append(Item(message: message, isData: true))
    dataBytes += message.count
  }

  /// Takes the next message out.
  mutating func removeFirst() {
    let item = items.removeFirst()
    if item.isData { dataBytes -= item.message.count }
  }

  /// Drops what others sent, and keeps the relay's own words in order (RLY-12).
  mutating func dropData() {
    items = CircularBuffer(items.filter { !$0.isData })
    dataBytes = 0
  }
}
