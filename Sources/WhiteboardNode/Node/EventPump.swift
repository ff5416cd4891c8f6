/// Carries events from the node to whoever is told, in order, and makes the node wait for them.
///
/// Confined to the node's isolation; the sink is waited for outside of it.
struct EventPump {
  private var pending: [NodeEvent] = []
  private var pendingBytes = 0
  private var isDelivering = false
  private var failure: OutputError?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// How many events wait before those who make them wait too.
  static let capacity = 1_024
  /// How many bytes of what others sent, roughly.
  static let byteCapacity = 8 * 1024 * 1024

  /// Whether there is room for more.
  var hasRoom: Bool {
    (pending.count < EventPump.capacity && pendingBytes < EventPump.byteCapacity) || failure != nil
  }

  /// Whether everything has been told.
  var isIdle: Bool { (pending.isEmpty && !isDelivering) || failure != nil }

  /// The error that ended the output.
  var error: OutputError? { failure }

  /// Adds an event at the end.
  mutating func append(_ event: NodeEvent) {
    guard failure == nil else { return }
    pending.append(event)
    pendingBytes += event.weight
  }

  /// Takes what is to be told now, where nothing is being told yet.
  mutating func begin() -> [NodeEvent]? {
    guard !isDelivering, !pending.isEmpty, failure == nil else { return nil }
    isDelivering = true
    defer {
      pending = []
      pendingBytes = 0
    }
    return pending
  }

  /// What was begun is over.
  ///
  /// - Returns: Whom to wake.
  mutating func end(_ error: OutputError?) -> [CheckedContinuation<Void, Never>] {
    isDelivering = false
    failure = failure ?? error
    defer { waiters = [] }
    return waiters
  }

  /// Adds one to be woken when something has been told.
  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
    waiters.append(continuation)
  }
}

extension NodeEvent {
  /// The bytes in it that have no small limit.
  fileprivate var weight: Int {
    switch self {
    case .data(let event): event.base64.utf8.count
    case .streamData(let event): event.base64.utf8.count
    case .chat(let event): event.text.utf8.count
    default: 0
    }
  }
}
