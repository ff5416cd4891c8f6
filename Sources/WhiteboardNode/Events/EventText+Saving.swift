extension EventText {
  /// Returns the line that reports the save state; it begins with the cause of a problem.
  static func saveLine(_ state: SaveState) -> String {
    switch state {
    case .off: "- this board is not saved"
    case .saved: "- saved: everything is on disk"
    case .saving: "- saving: changes are on their way to the disk"
    case .notSaved(let problem): "! \(problem.sentence)"
    }
  }
}
