/// Shares a fixed number of slots among networks and addresses, so that one network or a few addresses cannot occupy all
/// of them.
///
/// Implements the slots of LNK-6 and HEL-5. It does no I/O: its owner closes the evicted entry.
struct FairPlaces<ID: Hashable & Sendable>: Sendable {
  /// The entry of an address to evict when another address needs a slot.
  enum Eviction: Sendable {
    case oldest
    case newest
  }

  enum Decision: Equatable, Sendable {
    /// The newcomer gets a slot after the owner has closed the entry `evicting`.
    case place(evicting: ID?)
    /// The newcomer gets no slot.
    case refused
  }

  private struct Entry: Sendable {
    var id: ID
    var block: AddressBlock
    var isKnown: Bool
  }

  let maximum: Int
  let maximumPerBlock: Int
  /// The number of slots that are reserved for known newcomers.
  let reserved: Int
  /// The entry to evict from an address that has too many.
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

  /// Returns whether a newcomer gets a slot, and which entry must be evicted to free the slot.
  ///
  /// - Complexity: O(*n*) in the number of slots in use.
  func decision(from block: AddressBlock, isKnown: Bool) -> Decision {
    let own = entries.filter { $0.block == block }.count
    guard own < maximumPerBlock else { return .refused }
    let strangers = entries.filter { !$0.isKnown }
    if entries.count < maximum, isKnown || strangers.count < maximum - reserved { return .place(evicting: nil) }
    // An unknown peer never takes the slot of a known peer.
    var candidates = isKnown ? entries : strangers
    // First, networks get fair shares, then the smaller networks and the addresses in the newcomer's own network.
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

  /// Returns the number of entries in the groups with the most entries, and these entries.
  private static func largestGroups(in entries: [Entry], at level: Int) -> (count: Int, entries: [Entry]) {
    let counts = Dictionary(entries.map { ($0.block.groups[level], 1) }, uniquingKeysWith: +)
    let most = counts.values.max() ?? 0
    return (most, entries.filter { counts[$0.block.groups[level]] == most })
  }

  /// Gives a newcomer a slot if ``decision(from:isKnown:)`` allows it, and removes the evicted entry.
  mutating func enter(_ id: ID, from block: AddressBlock, isKnown: Bool) -> Decision {
    let decision = decision(from: block, isKnown: isKnown)
    guard case .place(let evicted) = decision else { return decision }
    if let evicted { leave(evicted) }
    entries.append(Entry(id: id, block: block, isKnown: isKnown))
    return decision
  }

  /// Frees the slot of an entry; does nothing if the entry has no slot.
  mutating func leave(_ id: ID) { entries.removeAll { $0.id == id } }
}
