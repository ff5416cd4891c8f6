extension Board {
  /// Returns the member to which an incarnation belongs; nil if its author record is unknown.
  public func member(of incarnation: Incarnation) -> MemberID? { authors[incarnation] }

  /// Returns the member that has an object selected (BRD-22); nil if the object is not selected.
  ///
  /// The member may be offline. A selection counts only if the member that it names also wrote it.
  public func selection(of id: ObjectID) -> MemberID? {
    guard let record = state.record(id), let member = record.selection,
      let cell = record[.selection], authors[cell.dot.incarnation] == member
    else { return nil }
    return member
  }

  /// Selects an object for the local member.
  func writeSelection(of id: ObjectID) throws(BoardError) {
    guard selection(of: id) != member else { return }
    // Another member may have written a cell that names the local member; such a cell does not
    // count, so write it again.
    try gesture { () throws(BoardError) in
      try stage(id, .selection, .bytes(member.bytes))
    }
  }
}
