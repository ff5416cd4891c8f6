extension Board {
  /// Whose an incarnation is, or nil where no record told.
  public func member(of incarnation: Incarnation) -> MemberID? { authors[incarnation] }

  /// The member who won the selection of an object, present or not (BRD-22).
  ///
  /// The cell names a member; where somebody else wrote it, it counts as none.
  public func selection(of id: ObjectID) -> MemberID? {
    guard let record = state.record(id), let member = record.selection,
      let cell = record[.selection], authors[cell.dot.incarnation] == member
    else { return nil }
    return member
  }

  /// Selects an object for our own member.
  func writeSelection(of id: ObjectID) throws(BoardError) {
    guard selection(of: id) != member else { return }
    // The cell may name the member already, written by somebody else: then it counts as none.
    try gesture { () throws(BoardError) in
      try stage(id, .selection, .bytes(member.bytes))
    }
  }
}
