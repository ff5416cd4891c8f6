/// Carries events from the node to whoever is told, in order, and makes the node wait for them.
///
/// Confined to the node's isolation; the sink is waited for outside of it.
struct EventPump {
  private var pending: [NodeEvent] = []
  private var isDelivering = false
  private var failure: OutputError?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// How many events wait before those who make them wait too.
  static let capacity = 1_024

  /// Whether there is room for more.
  var hasRoom: Bool { pending.count < EventPump.capacity || failure != nil }

  /// Whether everything has been told.
  var isIdle: Bool { (pending.isEmpty && !isDelivering) || failure != nil }

  /// Why nobody can be told any more.
  var error: OutputError? { failure }

  /// Adds an event at the end.
  mutating func append(_ event: NodeEvent) {
    guard failure == nil else { return }
    pending.append(event)
  }

  /// Takes what is to be told now, where nothing is being told yet.
  mutating func begin() -> [NodeEvent]? {
    guard !isDelivering, !pending.isEmpty, failure == nil else { return nil }
    isDelivering = true
    defer { pending = [] }
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
