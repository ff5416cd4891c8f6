/// Turns sightings of instances into events about peers.
///
/// A sighting is one instance on one interface in one protocol; a peer is all sightings that name
/// the same peer and session. The table is told what the discovery system hears and what time it is,
/// and never asks. Implements DSC-13, DSC-14, DSC-16 to DSC-18 and the order of DSC-26.
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

  /// How many peers are remembered; `evictPeer` says which one gives way.
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
  private let preference: BrowserPreference
  private var sightings: [DiscoveredPeer.ID: [SightingKey: Sighting]] = [:]
  private var owners: [SightingKey: DiscoveredPeer.ID] = [:]
  private var reported: [DiscoveredPeer.ID: DiscoveredPeer] = [:]
  private var events: [BrowserEvent] = []
  private var clock: UInt64 = 0
  private var dropAll: Duration?
  private var dropUnconfirmed: Duration?
  private var evictions: [SightingKey] = []

  /// Creates an empty table that ignores `own` (DSC-14).
  ///
  /// - Parameters:
  ///   - own: The id of the local peer, if it is ignored.
  ///   - preference: The peers and sessions that are forgotten last.
  package init(
    excluding own: AnnouncedPeerID?,
    preferring preference: BrowserPreference = BrowserPreference()
  ) {
    self.own = own
    self.preference = preference
  }

  /// The peers that are known now.
  package var peers: [DiscoveredPeer] { Array(reported.values) }

  /// Whether another peer would push one out.
  package var isFull: Bool { sightings.count >= Self.maximumPeers }

  /// Returns whether a sighting is remembered.
  ///
  /// - Parameter key: The place where the instance was seen.
  /// - Returns: Whether it belongs to a peer that is remembered.
  package func contains(_ key: SightingKey) -> Bool { owners[key] != nil }

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
    guard makeRoom(for: id, key, at: endpoint) else { return evictions.append(key) }
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

  /// Makes room for a sighting; returns false if every remembered peer is preferred to its peer.
  private mutating func makeRoom(
    for id: DiscoveredPeer.ID,
    _ key: SightingKey,
    at endpoint: Endpoint
  ) -> Bool {
    if let known = sightings[id] {
      guard known[key] == nil, known.count >= Self.maximumSightings else { return true }
      if let oldest = known.min(by: { $0.value.order < $1.value.order })?.key { evict(oldest) }
      return true
    }
    guard isFull else { return true }
    return evictPeer(for: (preference.rank(of: id), endpoint.address.group))
  }

  /// Forgets one peer: of those that are preferred least, one of the address that has the most of them, and of
  /// these the peer that was not heard of for longest (DSC-18).
  ///
  /// So an advertiser that floods the network from one address pushes out only its own instances.
  ///
  /// - Parameter newcomer: The rank and the address of the peer that needs the room; it counts as remembered.
  /// - Returns: Whether a peer was forgotten: not if there is none, or if all are preferred to the newcomer.
  @discardableResult
  package mutating func evictPeer(
    for newcomer: (rank: BrowserPreference.Rank, group: ArraySlice<UInt8>)? = nil
  ) -> Bool {
    let ranks = sightings.keys.map { preference.rank(of: $0) }
    guard let lowest = ranks.min() else { return false }
    if let newcomer, newcomer.rank < lowest { return false }
    var sizes: [ArraySlice<UInt8>: Int] = [:]
    if let newcomer, newcomer.rank == lowest { sizes[newcomer.group] = 1 }
    var found: [(id: DiscoveredPeer.ID, group: ArraySlice<UInt8>, heard: UInt64)] = []
    for (id, known) in sightings where preference.rank(of: id) == lowest {
      guard let group = reported[id]?.endpoints.first?.address.group else { continue }
      sizes[group, default: 0] += 1
      found.append((id, group, lastHeard(known)))
    }
    let choice = found.min { left, right in
      let sizes = (sizes[left.group] ?? 0, sizes[right.group] ?? 0)
      return sizes.0 == sizes.1 ? left.heard < right.heard : sizes.0 > sizes.1
    }
    guard let choice else { return false }
    let keys = (sightings[choice.id] ?? [:]).sorted { $0.value.order < $1.value.order }
    for (key, _) in keys { evict(key) }
    return true
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
