/// The reason why a local change was refused.
///
/// No part of the change was applied.
public indirect enum BoardError: Error, Hashable, Sendable {
  /// There is no such object, or the object is deleted.
  case unknownObject(ObjectID)
  /// The object is not deleted, so it cannot be undeleted or purged.
  case notDeleted(ObjectID)
  case nextToItself(ObjectID)
  /// Another member that is online has the object selected.
  case held(ObjectID, by: MemberID)
  /// The object is locked.
  ///
  /// Only its lock and its selection can be changed.
  case locked(ObjectID)
  /// The author of the stroke is online and still drawing it.
  case unfinished(ObjectID)
  /// The object does not have the property to be changed.
  case wrongKind(ObjectID)
  /// A number is outside its limits or is not a number.
  ///
  /// The associated value is the name of the number.
  case outOfRange(String)
  /// A string, a path or another item is longer than its limit.
  ///
  /// The associated value is the name of the item.
  case tooLong(String)
  /// A stroke has no points, a chat line has no text, or a group has no members.
  case empty
  /// There are fewer objects to arrange than this number, not counting lines that are bound at both ends.
  case tooFew(Int)
  /// No z index is left between two objects in the stack.
  ///
  /// Move one of these objects first.
  case stackFull
  /// A gesture has more than `BoardLimits.operationsPerGesture` operations.
  case tooManyOperations
  /// No local step can be undone.
  ///
  /// `skipped` lists the steps on the undo stack, the latest first.
  case nothingToUndo(skipped: [SkippedStep] = [])
  /// No local step can be redone.
  ///
  /// `skipped` lists the steps on the redo stack, the next step first.
  case nothingToRedo(skipped: [SkippedStep] = [])
  case boardFull
  /// The local member has used up the storage that one author may use on a board with other authors.
  case shareUsed
  /// The photos of one author on the board would exceed their limit.
  case photosUsed
  /// The time of the cell is so late that no write can follow it.
  case clockExhausted
  case viewer
  case gameRefused(GameError)

  /// The stable error code, such as `unknown-object`.
  public var code: String {
    switch self {
    case .unknownObject: "unknown-object"
    case .notDeleted: "not-deleted"
    case .nextToItself: "next-to-itself"
    case .held: "held"
    case .locked: "locked"
    case .unfinished: "unfinished"
    case .wrongKind: "wrong-kind"
    case .outOfRange: "out-of-range"
    case .tooLong: "too-long"
    case .empty, .tooFew: "empty"
    case .stackFull: "stack-full"
    case .tooManyOperations: "too-many-operations"
    case .nothingToUndo: "nothing-to-undo"
    case .nothingToRedo: "nothing-to-redo"
    case .boardFull: "board-full"
    case .shareUsed: "share-used"
    case .photosUsed: "photos-used"
    case .clockExhausted: "clock-exhausted"
    case .viewer: "viewer"
    case .gameRefused(let error): error.code
    }
  }
}
