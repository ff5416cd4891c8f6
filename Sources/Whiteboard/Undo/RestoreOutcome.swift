/// The result of a restore.
///
/// A restore is one undo step.
public struct RestoreOutcome: Hashable, Sendable {
  /// The objects that were changed or undeleted, in ascending order of id.
  public internal(set) var changed: [ObjectID] = []
  /// The objects that were deleted because they are newer than the restored state, in ascending order of id.
  public internal(set) var deleted: [ObjectID] = []
  /// The objects that were created again, by the ids of the purged objects that they replace.
  public internal(set) var replaced: [ObjectID: ObjectID] = [:]
}
