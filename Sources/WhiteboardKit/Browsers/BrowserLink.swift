import FoundationEssentials
import PeerSession

struct BrowserLink: Codable, Equatable, Sendable {
  let secret: GuestSecret
  /// Whether the guests can only view the board.
  let isView: Bool
  /// The time at which the link expires, in milliseconds since 1970; nil if it is valid until the board closes.
  let end: UInt64?
  /// Whether the link admits only one guest; nil means false, as in boards of earlier versions.
  private let isOnce: Bool?
  var guests: Set<PeerID> = []
  /// Whether only ``guests`` may use the link, because another guest was removed, or ``guestLimit`` guests joined with it.
  var isClosed = false
  /// The time at which the link expires, even if the system's time is set back; nil if it never expires.
  ///
  /// It is not stored.
  private(set) var deadline: ContinuousClock.Instant?

  private enum CodingKeys: String, CodingKey {
    case secret
    case isView
    case end
    case isOnce
    case guests
    case isClosed
  }

  init(secret: GuestSecret, isView: Bool, isOnce: Bool = false, end: UInt64?) {
    self.secret = secret
    self.isView = isView
    self.isOnce = isOnce ? true : nil
    self.end = end
  }

  /// Starts to measure the time until the link expires.
  mutating func startTimer(at now: ContinuousClock.Instant) {
    guard let end else { return }
    let time = SystemTime.milliseconds
    deadline = now + .milliseconds(end > time ? end - time : 0)
  }

  /// Returns the time until the link expires; nil if it never expires.
  func remaining(at now: ContinuousClock.Instant) -> Duration? { deadline.map { max(.zero, $0 - now) } }

  func hasExpired(at now: ContinuousClock.Instant) -> Bool {
    if let deadline, deadline <= now { return true }
    return end.map { $0 <= SystemTime.milliseconds } ?? false
  }

  /// Whether the link can be shown to everyone: it admits new guests, has no time limit, and lets guests edit.
  var isForEveryone: Bool { isUnlimited && !isClosed }

  /// Whether the link lets guests edit, and has no time limit and no other number of guests.
  var isUnlimited: Bool { !isView && end == nil && isOnce != true }

  /// The number of guests after which a link admits no new ones.
  ///
  /// All guests are stored, so that a later process can remove them when the link is revoked or expires.
  var guestLimit: Int { isOnce == true ? 1 : 256 }

  static func json(_ links: [BrowserLink]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(links) else {
      preconditionFailure("strings, numbers and flags can be encoded as JSON")
    }
    return String(decoding: data, as: UTF8.self)
  }

  /// Returns the browser links in a stored form; an empty array if the form is malformed.
  static func links(json: String) -> [BrowserLink] {
    (try? JSONDecoder().decode([BrowserLink].self, from: Data(json.utf8))) ?? []
  }

  func text(_ origin: String, _ board: SessionID) -> String { "\(origin)/#\(board.text).\(secret.text)" }
}
