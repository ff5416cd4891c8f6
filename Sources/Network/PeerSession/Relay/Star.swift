import NIOCore
import PeerDiscovery
import PeerWire

/// How the members of a session are connected (RLY-18).
public enum SessionTopology: String, CaseIterable, Sendable {
  /// Each member has a link with every other member that it can reach.
  case mesh
  /// Each member has links only with the hubs, which forward all data: the relays of the session or, without a relay,
  /// the host.
  case star
}

/// A member's decisions about the star of its session (RLY-20, RLY-21), without I/O.
struct Star: Sendable {
  /// How long a member waits for a route, or for a hub whose link broke, before it dials the other members.
  static let wait = TimeAmount.seconds(3)
  /// How long a hub must have been connected before routes replace direct links.
  static let settlingTime = TimeAmount.seconds(5)
  /// How long a route must have been open before it replaces a link.
  static let routeTime = TimeAmount.seconds(1)
  /// The maximum number of links that routes replace at once, so that the members do not all catch up at the same time.
  static let replacementsAtOnce = 4

  /// The number of members of a mesh above which the host's user is advised to choose a star.
  static let largeMesh = 30

  struct Hub {
    var id: PeerID
    var isConnected: Bool
    /// When the link with the hub broke, unless it is open.
    var brokenAt: NIODeadline?
  }

  /// Whether members are reached through hubs rather than dialed.
  var isActive = false
  /// Whether a user chose the star. Otherwise, the session is a star only because of the number of its members (RLY-6).
  private var isChosen = false
  private var hubs: Set<PeerID> = []
  /// The hubs whose links broke more than ``wait`` ago.
  private(set) var lostHubs: Set<PeerID> = []
  /// The time since which a hub has been connected; `nil` while no hub is connected.
  private var connectedSince: NIODeadline?

  /// Updates the star; returns the hubs that are now out of reach. The members behind them must be dialed.
  mutating func update(isActive: Bool, isChosen: Bool, _ hubs: [Hub], now: NIODeadline) -> Set<PeerID> {
    self.isActive = isActive
    self.isChosen = isChosen
    self.hubs = Set(hubs.map(\.id))
    connectedSince = hubs.contains(where: \.isConnected) ? connectedSince ?? now : nil
    let former = lostHubs
    lostHubs = Set(hubs.filter { $0.brokenAt.map { now - $0 >= Self.wait } ?? false }.map(\.id))
    return lostHubs.subtracting(former)
  }

  /// Returns whether to reach a member only through hubs instead of dialing it. `hub` is the peer that opened the route
  /// to the member, if there is a route. At `apartSince`, the last link or route ended, or the member became known.
  func leaves(toHub hub: PeerID?, apartSince: NIODeadline, now: NIODeadline) -> Bool {
    guard isActive else { return false }
    if let hub { return hubs.contains(hub) && !lostHubs.contains(hub) }
    return isChosen ? now - apartSince < Self.wait : !hubs.isSubset(of: lostHubs)
  }

  /// Returns whether routes may replace direct links.
  func mayReplaceLinks(now: NIODeadline) -> Bool {
    isChosen && connectedSince.map { now - $0 >= Self.settlingTime } ?? false
  }
}

extension RelaySide {
  // MARK: The topology (RLY-18)

  var topology: SessionTopology { session.membership.topology ?? heardTopology ?? .mesh }

  /// The topology that the local peer states as the host or as a relay of the session.
  var statedTopology: SessionTopology? {
    if isHostHere { return session.membership.topology }
    return isRelaying ? acceptedTopology : nil
  }

  /// The topology that ACCEPT names. A newcomer that an ordinary member admits needs it before it meets a hub.
  var acceptedTopology: SessionTopology? {
    session.membership.topology ?? (isRelaying ? session.configuration.topology : nil) ?? heardTopology
  }

  /// Whether the local peer is the host. The owner of an owned board might not be confirmed yet.
  private var isHostHere: Bool { session.membership.needsNoAdmission(session.localPeer) }

  /// Applies the choice of the local user to the session, if the local peer is the host.
  func chooseTopology() {
    guard isHostHere else { return }
    if let chosen = session.configuration.topology { session.directory.update { $0.topology = chosen } }
    guard session.membership.topology == .star else { return }
    session.admission.maximum = session.configuration.maximumPeersInStar
    if session.configuration.isHub { becomeHub() }
  }

  /// Handles a statement about the topology. The statement of the host is stored; so is that of a relay, except by the
  /// host and by other relays, which announce only what the host chose.
  func heard(_ topology: SessionTopology?, from peer: PeerID) {
    guard let topology else { return }
    let isHost = peer == session.membership.authority
    let isRelay = session.entries[peer]?.isSessionRelay == true
    guard !isHostHere, isHost || isRelay && !isRelaying else {
      if !isRelaying { heardTopology = topology }
      return session.planTick()
    }
    guard session.membership.topology != topology else { return }
    session.directory.update { $0.topology = topology }
    // The members of a mesh dial those that they reached through hubs.
    for entry in session.entries.values where entry.relayed != nil {
      session.dialler.plan(entry, after: .zero, in: session)
    }
    if isRelaying { for entry in session.entries.values { session.admission.sendTerms(to: entry) } }
    session.planTick()
  }

  // MARK: Reaching members through hubs (RLY-20)

  func updateStar(_ now: NIODeadline) {
    let isChosen = topology == .star
    // A mesh without relays has no hubs, so do not look at its members.
    let hubs =
      !isChosen && !hasRelays
      ? []
      : session.entries.values.filter(\.isSessionRelay).map { hub in
        Star.Hub(id: hub.id, isConnected: hub.state == .connected, brokenAt: hub.link == nil ? hub.apartSince : nil)
      }
    let isActive = !isRelaying && (isChosen || hasRelays && hasMoreMembersThanMesh)
    let lost = star.update(isActive: isActive, isChosen: isChosen, hubs, now: now)
    if !lost.isEmpty {
      for entry in session.entries.values where entry.relayed.map({ lost.contains($0.route.relay) }) ?? false {
        session.dialler.plan(entry, after: .zero, in: session)
        settle(entry.id, .rerouted)
      }
    }
    reportLargeMesh()
  }

  private var hasMoreMembersThanMesh: Bool {
    let others = session.entries.values.count { $0.isJoined || session.dialler.policy[$0.id].mayReturn }
    return 1 + others > session.configuration.meshSize
  }

  /// Returns whether to reach a peer only through hubs instead of dialing it.
  func leavesToRelays(_ entry: PeerEntry, _ now: NIODeadline) -> Bool {
    entry.delivery == nil && entry.member.role != .relay
      && star.leaves(toHub: entry.relayed?.route.relay, apartSince: entry.apartSince, now: now)
  }

  private func reportLargeMesh() {
    guard session.entries.count >= Star.largeMesh, !star.isActive, !isRelaying, isHostHere, !hasReportedLargeMesh,
      session.directory.peerCount > Star.largeMesh
    else { return }
    hasReportedLargeMesh = true
    session.emit(
      .warning(
        SessionWarning(
          code: SessionWarning.largeMesh,
          message: "This board has more than \(Star.largeMesh) members, and each of them is connected with every other"
            + " member. With a star, each member needs only one connection."
        )
      )
    )
    session.deliverEvents()
  }

  // MARK: Returning to the star (RLY-21)

  /// Returns whether a hub must open a route to a member with which there is a link.
  func replacesLink(of entry: PeerEntry, _ now: NIODeadline) -> Bool {
    !isRelaying && !entry.isSessionRelay && entry.member.role != .relay && star.mayReplaceLinks(now: now)
  }

  /// Closes idle links with members to which a hub has opened a route. Only the side with the smaller id closes a link,
  /// and only a second later, when the other side has the route too.
  func closeReplacedLinks(_ now: NIODeadline) {
    let replaced = session.entries.values.filter { entry in
      entry.link != nil && session.localPeer < entry.id && hasRoute(to: entry.id) && replacesLink(of: entry, now)
        && entry.delivery?.outbox.isDelivered == true && session.bulk.isIdle(entry.id)
    }
    let former = replacedLinks
    replacedLinks = Dictionary(uniqueKeysWithValues: replaced.map { ($0.id, former[$0.id] ?? now) })
    let due = replaced.filter { now - (former[$0.id] ?? now) >= Star.routeTime }
    for entry in due.prefix(Star.replacementsAtOnce) {
      entry.link.take()?.close(.duplicateLink)
      settle(entry.id, .rerouted)
    }
  }
}
