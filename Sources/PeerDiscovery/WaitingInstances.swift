/// A queue of the instances to resolve, in the order defined by DSC-26.
///
/// Instances of known peers come first, followed by instances of known sessions, and then by the newest other
/// instances. Instances that were resolved before but displaced by others come last.
package struct WaitingInstances: Sendable {
  package struct Instance: Sendable {
    package let key: PeerTable.SightingKey
    package let name: String
    package let domain: String
    /// Whether another instance displaced this one; if so, it is resolved again only if there is room.
    package let gaveWay: Bool
    fileprivate let rank: BrowserPreference.Rank
    fileprivate let order: UInt64

    fileprivate static func isLater(_ left: Self, _ right: Self) -> Bool {
      if left.gaveWay != right.gaveWay { return left.gaveWay }
      return left.rank == right.rank ? left.order < right.order : left.rank < right.rank
    }
  }

  /// The maximum number of instances.
  ///
  /// If a further instance is added, the last instance in the order is dropped.
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

  /// Adds an instance that was seen for the first time.
  package mutating func appeared(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: false)
  }

  /// Adds an instance that was resolved before but displaced by another.
  package mutating func gaveWay(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: true)
  }

  /// Removes an instance that is now being resolved, or that left.
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

  /// Only the TXT record can confirm this rank.
  private func rank(ofInstance name: String) -> BrowserPreference.Rank {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "p" else { return .unknown }
    if peers.contains(parts[1]) { return .knownPeer }
    return sessions.contains(parts[2]) ? .knownSession : .unknown
  }
}
