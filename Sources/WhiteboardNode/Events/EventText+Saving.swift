extension EventText {
  /// Whether the work is on disk, as a line for a person; the cause of a problem comes first.
  static func saveLine(_ state: SaveState) -> String {
    switch state {
    case .off: "- nothing of this board is stored"
    case .saved: "- saved: everything is on disk"
    case .saving: "- saving: changes are on their way to the disk"
    case .notSaved(let problem): "! \(problem.sentence)"
    }
  }
}
