import Whiteboard

/// What a verb did, as its answer tells it.
struct CommandOutcome: Equatable, Sendable {
  /// The object that is new or was meant, where it is one.
  var id: ObjectID?
  /// The new or named objects, for commands that can have several.
  var ids: [ObjectID]?
  /// The transfers that were made.
  var transfers: [String]?
  /// Whether the board changed, for commands that change it.
  var hasChanged: Bool?
  /// The file that was written or read.
  var file: String?
  /// How many objects went there or came from there.
  var count: Int?
  /// What was undone or made again, in a word.
  var step: String?
  /// How many changes `undo` and `redo` left as they are.
  var skipped: Int?
  /// How many of them for which reason; nil where there are none.
  var left: [String: Int]?
  /// The steps that `undo` and `redo` passed over; nil if there are none.
  var skippedSteps: [SkippedStep]?

  /// The sync report of `wait synced`.
  var sync: Node.SyncReport?

  /// An outcome about several objects, or just one where they were named as one.
  static func about(_ ids: [ObjectID], asOne: Bool) -> CommandOutcome {
    asOne && ids.count == 1 ? CommandOutcome(id: ids[0]) : CommandOutcome(ids: ids)
  }
}
