import PeerCore
import Whiteboard

/// The results of `undo` and `redo` as text.
extension EventText {
  /// Returns the result of `undo` or `redo` as text: the step, the changes that were not reverted, and the steps that
  /// were skipped.
  ///
  /// - Parameters:
  ///   - done: The answer to the command.
  ///   - hint: A sentence that explains how to reverse the step; nil for none.
  /// - Returns: One line of text.
  package static func steps(_ done: BoardEvent.Done, hint: String? = nil) -> String {
    let lead = done.verb == .redo ? "Redone" : "Undone"
    let left = (done.left ?? [:]).sorted { $0.key < $1.key }.map { reason, number in
      switch reason {
      case "overwritten": " \(count(number, "change")) skipped: others changed the same values later."
      case "purged": " \(count(number, "change")) skipped: the object was purged."
      case "kept": " \(count(number, "object stays", "objects stay")): others changed it later."
      case "deleted": " \(count(number, "change")) skipped: the object is deleted."
      case "played": " \(count(number, "game stays", "games stay")): moves were made in it."
      default: " \(count(number, "change")) skipped: no longer possible."
      }
    }
    return "\(lead): \(stepName(done.step ?? "")).\(hint.map { " \($0)" } ?? "")" + left.joined()
      + passed(done.skippedSteps ?? [])
  }

  /// Returns sentences about the steps that were skipped, each preceded by a space; empty if there are no such steps.
  static func skipped(_ steps: [SkippedStep]) -> String {
    passed(steps.map { BoardEvent.PassedStep(step: $0.label, reason: $0.reason.rawValue) })
  }

  private static func passed(_ steps: [BoardEvent.PassedStep]) -> String {
    var reasons: [String] = []
    for step in steps where !reasons.contains(step.reason) { reasons.append(step.reason) }
    return reasons.map { reason in
      let names = steps.filter { $0.reason == reason }.map { stepName($0.step) }
      let what = names.count > 3 ? count(names.count, "step") : listed(names)
      let why =
        switch reason {
        case "overwritten": "others changed the same values later"
        case "purged": "the object was purged"
        case "kept": "others changed the object later"
        case "deleted": "the object is deleted"
        case "played": "moves were made in the game"
        case "unchanged": "nothing to change"
        default: "no longer possible"
        }
      return " Skipped: \(what) (\(why))."
    }.joined()
  }

  /// Returns the label of a step in everyday words.
  private static func stepName(_ label: String) -> String {
    switch label {
    case "scale": "resize"
    case "order": "front and back"
    case "undelete": "restore deleted"
    case "settings": "board settings"
    default: UntrustedText(label).escaped(limit: 64)
    }
  }
}
