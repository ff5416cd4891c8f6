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
  /// Only they are written, each at most once, and their neighbors where no place is left between two
  /// (BRD-34).
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `nextToItself`, `stackFull` if there is no place left
  ///   and neither neighbor may be changed.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try targets(ids))
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
}

/// The stack as it will be, with the places that are written for it.
private struct Stack {
  /// The objects, from back to front.
  let order: [ObjectID]
  let state: BoardState
  let jitter: UInt8
  /// The new places.
  private(set) var written: [ObjectID: [UInt8]] = [:]

  init(order: [ObjectID], state: BoardState, jitter: UInt8) {
    self.order = order
    self.state = state
    self.jitter = jitter
  }

  /// Gives some objects in a row places, where theirs are not right already.
  ///
  /// If none is left between the neighbors, these get new places too, ever more of them (BRD-34).
  ///
  /// - Parameters:
  ///   - row: Where the objects are in ``order``.
  ///   - isMovable: Whether a neighbor may be changed.
  /// - Returns: Whether there were places.
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
