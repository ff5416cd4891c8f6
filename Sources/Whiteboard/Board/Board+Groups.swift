/// Objects that are held together (BRD-26).
///
/// Wherever ids are taken in a list, that of a group means all objects in it, however deep.
extension Board {
  /// The groups around an object, innermost first.
  public func groups(of id: ObjectID) -> [ObjectID] { state.groups(of: id) }

  /// The objects in a group and in the groups in it, from back to front.
  /// - Complexity: O(*n* log *n*) in the objects of the board, if there are any in the group.
  public func members(ofGroup group: ObjectID) -> [ObjectID] {
    let members = Set(state.contents(of: [group])[group] ?? [])
    guard !members.isEmpty else { return [] }
    return objectIDs.filter(members.contains)
  }

  /// Makes one group of objects and groups.
  ///
  /// What belongs to the same group before, all of it, makes a group within that group; else each
  /// leaves the group it was in.
  ///
  /// - Returns: the group's id.
  /// - Throws: `empty`, `unknownObject`, `held`, `locked`, `boardFull`.
  @discardableResult
  public func group(_ ids: [ObjectID]) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard !ids.isEmpty else { throw .empty }
      for id in try targets(ids) { try requireWritable(id) }
      let group = try create(.group)
      let around = Set(ids.map { state.groups(of: $0).first })
      if around.count == 1, case .some(.some(let parent)) = around.first, !ids.contains(parent) {
        try stage(group, .group, .dot(parent.dot))
      }
      for id in ids { try stage(id, .group, .dot(group.dot)) }
      return group
    }
  }

  /// Ends a group; what was in it belongs to the group around it, if there is one.
  /// - Throws: `unknownObject` where it is none, `held`, `locked`.
  public func ungroup(_ group: ObjectID) throws(BoardError) {
    try gesture("ungroup") { () throws(BoardError) in
      guard state.isGroup(group) else { throw .unknownObject(group) }
      for id in try targets([group]) { try requireWritable(id) }
      let around = state.groups(of: group).first.map { Value.dot($0.dot) } ?? .none
      for id in state.groups.members(of: group) where state.isShown(id) || state.isGroup(id) {
        try stage(id, .group, around)
      }
      try stage(group, .deleted, .unsigned(1))
    }
  }

  /// The objects that these ids mean, each once: a group means the objects in it.
  /// - Throws: `unknownObject` where one is neither an object nor a group.
  func targets(_ ids: [ObjectID]) throws(BoardError) -> [ObjectID] {
    let contents = state.contents(of: Set(ids.filter(state.isGroup)))
    var seen: Set<ObjectID> = []
    var result: [ObjectID] = []
    for id in ids {
      if state.isGroup(id) {
        for member in contents[id] ?? [] where state.isShown(member) {
          if seen.insert(member).inserted { result.append(member) }
        }
      } else {
        guard state.isShown(id) else { throw .unknownObject(id) }
        if seen.insert(id).inserted { result.append(id) }
      }
    }
    return result
  }

  /// The groups among these ids and all groups in them.
  func groups(among ids: [ObjectID]) -> [ObjectID] {
    let groups = ids.filter(state.isGroup)
    let inside = state.contents(of: Set(groups)).values.joined().filter(state.isGroup)
    return Set(groups + inside).sorted()
  }
}
