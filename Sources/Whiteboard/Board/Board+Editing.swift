/// Changes of what objects look like, where they are and who has them.
///
/// Each is one gesture: all of it, or, where one object is held or locked, none.
extension Board {
  // MARK: - Looks

  /// Gives an object, or all objects of a group, a colour, `0xRRGGBBAA`; nil for the one that it has
  /// by itself.
  /// - Throws: `unknownObject`, `held`, `locked`, `wrongKind` for a photo, which has none.
  public func setColor(_ color: UInt32?, of id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try targets([id]) {
        try requireWritable(id)
        guard state.record(id)?.kind != .photo else { throw .wrongKind(id) }
        if color == nil, state.record(id)?.color == nil { continue }
        try write(id, .color, color.map { .unsigned(UInt64($0)) } ?? .none)
      }
    }
  }

  /// Gives a drawing, or all drawings of a group, a line width in board units.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `wrongKind` for what is no drawing.
  public func setLineWidth(_ width: Double, of id: ObjectID) throws(BoardError) {
    let value = try FixedPoint.lineWidth(width)
    try gesture { () throws(BoardError) in
      for id in try targets([id]) {
        try requireWritable(id, asKind: .drawing)
        try write(id, .lineWidth, value)
      }
    }
  }

  /// Locks an object, or all objects of a group, against changes, or unlocks them (BRD-27).
  ///
  /// To unlock an object with a frozen cell replaces it (BRD-36), even if the frozen cell is a
  /// selection.
  /// - Throws: `unknownObject`, `held`.
  public func setLocked(_ id: ObjectID, _ isLocked: Bool) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try targets([id]) {
        if isLocked || !isFrozen(.selection, of: id) { try requireSelectable(id) }
        if !isLocked, isFrozen(id) {
          try replaceFrozen(id)
          continue
        }
        guard state.record(id)?.isLocked != isLocked else { continue }
        try write(id, .lock, .unsigned(isLocked ? 1 : 0))
      }
    }
  }

  // MARK: - Place

  /// Moves objects by so much.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func move(_ ids: [ObjectID], by offset: Point) throws(BoardError) {
    try transform(ids) { (id, record) throws(BoardError) in
      let center = record.center
      try write(
        id,
        .position,
        try FixedPoint.position(Point(x: center.x + offset.x, y: center.y + offset.y))
      )
    }
  }

  /// Makes objects `factor` times as large, and their distances from `pivot` with them.
  /// - Parameters:
  ///   - ids: The objects and groups.
  ///   - factor: How much larger they become.
  ///   - pivot: The place that stays where it is.
  ///   - isLineWidthKept: Whether lines stay as wide as they show.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func scale(
    _ ids: [ObjectID],
    by factor: Double,
    about pivot: Point,
    keepingLineWidth isLineWidthKept: Bool = false
  ) throws(BoardError) {
    try transform(ids) { (id, record) throws(BoardError) in
      let center = record.center
      let moved = Point(
        x: pivot.x + (center.x - pivot.x) * factor,
        y: pivot.y + (center.y - pivot.y) * factor
      )
      try write(id, .scale, try FixedPoint.scale(record.scale * factor))
      if isLineWidthKept, record.kind == .drawing {
        // A line is as wide as its own width, scaled.
        let width = record.lineWidth / factor
        let least = 1 / FixedPoint.unit
        let kept = min(max(width, least), BoardLimits.lineWidth)
        try write(id, .lineWidth, try FixedPoint.lineWidth(kept))
      }
      try write(id, .position, try FixedPoint.position(moved))
    }
  }

  /// Turns objects by so many radians clockwise around `pivot`, to the nearest 1/4096 turn.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func rotate(
    _ ids: [ObjectID],
    by radians: Double,
    about pivot: Point
  ) throws(BoardError) {
    let steps = try FixedPoint.angleSteps(radians)
    let rotation = Rotation(steps: steps)
    try transform(ids) { (id, record) throws(BoardError) in
      let center = record.center
      let turned = rotation.turned(Point(x: center.x - pivot.x, y: center.y - pivot.y))
      try write(id, .angle, .unsigned((record.angleSteps + steps) % 4096))
      try write(
        id,
        .position,
        try FixedPoint.position(Point(x: pivot.x + turned.x, y: pivot.y + turned.y))
      )
    }
  }

  private func transform(
    _ ids: [ObjectID],
    _ change: (ObjectID, ObjectRecord) throws(BoardError) -> Void
  ) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try targets(ids) {
        try requireTransformable(id)
        try change(id, state.record(id) ?? ObjectRecord())
      }
    }
  }

  // MARK: - Selection

  /// Selects objects for ourselves; those that were selected before stay so (BRD-22).
  /// - Throws: `unknownObject`, `held`; then none is selected.
  public func select(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try targets(ids) {
        try requireSelectable(id)
        try writeSelection(of: id)
      }
    }
  }

  /// Ends the selection of objects, ours or one whose holder is not here.
  /// - Throws: `unknownObject`, `held`.
  public func deselect(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try targets(ids) {
        try requireSelectable(id)
        guard state.record(id)?.selection != nil else { continue }
        try write(id, .selection, .none)
      }
    }
  }

  /// Ends every selection of ours.
  public func deselectAll() throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in state.storedIDs.sorted() where selection(of: id) == member {
        try stage(id, .selection, .none)
      }
    }
  }

  /// The objects that we hold, from back to front.
  public var selectedIDs: [ObjectID] { objectIDs.filter { holder(of: $0) == member } }
}
