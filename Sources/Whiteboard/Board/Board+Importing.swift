/// Adding objects from a file.
extension Board {
  /// Adds objects in front of all other objects, in the given order, as one undo step.
  ///
  /// If the objects do not fit in one batch, they are split into several. Do not call this method inside a gesture.
  ///
  /// - Parameters:
  ///   - drafts: The objects to add, from back to front.
  ///   - groups: For each new group, the index of its enclosing group, which must be smaller than its own index; nil
  ///     for an outermost group.
  ///   - settings: The settings to apply. A setting that the board already has is not changed.
  /// - Returns: The new objects, in their order.
  /// - Throws: `outOfRange`, `tooLong`, `empty`, `viewer`, `boardFull`. If it throws, nothing is added.
  @discardableResult package func add(
    _ drafts: [ObjectDraft],
    groups: [Int?] = [],
    settings: BoardSettings = BoardSettings()
  ) throws(BoardError) -> [ObjectID] {
    precondition(!isInGesture, "objects must not be added inside a gesture")
    var plan = ImportPlan(groups)
    for draft in drafts { try plan.add(draft) }
    guard !isReadOnly else { throw .viewer }
    try requireShare(forObjects: plan.objectCount)
    try requireRoom(values: plan.changes.map { $0.change.length })
    return try step("import") { () throws(BoardError) in
      let made = try plan.write(on: self)
      fill(settings)
      return Array(made.dropFirst(groups.count))
    }
  }

  /// Applies each setting that the board does not have yet.
  ///
  /// Invalid values are skipped.
  private func fill(_ new: BoardSettings) {
    let old = settings
    if old.title == nil, let title = new.title { try? setTitle(title) }
    if old.background == nil, let background = new.background { try? setBackground(background) }
    if old.grid == nil, let grid = new.grid { try? setGrid(grid) }
    if old.language == nil, let language = new.language { try? setLanguage(language) }
  }

}
