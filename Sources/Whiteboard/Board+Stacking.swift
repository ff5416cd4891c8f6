/// Where to put objects in the stack.
public enum StackMove: Hashable, Sendable {
  /// In front of all others.
  case front
  /// Behind all others.
  case back
  /// In front of the next one.
  case forward
  /// Behind the one before.
  case backward
  /// Right in front of this one, or of all in this group.
  case above(ObjectID)
  /// Right behind this one, or behind all in this group.
  case below(ObjectID)
}

/// What is in front of what (BRD-13).
extension Board {
  /// Moves objects in the stack; they keep their order among themselves.
  ///
  /// Only they are written, each at most once.
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `nextToItself`, `stackFull` where no more places fit
  ///   at that point.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try targets(ids))
      for id in moving.sorted() { try requireWritable(id) }
      let order = try order(moving: moving, move)
      var start = 0
      while start < order.count {
        guard moving.contains(order[start]) else {
          start += 1
          continue
        }
        let end = order[start...].firstIndex { !moving.contains($0) } ?? order.count
        try place(order[start..<end], after: order[..<start].last, before: order[end...].first)
        start = end
      }
    }
  }

  private func order(
    moving: Set<ObjectID>,
    _ move: StackMove
  ) throws(BoardError) -> [ObjectID] {
    let order = objectIDs
    var rest = order.filter { !moving.contains($0) }
    let moved = order.filter(moving.contains)
    switch move {
    case .front: return rest + moved
    case .back: return moved + rest
    case .forward: return Self.stepped(order.reversed(), moving).reversed()
    case .backward: return Self.stepped(order, moving)
    case .above(let id):
      let named = try neighbours(id, moving)
      guard let index = rest.lastIndex(where: named.contains) else { throw .unknownObject(id) }
      rest.insert(contentsOf: moved, at: index + 1)
      return rest
    case .below(let id):
      let named = try neighbours(id, moving)
      guard let index = rest.firstIndex(where: named.contains) else { throw .unknownObject(id) }
      rest.insert(contentsOf: moved, at: index)
      return rest
    }
  }

  /// The objects that `id` names to lie next to, without those that are moved there.
  private func neighbours(
    _ id: ObjectID,
    _ moving: Set<ObjectID>
  ) throws(BoardError) -> Set<ObjectID> {
    let named = Set(try targets([id]))
    let staying = named.subtracting(moving)
    guard !staying.isEmpty || named.isEmpty else { throw .nextToItself(id) }
    return staying
  }

  /// Each moving one changes places with the one before it, where that one stays.
  private static func stepped(
    _ order: some Sequence<ObjectID>,
    _ moving: Set<ObjectID>
  ) -> [ObjectID] {
    var order = Array(order)
    for index in order.indices.dropFirst()
    where moving.contains(order[index]) && !moving.contains(order[index - 1]) {
      order.swapAt(index, index - 1)
    }
    return order
  }

  /// Writes places for some objects in a row, where theirs are not right already.
  private func place(
    _ row: ArraySlice<ObjectID>,
    after lower: ObjectID?,
    before upper: ObjectID?
  ) throws(BoardError) {
    let stack = [lower].compactMap(\.self) + row + [upper].compactMap(\.self)
    guard zip(stack, stack.dropFirst()).contains(where: { !isBehind($0, $1) }) else { return }
    let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ nextDot().sequence)
    guard
      let places = ZIndex.spread(
        row.count,
        between: lower.map(zIndex),
        and: upper.map(zIndex),
        jitter: jitter
      )
    else { throw .stackFull }
    for (id, place) in zip(row, places) { try write(id, .zIndex, .bytes(place)) }
  }

  private func zIndex(_ id: ObjectID) -> [UInt8] { state.record(id)?.zIndex ?? [] }

  private func isBehind(_ lhs: ObjectID, _ rhs: ObjectID) -> Bool {
    let (left, right) = (zIndex(lhs), zIndex(rhs))
    return left == right ? lhs < rhs : ZIndex.isBehind(left, right)
  }
}
