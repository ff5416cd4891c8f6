/// The stacking order of objects (BRD-13).
extension Board {
  /// Moves objects in the stack.
  ///
  /// The moved objects keep their order relative to each other. Each of them is written at most once. Other objects are
  /// written only if no z index is left between two neighbors (BRD-34).
  ///
  /// - Throws: `unknownObject`, `held`, `locked`, `nextToItself`, `stackFull` if no z index is left and neither
  ///   neighbor can be changed.
  public func reorder(_ ids: [ObjectID], _ move: StackMove) throws(BoardError) {
    try gesture { () throws(BoardError) in
      let moving = Set(try state.targets(ids))
      for id in moving.sorted() { try requireWritable(id) }
      var stack = Stack(objectIDs)
      try stack.move(moving, move) { (id) throws(BoardError) in Set(try state.targets([id])) }
      let jitter = UInt8(truncatingIfNeeded: incarnation.rawValue ^ nextDot().sequence)
      let hasRoom = stack.assign(
        to: moving,
        zIndex: { state.record($0)?.zIndex ?? [] },
        jitter: jitter,
        isMovable: { (try? requireWritable($0)) != nil }
      )
      guard hasRoom else { throw .stackFull }
      for (id, zIndex) in stack.written { try write(id, .zIndex, .bytes(zIndex)) }
    }
  }
}
