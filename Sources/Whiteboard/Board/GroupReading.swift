/// Which groups hold which objects (BRD-26).
extension BoardState {
  /// Whether it is a group that is here and not deleted.
  package func isGroup(_ id: ObjectID) -> Bool {
    isVisible(id) && record(id)?.kind == .group
  }

  /// The group that the object's own cell names, and the cell, while that group is here.
  package func groupCell(of id: ObjectID) -> (group: ObjectID, cell: Cell)? {
    guard let cell = record(id)?[.group], case .dot(let dot) = cell.value, isGroup(ObjectID(dot))
    else { return nil }
    return (ObjectID(dot), cell)
  }

  /// The groups around an object, innermost first, at most `BoardLimits.groupDepth`.
  ///
  /// Where groups form a ring, its cell of the greatest stamp counts as absent: everywhere the same. A
  /// ring that is longer than what is looked at is none.
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

  /// The objects that users see, and the groups, within each of these groups, by ascending id.
  /// - Complexity: O(*n* log *n*) in the objects within them.
  package func contents(of groups: Set<ObjectID>) -> [ObjectID: [ObjectID]] {
    var contents: [ObjectID: [ObjectID]] = [:]
    // A ring of groups is cut at one place, which only the way up from each object tells.
    for id in objects(below: groups.filter(isGroup)) where isShown(id) || isGroup(id) {
      for group in self.groups(of: id) where groups.contains(group) {
        contents[group, default: []].append(id)
      }
    }
    return contents
  }

  /// The objects whose cells lead to one of these groups, through at most
  /// `BoardLimits.groupDepth` groups that are here, by ascending id.
  /// - Complexity: O(*n* log *n*) in these objects.
  func objects(below groups: Set<ObjectID>) -> [ObjectID] {
    var found: Set<ObjectID> = []
    var expanded = groups
    var level = Array(groups)
    for _ in 0..<BoardLimits.groupDepth where !level.isEmpty {
      var next: [ObjectID] = []
      for group in level {
        for id in self.groups.members(of: group) {
          found.insert(id)
          if isGroup(id), expanded.insert(id).inserted { next.append(id) }
        }
      }
      level = next
    }
    return found.sorted()
  }

  /// The ids of all objects that are stored, in no order.
  package var storedIDs: [ObjectID] { Array(records.keys) }
}
