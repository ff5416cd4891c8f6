import Whiteboard

/// Decides whom to ask for which asset: each once, one member at a time, the next one on failure.
///
/// Implements SYN-35 to SYN-37.
struct AssetExchange {
  /// An action for the replica.
  enum Effect: Equatable {
    /// Ask this member for this asset.
    case ask(AssetID, MemberID)
  }

  /// How many assets are asked for at once.
  static let parallel = 4
  /// How many of them from one member, so that one whose assets never come does not keep all waiting.
  static let parallelOfMember = 3
  /// Milliseconds without a sign of the asset after which the next member is asked.
  static let patience: UInt64 = 30_000
  /// Milliseconds after which all members are asked again for what none of them had.
  static let retry: UInt64 = 10_000

  /// How many assets are wanted at once; others are looked for again later.
  static let most = 4096

  private struct Want {
    let reference: AssetReference
    let preferred: MemberID?
    var tried: Set<MemberID> = []
    var asking: MemberID?
    var deadline: UInt64 = 0
  }

  private var wants: [AssetID: Want] = [:]
  private var order: [AssetID] = []
  private var members: Set<MemberID> = []
  /// Whether some asset was left out because too many were wanted.
  private(set) var hasOverflowed = false
  /// When ``tick(_:)`` has something to do next; progress made since can put it off.
  private(set) var nextDeadline: UInt64?

  /// Whether this asset was asked for from this member and has not come yet.
  func isAsking(_ id: AssetID, from member: MemberID) -> Bool { wants[id]?.asking == member }

  /// The properties of an asset that is wanted, as the first object stated them.
  func reference(of id: AssetID) -> AssetReference? { wants[id]?.reference }

  /// Whether some asset is under way, or waits for a member not yet asked.
  var isBusy: Bool {
    wants.values.contains { $0.asking != nil || !members.subtracting($0.tried).isEmpty }
  }

  mutating func want(
    _ reference: AssetReference,
    preferring member: MemberID?,
    now: UInt64
  ) -> [Effect] {
    guard wants[reference.id] == nil else { return [] }
    if wants.count >= Self.most {
      hasOverflowed = true
      guard makeRoom() else { return [] }
    }
    wants[reference.id] = Want(reference: reference, preferred: member)
    order.append(reference.id)
    return advance(now)
  }

  mutating func memberJoined(_ member: MemberID, now: UInt64) -> [Effect] {
    members.insert(member)
    return advance(now)
  }

  mutating func memberLeft(_ member: MemberID, now: UInt64) -> [Effect] {
    members.remove(member)
    for id in order {
      wants[id]?.tried.remove(member)
      if wants[id]?.asking == member { wants[id]?.asking = nil }
    }
    return advance(now)
  }

  mutating func unavailable(_ id: AssetID, from member: MemberID, now: UInt64) -> [Effect] {
    guard wants[id]?.asking == member else { return [] }
    giveUp(id, now)
    return advance(now)
  }

  mutating func progressed(_ id: AssetID, now: UInt64) {
    wants[id]?.deadline = now + Self.patience
  }

  mutating func arrived(_ id: AssetID, now: UInt64) -> [Effect] {
    guard wants.removeValue(forKey: id) != nil else { return [] }
    order.removeAll { $0 == id }
    return advance(now)
  }

  /// Forgets that something was left out; the owner wants again what it lacks.
  mutating func beginAgain() { hasOverflowed = false }

  /// Forgets an asset that was asked for in vain, if any, so that those that nobody has do not keep
  /// others from being asked for.
  private mutating func makeRoom() -> Bool {
    let place = order.firstIndex { id in
      wants[id].map { $0.asking == nil && !$0.tried.isEmpty } ?? true
    }
    guard let place else { return false }
    wants[order.remove(at: place)] = nil
    return true
  }

  mutating func tick(_ now: UInt64) -> [Effect] {
    for id in order {
      guard let want = wants[id], now >= want.deadline else { continue }
      if want.asking != nil {
        giveUp(id, now)
      } else if members.isSubset(of: want.tried) {
        wants[id]?.tried = []
      }
    }
    return advance(now)
  }

  private mutating func giveUp(_ id: AssetID, _ now: UInt64) {
    if let member = wants[id]?.asking { wants[id]?.tried.insert(member) }
    wants[id]?.asking = nil
    wants[id]?.deadline = now + Self.retry
  }

  private mutating func advance(_ now: UInt64) -> [Effect] {
    var effects: [Effect] = []
    var asked: [MemberID: Int] = [:]
    for want in wants.values { if let member = want.asking { asked[member, default: 0] += 1 } }
    var active = asked.values.reduce(0, +)
    for id in order where active < Self.parallel {
      guard let want = wants[id], want.asking == nil else { continue }
      let open = members.subtracting(want.tried).filter {
        asked[$0, default: 0] < Self.parallelOfMember
      }
      guard let next = want.preferred.flatMap({ open.contains($0) ? $0 : nil }) ?? open.min()
      else { continue }
      wants[id]?.asking = next
      wants[id]?.deadline = now + Self.patience
      active += 1
      asked[next, default: 0] += 1
      effects.append(.ask(id, next))
    }
    nextDeadline = wants.values.lazy.filter(isTimed).map(\.deadline).min()
    return effects
  }

  /// Whether something becomes of it when its deadline comes: it is given up, or asked for all anew.
  private func isTimed(_ want: Want) -> Bool {
    want.asking != nil || (!members.isEmpty && members.isSubset(of: want.tried))
  }
}
