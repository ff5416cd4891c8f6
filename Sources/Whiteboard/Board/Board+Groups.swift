/// Groups of objects (BRD-26).
///
/// In every list of ids, the id of a group stands for all objects in that group and in the groups inside it.
extension Board {
  /// Creates a group of objects and groups.
  ///
  /// If all of them belong to the same group, the new group is created inside that group. Otherwise, each of them
  /// leaves its group.
  ///
  /// - Returns: The id of the new group.
  /// - Throws: `empty`, `unknownObject`, `held`, `locked`, `boardFull`.
  @discardableResult public func group(_ ids: [ObjectID]) throws(BoardError) -> ObjectID {
    try gesture { () throws(BoardError) in
      guard !ids.isEmpty else { throw .empty }
      for id in try state.targets(ids) { try requireWritable(id) }
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
      for id in try state.targets([group]) { try requireWritable(id) }
      let around = state.groups(of: group).first.map { Value.dot($0.dot) } ?? .none
      for id in state.objects.groups.members(of: group) where state.isShown(id) || state.isGroup(id) {
        try stage(id, .group, around)
      }
      try stage(group, .deleted, .unsigned(1))
    }
  }
}
