import NIOCore
import PeerDiscovery

/// The memory for large messages, shared by all links of a session (MSG-5).
///
/// A large message needs room from its first part until the application has handled it. While there is no room for it,
/// its link is not read. Links get room in the order of their requests. Each link has at most one large message, so the
/// members take turns.
struct MessageRoom {
  /// The size of a message, in bytes, above which it needs room.
  static let threshold = 1 << 20
  /// The maximum total size of large messages, in bytes.
  ///
  /// If there is no other large message, a message always has room, because a relayed message can slightly exceed the
  /// maximum message size.
  static let capacity = 16 << 20
  /// Returns how long a message may take to arrive while other messages wait for room: 3 s plus 1 s for each 2 MiB.
  static func timeout(_ bytes: Int) -> TimeAmount {
    .seconds(3) + .nanoseconds(Int64(bytes) * 1_000_000_000 / (2 << 20))
  }

  private struct Place {
    let bytes: Int
    var since: NIODeadline
    var isComplete = false
  }

  private var places: [PeerID: Place] = [:]
  /// The members whose links wait for room, with the sizes of their messages, in order of arrival.
  private var waiting: [(peer: PeerID, bytes: Int, since: NIODeadline)] = []
  private var used = 0

  /// Handles the first part of a message.
  ///
  /// A message up to ``threshold`` needs no room.
  mutating func began(_ bytes: Int, from peer: PeerID, now: NIODeadline) {
    guard bytes > Self.threshold else { return }
    left(peer)
    waiting.append((peer, bytes, now))
    admit(now)
  }

  mutating func completed(by peer: PeerID) { places[peer]?.isComplete = true }

  /// Returns whether the link of a member must not be read, because its message waits for room or for the application.
  func stops(_ peer: PeerID) -> Bool {
    if let place = places[peer] { return place.isComplete }
    return waiting.contains { $0.peer == peer }
  }

  /// Records that the application handled the message of a member; returns the members whose links may be read again.
  mutating func handled(_ peer: PeerID, now: NIODeadline) -> [PeerID] {
    guard places[peer]?.isComplete == true else { return [] }
    return [peer] + removed(peer, now: now)
  }

  /// Drops the message of a member whose delivery state ended; returns the members whose links may be read again.
  mutating func removed(_ peer: PeerID, now: NIODeadline) -> [PeerID] {
    left(peer)
    return admit(now)
  }

  /// Records that the link of a member is read again.
  ///
  /// The time limit of its message restarts, because no bytes could arrive during the pause.
  mutating func resumed(_ peer: PeerID, now: NIODeadline) { places[peer]?.since = now }

  /// The time at which the first message is overdue, or `nil` if no message can become overdue.
  var nextDue: NIODeadline? { places.values.compactMap { due($0) }.min() }

  /// Returns the members whose messages arrive too slowly while other messages wait for room.
  func overdue(_ now: NIODeadline) -> [PeerID] {
    places.keys.filter { due(places[$0]).map { $0 <= now } ?? false }.sorted()
  }

  private func due(_ place: Place?) -> NIODeadline? {
    guard let place, !place.isComplete, let next = waiting.first else { return nil }
    return max(place.since, next.since) + Self.timeout(place.bytes)
  }

  private mutating func left(_ peer: PeerID) {
    if let place = places.removeValue(forKey: peer) { used -= place.bytes }
    waiting.removeAll { $0.peer == peer }
  }

  @discardableResult private mutating func admit(_ now: NIODeadline) -> [PeerID] {
    var admitted: [PeerID] = []
    while let next = waiting.first, used == 0 || used + next.bytes <= Self.capacity {
      waiting.removeFirst()
      places[next.peer] = Place(bytes: next.bytes, since: now)
      used += next.bytes
      admitted.append(next.peer)
    }
    return admitted
  }
}
