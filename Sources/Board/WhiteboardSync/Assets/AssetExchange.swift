import Whiteboard

/// Requests each asset from one member at a time. If that member fails, the next member is asked. Implements SYN-35 to
/// SYN-37.
struct AssetExchange {
  enum Effect: Equatable {
    case ask(AssetID, MemberID)
  }

  /// The maximum number of assets that are requested at the same time.
  static let parallel = 4
  /// The maximum number of assets that are requested from one member at the same time. This number is lower than
  /// ``parallel``, so that a member that never sends does not delay all assets.
  static let parallelOfMember = 3
  /// The time without progress after which the next member is asked, in milliseconds.
  static let patience: UInt64 = 30_000
  /// The time in milliseconds after which all members are asked again for an asset that no member had.
  static let retry: UInt64 = 10_000

  /// The maximum number of missing assets that are tracked; further assets are requested later.
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
  /// Whether more than ``most`` assets were missing, so that not all of them could be tracked.
  private(set) var hasOverflowed = false
  /// The time when ``tick(_:)`` must be called next; later progress can postpone it.
  private(set) var nextDeadline: UInt64?

  func isAsking(_ id: AssetID, from member: MemberID) -> Bool { wants[id]?.asking == member }

  func reference(of id: AssetID) -> AssetReference? { wants[id]?.reference }

  var isBusy: Bool { wants.values.contains { $0.asking != nil || !members.subtracting($0.tried).isEmpty } }

  mutating func want(_ reference: AssetReference, preferring member: MemberID?, now: UInt64) -> [Effect] {
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

  mutating func progressed(_ id: AssetID, now: UInt64) { wants[id]?.deadline = now + Self.patience }

  mutating func arrived(_ id: AssetID, now: UInt64) -> [Effect] {
    guard wants.removeValue(forKey: id) != nil else { return [] }
    order.removeAll { $0 == id }
    return advance(now)
  }

  /// After this call, the caller must request all missing assets again.
  mutating func beginAgain() { hasOverflowed = false }

  /// Stops tracking an asset that a member could not send, so that unavailable assets do not block others. Returns
  /// false if there is no such asset.
  private mutating func makeRoom() -> Bool {
    let place = order.firstIndex { id in wants[id].map { $0.asking == nil && !$0.tried.isEmpty } ?? true }
    guard let place else { return false }
    wants[order.remove(at: place)] = nil
    return true
  }

  mutating func tick(_ now: UInt64) -> [Effect] {
    for id in order {
      guard let want = wants[id], now >= want.deadline else { continue }
      if want.asking != nil { giveUp(id, now) } else if members.isSubset(of: want.tried) { wants[id]?.tried = [] }
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
      let open = members.subtracting(want.tried).filter { asked[$0, default: 0] < Self.parallelOfMember }
      guard let next = want.preferred.flatMap({ open.contains($0) ? $0 : nil }) ?? open.min() else { continue }
      wants[id]?.asking = next
      wants[id]?.deadline = now + Self.patience
      active += 1
      asked[next, default: 0] += 1
      effects.append(.ask(id, next))
    }
    nextDeadline = wants.values.lazy.filter(isTimed).map { $0.deadline }.min()
    return effects
  }

  /// Returns whether a missing asset has a deadline. At the deadline, its request is given up, or all members are asked
  /// again.
  private func isTimed(_ want: Want) -> Bool {
    want.asking != nil || (!members.isEmpty && members.isSubset(of: want.tried))
  }
}
