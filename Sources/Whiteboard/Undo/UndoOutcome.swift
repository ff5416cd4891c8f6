/// The result of an undo or a redo.
public struct UndoOutcome: Hashable, Sendable {
  /// The label of the step, such as `move`.
  public let label: String
  /// The number of cells that were restored.
  public internal(set) var changed = 0
  /// The number of cells that were not restored because another member has written them since.
  public internal(set) var overwritten = 0
  /// The number of cells that were not restored because their objects have been purged since.
  public internal(set) var purged = 0
  /// The number of cells that were not restored because only an earlier incarnation of the local member may write them
  /// (BRD-25).
  public internal(set) var unwritable = 0
  /// The number of games that were not removed because moves were made in them.
  ///
  /// Moves cannot be undone.
  public internal(set) var played = 0
  /// The number of objects that were not deleted because other members have changed them since.
  public internal(set) var kept = 0
  /// The number of cells that were not restored because their objects are deleted, so that the change would not be
  /// visible.
  public internal(set) var deleted = 0

  /// The steps that were skipped because none of their changes could be restored.
  public internal(set) var skipped: [SkippedStep] = []

  /// Whether the whole step was restored.
  public var isComplete: Bool { overwritten + purged + unwritable + played + kept + deleted == 0 }

  /// The reason why nothing was restored.
  var skipReason: SkippedStep.Reason {
    if overwritten > 0 { return .overwritten }
    if kept > 0 { return .kept }
    if played > 0 { return .played }
    if deleted > 0 { return .deleted }
    if purged > 0 { return .purged }
    return unwritable > 0 ? .unwritable : .unchanged
  }
}

/// A step that an undo or a redo skipped.
public struct SkippedStep: Hashable, Sendable {
  /// The reason why none of a step's changes could be restored.
  public enum Reason: String, Hashable, Sendable {
    /// Other members have changed the same cells since.
    case overwritten
    /// The objects of the step have been purged since.
    case purged
    /// Only an earlier incarnation of the local member may write the cells (BRD-25).
    case unwritable
    /// Other members have changed the objects that would be deleted.
    case kept
    /// The objects of the step are deleted.
    case deleted
    /// The step created a game in which moves have been made since.
    case played
    /// The board already has the values that the step would restore.
    case unchanged
  }

  /// The label of the step, such as `move`.
  public let label: String
  /// The reason why none of the step's changes could be restored.
  public let reason: Reason
}
