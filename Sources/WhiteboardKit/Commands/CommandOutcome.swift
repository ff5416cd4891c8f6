import Whiteboard

/// The result of a command.
public struct CommandOutcome: Equatable, Sendable {
  /// The object that the command created or changed, if the command is for one object.
  public var id: ObjectID?
  /// The objects that the command created or changed, if the command accepts several objects.
  public var ids: [ObjectID]?
  /// The objects that the command replaced with copies; nil if there are none.
  ///
  /// `id` and `ids` contain the copies.
  public var replaced: [ReplacedObject]?
  /// The ids of the transfers that the command started.
  public var transfers: [String]?
  /// Whether the command changed the board; nil for commands that never do.
  public var hasChanged: Bool?
  /// The file that `export` wrote or `import` read.
  public var file: String?
  /// The number of objects that were exported or imported.
  public var count: Int?
  /// The label of the step that was undone or redone.
  public var step: String?
  /// The number of changes that `undo` or `redo` skipped.
  public var skipped: Int?
  /// The number of skipped changes by reason; nil if there are none.
  public var left: [String: Int]?
  /// The steps that `undo` or `redo` skipped completely; nil if there are none.
  public var skippedSteps: [SkippedStep]?

  var sync: SyncReport?

  /// An object that a command replaced with a copy, because the time of one of its properties was the latest possible.
  public struct ReplacedObject: Hashable, Sendable {
    /// The id of the object, which no longer exists.
    public var former: ObjectID
    /// The id of the copy.
    public var id: ObjectID
  }

  /// Returns an outcome about objects; uses `id` instead of `ids` if the command named a single object.
  static func about(_ ids: [ObjectID], asOne: Bool) -> CommandOutcome {
    asOne && ids.count == 1 ? CommandOutcome(id: ids[0]) : CommandOutcome(ids: ids)
  }
}
