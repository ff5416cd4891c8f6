/// Carries events from the node to whoever is told, in order, and makes the node wait for them.
///
/// Confined to the node's isolation; the sink is waited for outside of it.
///
/// While the reader is behind, an event about an object replaces the pending one about the same
/// object by the same author. So the pump holds one copy of an object, however often it changes.
struct EventPump {
  private var pending: [BoardEvent] = []
  private(set) var pendingBytes = 0
  /// Roughly the number of bytes of the events that are being told.
  ///
  /// It exceeds twice the capacity only if one of the events is large.
  private var tellingBytes = 0
  /// The bytes of all events so far that were not joined to an earlier one, roughly.
  private(set) var appendedBytes = 0
  /// The index of the pending event of each object that a later one may replace.
  private var replaceable: [String: Int] = [:]
  private var isDelivering = false
  private var failure: OutputError?
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// How many events wait before those who make them wait too.
  static let capacity = 1_024
  /// How many bytes of what others sent, roughly.
  static let byteCapacity = 1024 * 1024
  /// With so many events pending the reader is behind.
  static let backlog = 64
  /// With so many bytes pending the reader is behind.
  static let byteBacklog = 64 * 1024

  /// Whether there is room for more.
  var hasRoom: Bool {
    (pending.count < EventPump.capacity && pendingBytes < EventPump.byteCapacity
      && tellingBytes < 2 * EventPump.byteCapacity) || failure != nil
  }

  /// Whether everything has been told.
  var isIdle: Bool { (pending.isEmpty && !isDelivering) || failure != nil }

  /// The error that ended the output.
  var error: OutputError? { failure }

  /// Adds an event at the end, or joins it to the pending event of the same object.
  mutating func append(_ event: BoardEvent) {
    guard failure == nil else { return }
    switch event.subject {
    case .object(let id):
      if isBehind, let index = replaceable[id], let joined = pending[index].followed(by: event) {
        pendingBytes += joined.weight - pending[index].weight
        pending[index] = joined
        return
      }
      replaceable[id] = pending.count
    case .selection(let id): replaceable[id] = nil
    // An answer or a message may tell of the objects as they were at that time.
    case .other: replaceable = [:]
    }
    let weight = event.weight
    pending.append(event)
    pendingBytes += weight
    appendedBytes += weight
  }

  private var isBehind: Bool {
    pending.count >= EventPump.backlog || pendingBytes >= EventPump.byteBacklog
  }

  /// Takes what is to be told now, where nothing is being told yet.
  mutating func begin() -> [BoardEvent]? {
    guard !isDelivering, !pending.isEmpty, failure == nil else { return nil }
    isDelivering = true
    tellingBytes = pendingBytes
    defer {
      pending = []
      pendingBytes = 0
      replaceable = [:]
    }
    return pending
  }

  /// What was begun is over.
  ///
  /// - Returns: Whom to wake.
  mutating func end(_ error: OutputError?) -> [CheckedContinuation<Void, Never>] {
    isDelivering = false
    tellingBytes = 0
    failure = failure ?? error
    defer { waiters = [] }
    return waiters
  }

  /// Adds one to be woken when something has been told.
  mutating func wait(_ continuation: CheckedContinuation<Void, Never>) {
    waiters.append(continuation)
  }
}

extension BoardEvent {
  /// What an event is about, as far as events are joined.
  fileprivate enum Subject {
    /// The object appeared, changed or went.
    case object(String)
    /// The object was selected or released.
    case selection(String)
    case other
  }

  fileprivate var subject: Subject {
    switch self {
    case .objectAdded(let event): .object(event.id)
    case .objectChanged(let event): .object(event.id)
    case .objectRemoved(let event): .object(event.id)
    case .selected(let event): .selection(event.id)
    default: .other
    }
  }

  /// Returns one event that says the same as this one and a later one about the same object, or nil
  /// if there is none.
  fileprivate func followed(by later: BoardEvent) -> BoardEvent? {
    switch (self, later) {
    case (.objectAdded(var event), .objectChanged(let later)) where event.by == later.by:
      event.object = later.object
      return .objectAdded(event)
    case (.objectChanged(let event), .objectChanged(var later)) where event.by == later.by:
      later.changed = event.changed + later.changed.filter { !event.changed.contains($0) }
      return .objectChanged(later)
    case (.objectChanged(let event), .objectRemoved(let removed)) where event.by == removed.by:
      return later
    default: return nil
    }
  }

  /// The bytes in it that have no small limit, roughly.
  fileprivate var weight: Int {
    switch self {
    case .data(let event): event.base64.count + (event.text?.utf8.count ?? 0)
    case .streamData(let event): event.base64.count
    case .chat(let event): event.text.utf8.count
    case .objectAdded(let event): event.object.weight
    case .objectChanged(let event): event.object.weight
    case .object(let event): event.object.weight
    case .objects(let event): event.objects.reduce(0) { $0 + $1.weight }
    case .found(let event): event.objects.reduce(0) { $0 + $1.weight }
    case .chatHistory(let event): event.lines.reduce(0) { $0 + $1.text.utf8.count }
    default: 0
    }
  }
}

extension BoardEvent.ObjectDescription {
  /// How many bytes it has as a line of output, roughly.
  fileprivate var weight: Int {
    let pairs = (points?.count ?? 0) + (erased?.count ?? 0)
    let ids = (groups?.count ?? 0) + (members?.count ?? 0)
    let lines = game?.lines.reduce(0) { $0 + $1.utf8.count } ?? 0
    return 512 + pairs * 40 + ids * 64 + (text?.utf8.count ?? 0) + lines
  }
}
