/// Decides which of many like lines are written: so many in a span of time for one reason, fewer of them about one peer;
/// and then how many more there were.
///
/// A state machine: the caller says what time it is. It remembers at most ``capacity`` peers and as many reasons. A peer that
/// there is no room for counts under its reason alone, such a reason under ``others``.
struct LogLimit {
  struct Rates: Equatable {
    /// How many lines for one reason about one peer are written in a span.
    var perPeer = 5
    /// How many lines for one reason are written in a span, whichever peers they are about.
    var perReason = 20
    var span: Duration = .seconds(60)
  }

  enum Verdict: Equatable {
    /// Write it; so many like it were left out before.
    case write(omitted: Int)
    case omit
  }

  /// The omitted entries that were not reported yet.
  struct Omission: Equatable {
    var reason: String
    var peer: String?
    var count: Int
  }

  static let capacity = 256
  static let others = "other events"

  private struct Key: Hashable {
    var reason: String
    /// No peer: the reason by itself.
    var peer: String?
  }

  private struct Window {
    var began: Duration
    var written = 0
    var omitted = 0
  }

  private let rates: Rates
  private var windows: [Key: Window] = [:]

  init(_ rates: Rates) { self.rates = rates }

  mutating func consider(reason: String, peer: String?, now: Duration) -> Verdict {
    var keys: [Key] = []
    if let peer, let key = open(Key(reason: reason, peer: peer), room: Self.capacity, now: now) {
      keys.append(key)
    }
    let whole = open(Key(reason: reason), room: 2 * Self.capacity, now: now)
    if let key = whole ?? open(Key(reason: Self.others), room: .max, now: now) { keys.append(key) }
    for key in keys where (windows[key]?.written ?? 0) >= limit(of: key) {
      windows[key]?.omitted += 1
      return .omit
    }
    var omitted = 0
    for key in keys {
      omitted += windows[key]?.omitted ?? 0
      windows[key]?.omitted = 0
      windows[key]?.written += 1
    }
    return .write(omitted: omitted)
  }

  /// Ends the spans that are over, and tells what was left out in them.
  ///
  /// - Complexity: O(n log n) in the peers and reasons that are remembered.
  mutating func takeOmissions(now: Duration) -> [Omission] {
    let over = windows.filter { isOver($0.value, now: now) }
    for key in over.keys { windows[key] = nil }
    return over.filter { $0.value.omitted > 0 }
      .map { Omission(reason: $0.key.reason, peer: $0.key.peer, count: $0.value.omitted) }
      .sorted { ($0.reason, $0.peer ?? "") < ($1.reason, $1.peer ?? "") }
  }

  /// How many peers and reasons are remembered.
  var remembered: Int { windows.count }

  /// Makes sure that the key's span has not ended; nil when there is no room for one more.
  private mutating func open(_ key: Key, room: Int, now: Duration) -> Key? {
    if let window = windows[key] {
      if isOver(window, now: now) { windows[key] = Window(began: now, omitted: window.omitted) }
    } else {
      guard windows.count < room else { return nil }
      windows[key] = Window(began: now)
    }
    return key
  }

  private func isOver(_ window: Window, now: Duration) -> Bool { now - window.began >= rates.span }

  private func limit(of key: Key) -> Int { key.peer == nil ? rates.perReason : rates.perPeer }
}
