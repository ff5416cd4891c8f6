import Whiteboard

/// The messages and answers of one member that wait until the signatures of the first of them are verified.
///
/// Everything behind the first waits too, so that a slow verification has the same effect as a slow link.
struct MemberInbox {
  /// Something that arrived from the member.
  enum Item {
    case message([UInt8])
    case answer([UInt8], request: UInt64)
  }

  /// The maximum number of bytes of messages that wait; answers are limited by their requests.
  static let byteLimit = 16 << 20

  private var items: [Item] = []
  /// The index of the first item that still waits.
  private var start = 0
  private var byteCount = 0
  /// The checks for the first item.
  private var verification = VerificationState()

  /// Whether no item waits.
  var isEmpty: Bool { start == items.count }

  /// Whether the answer to a request waits.
  var containsAnswer: Bool {
    items[start...].contains { if case .answer = $0 { true } else { false } }
  }

  /// Adds an item at the end.
  /// - Returns: Whether there was room for it.
  mutating func append(_ item: Item) -> Bool {
    byteCount += Self.size(item)
    guard byteCount <= Self.byteLimit else { return false }
    items.append(item)
    return true
  }

  /// Removes and returns the first item if its checks are complete, with their results.
  mutating func removeFirst() -> (item: Item, verification: VerificationState)? {
    guard !isEmpty, !verification.isPending else { return nil }
    defer { verification = VerificationState() }
    let item = items[start]
    byteCount -= Self.size(item)
    items[start] = .message([])
    start += 1
    if start == items.count { (items, start) = ([], 0) }
    return (item, verification)
  }

  /// Puts the item that was removed last, or a new one, at the beginning, to wait for its checks.
  mutating func insertFirst(_ item: Item, _ verification: VerificationState) {
    byteCount += Self.size(item)
    if start > 0 {
      start -= 1
      items[start] = item
    } else {
      items.insert(item, at: 0)
    }
    self.verification = verification
  }

  /// The owner answered a request for the first item.
  mutating func didVerify(_ id: VerificationID, isValid: Bool) {
    verification.didVerify(id, isValid: isValid)
  }

  private static func size(_ item: Item) -> Int {
    guard case .message(let bytes) = item else { return 0 }
    return bytes.count + 64
  }
}
