/// Groups of objects (BRD-26).
///
/// In every list of ids, the id of a group means all objects in that group and in the groups inside
/// it.
extension Board {
  /// Returns the groups that contain an object, innermost first.
  public func groups(of id: ObjectID) -> [ObjectID] { state.groups(of: id) }

  /// Returns the objects in a group and in the groups inside it, from back to front.
  /// - Complexity: O(*n* log *n*) in the objects of the board; O(1) if the group is empty.
  public func members(ofGroup group: ObjectID) -> [ObjectID] {
    let members = Set(state.contents(of: [group])[group] ?? [])
    guard !members.isEmpty else { return [] }
    return objectIDs.filter(members.contains)
  }

  /// Groups objects and groups.
  ///
  /// If all of them belong to the same group, the new group is created inside that group. Otherwise
  /// each of them leaves its group.
  ///
  /// - Returns: The id of the new group.
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

  /// Dissolves a group.
  ///
  /// Its objects move to the enclosing group, if there is one.
  /// - Throws: `unknownObject` if `group` is not a group, `held`, `locked`.
  public func ungroup(_ group: ObjectID) throws(BoardError) {
    try gesture("ungroup") { () throws(BoardError) in
      guard state.isGroup(group) else { throw .unknownObject(group) }
      for id in try targets([group]) { try requireWritable(id) }
      let around = state.groups(of: group).first.map { Value.dot($0.dot) } ?? .none
      for id in state.objects.groups.members(of: group) where state.isShown(id) || state.isGroup(id)
      {
        try stage(id, .group, around)
      }
      try stage(group, .deleted, .unsigned(1))
    }
  }

  /// Returns the objects with these ids, each once.
  ///
  /// The id of a group means the objects in it.
  /// - Throws: `unknownObject` if an id is neither an object nor a group.
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

  /// Returns the groups among these ids and all groups inside them.
  func groups(among ids: [ObjectID]) -> [ObjectID] {
    let groups = ids.filter(state.isGroup)
    let inside = state.contents(of: Set(groups)).values.joined().filter(state.isGroup)
    return Set(groups + inside).sorted()
  }
}
