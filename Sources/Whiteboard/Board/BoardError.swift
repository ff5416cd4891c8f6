/// Why a local change was refused; nothing of it was applied.
public enum BoardError: Error, Hashable, Sendable {
  /// There is no such object, or it is deleted.
  case unknownObject(ObjectID)
  /// It is not deleted: there is nothing to bring back, or to remove for good.
  case notDeleted(ObjectID)
  /// It would lie right in front of, or behind, itself.
  case nextToItself(ObjectID)
  /// A member who is present has selected it.
  case held(ObjectID, by: MemberID)
  /// It is locked: only its lock and its selection can be changed.
  case locked(ObjectID)
  /// Its author, who is present, is still drawing it.
  case unfinished(ObjectID)
  /// The object has no such property.
  case wrongKind(ObjectID)
  /// A number is not one, or beyond its limits; which one is named.
  case outOfRange(String)
  /// A text is longer than its limit; which one is named.
  case tooLong(String)
  /// A stroke has no points, a chat line no words, a group no members.
  case empty
  /// There is no room for another place between two objects in the stack: both have to be moved
  /// apart first.
  case stackFull
  /// One gesture has more operations than fit in a batch.
  case tooManyOperations
  /// No step of ours can be undone; `skipped` has the steps that are there, the latest first.
  case nothingToUndo(skipped: [SkippedStep] = [])
  /// No step of ours can be redone; `skipped` has the steps that are there, the next one first.
  case nothingToRedo(skipped: [SkippedStep] = [])
  /// The board holds all the objects it may hold.
  case boardFull
  /// We use as much of the board as one author may while others use it too.
  case shareUsed
  /// The photos of one author on a board would exceed their limit.
  case photosUsed
  /// The cell was written with the greatest time there is and cannot be overwritten.
  case clockExhausted
  /// We only look on.
  case viewer
  /// A game refuses it, and why.
  case gameRefused(GameError)

  /// The stable code of this error.
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
    case .empty: "empty"
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
