/// Writing the changes of a restore plan.
extension RestorePlan {
  /// The number of objects that the plan creates.
  var createdCount: Int {
    changes.reduce(0) { count, next in if case .create = next.change { count + 1 } else { count } }
  }

  /// Throws an error if any change would be refused.
  /// - Throws: `held`, `locked`, `clockExhausted`, `boardFull`.
  func requireWritable(on board: BoardReplica) throws(BoardError) {
    for case (.here(let id), let change) in changes {
      let property: Property = if case .write(let property, _) = change { property } else { .kind }
      try board.requireChangeable(id, property, isUnlocked: false)
    }
    try board.requireRoom(values: changes.map { $0.change.length })
  }

  /// Makes the changes, in as few batches as possible.
  func write(on board: BoardReplica) throws(BoardError) -> RestoreOutcome {
    var replaced: [ObjectID: ObjectID] = [:]
    var changed: Set<ObjectID> = []
    var deleted: Set<ObjectID> = []
    for run in changes.batches(length: { $0.change.length }) {
      try board.gesture { () throws(BoardError) in
        for (place, change) in run {
          switch (place, change) {
          case (.anew(let old), .create(let kind)): replaced[old] = try board.create(kind)
          case (.anew(let old), _):
            guard let id = replaced[old] else {
              preconditionFailure("the replacement object is created before it is changed")
            }
            try Self.stage(change, of: id, on: board, replaced)
          case (.here(let id), .write(.deleted, .unsigned(1))):
            deleted.insert(id)
            try Self.stage(change, of: id, on: board, replaced)
          case (.here(let id), _):
            changed.insert(id)
            try Self.stage(change, of: id, on: board, replaced)
          }
        }
      }
    }
    return RestoreOutcome(changed: changed.sorted(), deleted: deleted.sorted(), replaced: replaced)
  }

  /// Stages one change of a restore plan on an object.
  ///
  /// - Parameters:
  ///   - change: The change.
  ///   - id: The object.
  ///   - board: The board, in a gesture.
  ///   - replaced: The new objects, by the ids of the objects that they replace.
  /// - Throws: The errors of `BoardReplica.stage`.
  static func stage(_ change: Change, of id: ObjectID, on board: BoardReplica, _ replaced: [ObjectID: ObjectID] = [:])
    throws(BoardError)
  {
    switch change {
    case .create: preconditionFailure("a plan never creates an object that already exists")
    case .write(.group, .dot(let dot)):
      try board.stage(id, .group, .dot((replaced[ObjectID(dot)] ?? ObjectID(dot)).dot))
    case .write(let property, let value): try board.stage(id, property, value)
    case .run(let value): try board.stage(id, .run(board.nextDot()), value)
    case .append(let text):
      let tree = TextTree(board.state.record(id) ?? ObjectRecord())
      try board.stageRun(text, at: tree.anchor(at: tree.scalars.count), of: id)
    case .deletion(let value): try board.stage(id, .deletion(board.nextDot()), value)
    case .erasure(let value): try board.stage(id, .erasure(board.nextDot()), value)
    }
  }
}
