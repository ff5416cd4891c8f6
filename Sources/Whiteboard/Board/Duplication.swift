/// The objects and groups that are duplicated together.
struct Duplication {
  /// The objects to copy.
  private let originals: Set<ObjectID>
  /// The groups to copy, in ascending order.
  private let groups: [ObjectID]
  /// The offset of each copy from its original.
  private let offset: Point

  /// Determines the objects and groups to copy.
  /// - Throws: `unknownObject`.
  init(_ ids: [ObjectID], by offset: Point, on state: BoardState) throws(BoardError) {
    originals = Set(try state.targets(ids))
    let whole = state.wholeGroups(of: originals)
    groups = whole.union(state.groups(among: ids)).sorted()
    self.offset = offset
  }

  /// Stages the copies in the current gesture of the board.
  /// - Returns: The copy of each object and of each group.
  func stage(on board: Board) throws(BoardError) -> [ObjectID: ObjectID] {
    var copies: [ObjectID: ObjectID] = [:]
    for group in groups { copies[group] = try board.create(.group) }
    for id in board.objectIDs where originals.contains(id) {
      guard let record = board.state.record(id), let kind = record.kind else { continue }
      let copy = try board.create(kind)
      copies[id] = copy
      try board.stageZIndex(copy)
      try copyCells(of: record, to: copy, on: board)
    }
    for (original, copy) in copies.sorted(by: { $0.key < $1.key }) {
      // An inner group that shows only one object is not copied.
      let copied = board.state.groups(of: original).lazy.compactMap { copies[$0] }.first
      guard let copied else { continue }
      try board.stage(copy, .group, .dot(copied.dot))
    }
    return copies
  }

  private func copyCells(of record: ObjectRecord, to copy: ObjectID, on board: Board) throws(BoardError) {
    try board.stage(copy, .position, try FixedPoint.position(record.center + offset))
    let plain: [Property] = [.scale, .angle, .size, .color, .lineWidth, .lock, .asset, .game, .setup]
    for property in plain { if let cell = record[property] { try board.stage(copy, property, cell.value) } }
    switch record.kind {
    case .some(.text): try board.stageText(record.text, of: copy)
    case .some(.drawing):
      let ink = record.points
      try board.stageInk(ink, to: copy, first: 0)
      try board.stage(copy, .end, .unsigned(UInt64(ink.count)))
      for value in record.erased.values { try board.stage(copy, .erasure(board.nextDot()), value) }
    default: break
    }
  }
}
