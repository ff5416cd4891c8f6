/// Changing the appearance, position and selection of objects. Each method is one gesture: if any of the objects is
/// held or locked, no object is changed.
extension Board {
  // MARK: - Appearance

  /// Sets the color of an object, or of all objects of a group.
  /// - Parameters:
  ///   - color: The color as `0xRRGGBBAA`; nil for the default color of the object's kind.
  ///   - id: The object or group.
  /// - Throws: `unknownObject`, `held`, `locked`, `wrongKind` for a photo, which has no color.
  public func setColor(_ color: UInt32?, of id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try state.targets([id]) {
        try requireWritable(id)
        guard state.record(id)?.kind != .photo else { throw .wrongKind(id) }
        if color == nil, state.record(id)?.color == nil { continue }
        try write(id, .color, color.map { .unsigned(UInt64($0)) } ?? .none)
      }
    }
  }

  /// Sets the line width of a drawing, or of all drawings of a group, in board units.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `wrongKind` if an object is not a drawing.
  public func setLineWidth(_ width: Double, of id: ObjectID) throws(BoardError) {
    let value = try FixedPoint.lineWidth(width)
    try gesture { () throws(BoardError) in
      for id in try state.targets([id]) {
        try requireWritable(id, asKind: .drawing)
        try write(id, .lineWidth, value)
      }
    }
  }

  /// Changes the style of objects and of all objects of groups.
  ///
  /// A change is skipped for the objects that do not have its property.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `wrongKind` if no object has the property of a change.
  public func restyle(_ ids: [ObjectID], _ changes: [StyleChange]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let targets = try state.targets(ids)
      for id in targets { try requireWritable(id) }
      // If the point from which a text grows changes, the text must stay where it is shown.
      let texts = changes.contains { $0.movesText } ? targets.filter { state.record($0)?.kind == .text } : []
      let centers = texts.map { state.record($0)?.center }
      for change in changes {
        let concerned = targets.filter { state.record($0).map(change.applies) ?? false }
        if concerned.isEmpty, let first = targets.first { throw .wrongKind(first) }
        for id in concerned {
          let cell = try change.cell(state.record(id) ?? ObjectRecord())
          if case .none = cell.value, state.record(id)?[cell.property] == nil { continue }
          try write(id, cell.property, cell.value)
        }
      }
      for (id, center) in zip(texts, centers) {
        guard let center, let record = state.record(id), record.center != center else { continue }
        try write(id, .position, try FixedPoint.position(record.origin + (center - record.center)))
      }
    }
  }

  /// Sets the size of a form, photo or text, before scaling.
  ///
  /// The line width does not change. `center` is the new center; nil to keep the present center.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `wrongKind` for ink, lines, arrows and games.
  public func resize(_ id: ObjectID, to size: Size, center: Point? = nil) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireTransformable(id)
      guard let record = state.record(id), record.hasSize else { throw .wrongKind(id) }
      guard size.width > 0, size.height > 0 else { throw .outOfRange("size") }
      if record.isAutoWidth { try write(id, .autoWidth, .none) }
      try write(id, .size, try FixedPoint.size(size))
      if let center = center ?? (record.isAutoWidth ? record.center : nil) {
        try write(id, .position, try FixedPoint.position(center))
      }
      if record.form == .frame { try adopt(id) }
    }
  }

  /// Moves, adds and removes points of a line or arrow.
  ///
  /// `points` are all points of the changed line, in board coordinates. Points at the start and the end that do not
  /// change are not written, so that other members can move them at the same time.
  /// - Throws: `unknownObject`, `held`, `locked`, `outOfRange`, `wrongKind` for other objects; `empty`, `tooLong`.
  public func setPoints(_ points: [Point], of id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireTransformable(id)
      guard let record = state.record(id), record.form?.hasPoints == true else { throw .wrongKind(id) }
      let placement = Placement(
        center: record.origin,
        size: Size(width: 0, height: 0),
        scale: record.scale,
        rotation: Rotation(steps: record.angleSteps)
      )
      try writePoints(try points.map(placement.offset).values(), of: id)
    }
  }

  /// Locks or unlocks an object, or all objects of a group (BRD-27).
  ///
  /// If a cell of the object, such as the selection cell, has a time so late that no write can follow it, unlocking
  /// replaces the object with a new object (BRD-36).
  /// - Throws: `unknownObject`, `held`.
  public func setLocked(_ id: ObjectID, _ isLocked: Bool) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try state.targets([id]) {
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

  /// Moves objects by `offset`, in board units.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func move(_ ids: [ObjectID], by offset: Point) throws(BoardError) {
    try gesture { () throws(BoardError) in try settle(shift(ids, by: offset)) }
  }

  /// Moves objects; returns these objects and the objects that moved along with their frames. After all moves, pass all
  /// results to ``settle(_:)`` once. Otherwise, an object that was moved onto a frame would move again when that frame
  /// moves.
  func shift(_ ids: [ObjectID], by offset: Point) throws(BoardError) -> [ObjectID] {
    let moved = withFramed(try state.targets(ids))
    try transform(moved) { (id, record) throws(BoardError) in
      try write(id, .position, try FixedPoint.position(record.origin + offset))
    }
    return moved
  }

  /// Scales objects, and their distances from `pivot`, by `factor`.
  /// - Parameters:
  ///   - ids: The objects and groups.
  ///   - factor: The factor; 2 doubles the size.
  ///   - pivot: The point that does not move.
  ///   - isLineWidthKept: Whether lines keep the width at which they are shown.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func scale(
    _ ids: [ObjectID],
    by factor: Double,
    about pivot: Point,
    keepingLineWidth isLineWidthKept: Bool = false
  ) throws(BoardError) {
    try transform(ids) { (id, record) throws(BoardError) in
      let moved = pivot + (record.origin - pivot) * factor
      try write(id, .scale, try FixedPoint.scale(record.scale * factor))
      if isLineWidthKept, record.kind == .drawing {
        // A line is shown with its own width times the scale of the object.
        let width = record.lineWidth / factor
        let least = 1 / FixedPoint.unit
        let kept = min(max(width, least), BoardLimits.lineWidth)
        try write(id, .lineWidth, try FixedPoint.lineWidth(kept))
      }
      try write(id, .position, try FixedPoint.position(moved))
    }
  }

  /// Rotates objects around `pivot`, by `angle` rounded to the nearest 1/4096 turn.
  /// - Throws: `unknownObject`, `held`, `locked`, `unfinished`, `outOfRange`.
  public func rotate(_ ids: [ObjectID], by angle: Angle, about pivot: Point) throws(BoardError) {
    let steps = try FixedPoint.angleSteps(angle.radians)
    let rotation = Rotation(steps: steps)
    try transform(ids) { (id, record) throws(BoardError) in
      let turned = pivot + rotation.turned(record.origin - pivot)
      try write(id, .angle, .unsigned((record.angleSteps + steps) % 4096))
      try write(id, .position, try FixedPoint.position(turned))
    }
  }

  private func transform(_ ids: [ObjectID], _ change: (ObjectID, ObjectRecord) throws(BoardError) -> Void)
    throws(BoardError)
  {
    try gesture { () throws(BoardError) in
      for id in try state.targets(ids) {
        try requireTransformable(id)
        try change(id, state.record(id) ?? ObjectRecord())
      }
    }
  }

  // MARK: - Selection

  /// Adds objects to the selection of the local member (BRD-22).
  ///
  /// - Parameters:
  ///   - ids: The objects and groups.
  ///   - isTaking: Whether to take objects that other members hold. If the time of an object's selection is so late
  ///     that no write can follow it, the object is replaced with a new object (BRD-36).
  /// - Returns: The selected objects, including new objects.
  /// - Throws: `unknownObject`, `held`, `clockExhausted`. If the method throws, the selection does not change.
  @discardableResult public func select(_ ids: [ObjectID], taking isTaking: Bool = false) throws(BoardError)
    -> [ObjectID]
  {
    try gesture { () throws(BoardError) in
      var selected: [ObjectID] = []
      for target in try state.targets(ids) {
        if !isTaking { try requireSelectable(target) }
        let isReplaced = isTaking && isFrozen(.selection, of: target)
        let id = try isReplaced ? replaceFrozen(target) : target
        try writeSelection(of: id)
        selected.append(id)
      }
      return selected
    }
  }

  /// Deselects objects that the local member or an offline member has selected.
  /// - Throws: `unknownObject`, `held`.
  public func deselect(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in try state.targets(ids) {
        try requireSelectable(id)
        guard state.record(id)?.selection != nil else { continue }
        try write(id, .selection, .none)
      }
    }
  }

  /// Deselects all objects that the local member selected.
  public func deselectAll() throws(BoardError) {
    try gesture { () throws(BoardError) in
      for id in state.storedIDs.sorted() where selection(of: id) == member { try stage(id, .selection, .none) }
    }
  }
}

/// Deleting, undeleting and purging objects (BRD-23, SYN-8).
extension Board {
  /// Deletes an object, or a group with all objects in it.
  ///
  /// Later edits of the object by other members are still merged, although the object is not shown.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ id: ObjectID) throws(BoardError) { try delete([id]) }

  /// Deletes objects and groups, and all objects in these groups.
  ///
  /// If one of the objects cannot be deleted, no object is deleted. If the time of an object's `deleted` cell is so
  /// late that no write can follow it, the object is purged instead (BRD-36).
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      // Check all locks before deleting any object.
      let targets = try state.targets(ids)
      for id in targets { try requireWritable(id) }
      try stageEnds(boundTo: targets)
      for id in targets + state.groups(among: ids) {
        if isFrozen(.deleted, of: id) { try stage(id, .purge, .none) } else { try write(id, .deleted, .unsigned(1)) }
      }
    }
  }

  /// Deletes all objects that can be changed now, and returns them.
  ///
  /// Locked objects, and objects that other members hold, stay.
  @discardableResult public func clear() throws(BoardError) -> [ObjectID] {
    try gesture("clear") { () throws(BoardError) in
      let ids = objectIDs.filter { (try? requireWritable($0)) != nil }
      try delete(ids)
      return ids
    }
  }

  /// Restores a deleted object, or a deleted group with all objects that were deleted with it.
  ///
  /// A lock does not prevent the restoration, because users cannot unlock a deleted object.
  ///
  /// - Throws: `unknownObject` if the object is unknown or purged; `notDeleted`; `held`.
  public func undelete(_ id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      guard let record = state.record(id), let kind = record.kind, kind.isShown || kind == .group else {
        throw .unknownObject(id)
      }
      guard record.isDeleted, let deletion = record[.deleted] else { throw .notDeleted(id) }
      var ids = [id]
      if kind == .group { ids = state.objects(deletedWith: deletion, wallClock: wallClock) }
      for id in ids {
        try requireFree(id)
        if isFrozen(.deleted, of: id), state.record(id)?.kind?.isShown ?? false {
          try replaceFrozen(id)
        } else {
          try write(id, .deleted, .unsigned(0))
        }
      }
    }
  }

  /// Permanently removes an object from every replica (SYN-8).
  ///
  /// The object must be deleted, or must have a cell that can no longer be written, because its time is too late
  /// (BRD-36).
  /// - Throws: `unknownObject` if the object is unknown or purged; `notDeleted`.
  public func purge(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind != nil else { throw .unknownObject(id) }
    guard record.isDeleted || isFrozen(id) else { throw .notDeleted(id) }
    try write(id, .purge, .none)
  }

  /// Permanently removes objects of one author from every replica (SYN-8), even if they are locked, held, or not
  /// deleted; returns the number of removed objects. If the number is less than `most`, no objects of the author
  /// remain. Throws `viewer`. O(*n*) in the number of stored objects.
  package func purge(madeBy author: MemberID, atMost most: Int) throws(BoardError) -> Int {
    var ids: [ObjectID] = []
    for id in state.storedIDs where authors[id.dot.incarnation] == author {
      // Keep settings objects, because they may hold values that other members set.
      guard let kind = state.record(id)?.kind, kind != .settings else { continue }
      ids.append(id)
    }
    ids.sort()
    let removed = ids.prefix(most)
    try gesture { () throws(BoardError) in for id in removed { try stage(id, .purge, .none) } }
    return removed.count
  }
}
