import Whiteboard

/// Resolves the object references of commands.
extension BoardEditor {
  /// The objects that a command may name.
  enum Nameable {
    /// Objects on the board, and groups.
    case present
    /// Deleted objects.
    case deleted
  }

  /// Returns the objects with the given references, in order and without duplicates.
  ///
  /// - Throws: `noSuchObject`, `ambiguous`.
  func resolve(_ references: [ObjectReference]) throws(CommandError) -> [ObjectID] {
    var ids: [ObjectID] = []
    var known: Set<ObjectID> = []
    for reference in references {
      let named = reference == .selected ? try selectedObjects() : [try resolve(reference)]
      for id in named where known.insert(id).inserted { ids.append(id) }
    }
    return ids
  }

  /// Returns the object that a reference names.
  ///
  /// - Throws: `noSuchObject`, `ambiguous`.
  func resolve(_ reference: ObjectReference, among nameable: Nameable = .present) throws(CommandError) -> ObjectID {
    switch reference {
    case .last:
      guard let lastObject else {
        throw CommandError(.noSuchObject, "`last` names no object, because you have not created one yet")
      }
      return lastObject
    case .selected:
      let ids = try selectedObjects()
      guard ids.count == 1 else {
        throw CommandError(.ambiguous, "\(ids.count) objects are selected; this command takes one")
      }
      return ids[0]
    case .alias(let alias):
      guard let id = aliases[alias] else {
        throw CommandError(.noSuchObject, "no object is called \(alias); `objects` lists the ids")
      }
      return id
    case .id(let id):
      guard isNameable(id, as: nameable) else { throw absence(of: id, as: nameable) }
      return id
    case .sequence(let sequence):
      let known = (board.state.records.keys.filter { $0.dot.sequence == sequence }).filter {
        isNameable($0, as: .present) || isNameable($0, as: .deleted)
      }.sorted()
      let found = known.filter { isNameable($0, as: nameable) }
      guard let id = found.first else {
        if let other = known.first { throw absence(of: other, as: nameable) }
        throw missing(sequence, among: nameable)
      }
      guard found.count == 1 else {
        throw CommandError(
          .ambiguous,
          "\(found.count) objects start with \(sequence); give a whole id: "
            + found.prefix(4).map(\.description).joined(separator: ", ")
        )
      }
      return id
    }
  }

  private func missing(_ sequence: UInt64, among nameable: Nameable) -> CommandError {
    switch nameable {
    case .present: CommandError(.noSuchObject, "there is no object \(sequence); `objects` lists the ids")
    case .deleted: CommandError(.noSuchObject, "there is no deleted object \(sequence)")
    }
  }

  /// Returns the error for a reference to an object that the command cannot use.
  func absence(of id: ObjectID, as nameable: Nameable) -> CommandError {
    if nameable == .deleted, isNameable(id, as: .present) { return CommandError(.refused, "\(id) is not deleted") }
    let state = board.state
    if isNameable(id, as: .deleted) {
      return state.record(id)?.kind == .group
        ? CommandError(.noSuchObject, "the group \(id) was ungrouped or deleted")
        : CommandError(.noSuchObject, "\(id) is deleted; `undelete` brings it back")
    }
    guard state.record(id) == nil, state.context.contains(id.dot) else {
      return CommandError(.noSuchObject, "there is no object \(id); `objects` lists the ids")
    }
    return CommandError(.noSuchObject, "there is no object \(id); if there was one, it was purged")
  }

  private func selectedObjects() throws(CommandError) -> [ObjectID] {
    let ids = board.selectedIDs
    guard !ids.isEmpty else { throw CommandError(.noSuchObject, "no object is selected; use `select` first") }
    return ids
  }

  func isNameable(_ id: ObjectID, as nameable: Nameable) -> Bool {
    let state = board.state
    guard let record = state.record(id), let kind = record.kind else { return false }
    switch nameable {
    case .present: return state.isVisible(id) && (kind.isShown || kind == .group)
    case .deleted: return record.isDeleted && (kind.isShown || kind == .group)
    }
  }
}
