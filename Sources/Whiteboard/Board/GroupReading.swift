/// Reading which group an object belongs to (BRD-26).
extension BoardState {
  /// Returns whether the object is a group that is stored and not deleted.
  package func isGroup(_ id: ObjectID) -> Bool { isVisible(id) && record(id)?.kind == .group }

  /// Returns the group that an object's `group` cell names, and the cell; nil if that group does not exist.
  package func groupCell(of id: ObjectID) -> (group: ObjectID, cell: Cell)? {
    guard let cell = record(id)?[.group], case .dot(let dot) = cell.value, isGroup(ObjectID(dot)) else { return nil }
    return (ObjectID(dot), cell)
  }

  /// Returns the groups that contain an object, innermost first, at most `BoardLimits.groupDepth`.
  ///
  /// If groups contain each other in a ring, the cell in the ring with the greatest stamp is ignored, so all replicas
  /// agree. A ring longer than `BoardLimits.groupDepth` is not detected.
  package func groups(of id: ObjectID) -> [ObjectID] {
    var path = [id]
    var cells: [Cell] = []
    while let (group, cell) = groupCell(of: path[cells.count]) {
      cells.append(cell)
      if let start = path.firstIndex(of: group) {
        let cut = (start..<cells.count).reduce(start) { cells[$1].beats(cells[$0]) ? $1 : $0 }
        return Array(path.dropFirst().prefix(cut))
      }
      guard cells.count <= BoardLimits.groupDepth else { break }
      path.append(group)
    }
    return Array(path.dropFirst())
  }

  /// Returns, for each of these groups, the shown objects and the groups inside it, in ascending order of id.
  /// - Complexity: O(*n* log *n*), where *n* is the number of objects inside the groups.
  package func contents(of groups: Set<ObjectID>) -> [ObjectID: [ObjectID]] {
    var contents: [ObjectID: [ObjectID]] = [:]
    // Determine the groups of each object. The point at which a ring of groups is cut can be found only by following
    // the groups outward from an object.
    for id in objects(below: groups.filter(isGroup)) where isShown(id) || isGroup(id) {
      for group in self.groups(of: id) where groups.contains(group) { contents[group, default: []].append(id) }
    }
    return contents
  }

  /// Returns the objects inside these groups, through at most `BoardLimits.groupDepth` levels, in ascending order of
  /// id.
  ///
  /// Rings of groups are not cut.
  /// - Complexity: O(*n* log *n*), where *n* is the number of returned objects.
  func objects(below groups: Set<ObjectID>) -> [ObjectID] {
    var found: Set<ObjectID> = []
    var expanded = groups
    var level = Array(groups)
    for _ in 0..<BoardLimits.groupDepth where !level.isEmpty {
      var next: [ObjectID] = []
      for group in level {
        for id in objects.groups.members(of: group) {
          found.insert(id)
          if isGroup(id), expanded.insert(id).inserted { next.append(id) }
        }
      }
      level = next
    }
    return found.sorted()
  }

  /// Returns the objects with these ids, without duplicates.
  ///
  /// The id of a group stands for the objects in the group.
  /// - Throws: `unknownObject` if an id is neither an object nor a group.
  func targets(_ ids: [ObjectID]) throws(BoardError) -> [ObjectID] {
    let contents = self.contents(of: Set(ids.filter(isGroup)))
    var seen: Set<ObjectID> = []
    var result: [ObjectID] = []
    for id in ids {
      if isGroup(id) {
        for member in contents[id] ?? [] where isShown(member) {
          if seen.insert(member).inserted { result.append(member) }
        }
      } else {
        guard isShown(id) else { throw .unknownObject(id) }
        if seen.insert(id).inserted { result.append(id) }
      }
    }
    return result
  }

  /// Returns the groups among these ids and all groups inside them.
  func groups(among ids: [ObjectID]) -> [ObjectID] {
    let groups = ids.filter(isGroup)
    let inside = contents(of: Set(groups)).values.joined().filter(isGroup)
    return Set(groups + inside).sorted()
  }

  /// Returns the groups that show at least two objects, and only objects in `objects`.
  func wholeGroups(of objects: Set<ObjectID>) -> Set<ObjectID> {
    let around = Set(objects.flatMap { self.groups(of: $0) })
    let whole = self.contents(of: around).filter { _, contents in
      let members = contents.filter(isShown)
      return members.count > 1 && objects.isSuperset(of: members)
    }
    return Set(whole.keys)
  }

  /// The ids of all stored objects, in no particular order.
  package var storedIDs: [ObjectID] { Array(records.keys) }
}
