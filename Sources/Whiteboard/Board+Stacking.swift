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
  /// Right in front of this one.
  case above(ObjectID)
  /// Right behind this one.
  case below(ObjectID)
}

/// What is in front of what (BRD-13).
extension Board {
  /// Moves objects in the stack; they keep their order among themselves.
  ///
  /// Only they are written, each at most once.
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `stackFull` where no more places fit at that point.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try targets(ids))
      for id in moving.sorted() { try requireWritable(id) }
      let order = try Self.order(objectIDs, moving: moving, move)
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

  private static func order(
    _ order: [ObjectID],
    moving: Set<ObjectID>,
    _ move: StackMove
  ) throws(BoardError) -> [ObjectID] {
    var rest = order.filter { !moving.contains($0) }
    let moved = order.filter(moving.contains)
    switch move {
    case .front: return rest + moved
    case .back: return moved + rest
    case .forward: return stepped(order.reversed(), moving).reversed()
    case .backward: return stepped(order, moving)
    case .above(let id), .below(let id):
      guard var index = rest.firstIndex(of: id) else { throw .unknownObject(id) }
      if case .above = move { index += 1 }
      rest.insert(contentsOf: moved, at: index)
      return rest
    }
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
