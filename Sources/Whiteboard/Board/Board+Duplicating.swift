/// Copying objects.
extension Board {
  /// Copies objects and groups.
  ///
  /// The copies are placed in front of all other objects.
  ///
  /// A copy has the same kind and appearance as its original. The copy of a text object consists of one run. The copy
  /// of a drawing is a finished stroke with the committed points and the erasures. The copy of a photo refers to the
  /// same asset. The copy of a game has no moves yet. If all objects of a group are copied, the copies form a new
  /// group; otherwise the copies belong to no group. Copies are not selected.
  ///
  /// - Parameters:
  ///   - ids: The objects and groups to copy. Objects that are held or locked can be copied.
  ///   - offset: The offset of each copy from its original.
  /// - Returns: The copy of each object, and of each group that was copied as a whole.
  /// - Throws: `unknownObject`, `outOfRange`, `tooManyOperations`, `boardFull`. If it throws, nothing is copied.
  @discardableResult public func duplicate(_ ids: [ObjectID], by offset: Point = Point(x: 16, y: 16)) throws(BoardError)
    -> [ObjectID: ObjectID]
  { try gesture("duplicate") { () throws(BoardError) in try Duplication(ids, by: offset, on: state).stage(on: self) } }
}
