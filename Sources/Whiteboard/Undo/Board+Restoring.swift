/// The result of a restore, which is one undo step.
public struct RestoreOutcome: Hashable, Sendable {
  /// The objects that were put back or undeleted, by ascending id.
  public internal(set) var changed: [ObjectID] = []
  /// The objects that were deleted, by ascending id: they are newer than the state restored.
  public internal(set) var deleted: [ObjectID] = []
  /// The objects that were made anew, by those they stand for.
  public internal(set) var replaced: [ObjectID: ObjectID] = [:]
}

extension Board {
  /// Makes the board read as an earlier state of it did, by ordinary writes.
  ///
  /// Objects made since are deleted, deleted ones come back, and purged ones are made anew. The chat
  /// and the moves of games stay as they are, and so does what a stroke has gained since. More than a
  /// batch holds goes out as several; all of it is one step of undo. Not for use inside a gesture.
  ///
  /// - Throws: `held` or `locked` if an object that differs may not be changed now, `tooLong`,
  ///   `boardFull`, `clockExhausted`; nothing is changed.
  @discardableResult
  public func restore(_ earlier: BoardState) throws(BoardError) -> RestoreOutcome {
    precondition(!isInGesture, "a restore is gestures of its own")
    leaveClaimedIncarnation()
    let plan = try RestorePlan(from: state, to: earlier, as: incarnation)
    var created = 0
    for (place, change) in plan.changes {
      switch (place, change) {
      case (.anew, .create): created += 1
      case (.here(let id), .write(let property, _)):
        try requireChangeable(id, property, isUnlocked: false)
      case (.here(let id), _): try requireChangeable(id, .kind, isUnlocked: false)
      default: break
      }
    }
    guard state.objectCount + created <= BoardLimits.objects else { throw .boardFull }
    try requireRoom(values: plan.changes.map(\.change.length))
    return try step("restore") { () throws(BoardError) in try carryOut(plan) }
  }

  private func carryOut(_ plan: RestorePlan) throws(BoardError) -> RestoreOutcome {
    var replaced: [ObjectID: ObjectID] = [:]
    var changed: Set<ObjectID> = []
    var deleted: Set<ObjectID> = []
    var rest = plan.changes[...]
    while !rest.isEmpty {
      let count = Self.prefix(of: rest.map(\.change.length))
      try gesture { () throws(BoardError) in
        for (place, change) in rest.prefix(count) {
          switch (place, change) {
          case (.anew(let old), .create(let kind)): replaced[old] = try create(kind)
          case (.anew(let old), _):
            guard let id = replaced[old] else { preconditionFailure("it was made before") }
            try stage(change, of: id, replaced)
          case (.here(let id), .write(.deleted, .unsigned(1))):
            deleted.insert(id)
            try stage(change, of: id, replaced)
          case (.here(let id), _):
            changed.insert(id)
            try stage(change, of: id, replaced)
          }
        }
      }
      rest = rest.dropFirst(count)
    }
    return RestoreOutcome(
      changed: changed.sorted(),
      deleted: deleted.sorted(),
      replaced: replaced
    )
  }

  /// Stages one operation of a plan on an object.
  func stage(
    _ change: RestorePlan.Change,
    of id: ObjectID,
    _ replaced: [ObjectID: ObjectID]
  ) throws(BoardError) {
    switch change {
    case .create: preconditionFailure("what is made anew has no other place")
    case .write(.group, .dot(let dot)):
      try stage(id, .group, .dot((replaced[ObjectID(dot)] ?? ObjectID(dot)).dot))
    case .write(let property, let value): try stage(id, property, value)
    case .run(let value): try stage(id, .run(nextDot()), value)
    case .append(let text):
      let tree = TextTree(state.record(id) ?? ObjectRecord())
      try stageRun(text, at: tree.anchor(at: tree.scalars.count), of: id)
    case .deletion(let value): try stage(id, .deletion(nextDot()), value)
    case .erasure(let value): try stage(id, .erasure(nextDot()), value)
    }
  }
}
