/// A new position for objects in the stack.
public enum StackMove: Hashable, Sendable {
  case front
  case back
  case forward
  case backward
  /// Directly in front of this object, or of all objects in this group.
  case above(ObjectID)
  /// Directly behind this object, or behind all objects in this group.
  case below(ObjectID)
}

/// A stack of objects, and the z indexes that must be written to reorder it.
struct Stack {
  private(set) var order: [ObjectID]
  private var changed: [ObjectID: [UInt8]] = [:]

  init(_ objects: [ObjectID]) { order = objects }

  var written: [(id: ObjectID, zIndex: [UInt8])] { order.compactMap { id in changed[id].map { (id, $0) } } }

  /// Moves objects, which keep their order relative to each other.
  mutating func move(
    _ moving: Set<ObjectID>,
    _ move: StackMove,
    _ objects: (ObjectID) throws(BoardError) -> Set<ObjectID>
  ) throws(BoardError) {
    let rest = order.filter { !moving.contains($0) }
    let moved = order.filter(moving.contains)
    switch move {
    case .front: order = rest + moved
    case .back: order = moved + rest
    case .forward: order = Self.stepped(order.reversed(), moving).reversed()
    case .backward: order = Self.stepped(order, moving)
    case .above(let id):
      let named = try Self.neighbors(id, objects(id), moving)
      guard let index = rest.lastIndex(where: named.contains) else { throw .unknownObject(id) }
      order = rest[...index] + moved + rest[(index + 1)...]
    case .below(let id):
      let named = try Self.neighbors(id, objects(id), moving)
      guard let index = rest.firstIndex(where: named.contains) else { throw .unknownObject(id) }
      order = rest[..<index] + moved + rest[index...]
    }
  }

  /// Returns the named objects without the moved objects; throws if all named objects are being moved.
  private static func neighbors(_ id: ObjectID, _ named: Set<ObjectID>, _ moving: Set<ObjectID>) throws(BoardError)
    -> Set<ObjectID>
  {
    let staying = named.subtracting(moving)
    guard !staying.isEmpty || named.isEmpty else { throw .nextToItself(id) }
    return staying
  }

  /// Returns the order after each moved object is swapped with the object before it, unless both are moved.
  private static func stepped(_ order: some Sequence<ObjectID>, _ moving: Set<ObjectID>) -> [ObjectID] {
    var order = Array(order)
    for index in order.indices.dropFirst() where moving.contains(order[index]) && !moving.contains(order[index - 1]) {
      order.swapAt(index, index - 1)
    }
    return order
  }

  /// Assigns new z indexes to the moved objects, unless their current z indexes are already in order; returns whether
  /// there was room. `jitter` makes equal z indexes of two members unlikely.
  mutating func assign(
    to moving: Set<ObjectID>,
    zIndex: (ObjectID) -> [UInt8],
    jitter: UInt8,
    isMovable: (ObjectID) -> Bool
  ) -> Bool {
    var start = 0
    while start < order.count {
      guard moving.contains(order[start]) else {
        start += 1
        continue
      }
      let end = order[start...].firstIndex { !moving.contains($0) } ?? order.count
      guard place(start..<end, zIndex: zIndex, jitter: jitter, isMovable: isMovable) else { return false }
      start = end
    }
    return true
  }

  /// Assigns new z indexes to adjacent objects, unless their current z indexes are already in order; returns whether
  /// there was room. If no z index is left between the neighbors, neighbors get new z indexes too. Their number doubles
  /// in each step, until there is room (BRD-34).
  private mutating func place(
    _ row: Range<Int>,
    zIndex: (ObjectID) -> [UInt8],
    jitter: UInt8,
    isMovable: (ObjectID) -> Bool
  ) -> Bool {
    let stack = max(0, row.lowerBound - 1)..<min(order.count, row.upperBound + 1)
    guard zip(stack, stack.dropFirst()).contains(where: { !isBehind($0, $1, zIndex) }) else { return true }
    var (first, end) = (row.lowerBound, row.upperBound)
    var step = 1
    while true {
      let zIndexes = ZIndex.spread(
        end - first,
        between: first > 0 ? current(first - 1, zIndex) : nil,
        and: end < order.count ? current(end, zIndex) : nil,
        jitter: jitter
      )
      if let zIndexes {
        for (id, zIndex) in zip(order[first..<end], zIndexes) { changed[id] = zIndex }
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

  private func current(_ index: Int, _ zIndex: (ObjectID) -> [UInt8]) -> [UInt8] {
    changed[order[index]] ?? zIndex(order[index])
  }

  private func isBehind(_ lhs: Int, _ rhs: Int, _ zIndex: (ObjectID) -> [UInt8]) -> Bool {
    let (left, right) = (current(lhs, zIndex), current(rhs, zIndex))
    return left == right ? order[lhs] < order[rhs] : ZIndex.isBehind(left, right)
  }
}
