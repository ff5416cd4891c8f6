/// A state machine that decides which of many similar log lines are written.
///
/// In each span of time it allows a number of lines per reason, and a smaller number per reason and
/// peer. It counts the lines that it omits. The caller passes the time. At most ``capacity`` peers
/// and as many reasons are remembered. Beyond that, a peer counts only under its reason, and a
/// reason counts under ``others``.
struct LogLimit {
  struct Rates: Equatable {
    /// The maximum number of lines per span with the same reason about one peer.
    var perPeer = 5
    /// The maximum number of lines per span with the same reason.
    var perReason = 20
    var span: Duration = .seconds(60)
  }

  enum Verdict: Equatable {
    /// Write the line.
    ///
    /// `omitted` similar lines before it were omitted.
    case write(omitted: Int)
    case omit
  }

  /// Omitted lines that were not reported yet.
  struct Omission: Equatable {
    var reason: String
    var peer: String?
    var count: Int
  }

  static let capacity = 256
  static let others = "other events"

  private struct Key: Hashable {
    var reason: String
    /// The peer; nil for the reason itself.
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

  /// Removes the spans that have ended, and returns the lines that were omitted in them.
  ///
  /// - Complexity: O(n log n) in the remembered peers and reasons.
  mutating func takeOmissions(now: Duration) -> [Omission] {
    let over = windows.filter { isOver($0.value, now: now) }
    for key in over.keys { windows[key] = nil }
    return over.filter { $0.value.omitted > 0 }
      .map { Omission(reason: $0.key.reason, peer: $0.key.peer, count: $0.value.omitted) }
      .sorted { ($0.reason, $0.peer ?? "") < ($1.reason, $1.peer ?? "") }
  }

  /// The number of peers and reasons that are remembered.
  var remembered: Int { windows.count }

  /// Starts a span for the key if none is in progress.
  ///
  /// Returns nil if there is no room for another key.
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
