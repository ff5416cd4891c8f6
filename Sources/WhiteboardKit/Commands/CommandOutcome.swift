import Whiteboard

/// The result of a command, as its answer reports it.
public struct CommandOutcome: Equatable, Sendable {
  /// The new or named object, for commands that have one.
  public var id: ObjectID?
  /// The new or named objects, for commands that can have several.
  public var ids: [ObjectID]?
  /// The ids of the transfers that were started.
  public var transfers: [String]?
  /// Whether the board changed, for commands that change it.
  public var hasChanged: Bool?
  /// The file that was written or read.
  public var file: String?
  /// The number of objects that were written or read.
  public var count: Int?
  /// The name of the step that was undone or redone.
  public var step: String?
  /// The number of changes that `undo` or `redo` did not revert.
  public var skipped: Int?
  /// The number of those changes by reason; nil if there are none.
  public var left: [String: Int]?
  /// The steps that `undo` and `redo` passed over; nil if there are none.
  public var skippedSteps: [SkippedStep]?

  /// The sync report of `wait synced`.
  var sync: SyncReport?

  /// Returns an outcome about objects, with `id` instead of `ids` if a single object was named.
  static func about(_ ids: [ObjectID], asOne: Bool) -> CommandOutcome {
    asOne && ids.count == 1 ? CommandOutcome(id: ids[0]) : CommandOutcome(ids: ids)
  }
}
