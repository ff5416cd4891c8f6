/// The leases of members on the objects that they selected, as this replica sees them (BRD-22). A selection holds an
/// object only while its member has a lease on the object. The leases depend on what this replica has received and
/// when, not on the times of the selections. The leases are neither stored nor shared.
struct SelectionLeases {
  /// The minimum time between two searches for leases that have ended, in milliseconds.
  private static let searchInterval: UInt64 = 1000

  private struct Lease {
    let member: MemberID
    var end: UInt64
    /// Whether the member still has the object selected.
    var isCurrent = true
    var isTaken = false
    var isReported = false

    /// The time from which the member can have a new lease on the object.
    var restEnd: UInt64 { end + BoardLimits.selectionRest }
  }

  /// The leases on each object. An ended lease stays until its member can have a new lease.
  private var leases: [ObjectID: [Lease]] = [:]
  private var counts: [MemberID: Int] = [:]
  private(set) var nextEnd: UInt64?

  func holds(_ id: ObjectID, _ member: MemberID, _ now: UInt64) -> Bool {
    leases[id]?.contains { $0.member == member && $0.isCurrent && now < $0.end } ?? false
  }

  /// Records that an object's selection was written. If another member selected the object, the earlier member's lease
  /// ends.
  mutating func selected(_ id: ObjectID, by winner: MemberID?, _ now: UInt64) {
    var list = leases[id] ?? []
    for index in list.indices where list[index].member != winner && list[index].isCurrent {
      list[index].isCurrent = false
      if winner != nil, now < list[index].end { (list[index].end, list[index].isTaken) = (now, true) }
    }
    if let winner {
      if let known = list.firstIndex(where: { $0.member == winner }), now < list[known].restEnd {
        // Another selection does not extend the lease.
        list[known].isCurrent = true
      } else {
        begin(by: winner, in: &list, now)
      }
    }
    leases[id] = list.isEmpty ? nil : list
  }

  mutating func edited(_ id: ObjectID, by member: MemberID, _ now: UInt64) {
    var list = leases[id] ?? []
    if let known = list.firstIndex(where: { $0.member == member }), now < list[known].restEnd {
      guard !list[known].isTaken else { return }
      list[known].isCurrent = true
      extend(&list[known], now)
    } else {
      begin(by: member, in: &list, now)
    }
    leases[id] = list.isEmpty ? nil : list
  }

  /// Begins a lease, unless the member has too many leases.
  private mutating func begin(by member: MemberID, in list: inout [Lease], _ now: UInt64) {
    if let old = list.firstIndex(where: { $0.member == member }) {
      list.remove(at: old)
      didRemove(member)
    }
    guard counts[member] ?? 0 < BoardLimits.selectionsPerMember else { return }
    counts[member, default: 0] += 1
    var lease = Lease(member: member, end: now)
    extend(&lease, now)
    list.append(lease)
  }

  private mutating func extend(_ lease: inout Lease, _ now: UInt64) {
    lease.end = now + BoardLimits.selectionLease
    lease.isReported = false
    nextEnd = min(nextEnd ?? lease.end, lease.end)
  }

  private mutating func didRemove(_ member: MemberID) {
    let rest = (counts[member] ?? 1) - 1
    counts[member] = rest > 0 ? rest : nil
  }

  /// Removes the leases that no longer have an effect; returns the objects whose leases have ended since the last call.
  /// O(*n*) in the number of leases; O(1) before ``nextEnd``.
  mutating func removeEnded(_ now: UInt64) -> [ObjectID] {
    guard let due = nextEnd, now >= due else { return [] }
    nextEnd = nil
    var ended: [ObjectID] = []
    for (id, list) in leases {
      var rest = list
      for index in rest.indices where now >= rest[index].end && !rest[index].isReported {
        rest[index].isReported = true
        if rest[index].isCurrent { ended.append(id) }
      }
      for lease in rest where now >= lease.restEnd { didRemove(lease.member) }
      rest.removeAll { now >= $0.restEnd }
      for lease in rest {
        let next = max(lease.isReported ? lease.restEnd : lease.end, now + Self.searchInterval)
        nextEnd = min(nextEnd ?? next, next)
      }
      leases[id] = rest.isEmpty ? nil : rest
    }
    return ended
  }
}
