/// A new position for objects in the stack.
public enum StackMove: Hashable, Sendable {
  /// In front of all other objects.
  case front
  /// Behind all other objects.
  case back
  /// One position toward the front.
  case forward
  /// One position toward the back.
  case backward
  /// Directly in front of this object, or of all objects in this group.
  case above(ObjectID)
  /// Directly behind this object, or behind all objects in this group.
  case below(ObjectID)
}

/// The stacking order of objects (BRD-13).
extension Board {
  /// Moves objects in the stack.
  ///
  /// They keep their order relative to each other.
  ///
  /// Each moved object is written at most once. Neighbors are written only if no z index is left
  /// between two of them (BRD-34).
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `nextToItself`, `stackFull` if no z index is left
  ///   and neither neighbor can be changed.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try state.targets(ids))
      for id in moving.sorted() { try requireWritable(id) }
      var stack = Stack(
        order: try order(moving: moving, move),
        state: state,
        jitter: UInt8(truncatingIfNeeded: incarnation.rawValue ^ nextDot().sequence)
      )
      var start = 0
      while start < stack.order.count {
        guard moving.contains(stack.order[start]) else {
          start += 1
          continue
        }
        let end = stack.order[start...].firstIndex { !moving.contains($0) } ?? stack.order.count
        guard stack.place(start..<end, isMovable: { (try? requireWritable($0)) != nil }) else {
          throw .stackFull
        }
        start = end
      }
      for id in stack.order {
        if let place = stack.written[id] { try write(id, .zIndex, .bytes(place)) }
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

  /// Returns the objects that `id` names as the new neighbors, without the objects that are being
  /// moved.
  private func neighbours(
    _ id: ObjectID,
    _ moving: Set<ObjectID>
  ) throws(BoardError) -> Set<ObjectID> {
    let named = Set(try state.targets([id]))
    let staying = named.subtracting(moving)
    guard !staying.isEmpty || named.isEmpty else { throw .nextToItself(id) }
    return staying
  }

  /// Returns the order after each moving object has changed places with the object before it,
  /// unless that object is moving too.
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
}

/// The new stacking order, with the z indexes that must be written to reach it.
private struct Stack {
  /// The objects in their new order, from back to front.
  let order: [ObjectID]
  let state: BoardState
  let jitter: UInt8
  /// The new z indexes.
  private(set) var written: [ObjectID: [UInt8]] = [:]

  init(order: [ObjectID], state: BoardState, jitter: UInt8) {
    self.order = order
    self.state = state
    self.jitter = jitter
  }

  /// Assigns z indexes to adjacent objects if their current ones are not in order.
  ///
  /// If no z index is left between the neighbors, neighbors get new z indexes too: twice as many in
  /// each step, until there is room (BRD-34).
  ///
  /// - Parameters:
  ///   - row: The positions of the objects in ``order``.
  ///   - isMovable: Whether a neighbor may be changed.
  /// - Returns: Whether there was room for all of them.
  mutating func place(_ row: Range<Int>, isMovable: (ObjectID) -> Bool) -> Bool {
    let stack = max(0, row.lowerBound - 1)..<min(order.count, row.upperBound + 1)
    guard zip(stack, stack.dropFirst()).contains(where: { !isBehind($0, $1) }) else { return true }
    var (first, end) = (row.lowerBound, row.upperBound)
    var step = 1
    while true {
      let places = ZIndex.spread(
        end - first,
        between: first > 0 ? zIndex(first - 1) : nil,
        and: end < order.count ? zIndex(end) : nil,
        jitter: jitter
      )
      if let places {
        for (id, place) in zip(order[first..<end], places) { written[id] = place }
        return true
      }
      let (oldFirst, oldEnd) = (first, end)
      for _ in 0..<step {
        if first > 0, isMovable(order[first - 1]) { first -= 1 }
        if end < order.count, isMovable(order[end]) { end += 1 }
      }
      guard (first, end) != (oldFirst, oldEnd) else { return false }
      step *= 2
    }
  }

  private func zIndex(_ index: Int) -> [UInt8] {
    written[order[index]] ?? state.record(order[index])?.zIndex ?? []
  }

  private func isBehind(_ lhs: Int, _ rhs: Int) -> Bool {
    let (left, right) = (zIndex(lhs), zIndex(rhs))
    return left == right ? order[lhs] < order[rhs] : ZIndex.isBehind(left, right)
  }
}
