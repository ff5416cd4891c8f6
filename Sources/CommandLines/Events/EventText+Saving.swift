import WhiteboardKit

extension EventText {
  /// Returns the line that reports the save state; it begins with the cause of a problem.
  static func saveLine(_ state: SaveState) -> String {
    switch state {
    case .off: "- this board is not saved"
    case .saved: "- saved: everything is on disk"
    case .saving: "- saving: some changes are not on disk yet"
    case .notSaved(let problem): "! \(problem.sentence)"
    }
  }
}
