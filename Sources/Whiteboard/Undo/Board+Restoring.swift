/// The result of a restore, which is one undo step.
public struct RestoreOutcome: Hashable, Sendable {
  /// The objects that were changed or undeleted, by ascending id.
  public internal(set) var changed: [ObjectID] = []
  /// The objects that were deleted because they are newer than the restored state, by ascending id.
  public internal(set) var deleted: [ObjectID] = []
  /// The objects that were created again, by the ids of the purged objects that they replace.
  public internal(set) var replaced: [ObjectID: ObjectID] = [:]
}

extension Board {
  /// Restores an earlier state of the board, with ordinary writes.
  ///
  /// The method deletes objects that were created since, undeletes deleted objects, and creates
  /// purged objects again under new ids. Chat lines, moves of games, and points that were added to
  /// strokes since then are kept. If the writes do not fit in one batch, they are sent in several.
  /// All of them are one undo step. Do not call this method inside a gesture.
  ///
  /// - Throws: `held` or `locked` if an object that differs cannot be changed now, `tooLong`,
  ///   `boardFull`, `clockExhausted`. If it throws, nothing is changed.
  @discardableResult
  public func restore(_ earlier: BoardState) throws(BoardError) -> RestoreOutcome {
    precondition(!isInGesture, "restore must not be called inside a gesture")
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
    for run in plan.changes.batches(length: \.change.length) {
      try gesture { () throws(BoardError) in
        for (place, change) in run {
          switch (place, change) {
          case (.anew(let old), .create(let kind)): replaced[old] = try create(kind)
          case (.anew(let old), _):
            guard let id = replaced[old] else { preconditionFailure("it is created first") }
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
    }
    return RestoreOutcome(
      changed: changed.sorted(),
      deleted: deleted.sorted(),
      replaced: replaced
    )
  }

  /// Stages one change of a restore plan on an object.
  func stage(
    _ change: RestorePlan.Change,
    of id: ObjectID,
    _ replaced: [ObjectID: ObjectID]
  ) throws(BoardError) {
    switch change {
    case .create: preconditionFailure("a plan does not create an object that exists")
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
