import PeerCore

/// Converts sightings of service instances to events about peers. A sighting is one instance on one interface over one
/// protocol. All sightings with the same peer id and session belong to one peer. The caller passes in the time and the
/// discovery system's observations. Implements DSC-13, DSC-14, DSC-16 to DSC-18 and the order defined by DSC-26.
package struct PeerTable: Sendable {
  package struct SightingKey: Hashable, Sendable {
    package let instance: String
    package let interface: UInt32
    package let isIPv6: Bool

    package init(instance: String, interface: UInt32, isIPv6: Bool) {
      self.instance = instance
      self.interface = interface
      self.isIPv6 = isIPv6
    }
  }

  package static let maximumPeers = 256
  package static let maximumSightings = 16
  /// How long known peers are kept while the discovery system is unavailable.
  package static let patience = Duration.seconds(30)
  /// The time within which known peers must be seen again after the discovery system returns.
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

  package init(excluding own: AnnouncedPeerID?, preferring preference: BrowserPreference = BrowserPreference()) {
    self.own = own
    self.preference = preference
  }

  package var peers: [DiscoveredPeer] { Array(reported.values) }

  package var isFull: Bool { sightings.count >= Self.maximumPeers }

  package func contains(_ key: SightingKey) -> Bool { owners[key] != nil }

  package var deadline: Duration? {
    switch (dropAll, dropUnconfirmed) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }

  package mutating func resolved(_ key: SightingKey, _ announcement: Announcement, at endpoint: Endpoint) {
    guard announcement.peer != own, endpoint.port != 0, endpoint.address.isUsable else { return removed(key) }
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

  package mutating func removed(_ key: SightingKey) {
    guard let id = owners.removeValue(forKey: key) else { return }
    sightings[id]?[key] = nil
    report(id)
  }

  /// Records that discovery is unavailable; known peers are kept for ``patience`` (DSC-17).
  package mutating func becameUnavailable(now: Duration) {
    for id in sightings.keys { for key in (sightings[id] ?? [:]).keys { sightings[id]?[key]?.isConfirmed = false } }
    dropUnconfirmed = nil
    if !owners.isEmpty { dropAll = dropAll ?? now + Self.patience }
  }

  /// Records that discovery is available. The discovery system then reports all instances again. Peers that are not
  /// seen again within ``confirmation`` are removed (DSC-17).
  package mutating func becameAvailable(now: Duration) {
    dropAll = nil
    if !owners.isEmpty { dropUnconfirmed = now + Self.confirmation }
  }

  package mutating func expire(now: Duration) {
    let isTimeForAll = dropAll.map { $0 <= now } ?? false
    let isTimeForUnconfirmed = dropUnconfirmed.map { $0 <= now } ?? false
    guard isTimeForAll || isTimeForUnconfirmed else { return }
    if isTimeForAll { dropAll = nil }
    if isTimeForUnconfirmed { dropUnconfirmed = nil }
    let silent = sightings.values.joined().filter { !$0.value.isConfirmed }
    for (key, _) in silent.sorted(by: { $0.value.order < $1.value.order }) { removed(key) }
  }

  package mutating func takeEvents() -> [BrowserEvent] {
    defer { events.removeAll() }
    return events
  }

  package mutating func takeEvictions() -> [SightingKey] {
    defer { evictions.removeAll() }
    return evictions
  }

  /// Makes room for a sighting, or returns false if all known peers have priority over the sighting's peer.
  private mutating func makeRoom(for id: DiscoveredPeer.ID, _ key: SightingKey, at endpoint: Endpoint) -> Bool {
    if let known = sightings[id] {
      guard known[key] == nil, known.count >= Self.maximumSightings else { return true }
      if let oldest = known.min(by: { $0.value.order < $1.value.order })?.key { evict(oldest) }
      return true
    }
    guard isFull else { return true }
    return evictPeer(for: (preference.rank(of: id), endpoint.address.group))
  }

  /// Removes one peer to make room (DSC-18); returns false if the table is empty or all its peers have priority over
  /// the newcomer. Only the peers of the lowest rank can be removed. Among them, the method selects the address with
  /// the most peers, and removes the least recently seen peer at this address. An advertiser that floods the network
  /// from one address thus evicts only its own instances.
  @discardableResult package mutating func evictPeer(
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
    let current = all.values.filter { $0.announcement.incarnation == newest.announcement.incarnation }
    let endpoints = Set(current.map(\.endpoint)).sorted(by: Endpoint.isBetter)
    let peer = DiscoveredPeer(announcement: newest.announcement, endpoints: endpoints)
    guard peer != known else { return }
    reported[id] = peer
    events.append(known == nil ? .found(peer) : .updated(peer))
  }
}

/// A queue of the instances to resolve, in the order defined by DSC-26. Instances of known peers come first, followed
/// by instances of known sessions, and then by the newest other instances. Instances that were resolved before but
/// displaced by others come last.
package struct WaitingInstances: Sendable {
  package struct Instance: Sendable {
    package let key: PeerTable.SightingKey
    package let name: String
    package let domain: String
    /// Whether another instance displaced this instance; if so, this instance is resolved again only if there is room.
    package let gaveWay: Bool
    fileprivate let rank: BrowserPreference.Rank
    fileprivate let order: UInt64

    fileprivate static func isLater(_ left: Self, _ right: Self) -> Bool {
      if left.gaveWay != right.gaveWay { return left.gaveWay }
      return left.rank == right.rank ? left.order < right.order : left.rank < right.rank
    }
  }

  package static let maximum = 4096

  private let peers: Set<Substring>
  private let sessions: Set<Substring>
  private var instances: [PeerTable.SightingKey: Instance] = [:]
  private var count: UInt64 = 0

  package init(_ preference: BrowserPreference) {
    peers = Set(preference.peers.map { $0.text.prefix(InstanceName.peerPrefix) })
    sessions = Set(preference.sessions.map { $0.text.prefix(InstanceName.sessionPrefix) })
  }

  /// - Complexity: O(*n*).
  package var next: Instance? { instances.values.max(by: Instance.isLater) }

  package mutating func appeared(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: false)
  }

  package mutating func gaveWay(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: true)
  }

  package mutating func remove(_ key: PeerTable.SightingKey) { instances[key] = nil }

  package mutating func removeAll() { instances.removeAll() }

  private mutating func add(_ key: PeerTable.SightingKey, _ name: String, _ domain: String, gaveWay: Bool) {
    count += 1
    instances[key] = Instance(
      key: key,
      name: name,
      domain: domain,
      gaveWay: gaveWay,
      rank: rank(ofInstance: name),
      order: count
    )
    guard instances.count > Self.maximum else { return }
    if let last = instances.values.min(by: Instance.isLater) { instances[last.key] = nil }
  }

  /// The rank is a guess from the instance name. Only the TXT record can confirm the rank.
  private func rank(ofInstance name: String) -> BrowserPreference.Rank {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "p" else { return .unknown }
    if peers.contains(parts[1]) { return .knownPeer }
    return sessions.contains(parts[2]) ? .knownSession : .unknown
  }
}

/// The claimed identity of a peer: the SHA-256 hash of its public key, as 52 characters of base32.
///
/// The handshake of the session proves the identity.
public struct AnnouncedPeerID: Identifier {
  /// The bytes of the hash.
  public let value: Bytes32

  /// Creates an id from its bytes.
  public init(_ value: Bytes32) { self.value = value }
}

/// The session that a peer claims to belong to, as 26 characters of base32.
public struct AnnouncedSessionID: Identifier {
  /// The bytes of the session id.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }

  /// The session id that a relay announces to show that it accepts further sessions (DSC-24).
  public static let none = AnnouncedSessionID(Bytes16.zero)
}

/// One run of a peer's program, as 13 characters of base32.
///
/// A restarted peer has a new incarnation.
public struct AnnouncedIncarnation: Identifier {
  /// The number.
  public let value: Bytes8

  /// Creates an incarnation from its bytes.
  public init(_ value: Bytes8) { self.value = value }

  /// Creates an incarnation from a number.
  public init(_ number: UInt64) { value = Bytes8(number) }
}
