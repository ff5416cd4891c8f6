import WhiteboardRendering

/// The first steps, shown in the middle of an empty board.
struct WelcomeText {
  let keys: KeyMap
  /// Whether there is no other member.
  let isAlone: Bool
  let isSaved: Bool

  private var lines: [String] {
    [
      "Drag to draw. \(keys.label(for: .tool(.text))) writes, "
        + "\(keys.label(for: .tool(.select))) selects, \(keys.label(for: .undo)) undoes.",
      isAlone ? "\(keys.label(for: .invite)) shows how others join." : "",
      "\(keys.label(for: .menu)) shows a menu, \(keys.label(for: .help)) all keys. "
        + (isSaved ? "Everything is saved immediately." : ""),
    ].filter { !$0.isEmpty }
  }

  /// Draws the lines in the middle of an area.
  func draw(on screen: inout Screen, in area: CellArea) {
    let lines = lines
    let top = area.rows.lowerBound + (area.height - lines.count) / 2
    for (row, line) in lines.enumerated() {
      let x = area.columns.lowerBound + (area.width - line.count) / 2
      screen.put(line, x: max(x, 0), y: top + row, .quiet, in: area)
    }
  }
}
