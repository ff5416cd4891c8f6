/// Turns sightings of instances into events about peers.
///
/// A sighting is one instance on one interface in one protocol; a peer is all sightings that name
/// the same peer and session. The table is told what the discovery system hears and what time it is,
/// and never asks. Implements DSC-13, DSC-14, DSC-16 to DSC-18.
package struct PeerTable: Sendable {
  /// The place where an instance was seen.
  package struct SightingKey: Hashable, Sendable {
    /// The instance's name and domain.
    package let instance: String
    /// The index of the interface it was heard on.
    package let interface: UInt32
    /// Whether it was heard over IPv6.
    package let isIPv6: Bool

    /// Joins the three parts.
    package init(instance: String, interface: UInt32, isIPv6: Bool) {
      self.instance = instance
      self.interface = interface
      self.isIPv6 = isIPv6
    }
  }

  /// How many peers are remembered; the one that was not heard of for longest goes first.
  package static let maximumPeers = 256
  /// How many ways to reach one peer are remembered.
  package static let maximumSightings = 16
  /// How long known peers stay while the discovery system is away.
  package static let patience = Duration.seconds(30)
  /// How long after its return known peers have to be heard again.
  package static let confirmation = Duration.seconds(10)

  private struct Sighting {
    let announcement: Announcement
    let endpoint: Endpoint
    let order: UInt64
    var isConfirmed: Bool
  }

  private let own: AnnouncedPeerID?
  private var sightings: [DiscoveredPeer.ID: [SightingKey: Sighting]] = [:]
  private var owners: [SightingKey: DiscoveredPeer.ID] = [:]
  private var reported: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
  private var events: [BrowserEvent] = []
  private var clock: UInt64 = 0
  private var dropAll: Duration?
  private var dropUnconfirmed: Duration?
  private var evictions: [SightingKey] = []

  /// Creates an empty table that ignores `own` (DSC-14).
  package init(excluding own: AnnouncedPeerID?) { self.own = own }

  /// The peers that are known now.
  package var peers: [DiscoveredPeer] { Array(reported.values) }

  /// Whether another peer would push one out.
  package var isFull: Bool { sightings.count >= Self.maximumPeers }

  /// When `expire` has something to do next.
  package var deadline: Duration? {
    switch (dropAll, dropUnconfirmed) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }

  /// An instance was resolved, for the first time or anew; one of ours or without a usable address
  /// counts as removed.
  package mutating func resolved(
    _ key: SightingKey,
    _ announcement: Announcement,
    at endpoint: Endpoint
  ) {
    guard announcement.peer != own, endpoint.port != 0, endpoint.address.isUsable else {
      return removed(key)
    }
    let id = DiscoveredPeer.ID(peer: announcement.peer, session: announcement.session)
    if let owner = owners[key], owner != id { removed(key) }
    makeRoom(for: id, key)
    clock += 1
    owners[key] = id
    sightings[id, default: [:]][key] = Sighting(
      announcement: announcement,
      endpoint: endpoint,
      order: clock,
      isConfirmed: true
    )
    report(id)
  }

  /// An instance said goodbye, or could no longer be resolved, or is none of ours.
  package mutating func removed(_ key: SightingKey) {
    guard let id = owners.removeValue(forKey: key) else { return }
    sightings[id]?[key] = nil
    report(id)
  }

  /// The discovery system went away; peers stay until ``patience`` is over (DSC-17).
  package mutating func becameUnavailable(now: Duration) {
    for id in sightings.keys {
      for key in (sightings[id] ?? [:]).keys { sightings[id]?[key]?.isConfirmed = false }
    }
    dropUnconfirmed = nil
    if !owners.isEmpty { dropAll = dropAll ?? now + Self.patience }
  }

  /// The discovery system is back, and will now tell of everything it hears.
  ///
  /// Peers that are not heard again go when ``confirmation`` is over (DSC-17).
  package mutating func becameAvailable(now: Duration) {
    dropAll = nil
    if !owners.isEmpty { dropUnconfirmed = now + Self.confirmation }
  }

  /// Forgets what was not heard again in time.
  package mutating func expire(now: Duration) {
    let isTimeForAll = dropAll.map { $0 <= now } ?? false
    let isTimeForUnconfirmed = dropUnconfirmed.map { $0 <= now } ?? false
    guard isTimeForAll || isTimeForUnconfirmed else { return }
    if isTimeForAll { dropAll = nil }
    if isTimeForUnconfirmed { dropUnconfirmed = nil }
    let silent = sightings.values.joined().filter { !$0.value.isConfirmed }
    for (key, _) in silent.sorted(by: { $0.value.order < $1.value.order }) { removed(key) }
  }

  /// The events since the last call, in order.
  package mutating func takeEvents() -> [BrowserEvent] {
    defer { events.removeAll() }
    return events
  }

  /// The sightings that were dropped for want of room since the last call.
  package mutating func takeEvictions() -> [SightingKey] {
    defer { evictions.removeAll() }
    return evictions
  }

  private mutating func makeRoom(for id: DiscoveredPeer.ID, _ key: SightingKey) {
    if let known = sightings[id] {
      guard known[key] == nil, known.count >= Self.maximumSightings else { return }
      if let oldest = known.min(by: { $0.value.order < $1.value.order })?.key { evict(oldest) }
      return
    }
    guard isFull else { return }
    let oldest = sightings.min { lastHeard($0.value) < lastHeard($1.value) }
    for (key, _) in (oldest?.value ?? [:]).sorted(by: { $0.value.order < $1.value.order }) {
      evict(key)
    }
  }

  private func lastHeard(_ sightings: [SightingKey: Sighting]) -> UInt64 {
    sightings.values.reduce(0) { max($0, $1.order) }
  }

  private mutating func evict(_ key: SightingKey) {
    evictions.append(key)
    removed(key)
  }

  private mutating func report(_ id: DiscoveredPeer.ID) {
    let known = reported[id]
    guard let all = sightings[id], let newest = all.values.max(by: { $0.order < $1.order }) else {
      sightings[id] = nil
      reported[id] = nil
      if let known { events.append(.lost(known)) }
      return
    }
    let current = all.values.filter {
      $0.announcement.incarnation == newest.announcement.incarnation
    }
    let endpoints = Set(current.map(\.endpoint)).sorted(by: Endpoint.isBetter)
    let peer = DiscoveredPeer(announcement: newest.announcement, endpoints: endpoints)
    guard peer != known else { return }
    reported[id] = peer
    events.append(known == nil ? .found(peer) : .updated(peer))
  }
}
