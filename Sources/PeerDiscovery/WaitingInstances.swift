/// The instances that wait to be resolved, in the order of DSC-26.
///
/// Known peers come first, then boards with a local copy, then the newest instance. Instances that gave way to
/// others come after all of these.
package struct WaitingInstances: Sendable {
  /// An instance that is not resolved now.
  package struct Instance: Sendable {
    /// The place where it was seen.
    package let key: PeerTable.SightingKey
    /// Its name.
    package let name: String
    /// Its domain.
    package let domain: String
    /// Whether it gave way to others; it is resolved again only if there is room.
    package let gaveWay: Bool
    fileprivate let rank: BrowserPreference.Rank
    fileprivate let order: UInt64

    fileprivate static func isLater(_ left: Self, _ right: Self) -> Bool {
      if left.gaveWay != right.gaveWay { return left.gaveWay }
      return left.rank == right.rank ? left.order < right.order : left.rank < right.rank
    }
  }

  /// How many instances are remembered; the last one in the order is forgotten.
  package static let maximum = 4096

  private let peers: Set<Substring>
  private let sessions: Set<Substring>
  private var instances: [PeerTable.SightingKey: Instance] = [:]
  private var count: UInt64 = 0

  /// Creates an empty queue.
  ///
  /// - Parameter preference: The peers and sessions that come first.
  package init(_ preference: BrowserPreference) {
    peers = Set(preference.peers.map { $0.text.prefix(InstanceName.peerPrefix) })
    sessions = Set(preference.sessions.map { $0.text.prefix(InstanceName.sessionPrefix) })
  }

  /// The instance to resolve next.
  ///
  /// - Complexity: O(*n*).
  package var next: Instance? { instances.values.max(by: Instance.isLater) }

  /// Adds an instance that was heard of for the first time.
  ///
  /// - Parameters:
  ///   - key: The place where it was seen.
  ///   - name: Its name.
  ///   - domain: Its domain.
  package mutating func appeared(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: false)
  }

  /// Adds an instance that was resolved before and gave way to another.
  ///
  /// - Parameters:
  ///   - key: The place where it was seen.
  ///   - name: Its name.
  ///   - domain: Its domain.
  package mutating func gaveWay(_ key: PeerTable.SightingKey, name: String, domain: String) {
    add(key, name, domain, gaveWay: true)
  }

  /// Removes an instance, which is resolved now or gone.
  ///
  /// - Parameter key: The place where it was seen.
  package mutating func remove(_ key: PeerTable.SightingKey) { instances[key] = nil }

  /// Removes all instances.
  package mutating func removeAll() { instances.removeAll() }

  private mutating func add(
    _ key: PeerTable.SightingKey,
    _ name: String,
    _ domain: String,
    gaveWay: Bool
  ) {
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

  /// The rank that the name of an instance claims; only its record shows whether that is true.
  private func rank(ofInstance name: String) -> BrowserPreference.Rank {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "p" else { return .unknown }
    if peers.contains(parts[1]) { return .knownPeer }
    return sessions.contains(parts[2]) ? .knownSession : .unknown
  }
}
