import PeerWire

enum InvitationReception: Equatable, Sendable {
  case ask
  /// Too many invitations are already waiting (HEL-5).
  case busy
  /// The user declined an invitation from this address within the last minute (ADM-11).
  case silenced
}

/// The invitations of one session that wait for a user, and the addresses that the user silenced. Implements HEL-5 and
/// ADM-11. `now` is the time since an arbitrary reference point.
struct InvitationQueue<ID: Hashable & Sendable>: Sendable {
  static var silence: Duration { .seconds(60) }
  static var maximumSilenced: Int { 256 }

  private var places = FairPlaces<ID>(
    maximum: Limits.pendingInvitations,
    maximumPerBlock: Limits.pendingInvitationsPerAddress,
    reserved: Limits.pendingInvitationsReserved,
    eviction: .newest
  )
  private var peers: [PeerID: ID] = [:]
  private var silenced: [AddressBlock: Duration] = [:]

  init() {}

  var count: Int { places.count }
  var silencedCount: Int { silenced.count }

  /// Returns how to treat an invitation. `isExpected` is true if the host knows the peer, or if the invitation contains
  /// a pass that the host issued.
  func reception(of peer: PeerID, from block: AddressBlock, isExpected: Bool, now: Duration) -> InvitationReception {
    if let end = silenced[block], now < end { return .silenced }
    guard peers[peer] == nil else { return .busy }
    return places.decision(from: block, isKnown: isExpected) == .refused ? .busy : .ask
  }

  /// Adds an invitation for which ``reception(of:from:isExpected:now:)`` returned `.ask`; returns the evicted
  /// invitation, which the owner closes with `busy`.
  mutating func enter(_ id: ID, peer: PeerID, from block: AddressBlock, isExpected: Bool) -> ID? {
    guard case .place(let evicted) = places.enter(id, from: block, isKnown: isExpected) else { return nil }
    if let evicted { leave(evicted) }
    peers[peer] = id
    return evicted
  }

  mutating func leave(_ id: ID) {
    places.leave(id)
    peers = peers.filter { $0.value != id }
  }

  mutating func declined(_ block: AddressBlock, now: Duration) {
    silenced = silenced.filter { now < $0.value }
    silenced[block] = now + Self.silence
    if silenced.count > Self.maximumSilenced, let first = silenced.min(by: { $0.value < $1.value }) {
      silenced[first.key] = nil
    }
  }
}

/// Shares a fixed number of slots among networks and addresses, so that one network or a few addresses cannot occupy
/// all slots. Implements the slots of LNK-6 and HEL-5. This type does no I/O: its owner closes the evicted entry.
struct FairPlaces<ID: Hashable & Sendable>: Sendable {
  enum Eviction: Sendable {
    case oldest
    case newest
  }

  enum Decision: Equatable, Sendable {
    case place(evicting: ID?)
    case refused
  }

  private struct Entry: Sendable {
    var id: ID
    var block: AddressBlock
    var isKnown: Bool
  }

  let maximum: Int
  let maximumPerBlock: Int
  let reserved: Int
  let eviction: Eviction

  /// The entries, oldest first.
  private var entries: [Entry] = []

  init(maximum: Int, maximumPerBlock: Int, reserved: Int, eviction: Eviction) {
    self.maximum = maximum
    self.maximumPerBlock = maximumPerBlock
    self.reserved = reserved
    self.eviction = eviction
  }

  var count: Int { entries.count }

  /// - Complexity: O(*n*).
  func decision(from block: AddressBlock, isKnown: Bool) -> Decision {
    let own = entries.filter { $0.block == block }.count
    guard own < maximumPerBlock else { return .refused }
    let strangers = entries.filter { !$0.isKnown }
    if entries.count < maximum, isKnown || strangers.count < maximum - reserved { return .place(evicting: nil) }
    // An unknown peer never takes the slot of a known peer.
    var candidates = isKnown ? entries : strangers
    // Compare the large networks first. If the newcomer's network already has a fair share, evict only within that
    // network: the loop then compares its smaller networks and its addresses.
    for level in block.groups.indices {
      let group = block.groups[level]
      let own = entries.count { $0.block.groups[level] == group }
      let (most, losing) = Self.largestGroups(in: candidates, at: level)
      // Without this check, two networks or addresses would evict each other in turn.
      guard own + 1 < most else {
        candidates.removeAll { $0.block.groups[level] != group }
        continue
      }
      let heaviest = (level + 1..<block.groups.count).reduce(losing) { Self.largestGroups(in: $0, at: $1).entries }
      let evicted = eviction == .oldest ? heaviest.first : heaviest.last
      return evicted.map { .place(evicting: $0.id) } ?? .refused
    }
    return .refused
  }

  private static func largestGroups(in entries: [Entry], at level: Int) -> (count: Int, entries: [Entry]) {
    let counts = Dictionary(entries.map { ($0.block.groups[level], 1) }, uniquingKeysWith: +)
    let most = counts.values.max() ?? 0
    return (most, entries.filter { counts[$0.block.groups[level]] == most })
  }

  mutating func enter(_ id: ID, from block: AddressBlock, isKnown: Bool) -> Decision {
    let decision = decision(from: block, isKnown: isKnown)
    guard case .place(let evicted) = decision else { return decision }
    if let evicted { leave(evicted) }
    entries.append(Entry(id: id, block: block, isKnown: isKnown))
    return decision
  }

  mutating func leave(_ id: ID) { entries.removeAll { $0.id == id } }
}
