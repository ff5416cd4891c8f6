/// Shares a fixed number of places among addresses, so that a few addresses cannot occupy all of
/// them.
///
/// Implements the places of LNK-6 and HEL-5. It does no I/O: its owner closes the evicted entry.
struct FairPlaces<ID: Hashable & Sendable>: Sendable {
  /// Which entry of an address loses its place to another address.
  enum Eviction: Sendable {
    case oldest
    case newest
  }

  /// The answer to a newcomer.
  enum Decision: Equatable, Sendable {
    /// The newcomer has a place after the owner closed `evicting`.
    case place(evicting: ID?)
    /// The newcomer has no place.
    case refused
  }

  private struct Entry: Sendable {
    var id: ID
    var block: AddressBlock
    var isKnown: Bool
  }

  /// The number of places.
  let maximum: Int
  /// The maximum number of places of one address.
  let maximumPerBlock: Int
  /// The number of places that only known newcomers get.
  let reserved: Int
  /// Which entry is lost by an address that has too many.
  let eviction: Eviction

  /// The entries, oldest first.
  private var entries: [Entry] = []

  /// Creates empty places.
  init(maximum: Int, maximumPerBlock: Int, reserved: Int, eviction: Eviction) {
    self.maximum = maximum
    self.maximumPerBlock = maximumPerBlock
    self.reserved = reserved
    self.eviction = eviction
  }

  /// The number of places taken.
  var count: Int { entries.count }

  /// Returns whether a newcomer gets a place, and which entry loses its own for it.
  ///
  /// - Complexity: O(*n*) in the places taken.
  func decision(from block: AddressBlock, isKnown: Bool) -> Decision {
    let own = entries.filter { $0.block == block }.count
    guard own < maximumPerBlock else { return .refused }
    let strangers = entries.filter { !$0.isKnown }
    if entries.count < maximum, isKnown || strangers.count < maximum - reserved {
      return .place(evicting: nil)
    }
    // A stranger never takes the place of a known peer.
    let candidates = isKnown ? entries : strangers
    let counts = Dictionary(candidates.map { ($0.block, 1) }, uniquingKeysWith: +)
    let most = counts.values.max() ?? 0
    // Otherwise the two addresses would only swap places.
    guard own + 1 < most else { return .refused }
    let losing = candidates.filter { counts[$0.block] == most }
    let evicted = eviction == .oldest ? losing.first : losing.last
    return evicted.map { .place(evicting: $0.id) } ?? .refused
  }

  /// Gives a newcomer a place, if ``decision(from:isKnown:)`` does, and removes the entry that loses
  /// its own.
  mutating func enter(_ id: ID, from block: AddressBlock, isKnown: Bool) -> Decision {
    let decision = decision(from: block, isKnown: isKnown)
    guard case .place(let evicted) = decision else { return decision }
    if let evicted { leave(evicted) }
    entries.append(Entry(id: id, block: block, isKnown: isKnown))
    return decision
  }

  /// Frees a place; does nothing if the entry has none.
  mutating func leave(_ id: ID) { entries.removeAll { $0.id == id } }
}
