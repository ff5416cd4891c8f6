import FoundationEssentials
import PeerSession

/// A browser link to a board, as stored with the board.
struct BrowserLink: Codable, Equatable, Sendable {
  /// The secret in the link.
  let secret: GuestSecret
  /// Whether the guests can only view the board.
  let isView: Bool
  /// The time at which the link expires, in milliseconds since 1970; nil if it is valid until the
  /// board closes.
  let end: UInt64?
  /// The guests that joined with the link.
  var guests: Set<PeerID> = []
  /// Whether only ``guests`` may use the link, because another guest was removed, or ``guestLimit`` guests joined with it.
  var isClosed = false

  /// Whether the link can be shown to everyone: it admits new guests, has no time limit, and lets
  /// guests edit.
  var isForEveryone: Bool { !isView && !isClosed && end == nil }

  /// The number of guests after which a link admits no new ones.
  ///
  /// All guests are stored, so that a later process can remove them when the link is revoked or expires.
  static let guestLimit = 256

  /// Returns the stored form of browser links.
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

  /// Returns the URL of the link to a board, at the given origin of the page.
  func text(_ origin: String, _ board: SessionID) -> String {
    "\(origin)/#\(board.text).\(secret.text)"
  }
}
