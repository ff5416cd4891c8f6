import NIOCore

/// The browser links of a session (WEB-5): the URLs with which browsers join it.
struct GuestLinks {
  private struct Link {
    let choice: CodeChoice
    /// The time at which the browser link expires; `nil` if it never expires.
    let end: NIODeadline?
    /// The only guests that may use the browser link; `nil` means anyone with the browser link.
    let guests: Set<PeerID>?
  }

  /// Whether browsers may connect at all.
  var isOpen = false
  private var links: [GuestKey: Link] = [:]

  /// Removes the expired browser links, and returns the number of valid ones that admit new guests.
  mutating func openCount(now: NIODeadline = .now()) -> Int {
    removeExpired(now)
    return links.values.count { $0.guests == nil }
  }

  private mutating func removeExpired(_ now: NIODeadline = .now()) {
    links = links.filter { now < $0.value.end ?? .distantFuture }
  }

  /// Returns the keys of the browser links that a guest may use.
  mutating func choices(for guest: PeerID) -> [CodeChoice] {
    removeExpired()
    return links.values.filter { $0.guests?.contains(guest) ?? true }.map(\.choice)
  }

  /// Returns whether there is a browser link with this key.
  func contains(_ key: GuestKey) -> Bool { links[key] != nil }

  /// Adds a browser link, or replaces the one with the same key.
  mutating func set(_ choice: CodeChoice, key: GuestKey, until end: NIODeadline?, for guests: Set<PeerID>?) {
    links[key] = Link(choice: choice, end: end, guests: guests)
  }

  /// Lets only these guests use a link from now on.
  mutating func close(_ key: GuestKey, to guests: Set<PeerID>) {
    guard let link = links[key], link.guests == nil else { return }
    links[key] = Link(choice: link.choice, end: link.end, guests: guests)
  }

  mutating func remove(_ key: GuestKey) { links[key] = nil }
}
